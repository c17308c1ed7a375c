// Whether the walks that the mirror calls complete are proven by what it holds: their evidence, judged anew by the kernel of proof,
// and the tasks that they met. Read by a process of its own (proof-process.ts), as a mirror may be large.
import { linesOf, type Proven, prove } from '../../proof/evidence.ts'
import { type Db, openReader } from '../open.ts'
import { type EvidenceRow, evidenceDigest, evidenceOf, Met } from '../tables/evidence.ts'
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
  /** What does not hold, in words, and the walk of which. */
  faults: { walkId: number; message: string }[]
}

/** What the process is asked. */
export interface ProofRequest {
  path: string
}

/**
 * Throws `mirror-missing`, `mirror-foreign`, `mirror-newer`, `mirror-unreadable` and `interrupted`.
 */
export async function verifyProof(path: string, signal: AbortSignal): Promise<ProofVerified> {
  openReader(path).close()
  return askProcess<ProofRequest, ProofVerified>('proof-process', { path }, signal)
}

/** The same, on a connection that reads one state. */
export function judgeWalks(db: Db): Pick<ProofVerified, 'walks' | 'faults'> {
  const result: ReturnType<typeof judgeWalks> = { walks: [], faults: [] }
  for (const walk of provenWalks(db)) {
    try {
      result.walks.push(judge(db, walk))
    } catch (error) {
      result.faults.push({ walkId: walk.walkId, message: (error as Error).message })
    }
  }
  return result
}

type Walk = Omit<WalkProof, 'tasks' | 'proven'>

/** The last complete full walk, and the complete ones since; none of version 0.1.0, which kept no evidence. */
function provenWalks(db: Db): Walk[] {
  if (!db.prepare('PRAGMA table_list(walk_evidence)').get()) return []
  return db
    .prepare(
      `SELECT id AS walkId, kind, started_at AS startedAt, finished_at AS finishedAt, coalesce(evidence_sha256, '') AS sha256 FROM walks
       WHERE verdict = 'complete' AND id >= (SELECT max(id) FROM walks WHERE kind = 'full' AND evidence_sha256 IS NOT NULL)
       ORDER BY id`,
    )
    .all() as Walk[]
}

/** The tasks that a walk marked, as the mirror holds them. */
function heldBy(db: Db, walkId: number): Met {
  const held = new Met()
  const find = db.prepare('SELECT id FROM tasks WHERE seq = ?').pluck()
  for (const seq of marksOf(db, walkId).values()) {
    const id = find.get(seq) as string | undefined
    if (id !== undefined) held.add(id)
  }
  return held
}

function judge(db: Db, walk: Walk): WalkProof {
  const told = { count: 0, ids: 0 }
  let last = 0
  const rows = [...evidenceOf(db, walk.walkId)]
  for (const { number, marked, ids } of rows) {
    if (number !== last + 1) throw new Error(`row ${last + 1} of its evidence is missing`)
    last = number
    told.count += marked
    told.ids = (told.ids + ids) % 2 ** 52
  }
  if (evidenceDigest(rows) !== walk.sha256) throw new Error('its evidence is not what it was when the walk ended')
  const proven = prove(linesIn(rows))
  if ((walk.kind === 'full' || walk.kind === 'range') && !proven.isWhole)
    throw new Error('its evidence does not reach the end of what it speaks of')
  if (walk.kind === 'full' && proven.range !== null) throw new Error('its evidence speaks of a part of the list')
  const held = heldBy(db, walk.walkId)
  if (held.count !== told.count) throw new Error(`it met ${told.count} tasks, of which the mirror holds ${held.count}`)
  if (held.ids !== told.ids) throw new Error('the tasks that it met have other ids in the mirror')
  return { ...walk, tasks: told.count, proven }
}

function* linesIn(rows: EvidenceRow[]) {
  for (const { number, lines } of rows) {
    try {
      yield* linesOf(lines)
    } catch (error) {
      throw new Error(`row ${number} of its evidence cannot be read: ${(error as Error).message}`)
    }
  }
}
