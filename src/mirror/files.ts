// The files of a mirror, its lock and holder. Others may put links and pipes in their places: each is checked first.
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isCode, MirrorError } from '../errors.ts'
import { refusePlanted } from '../trust.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

const OF_SQLITE = ['-wal', '-shm', '-journal']

/** The real file that `path` leads to: SQLite puts its own files beside that one, not beside a link. */
export function realMirrorPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    // The file is missing; its folder may still be a link, and so may `path`. Links in a ring lead nowhere.
    const target = isCode(error, 'ENOENT') ? danglingTarget(path) : null
    if (target !== null) return realMirrorPath(target)
  }
  try {
    return join(realpathSync(dirname(path)), basename(path))
  } catch {
    return path
  }
}

/** The missing file that the symbolic link at `path` leads to; null where `path` is no such link. */
export function danglingTarget(path: string): string | null {
  try {
    if (!lstatSync(path).isSymbolicLink() || statSync(path, { throwIfNoEntry: false }) !== undefined) return null
    return resolve(realpathSync(dirname(path)), readlinkSync(path))
  } catch {
    return null
  }
}

export const lockPath = (path: string): string => `${realMirrorPath(path)}.lock`
export const holderPath = (path: string): string => `${realMirrorPath(path)}.holder`
export const walPath = (path: string): string => `${realMirrorPath(path)}-wal`

/** Where a backup waits that is ready to take the mirror's place, while `restore` moves the old one away. */
export function restoredPath(path: string): string {
  const real = realMirrorPath(path)
  return join(dirname(real), `.${basename(real)}.restored`)
}

/** Prefix of the hidden names of a backup that is not ready yet, in the folder of the mirror. */
export function restoringPrefix(path: string): string {
  return `.${basename(realMirrorPath(path))}.restore-`
}

/** The files that SQLite keeps beside the mirror while it is open or was left. */
export function sqliteFiles(path: string): string[] {
  const real = realMirrorPath(path)
  return OF_SQLITE.map((suffix) => real + suffix)
}

/** Every file of the mirror at `path`, there or not. */
export function filesOfMirror(path: string): string[] {
  return [realMirrorPath(path), ...sqliteFiles(path), lockPath(path), holderPath(path)]
}

export const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino

/**
 * Throws `mirror-foreign` where another user may have put the mirror there, a link to it, or a file of SQLite's beside
 * it.
 */
export function refusePlantedMirror(path: string): void {
  refusePlanted([path, realMirrorPath(path), ...sqliteFiles(path)])
}

/** Throws `mirror-foreign` where `file` is there and is no regular file itself: SQLite would follow or wait for it. */
export function refuseOddFile(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined || found.isFile()) return
  const what = found.isSymbolicLink() ? 'a link' : found.isFIFO() ? 'a pipe' : 'no regular file'
  throw new MirrorError('mirror-foreign', `${file} is ${what}; nothing was written to it`, {
    facts: { path: file },
    hint: 'Find out who has put it there and remove it, or keep the mirror in a folder that only you may write.',
  })
}

/** Removes the files in `folder` whose names begin with `prefix`; a folder of such a name is not ours and stays. */
export function removeDrafts(folder: string, prefix: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name.startsWith(prefix) && !entry.isDirectory()) rmSync(join(folder, entry.name), { force: true })
  }
}

/** Renames `file` instead of removing it: it may be all that is left of work. */
export function putAside(file: string): void {
  renameSync(file, `${file}.left-${randomBytes(6).toString('hex')}`)
}

/** The first `most` bytes of a regular file; null where there is none. Never waits and never follows a link. */
export function readBeginning(file: string, most: number): string | null {
  let handle: number
  try {
    handle = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    return null
  }
  try {
    if (!fstatSync(handle).isFile()) return null
    const bytes = Buffer.alloc(most)
    return bytes.toString('utf8', 0, readSync(handle, bytes, 0, most, 0))
  } catch {
    return null
  } finally {
    closeSync(handle)
  }
}

/**
 * Makes a new file that holds `text`, of exactly this mode, whatever the umask takes away. Throws EEXIST where anything
 * stands at `path`, even a link or a pipe, which is neither followed nor waited for.
 */
export function makeFile(path: string, mode: number, text = ''): void {
  const handle = openSync(path, 'wx', mode)
  try {
    fchmodSync(handle, mode)
    writeSync(handle, text)
  } finally {
    closeSync(handle)
  }
}

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Syncs to the disk what a file holds, or the names in a folder. */
export function syncPath(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
