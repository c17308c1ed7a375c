// The summary of a run as a few lines that a person understands at once. Pure.
import prettyBytes from 'pretty-bytes'
import prettyMilliseconds from 'pretty-ms'
import type { RunResult, RunSummary } from '../../sync/summary.ts'
import { counted, fold, grouped, moment, pairs } from '../layout.ts'

export function runText({ summary, notes }: RunResult, width = Number.POSITIVE_INFINITY): string {
  const lines = pairs(
    [
      ['run', `${summary.runId} (${summary.command}: ${summary.plan.join(', ') || 'nothing to do'})`],
      ['outcome', outcomeText(summary)],
      ['range', rangeText(summary.range)],
      ['tasks', changesText(summary)],
      ['open', summary.openTasks === 0 ? null : counted(summary.openTasks, 'task')],
      ['set aside', summary.rejected === 0 ? null : `${counted(summary.rejected, 'item')}; see task-mirror rejected`],
      ['requests', requestsText(summary)],
      ['duration', durationText(summary)],
      ['not before', summary.notBefore === null ? null : `${moment(summary.notBefore)}, as the service asked`],
    ],
    width,
  )
  return [lines, ...notes.flatMap((note) => fold(`note: ${note}`, width))].join('\n')
}

function outcomeText({ outcome, verdict, lastFullWalk }: RunSummary): string {
  const proved = verdict === null ? '' : `, verdict ${verdict}`
  const reason = verdict === 'partial' && lastFullWalk?.reason != null ? ` (${lastFullWalk.reason})` : ''
  return `${outcome}${proved}${reason}`
}

function rangeText({ since, until }: RunSummary['range']): string | null {
  if (since === null && until === null) return null
  const from = since === null ? 'the beginning' : moment(since)
  return `created from ${from} to before ${until === null ? 'now' : moment(until)}`
}

/** What the run met and what that changed; changes of which there were none are left out. */
function changesText(summary: RunSummary): string {
  const changes = (['inserted', 'updated', 'unchanged', 'deleted', 'restored'] as const)
    .filter((name) => summary[name] > 0)
    .map((name) => `${grouped(summary[name])} ${name}`)
  return `${grouped(summary.seen)} seen${changes.length === 0 ? '' : `: ${changes.join(', ')}`}`
}

function requestsText(summary: RunSummary): string {
  const parts = [counted(summary.windows, 'window'), counted(summary.details, 'detail')]
  if (summary.retries > 0) parts.push(counted(summary.retries, 'retry', 'retries'))
  if (summary.drift > 0) parts.push(`drift ${grouped(summary.drift)}`)
  return `${grouped(summary.requests)} (${parts.join(', ')}), ${prettyBytes(summary.bytes)}`
}

function durationText({ durationMs, waitedMs }: RunSummary): string {
  const waited = waitedMs < 100 ? '' : `, ${prettyMilliseconds(waitedMs)} of it waiting`
  return `${prettyMilliseconds(durationMs)}${waited}`
}
