// Common to `sync` and `backfill`: the flags, the run and its printed result. Loads nothing before it runs.
import { LONGEST_MS, parseDuration } from '../../config/duration.ts'
import { isMirrorError, MirrorError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { calledAs } from '../../shown.ts'
import type { RunResult } from '../../sync/conclude.ts'
import type { SyncRequest } from '../../sync/plan.ts'
import type { CommandContext, Flag } from './command.ts'

export interface RunFlags {
  now?: true
  rebind?: true
}

export const RUN_FLAGS: readonly Flag[] = [
  { flags: '--now', description: 'run although the service asked to wait longer' },
  {
    flags: '--rebind',
    description: 'accept another base URL or another account for this mirror; reads the whole list',
  },
  {
    flags: '--max-duration <duration>',
    description: 'end after this time, such as 50m, with exit 4; progress is kept',
    key: 'sync.maxDurationMs',
    parse: parseMaxDuration,
  },
]

function parseMaxDuration(text: string, name: string): number {
  const ms = parseDuration(text, name)
  if (ms >= 1 && ms <= LONGEST_MS) return ms
  throw new MirrorError('usage-invalid', `${name}: "${text}" is not between 1ms and 24d`)
}

/** Returns the exit code. */
export async function runAndPrint(context: CommandContext, flags: RunFlags, request: SyncRequest): Promise<number> {
  const { serviceContext } = await import('./service-context.ts')
  const { runSync } = await import('../../sync/run.ts')
  const { tellingOthers } = await import('./notice.ts')
  const { describeRun } = await import('../../notify/fields.ts')
  const { config } = await context.config()
  const asked = {
    rebind: flags.rebind === true,
    ignoreNotBefore: flags.now === true,
    ...request,
  }
  // The service context is made within the work: its errors, such as a missing key file, are told to others too.
  const work = async (log: Log) => runSync({ ...(await serviceContext(context)), log }, asked)
  // A monitor would take a dry run for a real one, so it is not told of it.
  const isDryRun = request.dryRun === true
  const result = isDryRun ? await work(context.log) : await tellingOthers(context, request.command, work, describeRun)
  return printRun(context, result, isDryRun ? null : config.mirror.path)
}

/** `path`: the mirror, or null for a dry run. */
async function printRun(context: CommandContext, result: RunResult, path: string | null): Promise<number> {
  const { summary, notes, error, exitCode } = result
  const { runId } = summary
  const isText = !context.json && !context.quiet
  const isDryRun = path === null
  let told = notes
  if (context.json) await context.print(isDryRun ? { ...summary, dryRun: true } : summary)
  // A run that was refused before its first request has nothing to sum up.
  if (isText && (summary.requests > 0 || error === null)) {
    const { runText } = await import('../text/run.ts')
    await context.print(runText(result, { path, isDryRun, width: context.columns, command: calledAs(context.env) }))
    // A person at the terminal has just read the notes; with cron only the log is kept, so it has them too.
    if (context.attended && context.stdout.isTTY === true) told = []
  }
  for (const note of told) context.log.warn({ runId }, note)
  if (error !== null) context.tell(await errorToTell(context, result, path), { runId })
  return exitCode
}

/** A run that was stopped says what it kept, not what it waited for; a dry run out of time says it kept nothing. */
async function errorToTell({ signal }: CommandContext, { summary, error }: RunResult, path: string | null) {
  const isLate = path === null && isMirrorError(error, 'duration-reached')
  const isStopped = summary.outcome === 'interrupted' && signal.reason instanceof MirrorError
  if (!isLate && !isStopped) return error
  const { stoppedText } = await import('../text/run.ts')
  if (isLate) return new MirrorError(error.code, stoppedText('The run has reached --max-duration', summary, path))
  return new MirrorError('interrupted', stoppedText(signal.reason.message, summary, path), { cause: error })
}
