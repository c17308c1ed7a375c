// Writes a mirror anew into another file, in a process of its own: it is one statement that can take minutes.
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
 * Brings one consistent state of the mirror at `path` into the empty file `out`, without free pages and without WAL.
 * Neither waits for a writer nor keeps one waiting. Throws what `openReader` throws, `disk-full`, or `interrupted`;
 * whatever is in `out` is then of no use.
 */
export async function vacuumInto(path: string, out: string, signal: AbortSignal | undefined): Promise<Vacuumed> {
  return askProcess<VacuumRequest, Vacuumed>('vacuum-process', { path, out }, signal)
}
