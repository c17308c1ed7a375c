// Errors of SQLite and of the file system in words: what they mean for the mirror, and what to do next.
import { accessSync, constants } from 'node:fs'
import { fileLimitOr, MirrorError, systemWords } from '../errors.ts'

/** What to do about a damaged mirror. */
const DAMAGED_HINT = 'Check it with `task-mirror verify`; restore a copy, or move it away and run `task-mirror sync`.'

/** Whether this code of SQLite is of a write that failed though the disk is not full, as at the limit of file sizes. */
export const isNotWritten = (code: unknown) => /^SQLITE_IOERR_(WRITE|FSYNC|TRUNCATE)$/.test(String(code))

/** What SQLite says where the SQL of a user's index or table does not hold, here or for a row; and of damaged JSON. */
const OF_OTHERS = /^((no such|unknown) function|no such collation sequence|malformed JSON|JSON path error)\b/

type Detail = ConstructorParameters<typeof MirrorError>[2]

/**
 * Runs `work` and turns errors of SQLite and of the file system into a `MirrorError` about `path`: the mirror, or a
 * file beside it whose disk is that of `mirror`.
 */
export function explaining<T>(path: string, work: () => T, mirror = path): T {
  try {
    return work()
  } catch (error) {
    throw explain(path, error, mirror)
  }
}

/** What an error of SQLite or the file system means for the mirror at `path`. Any other error comes back unchanged. */
export function explain(path: string, error: unknown, mirror = path): unknown {
  if (error instanceof MirrorError || fileLimitOr(error) !== error) return fileLimitOr(error)
  if (!(error instanceof Error) || !('code' in error)) return error
  const code = String(error.code)
  const detail = { facts: { path, sqlite: code }, cause: error }
  if (/^SQLITE_(FULL|IOERR_SHMSIZE)/.test(code) || code === 'ENOSPC' || code === 'EDQUOT') {
    return new MirrorError('disk-full', `The disk of ${mirror} is full; what was committed before is kept`, {
      ...detail,
      hint: 'Free some space and run the same command again.',
    })
  }
  if (code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB')) {
    return new MirrorError('mirror-damaged', `The mirror ${path} is damaged: ${error.message}`, {
      ...detail,
      hint: DAMAGED_HINT,
    })
  }
  if (code.startsWith('SQLITE_ERROR') && OF_OTHERS.test(error.message)) {
    return new MirrorError(
      'mirror-foreign',
      `${path} holds an index, a table or a text that does not work: ${error.message}`,
      {
        ...detail,
        hint: 'Drop what you have added to it, with any SQLite program (`SELECT name, sql FROM sqlite_schema` shows all): functions and collations of another program do not work here, and an index on JSON needs CASE WHEN json_valid(...) THEN ... END. If you have added nothing, it is damaged: `task-mirror verify` tells.',
      },
    )
  }
  if (isUnreadable(path)) {
    return new MirrorError('mirror-unreadable', `${path} cannot be read: ${systemWords(error)}`, {
      ...detail,
      hint: 'Check the owner and mode of the file and of the folders above it, or run as the user who owns it.',
    })
  }
  if (code === 'SQLITE_READONLY_DBMOVED') return takenAway(path, detail)
  if (code.startsWith('SQLITE_READONLY') || code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    return new MirrorError('mirror-unwritable', `${path} cannot be written: ${systemWords(error)}`, {
      ...detail,
      hint: 'Check the owner and mode of the file and its folder, and that the mount is writable.',
    })
  }
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new MirrorError('mirror-locked', `${path} is locked by another program: ${error.message}`, {
      ...detail,
      hint: 'Wait until it has finished, or raise mirror.busyTimeoutMs.',
    })
  }
  if (isNotWritten(code)) {
    return new MirrorError('mirror-unwritable', `${path} cannot be written: ${error.message} (${code})`, {
      ...detail,
      hint: 'Look at the limit of file sizes (ulimit -f) and at the disk and run the same command again.',
    })
  }
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CANTOPEN') || 'syscall' in error) {
    return new MirrorError('mirror-unreadable', `${path} cannot be read or written: ${systemWords(error)} (${code})`, {
      ...detail,
      hint: 'Check the path, the disk and the rights on the file, its -wal and -shm, and its folder, then run the same command again.',
    })
  }
  return error
}

/** The error for a run whose file is no longer the one at `path`. */
export function takenAway(path: string, detail: Detail = { facts: { path } }): MirrorError {
  return new MirrorError('mirror-unreadable', `${path} was removed or replaced while this run wrote to it`, {
    ...detail,
    hint: 'What this run took in went with it, or into a file -wal.left-... beside it; run the same command again, and move a mirror only between runs.',
  })
}

/** Whether this user may not read the file, or not even look for it. */
function isUnreadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
  }
}

/**
 * Reads JSON that the mirror stores: text that is no JSON is damage, like a page that cannot be read. Throws
 * `mirror-damaged` by itself, because not all who read rows do so within `explaining`.
 */
export function storedJson<T>(text: string, parse: (text: string) => unknown = JSON.parse): T {
  try {
    return parse(text) as T
  } catch {
    // No cause: it would quote the text, which may hold a credential.
    throw new MirrorError('mirror-damaged', 'The mirror is damaged: a text that it keeps as JSON is not JSON', {
      hint: DAMAGED_HINT,
    })
  }
}
