// Writes a mirror anew into another file, in a process of its own: it is one statement that can take minutes.
import { dirname } from 'node:path'
import { isMirrorError, MirrorError } from '../../errors.ts'
import { connect, lend } from '../connect.ts'
import { explaining, isNotWritten } from '../explain.ts'
import { askProcess } from './statement-process.ts'

export interface Vacuumed {
  /** Rows of `tasks`, tombstones included. */
  tasks: number
  /** Highest `change_seq`; 0 where there is no row. */
  cut: number
}

/**
 * Writes one consistent state of the mirror at `path` into the empty file `out`, without free pages and without WAL.
 * Neither waits for a writer nor keeps one waiting. Throws what `openReader` throws, `disk-full`,
 * `snapshot-unwritable` or `interrupted`; whatever is in `out` is then of no use.
 */
export async function vacuumInto(path: string, out: string, signal: AbortSignal | undefined): Promise<Vacuumed> {
  try {
    return await askProcess<Vacuumed>('vacuum', { path, out }, { what: 'The copy', signal })
  } catch (error) {
    throw isMirrorError(error) ? ofCopy(dirname(out), error) : error
  }
}

/** The copy itself, in that process. */
export function vacuum({ path, out }: { path: string; out: string }): Vacuumed {
  return explaining(path, () => {
    lend(connect(path, { readonly: true, timeout: 5_000 }), (db) => db.prepare('VACUUM INTO ?').run(out))
    return lend(connect(out, { fileMustExist: true }), (copy) => {
      // Not WAL: readers of a read-only place could not make the files that it needs.
      copy.pragma('journal_mode = DELETE')
      return copy.prepare('SELECT count(*) AS tasks, coalesce(max(change_seq), 0) AS cut FROM tasks').get() as Vacuumed
    })
  })
}

/** SQLite does not say which file cannot be written: it is the copy, because nothing else is. */
function ofCopy(folder: string, cause: MirrorError): MirrorError {
  const isFull = cause.code === 'disk-full'
  if (!isFull && !isNotWritten(cause.facts.sqlite)) return cause
  const what = isFull
    ? `The disk of ${folder} is full`
    : `The copy in ${folder} cannot be written (${cause.facts.sqlite})`
  return new MirrorError(isFull ? cause.code : 'snapshot-unwritable', `${what}; what was there before is as it was`, {
    facts: { path: folder },
    hint: cause.hint,
    cause,
  })
}
