// Checks every invariant of a mirror, in a process of its own (verify-process.ts); blocks no run.

import { askProcess, type ProcessRequest } from './statement-process.ts'

/** An invariant that does not hold. */
export interface BrokenInvariant {
  check:
    | 'content-hash'
    | 'host'
    | 'json'
    | 'change-seq'
    | 'owed-tombstone'
    | 'owed-unknown'
    | 'walk-marks'
    | 'snapshot-cut'
  message: string
  /** How many rows break it. */
  count: number
  /** Names of the first rows that break it: ids of tasks, or of rows in other tables. */
  examples: string[]
}

export interface MirrorVerified {
  path: string
  /** Rows of `tasks`, tombstones among them. */
  rows: number
  tombstones: number
  faults: BrokenInvariant[]
}

/** How far the process is. */
export type VerifyProgress = [phase: string, rows: number, total: number | null]

interface VerifyMirrorOptions {
  signal: AbortSignal
  onProgress?(...progress: VerifyProgress): void
}

/**
 * Throws `mirror-missing`, `mirror-foreign`, `mirror-newer`, `mirror-unreadable`, `interrupted`, and `mirror-damaged`
 * where SQLite itself finds the file damaged.
 */
export async function verifyMirror(path: string, { signal, onProgress }: VerifyMirrorOptions): Promise<MirrorVerified> {
  return askProcess<ProcessRequest, MirrorVerified>('verify-process', { path, what: 'The check' }, signal, onProgress)
}
