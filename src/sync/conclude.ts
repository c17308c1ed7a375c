// How a run ended: outcome and exit code, written down and told in the summary. Asks nothing of the service.
import prettyMilliseconds from 'pretty-ms'
import { isApart, type Skew } from '../clock.ts'
import { EXIT, exitCodeOf, isMirrorError, stopCodeOf, worstExitCode } from '../errors.ts'
import type { LastFullWalk } from '../mirror/shown/history.ts'
import type { RunCounts, RunEnd } from '../mirror/tables/runs.ts'
import type { WalkRow } from '../mirror/tables/walks.ts'
import { countText } from '../shown.ts'
import type { Order, Outcome, Verdict } from '../task.ts'
import { errorRecord, rememberWait } from './begin.ts'
import type { Run } from './context.ts'
import type { PlanStep, SyncRequest } from './plan.ts'

/** The object of `sync --json` and `backfill --json` (design.md section 3). Names are a contract. */
export interface RunSummary extends RunCounts, Omit<RunEnd, 'exitCode' | 'error'> {
  schemaVersion: 1
  runId: number
  command: 'sync' | 'backfill'
  /** Bounds of `createdAt` the run was about, epoch ms, half-open; null on a side without a bound. */
  range: { since: number | null; until: number | null }
  /** The last full walk that ended, of this run or before. */
  lastFullWalk: LastFullWalk | null
  order: Order | null
  openTasks: number
  durationMs: number
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

/** What a run was asked for, and what it has come to so far. */
export interface RunTally {
  request: SyncRequest
  /** Epoch ms. */
  startedAt: number
  plan: PlanStep[]
  /** The walks that count, and why one is partial: a complete full walk takes the place of those before it. */
  walks: { verdict: Verdict; note: string | null }[]
  drift: number
  /** What fell short in a step, in one sentence; where another step of its kind follows, that one counts. */
  short: Map<PlanStep['kind'] | 'owed', string>
  /** Exit codes of what went wrong beside that. */
  codes: number[]
  /** What ended it early; null where nothing did. */
  error: unknown
}

/** Ends the run in the mirror and sums it up; `stopped`: the caller's signal. Throws where the mirror is unreadable. */
export async function concludeRun(run: Run, tally: RunTally, stopped: AbortSignal): Promise<RunResult> {
  const { writer, now, service } = run
  const { request } = tally
  let { error } = tally
  const { requests, retries, bytes, waitedMs, oldestMs = 0, skew = null } = service.traffic()
  await rememberWait(run, error)
  const counts = await writer.counts().catch(() => null)
  if (counts === null) throw error ?? new Error('The mirror could not be read at the end of the run')
  // Each of these leaves the run `partial`.
  const short = [...tally.short.values(), ...tally.walks.flatMap(({ note }) => note ?? [])]
  if (counts.rejected > 0) short.push(`${countText(counts.rejected, 'item')} set aside; see \`task-mirror rejected\`.`)
  const told = oldestMs > 0 ? [cacheNote(oldestMs)] : []
  if (skew !== null && isApart(skew)) told.push(clockNote(skew))
  let { exitCode, outcome } = howEnded(error, [...tally.codes, ...short.map(() => EXIT.partial)], stopped)
  const plan = tally.plan.map(({ kind }) => kind)
  const verdict = verdictOf(tally.walks.map((walk) => walk.verdict))
  const { drift } = tally
  const traffic = { requests, retries, bytes, waitedMs }
  await writer
    .endRun({ plan, outcome, verdict, drift, exitCode, ...traffic, error: errorRecord(error) }, now())
    .catch((second: unknown) => {
      error ??= second
      exitCode = worstExitCode(exitCode, exitCodeOf(second))
      if (outcome !== 'interrupted') outcome = 'failed'
    })
  const summary: RunSummary = {
    schemaVersion: 1,
    runId: run.opened.runId,
    command: request.command,
    plan,
    outcome,
    verdict,
    range: { since: request.since ?? null, until: request.until ?? null },
    lastFullWalk: summed(await writer.lastFull()),
    order: run.facts.order ?? null,
    requests,
    retries,
    ...counts,
    openTasks: await writer.owedCount('open'),
    drift,
    bytes,
    durationMs: now() - tally.startedAt,
    waitedMs,
    notBefore: run.facts.not_before ?? null,
  }
  const isFirst = run.opened.lastFull === null && summary.lastFullWalk !== null
  return { summary, exitCode, isFirst, notes: [...short, ...told], error }
}

function cacheNote(oldestMs: number): string {
  const seconds = Math.ceil(oldestMs / 1000)
  return `Answers came from a cache on the way although none was asked for, up to ${seconds} s old: what is fresh as of a moment is so as of that much earlier.`
}

function clockNote(skew: Skew): string {
  return `This machine's clock is ${clockIs(skew)}: set it right (NTP, \`timedatectl\`); \`task-mirror doctor\` compares them again.`
}

/** In words, where this machine's clock is, to ten seconds: a Date header is no finer than seconds. */
export function clockIs({ aheadMs }: Skew): string {
  const apart = prettyMilliseconds(Math.round(Math.abs(aheadMs) / 10_000) * 10_000, { unitCount: 2 })
  return `${apart} ${aheadMs > 0 ? 'behind' : 'ahead of'} the service's`
}

/** `codes`: of what fell short; `stopped`: the caller's signal. */
export function howEnded(
  error: unknown,
  codes: number[],
  stopped: AbortSignal,
): { exitCode: number; outcome: Outcome } {
  const isStopped = stopped.aborted && isMirrorError(error, 'interrupted')
  const failed = error === null ? EXIT.done : exitCodeOf(error)
  const exitCode = (isStopped ? stopCodeOf(stopped) : null) ?? worstExitCode(...codes, failed)
  if (isStopped) return { exitCode, outcome: 'interrupted' }
  if (error !== null && exitCode !== EXIT.partial) return { exitCode, outcome: 'failed' }
  return { exitCode, outcome: exitCode === EXIT.done ? 'ok' : 'partial' }
}

function verdictOf(verdicts: Verdict[]): Verdict | null {
  if (verdicts.length === 0) return null
  return verdicts.includes('partial') ? 'partial' : 'complete'
}

function summed(walk: WalkRow | null): LastFullWalk | null {
  if (walk === null) return null
  const { id, verdict, reason, startedAt, finishedAt } = walk
  return { id, verdict: verdict as Verdict, reason, startedAt, finishedAt: finishedAt as number }
}
