// Read handles of mirrors, which stay open for good. Loads no SQLite: threads that only start others need none.
import { openSync, type Stats, statSync } from 'node:fs'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

const HANDLES = 'task-mirror.handles'
/** A thread begins with the handles of the thread that started it: they belong to the process. */
const handles = new Map((getEnvironmentData(HANDLES) ?? []) as [string, number][])

/**
 * A read handle that is never closed. Closing any handle of a file drops the POSIX locks that SQLite holds on it in
 * this process (https://www.sqlite.org/howtocorrupt.html section 2.2), so a look at the header must not close one.
 */
export function lastingHandle(path: string, stat: Stats): number {
  const key = `${stat.dev}:${stat.ino}`
  const known = handles.get(key)
  if (known !== undefined) return known
  const handle = openSync(path, 'r')
  handles.set(key, handle)
  return handle
}

/** Call before starting a thread that opens the mirror: it uses this thread's handle instead of keeping another. */
export function shareHandle(path: string): void {
  try {
    const stat = statSync(path)
    if (stat.isFile()) lastingHandle(path, stat)
    setEnvironmentData(HANDLES, [...handles])
  } catch {
    // There is no file yet, or none that may be read.
  }
}
