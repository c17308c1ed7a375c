// The thread of `schedule` and `report`: reads the mirror and its figures, publishes snapshots. Its entry is worker.ts.
import { type ReadingThread, readingThread } from '../mirror/reading-thread.ts'
import { entryBeside } from '../threads/early.ts'
import type { work } from './worker.ts'

export function startThread(dbPath: string): ReadingThread<typeof work> {
  return readingThread(entryBeside(import.meta.url, 'worker'), dbPath)
}
