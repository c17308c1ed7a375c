// The column `host`: what SQL needs to fill it, and what readers do where a mirror of an older version has no such column.
import type Database from 'better-sqlite3'
import { hostOf } from '../host.ts'

type Db = Database.Database

/** Lets SQL on this connection call `url_host(url)`, as the migration that adds the column does. */
export function addUrlHost(db: Db): void {
  db.function('url_host', { deterministic: true }, (url: unknown) => hostOf(typeof url === 'string' ? url : null))
}

/** The column of `tasks`, or what it will hold once a run has migrated the mirror; for connections of `openReader`. */
export function hostColumn(db: Db): string {
  return hasColumn(db) ? 'host' : 'url_host(data_url)'
}

/** Prepares a connection for mirrors that no run has migrated yet. */
export function readAsMigrated(db: Db): void {
  if (!hasColumn(db)) addUrlHost(db)
}

function hasColumn(db: Db): boolean {
  return db.prepare("SELECT 1 FROM pragma_table_info('tasks') WHERE name = 'host'").get() !== undefined
}
