// What is told of a run and of an export: scalars under the names of `--json`. Pure.
import type { ExportResult } from '../export/export.ts'
import type { RunResult } from '../sync/summary.ts'
import { type EndedRun, errorFields } from './run-notice.ts'

export function describeRun({ summary, exitCode, error }: RunResult): EndedRun {
  const { schemaVersion: _, command: __, plan, range: ___, lastFullWalk, durationMs: ____, ...counts } = summary
  const walk = lastFullWalk === null ? {} : { lastFullWalk: lastFullWalk.verdict }
  const fields = { ...counts, plan: plan.join(' '), ...walk, ...(error === null ? {} : errorFields(error)) }
  return { exitCode, fields }
}

export function describeExport(result: ExportResult, exitCode: number): EndedRun {
  const { snapshotId, path, format, rows, bytes, cut, verdict } = result
  return { exitCode, fields: { snapshotId, path, format, rows, bytes, cut, verdict } }
}
