// Tells whether a file is a mirror before SQLite opens it: a file of another program is not even locked. Loads no
// SQLite: threads that only start others need none.
import { existsSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { MirrorError } from '../errors.ts'
import { danglingTarget, restoredPath } from './files.ts'

/** "TMIR": tells a mirror from any other SQLite file. */
export const APPLICATION_ID = 0x544d4952

/** What SQLite and the lock call the files beside a mirror: a mirror of such a name would be taken for one of them. */
const BESIDE = /(-wal|-shm|-journal|\.lock|\.holder)$/

/** Looks at the first 100 bytes, without SQLite. Throws `mirror-foreign`, or `mirror-unwritable` without a folder. */
export function inspect(path: string): 'missing' | 'empty' | 'mirror' {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) {
    refuseDangling(path)
    const folder = dirname(path)
    if (!existsSync(folder)) {
      throw new MirrorError('mirror-unwritable', `The folder ${folder} does not exist`, {
        facts: { path },
        hint: 'Create it, or name another file with --db.',
      })
    }
    refuseBeside(path)
    return 'missing'
  }
  if (!stat.isFile()) {
    throw new MirrorError('mirror-foreign', `${path} is not a file`, {
      facts: { path },
      hint: 'Name a file with --db.',
    })
  }
  if (stat.size === 0) {
    refuseBeside(path)
    return 'empty'
  }
  const head = Buffer.alloc(100)
  readSync(lastingHandle(path, stat), head, 0, 100, 0)
  const isSqlite = head.toString('latin1', 0, 16) === 'SQLite format 3\0'
  // Byte 68 of a SQLite header is the application id (https://www.sqlite.org/fileformat.html#application_id).
  if (isSqlite && head.readUInt32BE(68) === APPLICATION_ID) return 'mirror'
  throw new MirrorError(
    'mirror-foreign',
    `${path} is ${isSqlite ? 'a SQLite database of another program' : 'not a SQLite database'}; it was left untouched`,
    {
      facts: { path },
      hint: isSqlite
        ? 'Name another file; --db says which one is the mirror. A mirror that `.dump` or `.recover` made anew is refused, too: it may lack tasks. Restore a copy, or run `task-mirror sync` with a new file.'
        : 'Name another file; --db says which one is the mirror. If this was it, move it away with its -wal and -shm, then restore a copy or run `task-mirror sync`.',
    },
  )
}

function refuseBeside(path: string): void {
  const ending = BESIDE.exec(path)?.[0]
  if (ending === undefined) return
  throw new MirrorError('mirror-foreign', `${path} is no name for a mirror: files beside one end in ${ending}`, {
    facts: { path },
    hint: 'Give --db the name of the mirror itself, without that ending.',
  })
}

/** Throws `mirror-unwritable` for a link without target: once that is there again, there would be two mirrors. */
export function refuseDangling(path: string): void {
  const target = danglingTarget(path)
  // The target is missing because a killed `restore` has moved the old mirror away; the new one is ready.
  if (target === null || existsSync(restoredPath(path))) return
  throw new MirrorError('mirror-unwritable', `${path} is a symbolic link to ${target}, which does not exist`, {
    facts: { path, target },
    hint: 'Mount its disk or mend the link; for a new mirror there, name that file itself with --db.',
  })
}

const HANDLES = 'task-mirror.handles'
/** A thread begins with the handles of the thread that started it: they belong to the process. */
const handles = new Map((getEnvironmentData(HANDLES) ?? []) as [string, number][])

/**
 * A read handle that is never closed. Closing any handle of a file drops the POSIX locks that SQLite holds on it in
 * this process (https://www.sqlite.org/howtocorrupt.html section 2.2), so a look at the header must not close one.
 */
function lastingHandle(path: string, stat: Stats): number {
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
