// A connection to the SQLite file of a mirror, as every other one begins.
import { resolve } from 'node:path'
import Database from 'better-sqlite3'
import { MirrorError } from '../errors.ts'
import { refuseOddFile, sqliteFiles } from './files.ts'

export type Db = Database.Database

/**
 * A connection that trusts nothing in the file: no function with side effects is called from its schema, sizes of cells
 * are checked. Foreign keys, which only tables of users have, decide nothing: better-sqlite3 would check them. It opens
 * every connection with SQLITE_DBCONFIG_DEFENSIVE. Throws `mirror-foreign` where a link or pipe stands in the place of
 * a file of SQLite's, and `usage-invalid` for a name that better-sqlite3 would open another file for.
 */
export function connect(path: string, options: Database.Options): Db {
  const whole = resolve(path)
  if (whole !== whole.trim()) {
    throw new MirrorError(
      'usage-invalid',
      `${path}: white space at the end of the name of a mirror would be left out`,
      {
        facts: { path },
        hint: 'Give the file another name.',
      },
    )
  }
  for (const file of sqliteFiles(path)) refuseOddFile(file)
  const db = new Database(whole, options)
  db.pragma('trusted_schema = OFF')
  db.pragma('cell_size_check = ON')
  db.pragma('foreign_keys = OFF')
  return db
}

/** What `work` makes of a connection that lives no longer. */
export function lend<T>(db: Db, work: (db: Db) => T): T {
  try {
    return work(db)
  } finally {
    db.close()
  }
}
