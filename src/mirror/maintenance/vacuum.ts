// Writes a mirror anew into another file, in a process of its own: it is one statement that can take minutes.
import { dirname } from 'node:path'
import { isMirrorError, MirrorError } from '../../errors.ts'
import { askProcess, type ProcessRequest } from './statement-process.ts'

export interface Vacuumed {
  /** Rows of `tasks`, tombstones included. */
  tasks: number
  /** Highest `change_seq`; 0 where there is no row. */
  cut: number
}

/** What the process is asked; it answers `Vacuumed`. */
export interface VacuumRequest extends ProcessRequest {
  out: string
}

/**
 * Writes one consistent state of the mirror at `path` into the empty file `out`, without free pages and without WAL.
 * Neither waits for a writer nor keeps one waiting. Throws what `openReader` throws, `disk-full`, or `interrupted`;
 * whatever is in `out` is then of no use.
 */
export async function vacuumInto(path: string, out: string, signal: AbortSignal | undefined): Promise<Vacuumed> {
  try {
    return await askProcess<VacuumRequest, Vacuumed>('vacuum-process', { path, what: 'The copy', out }, signal)
  } catch (error) {
    throw isMirrorError(error, 'disk-full') ? fullDisk(dirname(out), error) : error
  }
}

/** SQLite does not say which disk is full: it is that of the copy, because nothing else is written. */
function fullDisk(folder: string, cause: MirrorError): MirrorError {
  return new MirrorError('disk-full', `The disk of ${folder} is full; what was there before is as it was`, {
    facts: { path: folder },
    hint: 'Free some space and run the same command again.',
    cause,
  })
}
