// The thread of `schedule` and `report`: reads the mirror and its figures, publishes snapshots. worker.ts is its entry.
import { extname } from 'node:path'
import { type Thread as ReadingThread, startThread as startReading } from '../mirror/reading-thread.ts'
import type { work } from './worker.ts'

export type Thread = ReadingThread<typeof work>

/** Such a thread for the mirror at `dbPath`. */
export function startThread(dbPath: string): Thread {
  return startReading(new URL(`./worker${extname(import.meta.url)}`, import.meta.url), dbPath)
}
