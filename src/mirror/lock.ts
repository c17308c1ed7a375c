// The one-writer lock: an exclusively locked SQLite file, released by the kernel. Its holder's name is for the message.
import { lstatSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { MirrorError } from '../errors.ts'
import { moment, oneLine } from '../shown.ts'
import type { Db } from './connect.ts'
import { explaining, takenAway } from './explain.ts'
import {
  holderPath,
  inodeOf,
  lockPath,
  makeFile,
  readBeginning,
  refuseOddFile,
  refusePlantedMirror,
  sqliteFiles,
} from './files.ts'
import { inspect } from './inspect.ts'

export interface Lock {
  /**
   * Before each commit: throws `mirror-unwritable` where somebody has removed the lock, so that another run could take
   * one of that name.
   */
  assertHeld(): void
  release(): void
}

const MODE = 0o600

/**
 * Takes the lock of the mirror at `path` or throws `MirrorError` `mirror-locked` at once; `mirror-foreign` where
 * something else stands there, or what another user may have planted, or a link or pipe in the place of the lock. It
 * lies beside the file itself, so that two links to one mirror have one lock.
 * `command` and `now` (epoch ms) are what another run will be told about the holder.
 */
export function takeLock(path: string, command: string, now: number): Lock {
  // Before anything is put beside it.
  explaining(path, () => {
    inspect(path)
    refusePlantedMirror(path)
  })
  const file = lockPath(path)
  const holder = holderPath(path)
  const take = () => {
    for (const name of [file, `${file}-journal`, `${file}-wal`]) refuseOddFile(name)
    refuseFolder(holder)
    try {
      makeFile(file, MODE)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const db = new Database(file, { timeout: 0 })
    try {
      db.pragma('locking_mode = EXCLUSIVE')
      db.exec('BEGIN EXCLUSIVE')
    } catch (error) {
      db.close()
      if (!String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) throw error
      throw new MirrorError('mirror-locked', `Another run holds the mirror ${path}${describeHolder(holder)}`, {
        facts: { path },
        hint: 'Wait until it has finished; nothing was sent and nothing was changed.',
      })
    }
    const inode = inodeOf(file)
    const isHeld = () => inodeOf(file) === inode
    const assertHeld = () => {
      if (isHeld()) return
      throw new MirrorError('mirror-unwritable', `${file} was removed or replaced: another run may write to ${path}`, {
        facts: { path: file },
        hint: 'This run ended, and what it had committed is kept; run the same command again. Never remove that file: it is empty, and it stays.',
      })
    }
    const release = () => {
      try {
        if (isHeld()) rmSync(holder, { force: true })
      } finally {
        if (db.inTransaction) db.exec('ROLLBACK')
        db.close()
      }
    }
    const text = `pid ${process.pid}, ${command}, since ${moment(now)}`
    try {
      // A link or pipe in its place goes, not what it leads to.
      rmSync(holder, { force: true })
      makeFile(holder, MODE, `${text}\n`)
    } catch (error) {
      // A disk that is full. The lock must not stay: a process that goes on could never take it again.
      release()
      throw error
    }
    return { assertHeld, release }
  }
  return explaining(file, take, path)
}

/**
 * What a writer of the mirror asserts before each commit: that the lock is held, and that the files which `db` has open
 * still stand under their names. SQLite does not notice, and a program that makes one anew writes beside it. Throws
 * `mirror-unwritable` or `mirror-unreadable`.
 */
export function holding(lock: Lock, db: Db): () => void {
  // Where the mirror was not in WAL mode before, SQLite makes -wal and -shm only now that it reads.
  db.prepare('SELECT 1 FROM sqlite_schema').get()
  const files = [db.name, ...sqliteFiles(db.name)]
  const open = files.map((file) => ({ file, inode: inodeOf(file) })).filter(({ inode }) => inode !== undefined)
  return () => {
    lock.assertHeld()
    const gone = open.find(({ file, inode }) => inodeOf(file) !== inode)
    if (gone !== undefined) throw takenAway(gone.file)
  }
}

function refuseFolder(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) refuseOddFile(path)
}

/** What the holder says of itself; whoever may write the folder can have written it. */
function describeHolder(path: string): string {
  const text = readBeginning(path, 200)?.trim() ?? ''
  return text === '' ? '' : ` (${oneLine(text)})`
}
