// `backfill`: a full walk by hand, a range of createdAt, or single tasks.
import { parseDuration, parseMoment } from '../config/duration.ts'
import { MirrorError } from '../errors.ts'
import type { CommandSpec } from './shared/command.ts'
import { checkRange } from './shared/values.ts'

interface BackfillFlags {
  since?: number
  until?: number
  refetch?: true
  id?: string[]
  now?: true
  rebind?: true
}

export const backfill: CommandSpec<BackfillFlags> = {
  name: 'backfill',
  summary: 'walk the whole list or a range of createdAt, or fetch single tasks; resumable',
  examples: [
    'task-mirror backfill',
    'task-mirror backfill --since 2026-11-01 --until 2026-11-08',
    'task-mirror backfill --since 7d --refetch',
    'task-mirror backfill --id ID1 ID2',
  ],
  flags: [
    {
      flags: '--since <moment>',
      description: 'only tasks created from then on: 2026-11-01, epoch ms or 7d',
      parse: parseMoment,
    },
    { flags: '--until <moment>', description: 'only tasks created before', parse: parseMoment },
    { flags: '--refetch', description: 'get every detail again' },
    { flags: '--id <id...>', description: 'fetch just these tasks' },
    { flags: '--now', description: 'run although the service asked to wait longer' },
    { flags: '--rebind', description: 'accept another base URL or another account for this mirror' },
    {
      flags: '--max-duration <duration>',
      description: 'end after this time, such as 50m, with exit 4; progress is kept',
      key: 'sync.maxDurationMs',
      parse: parseDuration,
    },
  ],
  async run(context, flags) {
    const { since = null, until = null, id: ids } = flags
    checkRange(since, until)
    if (ids !== undefined && (since !== null || until !== null)) {
      throw new MirrorError('usage-invalid', '--id cannot be combined with --since and --until')
    }
    const { withThread } = await import('../sync/writer/early-thread.ts')
    return withThread(async () => {
      const { serviceContext } = await import('./shared/service-context.ts')
      const runContext = await serviceContext(context)
      const { runSync } = await import('../sync/run.ts')
      const { printRun } = await import('./shared/print-run.ts')
      const { noticeOf } = await import('./shared/notice.ts')
      const result = await (await noticeOf(context, runContext.config)).ofRun('backfill', (log) =>
        runSync(
          { ...runContext, log },
          {
            command: 'backfill',
            full: ids === undefined && since === null && until === null,
            details: runContext.config.sync.details,
            rebind: flags.rebind === true,
            maxDurationMs: runContext.config.sync.maxDurationMs,
            since,
            until,
            refetch: flags.refetch === true,
            ignoreNotBefore: flags.now === true,
            ...(ids === undefined ? {} : { ids }),
          },
        ),
      )
      return printRun(context, result, runContext.config.mirror.path)
    })
  },
}
