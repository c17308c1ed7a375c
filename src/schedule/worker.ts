// Entry of the thread that reads the mirror, draws the report and publishes snapshots. A connection lives no longer than
// one answer, so that a mirror that was replaced is noticed.
import { parentPort } from 'node:worker_threads'
import { isMirrorError, MirrorError } from '../errors.ts'
import { exportSnapshot } from '../export/export.ts'
import { readFigures, readLastPublication } from '../mirror/figures.ts'
import { type Db, openReader } from '../mirror/open.ts'
import { readStatus } from '../mirror/status.ts'
import { sectionsHtml } from '../report/sections.ts'
import type { Answer, Asked, PublishOptions, Sections, SectionsQuestion, Stop } from './thread.ts'

const port = parentPort as NonNullable<typeof parentPort>
const stopped = new AbortController()

port.on('message', async (message: Asked | Stop) => {
  if ('stop' in message) stopped.abort(new MirrorError('interrupted', 'Stopped'))
  else port.postMessage(await answer(message))
})

async function answer({ id, method, argument }: Asked): Promise<Answer> {
  try {
    return { id, result: await work(method, argument) }
  } catch (error) {
    if (isMirrorError(error)) {
      const { code, message, hint, facts } = error
      return { id, error: { code, message, hint, facts } }
    }
    return { id, crash: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

function work(method: Asked['method'], argument: unknown): unknown {
  if (method === 'publish') return exportSnapshot({ ...(argument as PublishOptions), signal: stopped.signal })
  if (method === 'sections') return readSections(argument as SectionsQuestion)
  return read(argument as string, (db) => ({ status: readStatus(db), publication: readLastPublication(db) }))
}

async function readSections({ dbPath, now }: SectionsQuestion): Promise<Sections> {
  const startedAt = performance.now()
  const { status, figures } = read(dbPath, (db) => ({ status: readStatus(db), figures: readFigures(db, now) }))
  const html = await sectionsHtml(status, figures, now)
  return { html, baseUrl: status.baseUrl, durationMs: Math.round(performance.now() - startedAt) }
}

function read<T>(dbPath: string, question: (db: Db) => T): T {
  const db = openReader(dbPath)
  try {
    return question(db)
  } finally {
    db.close()
  }
}
