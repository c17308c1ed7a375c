// Figures over all tasks for the report: each one query that groups in SQL, so that what comes out is small however many
// tasks there are. Takes seconds on a large mirror: belongs on a thread of its own.
import type { Outcome, Verdict } from '../task.ts'
import { columnsAsMigrated } from './as-migrated.ts'
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

/** How a task stands: answered below 400, answered with 400 or more, final without an answer, or open. */
export const TASK_OUTCOMES = ['answered', 'failed', 'unanswered', 'open'] as const
export type TaskOutcome = (typeof TASK_OUTCOMES)[number]

export interface TimeBin {
  /** Epoch ms. */
  start: number
  tasks: Record<TaskOutcome, number>
  /** Of the tasks that ended, ms, to within 9 %; null where none did. */
  durations: { p50: number; p90: number; p99: number } | null
}

export interface HostFigures {
  /** null for tasks whose URL names none. */
  host: string | null
  tasks: number
  failed: number
  meanDurationMs: number | null
}

export interface RunFigure {
  id: number
  command: string
  outcome: Outcome | null
  verdict: Verdict | null
  exitCode: number | null
  requests: number
  inserted: number
  updated: number
  deleted: number
  startedAt: number
  finishedAt: number | null
  error: string | null
}

export interface Figures {
  /** Length of a bin, ms; null where no task has a usable `createdAt`. */
  binMs: number | null
  /** Oldest first, without gaps. At most 100. */
  bins: TimeBin[]
  /** Live tasks without a `createdAt` between 2000 and tomorrow: in no bin. */
  undated: number
  /** By code, most frequent first; `null` for final tasks without one. Codes beyond 100 to 599 are 0. */
  statusCodes: { code: number | null; tasks: number }[]
  /** Those with most tasks, and how many there are. */
  hosts: HostFigures[]
  hostCount: number
  /** Open tasks younger than each of `OPEN_AGES_MS`, the last one for those older than all or without a date. */
  openByAge: number[]
  setAside: { reason: string; items: number; lastSeenAt: number }[]
  /** Newest first. */
  runs: RunFigure[]
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const BIN_LENGTHS_MS = [HOUR_MS, DAY_MS, 7 * DAY_MS, 28 * DAY_MS, 364 * DAY_MS]
const MOST_BINS = 100
const MOST_HOSTS = 15
const MOST_RUNS = 60
const EARLIEST = Date.UTC(2000, 0, 1)
/** Bins begin on a Monday: the epoch was a Thursday. */
const FIRST_MONDAY = 4 * DAY_MS
export const OPEN_AGES_MS = [HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS, 28 * DAY_MS]
/** Durations are counted in buckets of which eight double the length. */
const BUCKETS_PER_DOUBLING = 8

/** The snapshot published last, in the order of publication, whatever the clock said; null where there is none. */
export function readLastPublication(db: Db): LastPublication | null {
  const sql = `SELECT id, path, format, rows, bytes, published_at AS publishedAt FROM snapshots
    ORDER BY rowid DESC LIMIT 1`
  return (db.prepare(sql).get() ?? null) as LastPublication | null
}

/** Everything in one read transaction. `now` is epoch ms. */
export function readFigures(db: Db, now: number): Figures {
  return db.transaction(() => {
    const { hosts, hostCount } = readHosts(db)
    return {
      ...readBins(db, now),
      hosts,
      hostCount,
      openByAge: readOpenByAge(db, now),
      setAside: db
        .prepare(
          `SELECT reason, count(*) AS items, max(seen_at) AS lastSeenAt FROM rejected_items
           WHERE replayed_at IS NULL GROUP BY reason ORDER BY items DESC`,
        )
        .all() as Figures['setAside'],
      runs: db
        .prepare(
          `SELECT id, command, outcome, verdict, exit_code AS exitCode, requests, inserted, updated, deleted,
             started_at AS startedAt, finished_at AS finishedAt, error ->> 'message' AS error
           FROM runs ORDER BY id DESC LIMIT ${MOST_RUNS}`,
        )
        .all() as RunFigure[],
    }
  })()
}

/** The smallest length with which at most 100 bins reach from `first` to `last`. */
export function binLength(first: number, last: number): number {
  const count = (length: number) => binOf(last, length) - binOf(first, length) + 1
  return BIN_LENGTHS_MS.find((length) => count(length) <= MOST_BINS) ?? (BIN_LENGTHS_MS.at(-1) as number)
}

function binOf(ms: number, length: number): number {
  return Math.floor((ms - FIRST_MONDAY) / length)
}

const IS_FINAL = `(completed_at IS NOT NULL OR system_status IN (SELECT value FROM json_each(
  coalesce((SELECT value FROM service_facts WHERE key = 'final_statuses'), '["DONE"]'))))`

interface Group {
  bin: number | null
  final: number
  code: number | null
  bucket: number | null
  tasks: number
}

function readBins(db: Db, now: number): Pick<Figures, 'binMs' | 'bins' | 'undated' | 'statusCodes'> {
  const latest = now + DAY_MS
  const edge = (order: 'ASC' | 'DESC') =>
    db
      .prepare(
        `SELECT created_at FROM tasks WHERE created_at BETWEEN ? AND ? AND deleted_at IS NULL
         ORDER BY created_at ${order} LIMIT 1`,
      )
      .pluck()
      .get(BigInt(EARLIEST), BigInt(latest)) as number | undefined
  const first = edge('ASC')
  const last = edge('DESC')
  const length = first === undefined || last === undefined ? null : binLength(first, last)
  const bins: TimeBin[] = []
  const buckets: Map<number, number>[] = []
  const firstBin = length === null ? 0 : binOf(first as number, length)
  if (length !== null) {
    for (let bin = firstBin; bin <= binOf(last as number, length); bin += 1) {
      const tasks = { answered: 0, failed: 0, unanswered: 0, open: 0 }
      bins.push({ start: bin * length + FIRST_MONDAY, tasks, durations: null })
      buckets.push(new Map())
    }
  }
  const codes = new Map<number | null, number>()
  let undated = 0
  const groups = db.prepare(
    `SELECT CASE WHEN created_at BETWEEN ${EARLIEST} AND ${latest}
         THEN (created_at - ${FIRST_MONDAY}) / ${length ?? DAY_MS} END AS bin,
       ${IS_FINAL} AS final,
       CASE WHEN result_status_code BETWEEN 100 AND 599 THEN result_status_code
         WHEN result_status_code IS NOT NULL THEN 0 END AS code,
       CASE WHEN completed_at >= created_at
         THEN CAST(log2(completed_at - created_at + 1) * ${BUCKETS_PER_DOUBLING} AS INTEGER) END AS bucket,
       count(*) AS tasks
     FROM tasks WHERE deleted_at IS NULL GROUP BY 1, 2, 3, 4`,
  )
  for (const { bin, final, code, bucket, tasks } of groups.iterate() as IterableIterator<Group>) {
    if (final === 1) codes.set(code, (codes.get(code) ?? 0) + tasks)
    const index = bin === null ? -1 : bin - firstBin
    const place = bins[index]
    if (place === undefined) {
      undated += tasks
      continue
    }
    place.tasks[outcomeOf(final === 1, code)] += tasks
    const counts = buckets[index] as Map<number, number>
    if (bucket !== null) counts.set(bucket, (counts.get(bucket) ?? 0) + tasks)
  }
  bins.forEach((bin, index) => {
    bin.durations = percentiles(buckets[index] as Map<number, number>)
  })
  const statusCodes = [...codes].map(([code, tasks]) => ({ code, tasks })).sort((a, b) => b.tasks - a.tasks)
  return { binMs: length, bins, undated, statusCodes }
}

function outcomeOf(isFinal: boolean, code: number | null): TaskOutcome {
  if (!isFinal) return 'open'
  return code === null ? 'unanswered' : code >= 400 ? 'failed' : 'answered'
}

/** Of durations counted by bucket: the middle of the bucket that holds each percentile, ms. */
export function percentiles(counts: ReadonlyMap<number, number>): TimeBin['durations'] {
  const sorted = [...counts].sort(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return null
  const at = (share: number): number => {
    let below = 0
    for (const [bucket, count] of sorted) {
      below += count
      if (below >= share * total) return Math.max(0, Math.round(2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING) - 1))
    }
    return 0
  }
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) }
}

function readHosts(db: Db): { hosts: HostFigures[]; hostCount: number } {
  const rows = db
    .prepare(
      `SELECT host, tasks, failed, meanDurationMs, count(*) OVER () AS hostCount FROM (
         SELECT host, count(*) AS tasks, sum(coalesce(result_status_code >= 400, 0)) AS failed,
           round(avg(duration_ms)) AS meanDurationMs
         FROM (SELECT ${columnsAsMigrated(db, ['host'])}, result_status_code, completed_at - created_at AS duration_ms
           FROM tasks WHERE deleted_at IS NULL) GROUP BY host
       ) ORDER BY tasks DESC, host LIMIT ${MOST_HOSTS}`,
    )
    .all() as (HostFigures & { hostCount: number })[]
  const hosts = rows.map(({ hostCount: _, ...figures }) => figures)
  return { hosts, hostCount: rows[0]?.hostCount ?? 0 }
}

function readOpenByAge(db: Db, now: number): number[] {
  const steps = OPEN_AGES_MS.map((age, index) => `WHEN t.created_at > ${now - age} THEN ${index}`)
  const rows = db
    .prepare(
      `SELECT CASE ${steps.join(' ')} ELSE ${OPEN_AGES_MS.length} END AS age, count(*) AS tasks
       FROM open_checks o JOIN tasks t ON t.id = o.task_id
       WHERE o.reason = 'open' AND t.deleted_at IS NULL GROUP BY 1`,
    )
    .all() as { age: number; tasks: number }[]
  const byAge = new Map(rows.map(({ age, tasks }) => [age, tasks]))
  return [...OPEN_AGES_MS, 0].map((_, index) => byAge.get(index) ?? 0)
}
