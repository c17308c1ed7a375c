// The rows of `walks`: begin, progress (inside a window's transaction), end, and the one to resume.
import { mayGoOn } from '../../proof/evidence.ts'
import type { Order, Verdict } from '../../task.ts'
import type { Db } from '../connect.ts'
import { storedJson } from '../explain.ts'
import { writeOne } from './statements.ts'

export type WalkKind = 'full' | 'head' | 'tail' | 'range'

export interface WalkRow {
  id: number
  kind: WalkKind
  /** Half-open bounds of createdAt, epoch ms; null on a side without a bound. */
  rangeSince: number | null
  rangeUntil: number | null
  nextSkip: number
  windows: number
  /** Distinct tasks met. */
  met: number
  drift: number
  /** null while it is not ended. */
  verdict: Verdict | null
  reason: string | null
  /** What the walk goes on from; null once it has ended. */
  state: unknown
  /** Ids and createdAt of its first window, in list order. */
  firstWindow: { ids: string[]; moments: (number | null)[] } | null
  startedAt: number
  /** When it last committed something: its end, or where it was cut off. */
  updatedAt: number
  finishedAt: number | null
}

type WalkStart = Pick<WalkRow, 'kind' | 'rangeSince' | 'rangeUntil'> & { runId: number; maxSeqAtStart: number }

export interface WalkProgress {
  nextSkip: number
  drift: number
  state: unknown
  /** What the kernel of proof was told since the step before, as JSON text. */
  evidence: string
  /** Given once, with the first window. */
  firstWindow?: { ids: string[]; moments: (number | null)[] }
}

export interface WalkEnd {
  verdict: Verdict
  reason: string | null
  ordering: Order | null
}

const KEPT_ROWS = 10_000

/** The columns of a `WalkRow`. */
const COLUMNS = `id, kind, range_since AS rangeSince, range_until AS rangeUntil, next_skip AS nextSkip, windows, met, drift,
  verdict, reason, state, first_window AS firstWindow, started_at AS startedAt, updated_at AS updatedAt,
  finished_at AS finishedAt`

export function walkTable(db: Db) {
  const insert = db.prepare(
    `INSERT INTO walks (run_id, kind, range_since, range_until, max_seq_at_start, started_at, updated_at)
     VALUES (@runId, @kind, @rangeSince, @rangeUntil, @maxSeqAtStart, @now, @now)`,
  )
  const progress = db.prepare(
    `UPDATE walks SET next_skip = @nextSkip, drift = @drift, state = @state, windows = windows + 1, met = met + @newlyMet,
     first_window = coalesce(@first, first_window),
     fresh_at = CASE WHEN @readAt < coalesce(fresh_at, started_at) THEN @readAt ELSE fresh_at END,
     updated_at = @now WHERE id = @id`,
  )
  const end = db.prepare(
    `UPDATE walks SET verdict = ?, reason = ?, ordering = ?, state = NULL, first_window = NULL, updated_at = ?,
     finished_at = ? WHERE id = ?`,
  )
  const countMet = db.prepare('UPDATE walks SET met = met + ? WHERE id = ?')
  // The last complete full walk stays, however many have followed: by it the next one is due, and proofs are kept.
  const prune = db.prepare(
    `DELETE FROM walks WHERE id <= (SELECT max(id) FROM walks) - ${KEPT_ROWS}
     AND id <> coalesce((SELECT max(id) FROM walks WHERE kind = 'full' AND verdict = 'complete'), 0)`,
  )
  const byId = db.prepare(`SELECT ${COLUMNS} FROM walks WHERE id = ?`)
  const kindById = db.prepare('SELECT kind FROM walks WHERE id = ?').pluck()
  const lastFull = db.prepare(
    `SELECT ${COLUMNS} FROM walks
     WHERE kind = 'full' AND finished_at IS NOT NULL AND (? IS NULL OR verdict = ?) ORDER BY id DESC LIMIT 1`,
  )
  const leastSeq = db
    .prepare(
      `SELECT min(max_seq_at_start) FROM walks WHERE id < @id AND id > coalesce((SELECT id FROM walks
       WHERE id < @id AND verdict = 'complete' AND kind <> 'range' AND (@kind IS NULL OR kind = @kind) ORDER BY id DESC LIMIT 1), 0)`,
    )
    .pluck()
  const firstLines = db.prepare('SELECT lines FROM walk_evidence WHERE walk_id = ? AND number = 1').pluck()
  const interrupted = db.prepare(
    `SELECT ${COLUMNS} FROM walks WHERE kind = 'full' AND range_since IS NULL AND range_until IS NULL AND finished_at IS NULL
     AND windows > 0 AND id > coalesce((SELECT max(id) FROM walks WHERE kind = 'full' AND finished_at IS NOT NULL), 0)
     ORDER BY id DESC LIMIT 1`,
  )
  return {
    begin(start: WalkStart, now: number): number {
      const done = writeOne(insert, { ...start, now })
      prune.run()
      return Number(done.lastInsertRowid)
    },
    /** `readAt`: the moment as of which the window speaks, epoch ms. */
    progress(id: number, step: WalkProgress, newlyMet: number, { readAt, now }: { readAt: number; now: number }): void {
      const first = step.firstWindow === undefined ? null : JSON.stringify(step.firstWindow)
      const { nextSkip, drift } = step
      writeOne(progress, { nextSkip, drift, state: JSON.stringify(step.state), newlyMet, first, readAt, now, id })
    },
    countMet: (id: number, more: number): void => void writeOne(countMet, more, id),
    end(id: number, result: WalkEnd, now: number): void {
      writeOne(end, result.verdict, result.reason, result.ordering, now, now, id)
    },
    get: (id: number): WalkRow | null => toWalk(byId.get(id)),
    /** The kind alone, for every window: the walk's state and first window would take long to parse. */
    kindOf: (id: number): WalkKind | null => (kindById.get(id) as WalkKind | undefined) ?? null,
    /** The last full walk that ended; with `verdict`, the last that ended with it. */
    lastFull: (verdict: Verdict | null = null): WalkRow | null => toWalk(lastFull.get(verdict, verdict)),
    /**
     * The highest seq at the start of the first walk that followed the last complete one before `id`; null where there
     * is none. That complete walk is of `kind`, where given, and never a range walk.
     */
    seqAfterComplete: (id: number, kind: WalkKind | null): number | null => leastSeq.get({ id, kind }) as number | null,
    /**
     * A full walk that was cut off, begun after the last one that ended. Its state is null where nothing could prove it
     * any more: version 0.1.0 kept no evidence, another version may have had other rules.
     */
    interrupted(): WalkRow | null {
      const walk = toWalk(interrupted.get())
      return walk === null || mayGoOn(String(firstLines.get(walk.id))) ? walk : { ...walk, state: null }
    },
  }
}

export type WalkTable = ReturnType<typeof walkTable>

function toWalk(row: unknown): WalkRow | null {
  if (row === undefined) return null
  const walk = row as WalkRow
  const parsed = <T>(text: unknown): T | null => (typeof text === 'string' ? storedJson<T>(text) : null)
  return { ...walk, state: parsed<unknown>(walk.state), firstWindow: parsed(walk.firstWindow) }
}
