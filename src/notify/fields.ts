// What others are told of a run or an export: scalars under the names that `--json` uses, some of them also figures for
// Prometheus. Pure.
import { type ErrorFacts, fileLimitOr, MirrorError } from '../errors.ts'
import type { ExportResult } from '../export/options.ts'
import type { RunResult } from '../sync/conclude.ts'

/** How a run ended: its exit code, and its figures under the names of `--json`. */
export interface EndedRun {
  exitCode: number
  fields: ErrorFacts
}

export function describeRun({ summary, exitCode, error }: RunResult): EndedRun {
  const { schemaVersion: _, command: __, plan, range: ___, lastFullWalk, durationMs: ____, ...counts } = summary
  const fields = { ...counts, plan: plan.join(' '), lastFullWalk: lastFullWalk?.verdict }
  return { exitCode, fields: error === null ? fields : { ...fields, ...errorFields(error) } }
}

export function describeExport(result: ExportResult, exitCode: number): EndedRun {
  const { snapshotId, path, format, rows, bytes, cut, verdict } = result
  return { exitCode, fields: { snapshotId, path, format, rows, bytes, cut, verdict } }
}

export function errorFields(error: unknown): ErrorFacts {
  const told = fileLimitOr(error)
  return { error: told instanceof MirrorError ? told.code : 'bug' }
}

/** What is kept of the last run of each command; each name is the end of a metric's name. */
export const RUN_FIGURES = {
  end_timestamp_seconds: 'When the last run of the command ended.',
  success_timestamp_seconds: 'When the command last ended with exit code 0.',
  duration_seconds: 'How long the last run took.',
  exit_code: 'Exit code of the last run.',
  requests: 'Requests of the last run, retries included.',
  retries: 'Repeated requests of the last run.',
  seen: 'Items the last run met.',
  inserted: 'Tasks the last run inserted.',
  updated: 'Tasks the last run updated.',
  deleted: 'Tasks the last run marked deleted.',
  restored: 'Tombstones the last run took back.',
  rejected: 'Items the last run set aside.',
  drift: 'Differences at seams the last run found.',
  rows: 'Rows the last export published.',
  bytes: 'Bytes the last run received, or the last export published.',
  waited_seconds: 'How long the last run waited because the service asked it to, or between retries.',
} as const

export type RunMetric = keyof typeof RUN_FIGURES
export type RunMetrics = Partial<Record<RunMetric, number>>

/** The Prometheus figures among the fields of a run. */
export function figuresOf(fields: ErrorFacts, now: number): RunMetrics {
  const figures: RunMetrics = { end_timestamp_seconds: now / 1000 }
  if (typeof fields.exitCode === 'number') figures.exit_code = fields.exitCode
  if (fields.exitCode === 0) figures.success_timestamp_seconds = now / 1000
  if (typeof fields.durationMs === 'number') figures.duration_seconds = fields.durationMs / 1000
  if (typeof fields.waitedMs === 'number') figures.waited_seconds = fields.waitedMs / 1000
  for (const name of Object.keys(RUN_FIGURES) as RunMetric[]) {
    const value = fields[name]
    if (typeof value === 'number') figures[name] = value
  }
  return figures
}

/** Keeps the time of the last success when a run has failed. */
export function withLastSuccess(figures: RunMetrics, before: RunMetrics | undefined): RunMetrics {
  const last = before?.success_timestamp_seconds
  return last === undefined ? figures : { success_timestamp_seconds: last, ...figures }
}
