// A connection to the SQLite file of a mirror, as every other one begins.
import Database from 'better-sqlite3'
import { refuseOddFile, sqliteFiles } from './files.ts'

export type Db = Database.Database

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

/** What `work` makes of a connection that lives no longer. */
export function lend<T>(db: Db, work: (db: Db) => T): T {
  try {
    return work(db)
  } finally {
    db.close()
  }
}
