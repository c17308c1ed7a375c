// The threads that a command is likely to need. They start while the program is loaded, which takes as long as they do.
import { availableParallelism } from 'node:os'
import { WRITER_THREAD } from '../../sync/writer/entry.ts'
import { entryBeside, startEarly } from '../../threads/early.ts'

export const READING_THREAD = entryBeside(import.meta.url, 'worker')

const THREADS: Readonly<Record<string, URL>> = { sync: WRITER_THREAD, backfill: WRITER_THREAD, export: READING_THREAD }

/** `command`: the first argument, whatever it is. On a single core, loading would only wait for the thread. */
export function startThreadOf(command: string | undefined): void {
  if (command === undefined || !Object.hasOwn(THREADS, command)) return
  if (availableParallelism() > 1) startEarly(THREADS[command]!)
}
