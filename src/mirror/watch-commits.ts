// Tells whether two cuts of a mirror are the same.
import { openReader } from './open.ts'

/**
 * Tells whether anything was committed to the mirror at `path` since this call, or since the last answer: two cuts
 * opened between two answers, the second false, are the same. https://www.sqlite.org/pragma.html#pragma_data_version
 */
export function watchCommits(path: string): { hasCommits(): boolean; close(): void } {
  const db = openReader(path)
  const version = db.prepare('PRAGMA data_version').pluck()
  let last = version.get()
  return {
    hasCommits() {
      const before = last
      last = version.get()
      return last !== before
    },
    close: () => void db.close(),
  }
}
