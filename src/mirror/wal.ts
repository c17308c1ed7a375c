// How large the WAL beside a mirror is, and what to do about one that grows.
import { statSync } from 'node:fs'
import { walPath } from './files.ts'

/** SQLite checkpoints the WAL at about this size (`wal_autocheckpoint`); beyond it, something prevents that. */
export const LARGE_WAL_BYTES = 64 * 1024 * 1024

export const LARGE_WAL =
  'a reader keeps an old transaction open, so it cannot be folded back: end that reader (fuser FILE names it)'

/** Size of the WAL; 0 where there is none. */
export function walBytes(path: string): number {
  try {
    return statSync(walPath(path)).size
  } catch {
    return 0
  }
}
