// When the export's second thread pays, and where it begins. Apart from the rest, which is loaded while it starts.
import { availableParallelism } from 'node:os'
import { entryBeside } from '../../threads/early.ts'

export const SECOND_THREAD = entryBeside(import.meta.url, 'second-worker')

/** Below this size a second thread has hardly started when the work is done. */
const SMALL_BYTES = 24 * 1024 * 1024

/** Whether two threads share the work where so many bytes of a mirror are to be read; `smallBytes` is for tests. */
export function isForTwo(bytes: number, smallBytes = SMALL_BYTES): boolean {
  return availableParallelism() > 1 && bytes >= smallBytes
}
