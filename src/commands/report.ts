// `report`: one HTML file that shows what the mirror holds and how its runs went.
import { resolve } from 'node:path'
import type { CommandSpec } from './shared/command.ts'
import { refuseNoFile } from './shared/values.ts'

export const report: CommandSpec<{ out?: string }> = {
  name: 'report',
  summary: 'write one self-contained HTML file: freshness, volumes, outcomes, durations, runs',
  examples: ['task-mirror report', 'task-mirror report --out /var/www/tasks.html --db tasks.sqlite'],
  flags: [{ flags: '--out <file>', description: 'the file to write, - for stdout (default: report.html)' }],
  async run(context, { out = 'report.html' }) {
    if (out !== '-') refuseNoFile(out, 'task-mirror report --out report.html')
    const { startThread } = await import('../schedule/thread.ts')
    const { reportPage } = await import('../report/page.ts')
    const { toolVersion } = await import('../version.ts')
    const { filesInUse, refuseInUse } = await import('../export/publish/in-use.ts')
    const { publishFile } = await import('../export/publish/publish.ts')
    const { config } = await context.config()
    const inUse = filesInUse(config.mirror.path, await context.filesInUse())
    // Refuses before the mirror is read; publishing checks again.
    if (out !== '-') refuseInUse(out, inUse)
    const now = context.now()
    const thread = startThread(config.mirror.path)
    const stopped = new Promise<never>((_, reject) => {
      context.signal.addEventListener('abort', () => reject(context.signal.reason), { once: true })
    })
    try {
      const dbPath = config.mirror.path
      const asked = Promise.all([thread.ask('status', dbPath), thread.ask('figures', { dbPath, now })])
      const [{ status, recent }, { figures, durationMs }] = await Promise.race([asked, stopped])
      const html = reportPage({ status, recent, figures }, { toolVersion: toolVersion(), now })
      if (out === '-') {
        await context.print(html.trimEnd())
        return 0
      }
      const path = resolve(out)
      const bytes = Buffer.from(html)
      await publishFile(path, bytes, { now: Date.now(), inUse })
      const told = { schemaVersion: 1, path, bytes: bytes.length, durationMs }
      await context.printSummary(context.json ? told : `The report is in ${path}`)
      return 0
    } finally {
      await thread.end()
    }
  },
}
