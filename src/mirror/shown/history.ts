// What the mirror remembers of its last runs and walks: a few rows, however large it is.

import type { Verdict } from '../../task.ts'
import { freshAtAsMigrated } from '../as-migrated.ts'
import type { Db } from '../connect.ts'
import { believedFacts } from '../tables/facts.ts'
import { errorCodeOf, lastRuns, type RunRow } from '../tables/runs.ts'

export interface LastFullWalk {
  id: number
  verdict: Verdict
  reason: string | null
  startedAt: number
  finishedAt: number
}

interface LastRun
  extends Pick<RunRow, 'id' | 'command' | 'rejected' | 'startedAt' | 'finishedAt' | 'exitCode' | 'error'> {
  /** The code of `error`. */
  errorCode: string | null
}

export interface History {
  /** Base URL of the service that the mirror belongs to; null before a first answer. */
  baseUrl: string | null
  /** Until when the service asked to be left alone, epoch ms; null where it did not, or a wrong clock stored it. */
  notBefore: number | null
  /** As in `MirrorStatus`. */
  freshAt: number | null
  lastFullWalk: LastFullWalk | null
  /** The last run of `sync` or `backfill`. */
  lastRun: LastRun | null
  /** When runs of `sync` began, the last first, epoch ms; at most 20. */
  syncStarts: number[]
  /** Whether the last run of `sync` has no end. */
  isSyncUnfinished: boolean
}

const SHOWN_STARTS = 20

/** Reads everything in one transaction, so that it is consistent. `now` and `settleMs`: as in `believedFacts`. */
export function readHistory(db: Db, now: number, settleMs: number): History {
  return db.transaction(() => {
    const facts = believedFacts(db, now, settleMs)
    const [last] = lastRuns(db, 1, "command IN ('sync', 'backfill')")
    const syncs = lastRuns(db, SHOWN_STARTS, "command = 'sync'")
    return {
      baseUrl: facts.base_url ?? null,
      notBefore: facts.not_before ?? null,
      freshAt: freshAtOf(db),
      lastFullWalk: lastFullWalkOf(db),
      lastRun: last === undefined ? null : { ...last, errorCode: errorCodeOf(db, last.id) },
      syncStarts: syncs.map(({ startedAt }) => startedAt),
      isSyncUnfinished: syncs[0]?.finishedAt === null,
    }
  })()
}

export function freshAtOf(db: Db): number | null {
  return (db
    .prepare(
      `SELECT ${freshAtAsMigrated(db)} FROM walks WHERE verdict = 'complete' AND kind IN ('full', 'head', 'tail')
       ORDER BY id DESC LIMIT 1`,
    )
    .pluck()
    .get() ?? null) as number | null
}

export function lastFullWalkOf(db: Db): LastFullWalk | null {
  return (db
    .prepare(
      `SELECT id, verdict, reason, started_at AS startedAt, finished_at AS finishedAt FROM walks
       WHERE kind = 'full' AND verdict IS NOT NULL ORDER BY id DESC LIMIT 1`,
    )
    .get() ?? null) as LastFullWalk | null
}
