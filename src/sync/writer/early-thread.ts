// The writer's thread itself, without what runs in it. It takes as long to come up as everything that the main thread has
// to load before it knows what to write, so a command that will need it starts it first.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

let early: Worker | null = null

function startThread(): Worker {
  const file = new URL(`./worker${extname(import.meta.url)}`, import.meta.url)
  // A young generation that may grow as it likes takes 100 MB more and saves no time (docs/performance.md).
  const resourceLimits = { maxYoungGenerationSizeMb: 16 }
  // Handles that the thread leaves open must stay open: closing one would drop SQLite's locks (see mirror/open.ts).
  return new Worker(file, { trackUnmanagedFds: false, resourceLimits })
}

/** Does `work` while the thread comes up; ends the thread where `work` did not take it. */
export async function withThread<T>(work: () => Promise<T>): Promise<T> {
  early ??= startThread()
  try {
    return await work()
  } finally {
    const unused = early
    early = null
    await unused?.terminate()
  }
}

/** The thread that was started early, or another one. */
export function takeThread(): Worker {
  const worker = early ?? startThread()
  early = null
  return worker
}
