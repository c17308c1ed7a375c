// What was done last with the mirror: runs, publications, items set aside. Reads small tables only: quick at any time.
import type { Db } from '../connect.ts'
import { lastRuns, type RunRow } from '../tables/runs.ts'
import { begunAt, type SnapshotRow } from '../tables/snapshots.ts'

interface Published extends Pick<SnapshotRow, 'id' | 'path' | 'format' | 'rows' | 'bytes' | 'publishedAt'> {
  isFeed: 0 | 1
}

export interface Recent {
  /** Newest first. */
  runs: RunRow[]
  /** In the order of publication, the last first, whatever the clock said. */
  publications: (Published & { startedAt: number | null })[]
  /** The last run that failed or ended partial (a stopped one does not count), and how many have ended well since. */
  lastFailure: { run: RunRow; wellSince: number } | null
  setAside: { reason: string; items: number; lastSeenAt: number }[]
}

const MOST_RUNS = 60

/** Reads everything in one transaction. */
export function readRecent(db: Db): Recent {
  return db.transaction(() => {
    const [failed] = lastRuns(db, 1, "outcome IN ('failed', 'partial')")
    const wellSince = db.prepare("SELECT count(*) FROM runs WHERE id > ? AND outcome = 'ok'").pluck()
    return {
      runs: lastRuns(db, MOST_RUNS),
      publications: db
        .prepare(
          `SELECT id, path, format, rows, bytes, published_at AS publishedAt, since_seq IS NOT NULL AS isFeed
           FROM snapshots ORDER BY rowid DESC LIMIT ${MOST_RUNS}`,
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
