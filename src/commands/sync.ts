// `sync`: one run by the cheapest plan. The cron job.
import { parseDuration } from '../config/duration.ts'
import type { Log } from '../log.ts'
import type { CommandSpec } from './shared/command.ts'

interface SyncFlags {
  full?: true
  dryRun?: true
  allowMassDelete?: true
  rebind?: true
  now?: true
}

export const sync: CommandSpec<SyncFlags> = {
  name: 'sync',
  summary: 'bring the mirror up to date: one run by the cheapest plan',
  examples: [
    'task-mirror sync --base-url https://tasks.example.com',
    'task-mirror sync --full --max-duration 50m',
    'task-mirror sync --json | jq .inserted',
  ],
  flags: [
    { flags: '--full', description: 'walk the whole list' },
    {
      flags: '--details <when>',
      description: 'ask for single tasks: auto, always or never',
      choices: ['auto', 'always', 'never'],
      key: 'sync.details',
    },
    { flags: '--dry-run', description: 'report what would change and write nothing' },
    { flags: '--allow-mass-delete', description: 'allow deletions beyond sync.massDeleteFraction' },
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
    const { withThread } = await import('../sync/writer/early-thread.ts')
    return withThread(async () => {
      const { serviceContext } = await import('./shared/service-context.ts')
      const runContext = await serviceContext(context)
      const { runSync } = await import('../sync/run.ts')
      const { printRun } = await import('./shared/print-run.ts')
      const { noticeOf } = await import('./shared/notice.ts')
      const work = (log: Log) =>
        runSync(
          { ...runContext, log },
          {
            command: 'sync',
            full: flags.full === true,
            details: runContext.config.sync.details,
            dryRun: flags.dryRun === true,
            allowMassDelete: flags.allowMassDelete === true,
            rebind: flags.rebind === true,
            ignoreNotBefore: flags.now === true,
            maxDurationMs: runContext.config.sync.maxDurationMs,
          },
        )
      // A dry run is nobody's business: a monitor would take it for a real one.
      const isTrial = flags.dryRun === true
      const result = isTrial
        ? await work(context.log)
        : await (await noticeOf(context, runContext.config)).ofRun('sync', work)
      return printRun(context, result, isTrial ? null : runContext.config.mirror.path)
    })
  },
}
