// The rows of `walk_evidence`: what the kernel was told of a walk, in order; and which of them are kept.
import { createHash } from 'node:crypto'
import { linesOf, type Proven, prove } from '../../proof/evidence.ts'
import { type Line, Unproven } from '../../proof/judge.ts'
import type { WalkRange } from '../../proof/state.ts'
import { idHash } from '../../task/id-hash.ts'
import type { Db } from '../connect.ts'
import { marksOf } from './marks.ts'
import { writeOne } from './statements.ts'
import type { WalkRow } from './walks.ts'

/** Longest `lines` that are read, characters; a step writes a hundred thousand at most. */
const LONGEST_LINES = 33_554_432

/**
 * A number of tasks and the sum over their ids in 52 bits, to compare sets: such as those that a walk met for the first
 * time.
 */
export class Met {
  count = 0
  ids = 0

  add(id: string): void {
    this.addSet(1, idHash(id))
  }

  addSet(count: number, ids: number): void {
    this.count += count
    this.ids = (this.ids + ids) % 2 ** 52
  }
}

interface EvidenceRow {
  number: number
  /** Empty where the stored text is longer than any that a run writes. */
  lines: string
  marked: number
  ids: number
}

/** Yields the rows in order. The connection is busy until this is read to its end or left. */
export function* evidenceOf(db: Db, walkId: number): Generator<EvidenceRow> {
  const all = db.prepare(
    `SELECT number, CASE WHEN length(lines) <= ${LONGEST_LINES} THEN lines ELSE '' END AS lines, marked, ids
     FROM walk_evidence WHERE walk_id = ? ORDER BY number`,
  )
  yield* all.iterate(walkId) as IterableIterator<EvidenceRow>
}

/** SHA-256, hex, of the rows, and of the kind, bounds and times in the walk's own row. */
export function evidenceDigest(db: Db, walkId: number): string {
  const hash = createHash('sha256')
  const walk = db.prepare('SELECT kind, range_since, range_until, started_at, finished_at FROM walks WHERE id = ?')
  hash.update(`${JSON.stringify(Object.values((walk.get(walkId) ?? {}) as object))}\n`)
  for (const { number, marked, ids, lines } of evidenceOf(db, walkId))
    hash.update(`${number} ${marked} ${ids} ${lines}\n`)
  return hash.digest('hex')
}

/** What the evidence of a walk proves, and the tasks that the walk met by that evidence. */
interface ProvenWalk {
  proven: Proven
  met: Met
}

/** Judges a walk's evidence anew: rows, verdict, number of tasks marked. Throws `OtherRules` and `Unproven`. */
export function proveWalk(db: Db, walkId: number): ProvenWalk {
  const row = db.prepare('SELECT kind, range_since AS rangeSince, range_until AS rangeUntil FROM walks WHERE id = ?')
  const walk = row.get(walkId) as Pick<WalkRow, 'kind' | 'rangeSince' | 'rangeUntil'>
  const proven = prove(linesIn(evidenceOf(db, walkId)))
  const isPart = walk.kind === 'head' || walk.kind === 'tail'
  if (!isPart && !proven.isWhole) throw new Unproven('its evidence does not reach the end of what it speaks of')
  if (!isPart && !covers(proven.range, walk)) throw new Unproven('its evidence speaks of a part of the list')
  const met = new Met()
  let last = 0
  for (const { number, marked, ids } of evidenceOf(db, walkId)) {
    last += 1
    if (number !== last) throw new Unproven(`row ${last} of its evidence is missing`)
    met.addSet(marked, ids)
  }
  const marked = marksOf(db, walkId).count()
  if (marked !== met.count) throw new Unproven(`it met ${met.count} tasks, and ${marked} are marked`)
  return { proven, met }
}

/** Whether what is proven of `range` is said of all that the walk was to read. */
function covers(range: WalkRange | null, walk: Pick<WalkRow, 'rangeSince' | 'rangeUntil'>): boolean {
  if (range === null) return true
  const [low, high] = range.order === 'created_desc' ? [range.to, range.from] : [range.from, range.to]
  return (
    (low ?? Number.NEGATIVE_INFINITY) <= (walk.rangeSince ?? Number.NEGATIVE_INFINITY) &&
    (high ?? Number.POSITIVE_INFINITY) >= (walk.rangeUntil ?? Number.POSITIVE_INFINITY)
  )
}

function* linesIn(rows: Iterable<EvidenceRow>): Generator<Line> {
  for (const { lines } of rows) {
    let some: Line[]
    try {
      some = linesOf(lines)
    } catch {
      throw new Unproven('a row of its evidence cannot be read')
    }
    yield* some
  }
}

export function evidenceTable(db: Db) {
  const insert = db.prepare(
    `INSERT INTO walk_evidence (walk_id, number, lines, marked, ids)
     SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ? FROM walk_evidence WHERE walk_id = ?`,
  )
  const sealed = db.prepare('UPDATE walks SET evidence_sha256 = ? WHERE id = ?')
  const disown = db.prepare('UPDATE walks SET evidence_sha256 = NULL WHERE evidence_sha256 IS NOT NULL')
  const forget = ['walk_marks', 'walk_evidence'].map((table) =>
    // Finds the walks one by one in the key, because a kept walk may have thousands of rows.
    db.prepare(
      `WITH RECURSIVE found (id) AS (SELECT min(walk_id) FROM ${table} UNION ALL
         SELECT (SELECT min(walk_id) FROM ${table} WHERE walk_id > found.id) FROM found WHERE found.id IS NOT NULL)
       DELETE FROM ${table} WHERE walk_id IN (SELECT id FROM found WHERE id IS NOT NULL AND id IS NOT ? AND id NOT IN
         (SELECT id FROM walks WHERE evidence_sha256 IS NOT NULL
          AND id >= (SELECT max(id) FROM walks WHERE kind = 'full' AND verdict = 'complete')))`,
    ),
  )
  return {
    /** `lines` as JSON text. */
    add: (walkId: number, lines: string, { count, ids }: Met): void =>
      void writeOne(insert, walkId, lines, count, ids, walkId),
    /** Seals the evidence of a walk that ended as complete. Throws `Unproven` where the evidence does not say so. */
    seal(walkId: number): void {
      proveWalk(db, walkId)
      writeOne(sealed, evidenceDigest(db, walkId), walkId)
    },
    /** Unseals all walks, when another account is accepted: what was proven of the one before proves nothing of it. */
    disown: (): void => void disown.run(),
    /** Deletes what proves nothing any more: all but the last complete full walk, walks since, and `keepWalkId`. */
    forget(keepWalkId: number | null): void {
      for (const statement of forget) statement.run(keepWalkId)
    },
  }
}

export type EvidenceTable = ReturnType<typeof evidenceTable>
