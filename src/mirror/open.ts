// Opens the SQLite file for one writer or for readers. Knows SQL, never HTTP.
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { MirrorError } from '../errors.ts'
import { addUrlHost } from './as-migrated.ts'
import { connect, type Db, lend } from './connect.ts'
import { createMirror, endRestore } from './create.ts'
import { explaining } from './explain.ts'
import { isWritable, restoredPath } from './files.ts'
import { inspect, refuseDangling } from './inspect.ts'
import { refuseSecondName } from './mounts.ts'
import { checkSchema, migrate } from './schema.ts'
import { LARGE_WAL_BYTES } from './wal.ts'

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
    refuseSecondName(path)
    if (before === 'missing' || before === 'empty') createMirror(path, options.fileMode)
    const db = connect(path, { timeout: options.busyTimeoutMs })
    try {
      checkSchema(db, path)
      migrate(db, path)
      // Another program may have changed it; outside WAL mode, readers and the writer would wait for each other.
      db.pragma('journal_mode = WAL')
      // Set explicitly: in WAL mode better-sqlite3 starts at FULL and drops to NORMAL only after the first write.
      db.pragma('synchronous = NORMAL')
      db.pragma('wal_autocheckpoint = 4000')
      // What an old transaction of a reader made of it goes again: else it stayed while any program has the file open.
      db.pragma(`journal_size_limit = ${LARGE_WAL_BYTES}`)
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
 * Opens an existing mirror read-only on a connection of its own. Never blocks the writer, and waits for it only while
 * it closes or recovers the file, 5 s at most. Throws `mirror-missing`, `mirror-foreign`, `mirror-newer`,
 * `mirror-damaged`, `mirror-unreadable` or, for a link that leads nowhere, `mirror-unwritable`.
 */
export function openReader(path: string): Db {
  return explaining(path, () => {
    refuseDangling(path)
    // `statSync` throws for a folder that may not be looked into: nobody knows whether the mirror is in it.
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
      // For mirrors that no run has migrated yet.
      addUrlHost(db)
      db.pragma('query_only = ON')
      db.pragma('cache_size = -16384')
      return db
    } catch (error) {
      db.close()
      throw !isWritable(dirname(path)) ? withoutShm(path, error) : error
    }
  })
}

/**
 * Asks `question` on a reader's connection that is closed afterwards. Throws what `openReader` and `question` throw; an
 * error of SQLite is explained by what it means for the mirror.
 */
export function withReader<T>(path: string, question: (db: Db) => T): T {
  return explaining(path, () => lend(openReader(path), question))
}

/**
 * Tells whether anything was committed to the mirror at `path` since this call, or since the last answer: two cuts
 * opened between two answers, the second false, are the same. https://www.sqlite.org/pragma.html#pragma_data_version
 */
export function watchCommits(path: string): { hasCommits(): boolean; close(): void } {
  const db = openReader(path)
  const version = db.prepare('PRAGMA data_version').pluck()
  let last = version.get()
  return {
    hasCommits() {
      const before = last
      last = version.get()
      return last !== before
    },
    close: () => void db.close(),
  }
}

/**
 * Reads a row of every table: throws where its first pages are damaged. Quick, however large the mirror is. A virtual
 * table, which only somebody else can have made, has none, and the program that knows its module is elsewhere.
 */
export function readFirstRows(db: Db): void {
  const tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
  for (const name of db.prepare(tables).pluck().all() as string[])
    db.prepare(`SELECT * FROM "${name.replaceAll('"', '""')}" LIMIT 1`).get()
}

/** Explains why a reader failed: it cannot make the -shm file that readers share. SQLite reports it in several ways. */
function withoutShm(path: string, cause: unknown): unknown {
  if (!(cause instanceof Error && 'code' in cause && /^SQLITE_(CANTOPEN|READONLY)/.test(String(cause.code))))
    return cause
  return new MirrorError('mirror-unreadable', `${path} cannot be read: its folder cannot be written`, {
    facts: { path },
    hint: 'To read here, make a copy where the mirror is written, with `task-mirror copy --out FILE`; what changes the mirror has to run there, too.',
    cause,
  })
}

/**
 * Checkpoints the WAL first, which blocks nobody: the last connection to close locks the file while it does what is
 * left of that. Where it fails, the connection is closed all the same, nothing is lost, and SQLite's error is thrown:
 * closing alone would not report it. Nor is there a checkpoint where `assertHeld` throws: pages of a WAL that was
 * removed, written below those of a new one, would damage the mirror.
 */
export function closeWriter(db: Db, assertHeld: () => void): void {
  try {
    assertHeld()
    db.pragma('wal_checkpoint(PASSIVE)')
  } finally {
    db.close()
  }
}

/** Begins a transaction that `endDryRun` rolls back; transactions inside it become savepoints. */
export function beginDryRun(db: Db): void {
  db.exec('BEGIN IMMEDIATE')
}

export function endDryRun(db: Db): void {
  if (db.inTransaction) db.exec('ROLLBACK')
}
