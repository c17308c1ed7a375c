// `report`: one HTML file that shows what the mirror holds and how its runs went.
import type { CommandSpec } from './shared/command.ts'

interface ReportFlags {
  out?: string
}

export const report: CommandSpec<ReportFlags> = {
  name: 'report',
  summary: 'write one self-contained HTML file: freshness, volumes, outcomes, durations, runs',
  examples: ['task-mirror report', 'task-mirror report --out /var/www/tasks.html --db tasks.sqlite'],
  flags: [{ flags: '--out <file>', description: 'the file to write, - for stdout (default: report.html)' }],
  async run(context, { out = 'report.html' }) {
    const { startThread } = await import('../schedule/thread.ts')
    const { reportPage } = await import('../report/page.ts')
    const { toolVersion } = await import('../version.ts')
    const { filesInUse, refuseInUse } = await import('../export/publish/in-use.ts')
    const { config } = await context.config()
    const inUse = filesInUse(config.mirror.path, await context.filesInUse())
    // Before the mirror is read; openDraft looks once more.
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
      const path = await writeReport(out, html, inUse)
      const bytes = Buffer.byteLength(html)
      await context.print(context.json ? { schemaVersion: 1, path, bytes, durationMs } : `The report is in ${path}`)
      return 0
    } finally {
      await thread.end()
    }
  },
}

/** The whole new file or what was there before. Returns its absolute path. Throws what publishing a snapshot throws. */
async function writeReport(out: string, html: string, inUse: readonly string[]): Promise<string> {
  const { resolve } = await import('node:path')
  const { randomBytes } = await import('node:crypto')
  const { openDraft } = await import('../export/publish/publish.ts')
  const path = resolve(out)
  const random = randomBytes(6).toString('hex')
  const draft = await openDraft(path, { mode: 0o600, pid: process.pid, random, now: Date.now(), inUse })
  try {
    await draft.write(Buffer.from(html))
    await draft.publish()
    return path
  } catch (error) {
    await draft.discard()
    throw error
  }
}
