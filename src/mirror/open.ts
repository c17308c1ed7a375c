// Opens the SQLite file: pragmas, identity (application_id), forward-only migrations. Knows SQL, never HTTP.
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { MirrorError } from '../errors.ts'
import { addUrlHost, readAsMigrated } from './as-migrated.ts'
import { explaining } from './explain.ts'
import { realMirrorPath, refuseOddFile, restoredPath, sqliteFiles } from './files.ts'
import { lastingHandle } from './handles.ts'
import { checkObjects, migrations, refuseTakenNames } from './schema.ts'

export type Db = Database.Database

/** "TMIR": tells a mirror from any other SQLite file. */
export const APPLICATION_ID = 0x544d4952

export interface WriterOptions {
  busyTimeoutMs: number
  /** Mode of a newly created file and so of its -wal and -shm. */
  fileMode: number
}

/**
 * Opens the mirror for writing, creates it where it is missing and migrates it.
 * Call only while holding the mirror's lock. Throws `MirrorError` `mirror-foreign`, `mirror-newer`, `mirror-damaged`,
 * `mirror-unwritable` or `disk-full`; a file that is no mirror is left untouched.
 */
export function openWriter(path: string, options: WriterOptions): Db {
  return explaining(path, () => {
    const before = endRestore(path, inspect(path))
    if (before === 'missing' || before === 'empty') create(path, options)
    const db = connect(path, { timeout: options.busyTimeoutMs })
    try {
      checkSchema(db, path)
      migrate(db, path)
      // Set explicitly: in WAL mode better-sqlite3 starts at FULL and drops to NORMAL only after the first write.
      db.pragma('synchronous = NORMAL')
      db.pragma('wal_autocheckpoint = 4000')
      db.pragma('cache_size = -32768')
      db.pragma('temp_store = MEMORY')
      return db
    } catch (error) {
      db.close()
      throw error
    }
  })
}

/**
 * A connection that trusts nothing in the file: no function with side effects is called from its schema, and sizes of
 * cells are checked. better-sqlite3 opens every connection with SQLITE_DBCONFIG_DEFENSIVE. Throws `mirror-foreign` where a link or pipe stands in the place of a file of SQLite's.
 */
export function connect(path: string, options: Database.Options): Db {
  for (const file of sqliteFiles(path)) refuseOddFile(file)
  const db = new Database(path, options)
  db.pragma('trusted_schema = OFF')
  db.pragma('cell_size_check = ON')
  return db
}

/** Throws `mirror-newer`, or `mirror-damaged` where the program's own objects are not as the migrations make them. */
export function checkSchema(db: Db, path: string): void {
  db.transaction(() => checkObjects(db, path, checkVersion(db, path)))()
}

/**
 * Makes the whole empty mirror under a hidden name and renames it: at `path` there is a mirror or nothing, also after a
 * kill, and its header carries the application id before anybody can open it.
 */
function create(path: string, options: WriterOptions): void {
  const folder = dirname(path)
  const prefix = `.${basename(path)}.new-`
  const removeDrafts = () => {
    for (const name of readdirSync(folder)) if (name.startsWith(prefix)) rmSync(join(folder, name), { force: true })
  }
  removeDrafts()
  const draft = join(folder, `${prefix}${process.pid}-${randomBytes(6).toString('hex')}`)
  closeSync(openSync(draft, 'ax', options.fileMode))
  chmodSync(draft, options.fileMode)
  const db = new Database(draft)
  try {
    // 16 KiB pages: see docs/performance.md.
    db.pragma('page_size = 16384')
    if (db.pragma('journal_mode = WAL', { simple: true }) !== 'wal') {
      throw new MirrorError('mirror-unwritable', `${path}: this file system cannot hold a WAL-mode database`, {
        hint: 'Put the mirror on a local disk; network file systems do not work.',
      })
    }
    migrate(db, path)
    // Closing does it as well, but says nothing of a disk that is full: the renamed file would lack what the WAL holds.
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
    putAsideStale(path)
    renameSync(draft, path)
    syncFolder(folder)
  } catch (error) {
    db.close()
    removeDrafts()
    throw error
  }
}

/**
 * What a mirror that was taken away or destroyed has left beside it. SQLite would play an old WAL into whatever file it
 * finds there; it may be all that is left of somebody's work, so it is kept under another name.
 */
export function putAsideStale(path: string): void {
  for (const file of sqliteFiles(path)) {
    // Also what is no file: a folder or a link that somebody has put there.
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (found === undefined) continue
    if (file.endsWith('-shm') && !found.isDirectory()) rmSync(file)
    else renameSync(file, `${file}.left-${randomBytes(6).toString('hex')}`)
  }
}

/**
 * Ends a `restore` that was killed: where the old mirror is gone the new one takes its place, and where it is still there it
 * stays, with one name only. Both are whole at every moment (restore.ts).
 */
function endRestore(path: string, found: ReturnType<typeof inspect>): ReturnType<typeof inspect> {
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
  // The WAL of the old one has its second name by now, beside the old one.
  for (const file of sqliteFiles(real)) {
    const left = lstatSync(file, { throwIfNoEntry: false })
    if (left?.isFile() && left.nlink > 1) rmSync(file)
  }
  putAsideStale(real)
  renameSync(ready, real)
  syncFolder(dirname(real))
  return inspect(real)
}

/**
 * Opens an existing mirror read-only on a connection of its own; never blocks the writer and never waits for it.
 * Throws `mirror-missing`, `mirror-foreign`, `mirror-newer`, `mirror-damaged` or `mirror-unreadable`.
 */
export function openReader(path: string): Db {
  return explaining(path, () => {
    // A folder that may not be looked into says nothing of what is in it: that throws.
    if (statSync(path, { throwIfNoEntry: false }) === undefined || inspect(path) !== 'mirror') {
      throw new MirrorError('mirror-missing', `There is no mirror at ${path}`, {
        facts: { path },
        hint: existsSync(restoredPath(path))
          ? 'A restore was interrupted: `task-mirror sync` ends it, or run `task-mirror restore` again.'
          : 'Run `task-mirror sync` first, or name the file with --db.',
      })
    }
    const db = connect(path, { readonly: true, timeout: 5_000 })
    try {
      checkSchema(db, path)
      readAsMigrated(db)
      db.pragma('query_only = ON')
      db.pragma('cache_size = -16384')
      return db
    } catch (error) {
      db.close()
      throw isReadOnly(dirname(path)) ? withoutShm(path, error) : error
    }
  })
}

function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return false
  } catch {
    return true
  }
}

/** Readers of a WAL-mode database share a file beside it, which they cannot make there. */
function withoutShm(path: string, cause: unknown): unknown {
  if (!(cause instanceof Error && 'code' in cause && cause.code === 'SQLITE_CANTOPEN')) return cause
  return new MirrorError('mirror-unreadable', `${path} cannot be read: its folder cannot be written`, {
    facts: { path },
    hint: 'Make a copy where the mirror is written, with `task-mirror copy --out FILE`, and read that one here.',
    cause,
  })
}

/**
 * Folds the WAL back first, which blocks nobody: the last connection to close holds the file exclusively while it does
 * what is left of that. Where that fails the connection is closed all the same, nothing is lost, and SQLite's error is
 * thrown: closing alone would say nothing of it.
 */
export function closeWriter(db: Db): void {
  try {
    db.pragma('wal_checkpoint(PASSIVE)')
  } finally {
    db.close()
  }
}

/** Everything from here on is taken back by `endTrial`; transactions inside become savepoints. */
export function beginTrial(db: Db): void {
  db.exec('BEGIN IMMEDIATE')
}

export function endTrial(db: Db): void {
  if (db.inTransaction) db.exec('ROLLBACK')
}

function migrate(db: Db, path: string): void {
  const all = migrations()
  const current = db.pragma('user_version', { simple: true }) as number
  addUrlHost(db)
  if (current < (all.at(-1)?.version ?? 0)) refuseTakenNames(db, path, current)
  for (const { version, sql } of all) {
    if (version <= current) continue
    db.transaction(() => {
      db.exec(sql)
      db.pragma(`user_version = ${version}`)
      db.pragma(`application_id = ${APPLICATION_ID}`)
    }).immediate()
  }
}

function checkVersion(db: Db, path: string): number {
  const version = db.pragma('user_version', { simple: true }) as number
  const versions = migrations().map((migration) => migration.version)
  const newest = versions.at(-1) ?? 0
  if (version <= newest && !versions.includes(version)) {
    throw new MirrorError('mirror-damaged', `The mirror ${path} has no schema that is known (${version})`, {
      facts: { path, version },
      hint: 'Restore a copy of the file, or move it away and run `task-mirror sync`, which reads everything again.',
    })
  }
  if (version > newest) {
    throw new MirrorError(
      'mirror-newer',
      `${path} was written by a newer task-mirror (schema ${version}, this one knows ${newest})`,
      {
        facts: { path, version, newest },
        hint: 'Use the newer program, or another file with --db.',
      },
    )
  }
  return version
}

/**
 * Throws `mirror-foreign` where something else stands at `path`: to be asked before anything is put beside it, so that a
 * refused file is left alone with its whole folder.
 */
export function refuseForeign(path: string): void {
  explaining(path, () => inspect(path))
}

/** Looks at the first 100 bytes without SQLite, so that a file which is no mirror is not even locked. */
function inspect(path: string): 'missing' | 'empty' | 'mirror' {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) {
    const folder = dirname(path)
    if (!existsSync(folder)) {
      throw new MirrorError('mirror-unwritable', `The folder ${folder} does not exist`, {
        facts: { path },
        hint: 'Create it, or name another file with --db.',
      })
    }
    return 'missing'
  }
  if (!stat.isFile()) {
    throw new MirrorError('mirror-foreign', `${path} is not a file`, {
      facts: { path },
      hint: 'Name a file with --db.',
    })
  }
  if (stat.size === 0) return 'empty'
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
        ? 'Name another file with --db.'
        : 'Name another file with --db. If it was a mirror, move it away with its -wal and -shm, then restore a copy or run `task-mirror sync`.',
    },
  )
}

/** Makes a rename in `folder` durable. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
