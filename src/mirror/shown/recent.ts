// What was done last with the mirror: runs, publications, items set aside. Small tables only: read whenever it is shown.
import type { Db } from '../connect.ts'
import type { RunRow } from '../tables/runs.ts'
import { begunAt, type SnapshotRow } from '../tables/snapshots.ts'

export type LastPublication = Pick<SnapshotRow, 'id' | 'path' | 'format' | 'rows' | 'bytes' | 'publishedAt'>

export type RecentRun = Omit<RunRow, 'rejected'>

interface Published extends LastPublication {
  isFeed: 0 | 1
}

export interface Recent {
  /** Newest first. */
  runs: RecentRun[]
  /** In the order of publication, the last first. */
  publications: (Published & { startedAt: number | null })[]
  /** The last run that ended otherwise than well, stopped ones aside, and how many have ended well since. */
  lastFailure: { run: RecentRun; wellSince: number } | null
  setAside: { reason: string; items: number; lastSeenAt: number }[]
}

const MOST_RUNS = 60

const PUBLICATION = 'id, path, format, rows, bytes, published_at AS publishedAt'
const RUN = `id, command, outcome, verdict, exit_code AS exitCode, requests, inserted, updated, deleted,
  started_at AS startedAt, finished_at AS finishedAt, error ->> 'message' AS error`

/** The snapshot published last, in the order of publication, whatever the clock said; null where there is none. */
export function readLastPublication(db: Db): LastPublication | null {
  const sql = `SELECT ${PUBLICATION} FROM snapshots ORDER BY rowid DESC LIMIT 1`
  return (db.prepare(sql).get() ?? null) as LastPublication | null
}

/** Everything in one read transaction. */
export function readRecent(db: Db): Recent {
  return db.transaction(() => {
    const failed = db
      .prepare(`SELECT ${RUN} FROM runs WHERE outcome IN ('failed', 'partial') ORDER BY id DESC LIMIT 1`)
      .get() as RecentRun | undefined
    const wellSince = db.prepare("SELECT count(*) FROM runs WHERE id > ? AND outcome = 'ok'").pluck()
    return {
      runs: db.prepare(`SELECT ${RUN} FROM runs ORDER BY id DESC LIMIT ${MOST_RUNS}`).all() as RecentRun[],
      publications: db
        .prepare(
          `SELECT ${PUBLICATION}, since_seq IS NOT NULL AS isFeed FROM snapshots
           ORDER BY rowid DESC LIMIT ${MOST_RUNS}`,
        )
        .all()
        .map((row) => ({ ...(row as Published), startedAt: begunAt((row as Published).id) })),
      lastFailure: failed === undefined ? null : { run: failed, wellSince: wellSince.get(failed.id) as number },
      setAside: db
        .prepare(
          `SELECT reason, count(*) AS items, max(seen_at) AS lastSeenAt FROM rejected_items
           WHERE replayed_at IS NULL GROUP BY reason ORDER BY items DESC`,
        )
        .all() as Recent['setAside'],
    }
  })()
}
