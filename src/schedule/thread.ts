// The thread of `schedule` and `report`: reads the mirror and its figures, publishes snapshots. worker.ts is its entry.
import { extname } from 'node:path'
import { type ReadingThread, readingThread } from '../mirror/reading-thread.ts'
import type { work } from './worker.ts'

/** Such a thread for the mirror at `dbPath`. */
export function startThread(dbPath: string): ReadingThread<typeof work> {
  return readingThread(new URL(`./worker${extname(import.meta.url)}`, import.meta.url), dbPath)
}
