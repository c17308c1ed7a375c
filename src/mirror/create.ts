// Makes an empty mirror, whole or not at all. Files that an earlier mirror left in its place are kept.
import { randomBytes } from 'node:crypto'
import { lstatSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { MirrorError } from '../errors.ts'
import {
  makeFile,
  putAside,
  realMirrorPath,
  removeDrafts,
  restoredPath,
  restoringPrefix,
  sqliteFiles,
  syncPath,
} from './files.ts'
import { inspect } from './inspect.ts'
import { migrate } from './schema.ts'

/** Makes the empty mirror under a hidden name and renames it: even after a kill there is a whole one or none. */
export function createMirror(asked: string, fileMode: number): void {
  // A link to an empty file stays a link: the file that it leads to is replaced.
  const path = realMirrorPath(asked)
  const folder = dirname(path)
  const prefix = `.${basename(path)}.new-`
  removeDrafts(folder, prefix)
  const draft = join(folder, `${prefix}${process.pid}-${randomBytes(6).toString('hex')}`)
  makeFile(draft, fileMode)
  const db = new Database(draft)
  try {
    // 16 KiB pages: see docs/decisions/performance-diary.md.
    db.pragma('page_size = 16384')
    if (db.pragma('journal_mode = WAL', { simple: true }) !== 'wal') {
      throw new MirrorError('mirror-unwritable', `${path}: this file system cannot hold a WAL-mode database`, {
        hint: 'Put the mirror on a local disk; network file systems do not work.',
      })
    }
    migrate(db, path)
    // Closing would do it too, but would not report a full disk: then the renamed file would lack what the WAL holds.
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
    putAsideStale(path)
    renameSync(draft, path)
    syncPath(folder)
  } catch (error) {
    db.close()
    removeDrafts(folder, prefix)
    throw error
  }
}

/** Puts an old WAL aside: SQLite would apply it to a new file, yet it may hold work. `isStale` tells by inode. */
export function putAsideStale(path: string, isStale: (ino: number) => boolean = () => true): void {
  for (const file of sqliteFiles(path)) {
    // `lstat` finds also a folder or a link that somebody has put there.
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found === undefined || !isStale(found.ino)) continue
    if (file.endsWith('-shm') && !found.isDirectory()) rmSync(file)
    else putAside(file)
  }
}

/** Ends a `restore` that was killed: the new mirror takes its place if the old one is gone. Both are always whole. */
export function endRestore(path: string, found: ReturnType<typeof inspect>): ReturnType<typeof inspect> {
  removeDrafts(dirname(realMirrorPath(path)), restoringPrefix(path))
  const ready = restoredPath(path)
  if (!lstatSync(ready, { throwIfNoEntry: false })?.isFile()) return found
  const real = realMirrorPath(path)
  if (found !== 'missing') {
    const own = new Set([real, ...sqliteFiles(real)].map((file) => statSync(file, { throwIfNoEntry: false })?.ino))
    for (const name of readdirSync(dirname(real))) {
      const other = join(dirname(real), name)
      if (name.startsWith(`${basename(real)}.before-`) && own.has(lstatSync(other).ino)) rmSync(other)
    }
    rmSync(ready)
    return found
  }
  // The old mirror was moved with its WAL, which therefore has a second name by now: this first one may go.
  for (const file of sqliteFiles(real)) {
    const left = lstatSync(file, { throwIfNoEntry: false })
    if (left?.isFile() && left.nlink > 1) rmSync(file)
  }
  putAsideStale(real)
  renameSync(ready, real)
  syncPath(dirname(real))
  return inspect(real)
}
