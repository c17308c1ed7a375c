// SQL for readers of a mirror that no run has migrated yet: a column it lacks reads as empty, `host` as from the URL.

import { hostOf } from '../host.ts'
import type { Db } from './connect.ts'

/** Lets SQL on this connection call `url_host(url)`, as the migration that adds `host` does. */
export function addUrlHost(db: Db): void {
  db.function('url_host', { deterministic: true }, (url: unknown) => hostOf(typeof url === 'string' ? url : null))
}

/** `names` as SQL columns of `tasks`, those it lacks as a migration will fill them; for connections of `openReader`. */
export function columnsAsMigrated(db: Db, names: readonly string[]): string {
  const known = columnsOf(db)
  const toCome = (name: string) => (name === 'host' ? 'url_host(data_url) AS host' : `NULL AS ${name}`)
  return names.map((name) => (known.has(name) ? name : toCome(name))).join(', ')
}

/** SQL for the moment as of which a walk of `walks` shows the account. */
export function freshAtAsMigrated(db: Db): string {
  return columnsOf(db, 'walks').has('fresh_at') ? 'coalesce(fresh_at, started_at)' : 'started_at'
}

/** SQL for the SHA-256 of the evidence of a walk of `walks`. */
export function evidenceAsMigrated(db: Db): string {
  return columnsOf(db, 'walks').has('evidence_sha256') ? 'evidence_sha256' : 'NULL'
}

function columnsOf(db: Db, table: 'tasks' | 'walks' = 'tasks'): ReadonlySet<unknown> {
  return new Set(db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table))
}
