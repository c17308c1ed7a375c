// Figures over all tasks for the report: each one query that groups in SQL, so that what comes out is small however many
// tasks there are. May take seconds on a large mirror: belongs on a thread of its own.
import type { Db } from './open.ts'

export interface LastPublication {
  id: string
  path: string
  format: string
  rows: number
  bytes: number
  /** Epoch ms. */
  publishedAt: number
}

/** The snapshot published last; null where there is none. */
export function readLastPublication(db: Db): LastPublication | null {
  const sql = `SELECT id, path, format, rows, bytes, published_at AS publishedAt FROM snapshots
    ORDER BY published_at DESC LIMIT 1`
  return (db.prepare(sql).get() ?? null) as LastPublication | null
}
