// What `sync` and `backfill` have in common: flags, the run, the text about it. Loads nothing before it runs.
import { LONGEST_MS, parseDuration } from '../../config/duration.ts'
import { MirrorError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { SyncRequest } from '../../sync/plan.ts'
import type { CommandContext, Flag } from './command.ts'

export interface RunFlags {
  now?: true
  rebind?: true
}

export const RUN_FLAGS: readonly Flag[] = [
  { flags: '--now', description: 'run although the service asked to wait longer' },
  { flags: '--rebind', description: 'accept another base URL or another account for this mirror' },
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

/** The exit code. */
export async function runAndPrint(context: CommandContext, flags: RunFlags, request: SyncRequest): Promise<number> {
  const { withThread } = await import('../../sync/writer/early-thread.ts')
  return withThread(async () => {
    const { serviceContext } = await import('./service-context.ts')
    const runContext = await serviceContext(context)
    const { runSync } = await import('../../sync/run.ts')
    const { printRun } = await import('./print-run.ts')
    const { noticeOf } = await import('./notice.ts')
    const { config } = runContext
    const { details, maxDurationMs } = config.sync
    const asked = {
      details,
      maxDurationMs,
      rebind: flags.rebind === true,
      ignoreNotBefore: flags.now === true,
      ...request,
    }
    const work = (log: Log) => runSync({ ...runContext, log }, asked)
    // A dry run is nobody's business: a monitor would take it for a real one.
    const isDryRun = request.dryRun === true
    const result = isDryRun
      ? await work(context.log)
      : await (await noticeOf(context, config)).ofRun(request.command, work)
    return printRun(context, result, isDryRun ? null : config.mirror.path)
  })
}
