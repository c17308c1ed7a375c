// The rows of `walks`: begin, progress (inside a window's transaction), end, and the one to resume.
import { mayGoOn } from '../../proof/evidence.ts'
import type { Order, Verdict } from '../../task.ts'
import type { Db } from '../connect.ts'
import { writeOne } from './statements.ts'

export type WalkKind = 'full' | 'head' | 'tail' | 'range'

export interface WalkRow {
  id: number
  kind: WalkKind
  rangeSince: number | null
  rangeUntil: number | null
  nextSkip: number
  windows: number
  met: number
  drift: number
  ordering: Order | null
  verdict: Verdict | null
  reason: string | null
  /** What the walk goes on from; null once it has ended. */
  state: unknown
  /** Ids and createdAt of its first window, in list order. */
  firstWindow: { ids: string[]; moments: (number | null)[] } | null
  maxSeqAtStart: number
  startedAt: number
  updatedAt: number
  finishedAt: number | null
}

interface WalkStart {
  runId: number
  kind: WalkKind
  rangeSince: number | null
  rangeUntil: number | null
  maxSeqAtStart: number
}

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

export function walkTable(db: Db) {
  const insert = db.prepare(
    `INSERT INTO walks (run_id, kind, range_since, range_until, max_seq_at_start, started_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const progress = db.prepare(
    `UPDATE walks SET next_skip = ?, drift = ?, state = ?, windows = windows + 1, met = met + ?,
     first_window = coalesce(?, first_window), fresh_at = CASE WHEN ? < coalesce(fresh_at, started_at) THEN ? ELSE fresh_at END,
     updated_at = ? WHERE id = ?`,
  )
  const end = db.prepare(
    `UPDATE walks SET verdict = ?, reason = ?, ordering = ?, state = NULL, first_window = NULL, updated_at = ?,
     finished_at = ? WHERE id = ?`,
  )
  const countMet = db.prepare('UPDATE walks SET met = met + ? WHERE id = ?')
  const prune = db.prepare(`DELETE FROM walks WHERE id <= (SELECT max(id) FROM walks) - ${KEPT_ROWS}`)
  const byId = db.prepare('SELECT * FROM walks WHERE id = ?')
  const lastEnded = db.prepare(
    'SELECT * FROM walks WHERE kind = ? AND finished_at IS NOT NULL AND (? IS NULL OR verdict = ?) ORDER BY id DESC LIMIT 1',
  )
  const firstLines = db.prepare('SELECT lines FROM walk_evidence WHERE walk_id = ? AND number = 1').pluck()
  const interrupted = db.prepare(
    `SELECT * FROM walks WHERE kind = 'full' AND range_since IS NULL AND range_until IS NULL AND finished_at IS NULL
     AND windows > 0 AND id > coalesce((SELECT max(id) FROM walks WHERE kind = 'full' AND finished_at IS NOT NULL), 0)
     ORDER BY id DESC LIMIT 1`,
  )
  return {
    begin(start: WalkStart, now: number): number {
      const done = writeOne(
        insert,
        start.runId,
        start.kind,
        start.rangeSince,
        start.rangeUntil,
        start.maxSeqAtStart,
        now,
        now,
      )
      prune.run()
      return Number(done.lastInsertRowid)
    },
    /** `readAt`: as of when the window speaks, epoch ms. */
    progress(id: number, step: WalkProgress, newlyMet: number, { readAt, now }: { readAt: number; now: number }): void {
      const first = step.firstWindow === undefined ? null : JSON.stringify(step.firstWindow)
      writeOne(
        progress,
        step.nextSkip,
        step.drift,
        JSON.stringify(step.state),
        newlyMet,
        first,
        readAt,
        readAt,
        now,
        id,
      )
    },
    countMet: (id: number, more: number): void => void writeOne(countMet, more, id),
    end(id: number, result: WalkEnd, now: number): void {
      writeOne(end, result.verdict, result.reason, result.ordering, now, now, id)
    },
    get: (id: number): WalkRow | null => toWalk(byId.get(id)),
    /** The last walk of `kind` that ended; with `verdict`, the last that ended with it. */
    lastEnded: (kind: WalkKind, verdict: Verdict | null = null): WalkRow | null =>
      toWalk(lastEnded.get(kind, verdict, verdict)),
    /**
     * A full walk that was begun after the last one that ended, and was cut off; without a state where nothing could prove it any
     * more: version 0.1.0 kept no evidence, another version may have had other rules.
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
  const found = row as Record<string, unknown>
  const parsed = (text: unknown): unknown => (typeof text === 'string' ? JSON.parse(text) : null)
  return {
    id: found.id as number,
    kind: found.kind as WalkKind,
    rangeSince: found.range_since as number | null,
    rangeUntil: found.range_until as number | null,
    nextSkip: found.next_skip as number,
    windows: found.windows as number,
    met: found.met as number,
    drift: found.drift as number,
    ordering: found.ordering as Order | null,
    verdict: found.verdict as Verdict | null,
    reason: found.reason as string | null,
    state: parsed(found.state),
    firstWindow: parsed(found.first_window) as WalkRow['firstWindow'],
    maxSeqAtStart: found.max_seq_at_start as number,
    startedAt: found.started_at as number,
    updatedAt: found.updated_at as number,
    finishedAt: found.finished_at as number | null,
  }
}
