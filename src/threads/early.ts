// Threads are slow to start: one that is likely to be needed starts early, and is taken when it is.
import { extname } from 'node:path'
import { getEnvironmentData, type Worker } from 'node:worker_threads'
import { startWorker } from './calls.ts'

/** Environment data by which tests keep threads for the next of hundreds of sessions; the program never does. */
export const KEEPS_THREADS = 'task-mirror.keeps-threads'

/** By entry. None of them keeps the process running. */
const ready = new Map<string, Worker>()

/** The file `name`, without ending, beside the module whose `import.meta.url` is given. */
export function entryBeside(module: string, name: string): URL {
  return new URL(`./${name}${extname(module)}`, module)
}

/** Starts the thread of `entry`, a file that calls `serve`, unless one is ready. */
export function startEarly(entry: URL): void {
  if (!ready.has(entry.href)) keep(entry, startWorker(entry))
}

/** The thread that is ready, or another one. */
export function takeThread(entry: URL): Worker {
  const worker = ready.get(entry.href)
  if (worker === undefined) return startWorker(entry)
  ready.delete(entry.href)
  worker.ref()
  return worker
}

/** Ends a thread that has nothing open, or keeps it; see `KEEPS_THREADS`. */
export async function leaveThread(entry: URL, worker: Worker): Promise<void> {
  if (getEnvironmentData(KEEPS_THREADS) !== true || ready.has(entry.href)) return void (await worker.terminate())
  for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event)
  keep(entry, worker)
}

function keep(entry: URL, worker: Worker): void {
  worker.unref()
  // One that fails before it is taken is no loss: the one started in its place fails as well, and is listened to.
  worker.once('error', () => ready.get(entry.href) === worker && ready.delete(entry.href))
  ready.set(entry.href, worker)
}
