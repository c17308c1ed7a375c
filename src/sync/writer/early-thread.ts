// The writer's thread without what runs in it. It is slow to start, so a command that will need it starts it first.
import { extname } from 'node:path'
import { getEnvironmentData, type Worker } from 'node:worker_threads'
import { startWorker } from '../../threads/calls.ts'

/** Environment data by which tests keep writer threads for the next of hundreds of sessions; the program never does. */
export const KEEPS_THREADS = 'task-mirror.keeps-threads'

let early: Worker | null = null
const idle: Worker[] = []

function startThread(): Worker {
  const kept = idle.pop()
  if (kept !== undefined) {
    kept.ref()
    return kept
  }
  return startWorker(new URL(`./worker${extname(import.meta.url)}`, import.meta.url))
}

/** Ends a thread in which no session is open, or keeps it; see `KEEPS_THREADS`. */
export async function leaveThread(worker: Worker): Promise<void> {
  if (getEnvironmentData(KEEPS_THREADS) !== true) return void (await worker.terminate())
  for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event)
  worker.unref()
  idle.push(worker)
}

/** Does `work` while the thread starts; leaves the thread if `work` did not take it. */
export async function withThread<T>(work: () => Promise<T>): Promise<T> {
  early ??= startThread()
  try {
    return await work()
  } finally {
    const unused = early
    early = null
    if (unused !== null) await leaveThread(unused)
  }
}

/** The thread that was started early, or another one. */
export function takeThread(): Worker {
  const worker = early ?? startThread()
  early = null
  return worker
}
