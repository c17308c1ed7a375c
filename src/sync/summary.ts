// What a run reports: the object of `sync --json` and `backfill --json` (design.md section 3). Names are a contract.
import type { RunCounts } from '../mirror/tables/runs.ts'
import type { Order, Outcome, Verdict } from '../task.ts'

export interface RunSummary extends RunCounts {
  schemaVersion: 1
  runId: number
  command: 'sync' | 'backfill'
  /** The steps in their order, such as `["full"]` or `["head", "open"]`. */
  plan: string[]
  outcome: Outcome
  verdict: Verdict | null
  /** Bounds of `createdAt` the run was about, epoch ms, half-open; null on a side without a bound. */
  range: { since: number | null; until: number | null }
  /** The last full walk that ended, of this run or before. */
  lastFullWalk: { id: number; verdict: Verdict; reason: string | null; startedAt: number; finishedAt: number } | null
  order: Order | null
  requests: number
  retries: number
  openTasks: number
  drift: number
  bytes: number
  durationMs: number
  waitedMs: number
  /** Until when the service asked to be left alone, epoch ms; null where it did not. */
  notBefore: number | null
}

export interface RunResult {
  summary: RunSummary
  /** The exit code this run stands for. */
  exitCode: number
  /** Whether a full walk has ended for the first time. */
  isFirst: boolean
  /** What fell short, one sentence each, for the terminal. */
  notes: string[]
  /** What ended the run early; null where nothing did. */
  error: unknown
}
