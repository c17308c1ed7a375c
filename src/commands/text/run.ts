// The summary of a run as a few lines that a person understands at once. Pure.
import prettyBytes from 'pretty-bytes'
import prettyMilliseconds from 'pretty-ms'
import { DEFAULTS } from '../../config/defaults.ts'
import { isMirrorError } from '../../errors.ts'
import { asCalled, countText, grouped, moment, shellWord } from '../../shown.ts'
import type { RunResult, RunSummary } from '../../sync/conclude.ts'
import { fold, pairs } from './layout.ts'

interface RunTextOptions {
  /** The mirror; null where nothing was written to one. */
  path?: string | null
  isDryRun?: boolean
  /** Width of the terminal. */
  width?: number | undefined
  /** How the user calls this program. */
  command?: string
}

export function runText(
  { summary, isFirst, notes, error }: RunResult,
  { path = null, isDryRun = false, width = Number.POSITIVE_INFINITY, command = 'task-mirror' }: RunTextOptions = {},
): string {
  const isNew = isFirst && path !== null
  const lines = pairs(
    [
      // A dry run has no row in `runs`; its number will be that of another run.
      [
        'run',
        `${isDryRun ? 'dry' : summary.runId} (${summary.command}: ${summary.plan.join(', ') || 'nothing to do'})`,
      ],
      ['outcome', outcomeText(summary, error)],
      ['range', rangeText(summary.range)],
      ['tasks', changesText(summary)],
      ['open', summary.openTasks === 0 ? null : countText(summary.openTasks, 'task')],
      ['set aside', summary.rejected === 0 ? null : `${countText(summary.rejected, 'item')}; see ${command} rejected`],
      ['requests', requestsText(summary)],
      ['drift', summary.drift === 0 ? null : `${countText(summary.drift, 'difference')} where windows overlap`],
      ['duration', durationText(summary)],
      ['not before', summary.notBefore === null ? null : `${moment(summary.notBefore)}, as the service asked`],
      ['mirror', isDryRun ? 'as it was: this was a dry run' : isNew ? path : null],
      ['next', isNew ? `${command} export ${dbFlag(path)}--out tasks.parquet, or ask it in SQL` : null],
    ],
    width,
  )
  return [lines, ...notes.flatMap((note) => fold(`note: ${asCalled(note, command)}`, width))].join('\n')
}

/** The flag that makes another command find the mirror. */
function dbFlag(path: string): string {
  if (path === DEFAULTS.mirror.path) return ''
  return `--db ${shellWord(path)} `
}

/** What a stopped run leaves, in one line. `why`: such as "Stopped by SIGINT". */
export function stoppedText(why: string, { seen }: RunSummary, path: string | null): string {
  if (path === null) return `${why}: a dry run writes nothing`
  if (seen === 0) return `${why}: no task had come in yet; the next run begins again`
  return `${why}: the ${countText(seen, 'task')} that came in are kept in ${path}; the next run goes on from there`
}

/** `error`: what ended the run early, if anything did. It may have ended a walk, which the verdict does not cover. */
function outcomeText({ outcome, verdict, lastFullWalk, seen }: RunSummary, error: unknown): string {
  const isLate = isMirrorError(error, 'duration-reached') && seen > 0
  const ended = isLate ? 'stopped at --max-duration, progress kept' : outcome
  const proved = verdict === null ? '' : `, verdict ${error !== null ? `of the walks that ended: ${verdict}` : verdict}`
  const reason = verdict === 'partial' && lastFullWalk?.reason != null ? ` (${lastFullWalk.reason})` : ''
  return `${ended}${proved}${reason}`
}

function rangeText({ since, until }: RunSummary['range']): string | null {
  if (since === null) return until === null ? null : `created before ${moment(until)}`
  return `created from ${moment(since)} ${until === null ? 'on' : `to before ${moment(until)}`}`
}

/** What the run met and what that changed. Counts of zero are left out. */
function changesText(summary: RunSummary): string {
  // Capped: details of tasks that the list had shown are counted too, and would look like more tasks.
  const { seen, inserted, restored } = summary
  const updated = Math.min(summary.updated, Math.max(0, seen - inserted - restored))
  const unchanged = Math.min(summary.unchanged, Math.max(0, seen - inserted - updated - restored))
  const counts = { ...summary, updated, unchanged }
  const changes = (['inserted', 'updated', 'unchanged', 'deleted', 'restored'] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => `${grouped(counts[name])} ${name}`)
  return `${grouped(summary.seen)} seen${changes.length === 0 ? '' : `: ${changes.join(', ')}`}`
}

function requestsText(summary: RunSummary): string {
  const parts = [countText(summary.windows, 'window'), countText(summary.details, 'detail')]
  // Requests that find the end of the list or count it, and those answered with an error.
  const other = summary.requests - summary.windows - summary.details - summary.retries
  if (other > 0) parts.push(`${grouped(other)} other`)
  if (summary.retries > 0) parts.push(countText(summary.retries, 'retry', 'retries'))
  return `${grouped(summary.requests)} (${parts.join(', ')}), ${prettyBytes(summary.bytes)}`
}

function durationText({ durationMs, waitedMs }: RunSummary): string {
  const waited = waitedMs < 100 ? '' : `, ${prettyMilliseconds(waitedMs)} of it waiting`
  return `${prettyMilliseconds(durationMs)}${waited}`
}
