// Judges anew, in a process, whether the mirror's evidence proves its complete walks, and whether it has the tasks met.
import type { Proven } from '../../proof/evidence.ts'
import { OtherRules, Unproven } from '../../proof/judge.ts'
import type { Db } from '../connect.ts'
import { withReader } from '../open.ts'
import { evidenceDigest, Met, proveWalk } from '../tables/evidence.ts'
import { marksOf } from '../tables/marks.ts'
import type { WalkKind } from '../tables/walks.ts'
import { askProcess } from './statement-process.ts'

export interface WalkProof {
  walkId: number
  kind: WalkKind
  /** Epoch ms. */
  startedAt: number
  finishedAt: number
  /** Tasks that it met, and that the mirror holds. */
  tasks: number
  /** SHA-256 of the evidence, hex: the manifest of a snapshot carries that of the last full walk. */
  sha256: string
  proven: Proven
}

export interface ProofVerified {
  path: string
  /** The last complete full walk, and the complete walks since, in order; empty where there is no proof. */
  walks: WalkProof[]
  /** What does not hold, in words, and of which walk. */
  faults: { walkId: number; message: string }[]
}

/** Throws `mirror-missing`, `mirror-foreign`, `mirror-newer`, `mirror-unreadable` and `interrupted`. */
export function verifyProof(path: string, signal: AbortSignal): Promise<ProofVerified> {
  return askProcess<ProofVerified>('judgeMirror', { path }, { what: 'The check', signal })
}

/** The check itself, in that process: on one consistent state. */
export function judgeMirror({ path }: { path: string }): ProofVerified {
  return withReader(path, (db) => {
    db.exec('BEGIN')
    return { path, ...judgeWalks(db) }
  })
}

/** The same on a connection that reads one consistent state. */
export function judgeWalks(db: Db): Pick<ProofVerified, 'walks' | 'faults'> {
  const result: ReturnType<typeof judgeWalks> = { walks: [], faults: [] }
  for (const walk of provenWalks(db)) {
    try {
      result.walks.push(judge(db, walk))
    } catch (error) {
      if (!(error instanceof Unproven)) throw error
      // What came since rests on that walk: by these rules nothing of it is proven either.
      if (error instanceof OtherRules) break
      result.faults.push({ walkId: walk.walkId, message: error.message })
    }
  }
  return result
}

type WalkToProve = Omit<WalkProof, 'tasks' | 'proven'>

/** The last complete full walk, and the complete ones since; none of version 0.1.0, which kept no evidence. */
function provenWalks(db: Db): WalkToProve[] {
  if (!db.prepare('PRAGMA table_list(walk_evidence)').get()) return []
  return db
    .prepare(
      `SELECT id AS walkId, kind, started_at AS startedAt, finished_at AS finishedAt, coalesce(evidence_sha256, '') AS sha256 FROM walks
       WHERE verdict = 'complete' AND id >= (SELECT max(id) FROM walks WHERE kind = 'full' AND evidence_sha256 IS NOT NULL)
       ORDER BY id`,
    )
    .all() as WalkToProve[]
}

/** Where a walk met fewer than one task in so many, each is looked up by itself. */
const FEW = 8

/** The tasks that a walk marked, as the mirror holds them. */
function heldBy(db: Db, walkId: number): Met {
  const held = new Met()
  const marks = marksOf(db, walkId)
  const rows = db.prepare('SELECT count(*) FROM tasks').pluck().get() as number
  if (marks.count() * FEW > rows) {
    // From an index that holds both columns: the rows of ten million tasks would be ten gigabytes to read.
    const all = db.prepare('SELECT seq, id FROM tasks').raw()
    for (const [seq, id] of all.iterate() as IterableIterator<[number, string]>) if (marks.has(seq)) held.add(id)
    return held
  }
  const find = db.prepare('SELECT id FROM tasks WHERE seq = ?').pluck()
  for (const seq of marks.values()) {
    const id = find.get(seq) as string | undefined
    if (id !== undefined) held.add(id)
  }
  return held
}

function judge(db: Db, walk: WalkToProve): WalkProof {
  if (evidenceDigest(db, walk.walkId) !== walk.sha256)
    throw new Unproven('its evidence is not what it was when the walk ended')
  const { proven, met } = proveWalk(db, walk.walkId)
  const held = heldBy(db, walk.walkId)
  if (held.count !== met.count) throw new Unproven(`it met ${met.count} tasks, of which the mirror holds ${held.count}`)
  if (held.ids !== met.ids) throw new Unproven('the tasks that it met have other ids in the mirror')
  return { ...walk, tasks: met.count, proven }
}
