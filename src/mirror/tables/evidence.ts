// The rows of `walk_evidence`: what proves a walk, in the order in which it was told, and which of it is kept.
import { createHash } from 'node:crypto'
import { linesOf, type Proven, prove } from '../../proof/evidence.ts'
import type { Line } from '../../proof/judge.ts'
import { idSum } from '../../task/id-hash.ts'
import type { Db } from '../open.ts'
import { writeOne } from './statements.ts'

/** Tasks that a walk met for the first time. */
export class Met {
  count = 0
  ids = 0

  add(id: string): void {
    this.count += 1
    this.ids = idSum(this.ids, id)
  }
}

export interface EvidenceRow {
  number: number
  lines: string
  marked: number
  ids: number
}

/** In order. Holds the connection until it is read to its end or left. */
export function* evidenceOf(db: Db, walkId: number): Generator<EvidenceRow> {
  const all = db.prepare('SELECT number, lines, marked, ids FROM walk_evidence WHERE walk_id = ? ORDER BY number')
  yield* all.iterate(walkId) as IterableIterator<EvidenceRow>
}

/** Judges the evidence of a walk anew, row by row. Throws `Unproven`, and whatever comes of values that no run has written. */
export function proveWalk(db: Db, walkId: number): Proven {
  return prove(linesIn(evidenceOf(db, walkId)))
}

function* linesIn(rows: Iterable<EvidenceRow>): Generator<Line> {
  for (const { lines } of rows) yield* linesOf(lines)
}

/** Hex. */
export function evidenceDigest(rows: Iterable<EvidenceRow>): string {
  const hash = createHash('sha256')
  for (const { number, lines, marked, ids } of rows) hash.update(`${number} ${marked} ${ids} ${lines}\n`)
  return hash.digest('hex')
}

export function evidenceTable(db: Db) {
  const insert = db.prepare(
    `INSERT INTO walk_evidence (walk_id, number, lines, marked, ids)
     SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ? FROM walk_evidence WHERE walk_id = ?`,
  )
  const end = db.prepare('UPDATE walks SET evidence_sha256 = ? WHERE id = ?')
  const forget = ['walk_marks', 'walk_evidence'].map((table) =>
    // The walks are looked up one by one in the key: the rows of a kept one may be thousands.
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
    /** The walk is complete. Throws `Unproven` where its evidence does not say so: whoever calls it. */
    seal(walkId: number): void {
      proveWalk(db, walkId)
      writeOne(end, evidenceDigest(evidenceOf(db, walkId)), walkId)
    },
    /**
     * Forgets marks and evidence of every walk that proves nothing any more: all before the last complete full walk, and
     * those that were cut off or partial, but `keepWalkId`, which goes on.
     */
    forget(keepWalkId: number | null): void {
      for (const statement of forget) statement.run(keepWalkId)
    },
  }
}

export type EvidenceTable = ReturnType<typeof evidenceTable>
