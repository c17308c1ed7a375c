// Entry of the thread that reads the mirror and publishes snapshots for `schedule`. A connection lives no longer than
// one answer, so that a mirror that was replaced is noticed.
import { parentPort } from 'node:worker_threads'
import { isMirrorError, MirrorError } from '../errors.ts'
import { exportSnapshot } from '../export/export.ts'
import { readLastPublication } from '../mirror/figures.ts'
import { openReader } from '../mirror/open.ts'
import { readStatus } from '../mirror/status.ts'
import type { Answer, Asked, PublishOptions, Stop } from './thread.ts'

const port = parentPort as NonNullable<typeof parentPort>
const stopped = new AbortController()

port.on('message', async (message: Asked | Stop) => {
  if ('stop' in message) stopped.abort(new MirrorError('interrupted', 'Stopped'))
  else port.postMessage(await answer(message))
})

async function answer({ id, method, argument }: Asked): Promise<Answer> {
  try {
    const result =
      method === 'publish'
        ? await exportSnapshot({ ...(argument as PublishOptions), signal: stopped.signal })
        : read(argument as string)
    return { id, result }
  } catch (error) {
    if (isMirrorError(error)) {
      const { code, message, hint, facts } = error
      return { id, error: { code, message, hint, facts } }
    }
    return { id, crash: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

function read(dbPath: string) {
  const db = openReader(dbPath)
  try {
    return { status: readStatus(db), publication: readLastPublication(db) }
  } finally {
    db.close()
  }
}
