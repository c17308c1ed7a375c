// `schedule`: stays up, runs sync and export on cron expressions, serves /healthz, /metrics and a status page.
import { moment } from '../shown.ts'
import type { CommandSpec } from './shared/command.ts'

export const schedule: CommandSpec = {
  name: 'schedule',
  summary: 'stay up: run sync and export on cron expressions, serve health, metrics and a status page',
  examples: [
    'task-mirror schedule --base-url https://tasks.example.com',
    "task-mirror schedule --sync '*/10 * * * *' --export '0 3 * * *' --timezone Europe/Berlin",
    'task-mirror schedule --listen 0.0.0.0:8080',
  ],
  flags: [
    {
      flags: '--sync <cron>',
      description: 'when to sync, null for never (default: every five minutes)',
      key: 'schedule.sync',
    },
    {
      flags: '--export <cron>',
      description: 'when to publish a snapshot (default: null, never)',
      key: 'schedule.export',
    },
    { flags: '--timezone <name>', description: 'time zone of both (default: UTC)', key: 'schedule.timezone' },
    {
      flags: '--listen <address>',
      description: 'address or port of the pages, null for none (default: 127.0.0.1:8080)',
      key: 'schedule.listen',
    },
  ],
  untilSignal: true,
  async run(context) {
    const { serviceContext } = await import('./shared/service-context.ts')
    const { runSchedule } = await import('../schedule/schedule.ts')
    const { toolVersion } = await import('../version.ts')
    // An invalid configuration ends the command here, before anything runs.
    const first = await serviceContext(context)
    const { config } = first
    const { origins, file } = await context.config()
    const { env, log, signal, wall, monotonic, random } = context
    await runSchedule({
      ...{ config, env, log, signal, now: wall, monotonic, random, toolVersion: toolVersion() },
      makeRunContext: async (now) => ({ ...first, now, apiKey: (await context.apiKey()).key }),
      nameOf: (key) => (origins[key] === file || origins[key] === 'default' ? key : (origins[key] ?? key)),
      inUse: await context.filesInUse(),
      tell: context.tell,
      onReady: ({ url, jobs }) => context.print(context.json ? { schemaVersion: 1, url, jobs } : readyText(url, jobs)),
    })
    return 0
  },
}

function readyText(url: string | null, jobs: readonly { name: string; nextAt: number | null }[]): string {
  const served = url === null ? 'Serving no pages.' : `Status page, /healthz and /metrics at ${url}`
  const due = jobs.map(({ name, nextAt }) => `${name}: next ${nextAt === null ? 'never' : moment(nextAt)}`)
  return [served, ...due].join('\n')
}
