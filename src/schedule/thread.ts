// The thread of `schedule` and `report`: reads the mirror and its figures, publishes snapshots. Its entry is worker.ts.
import { extname } from 'node:path'
import { type ReadingThread, readingThread } from '../mirror/reading-thread.ts'
import type { work } from './worker.ts'

export function startThread(dbPath: string): ReadingThread<typeof work> {
  return readingThread(new URL(`./worker${extname(import.meta.url)}`, import.meta.url), dbPath)
}
