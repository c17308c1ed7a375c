// Figures over all tasks for the report, grouped in SQL, so small for any number of tasks. Takes seconds: for a thread.
import { DAY_MS, HOUR_MS } from '../../clock.ts'
import { columnsAsMigrated } from '../as-migrated.ts'
import type { Db } from '../connect.ts'
import { readFacts, type TimeframeFinding } from '../tables/facts.ts'
import { freshAtOf } from './history.ts'

/** How a task ended: its code, or `4xx` with rarer ones; `other`: no HTTP code; `none`: final, no code; or `open`. */
export type Ending = string

/** What became of the tasks of one host, of all, or of those that are not named. Plain data: the page carries it. */
export interface HostFigures {
  kind: 'all' | 'host' | 'rest'
  /** null for tasks whose URL names none. */
  host: string | null
  /** How many hosts these figures cover. */
  hosts: number
  /** How many tasks of a bin ended how: bin (-1: not dated), index into `endings`, tasks. */
  cells: [bin: number, ending: number, tasks: number][]
  /** Durations of the ended tasks of a bin, ms: percentiles to within 9 %, how many tasks, and their mean. */
  durations: [bin: number, p50: number, p90: number, p99: number, ended: number, mean: number][]
}

export interface OpenFigures {
  /** Open tasks younger than each of `OPEN_AGES_MS`, the last one for those older than all or without a date. */
  byAge: { tasks: number; late: number }[]
  /** What `probe` found of `timeframe`; lateness is told only where it reads as a moment. null: it has not looked. */
  timeframe: TimeframeFinding | null
  /** Of the newest ended tasks: how many, how many past `timeframe`, how late, ms; null where that is no moment. */
  ended: { tasks: number; late: number; p50: number; p99: number } | null
}

export interface TaskFigures {
  /** When the figures were read, epoch ms. */
  at: number
  /** Tasks created before this moment are all in the mirror, epoch ms. */
  until: number
  /** Length of a bin, ms; null where no task has a usable `createdAt`: between 2000 and tomorrow. */
  binMs: number | null
  /** Start of the first bin, and the first `createdAt` in it, epoch ms. */
  start: number
  oldest: number
  /** Number of bins: at most 100, without gaps. */
  bins: number
  endings: Ending[]
  /** First all hosts together, then those with most tasks, then the rest together where there are more. */
  hosts: HostFigures[]
  open: OpenFigures
}

const BIN_LENGTHS_MS = [HOUR_MS, DAY_MS, 7 * DAY_MS, 28 * DAY_MS, 364 * DAY_MS]
const MOST_BINS = 100
const MOST_HOSTS = 15
/** Most codes that have an ending of their own. */
const MOST_CODES = 15
const EARLIEST = Date.UTC(2000, 0, 1)
/** Bins begin on a Monday: the epoch was a Thursday. */
const FIRST_MONDAY = 4 * DAY_MS
export const OPEN_AGES_MS = [HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS, 28 * DAY_MS]
/** Durations are counted in buckets; eight buckets double the duration. */
const BUCKETS_PER_DOUBLING = 8
/** How many of the newest tasks are read for what no index holds. */
const NEWEST = 50_000

/** Reads everything in one transaction. `now` is epoch ms. */
export function readFigures(db: Db, now: number): TaskFigures {
  return db.transaction(() => {
    const span = readSpan(db, now)
    return { ...span, ...readHosts(db, span), open: readOpen(db, now) }
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

type Span = Pick<TaskFigures, 'at' | 'until' | 'binMs' | 'start' | 'oldest' | 'bins'>

function readSpan(db: Db, now: number): Span {
  const edge = (order: 'ASC' | 'DESC') =>
    db
      .prepare(
        `SELECT created_at FROM tasks WHERE created_at BETWEEN ? AND ? AND deleted_at IS NULL
         ORDER BY created_at ${order} LIMIT 1`,
      )
      .pluck()
      .get(BigInt(EARLIEST), BigInt(now + DAY_MS)) as number | undefined
  const [first, last] = [edge('ASC'), edge('DESC')]
  const until = Math.min(now, freshAtOf(db) ?? now)
  if (first === undefined || last === undefined)
    return { at: now, until, binMs: null, start: now, oldest: now, bins: 0 }
  const length = binLength(first, last)
  const firstBin = binOf(first, length)
  const bins = binOf(last, length) - firstBin + 1
  return { at: now, until, binMs: length, start: firstBin * length + FIRST_MONDAY, oldest: first, bins }
}

const IS_FINAL = `(completed_at IS NOT NULL OR system_status IN (SELECT value FROM json_each(
  coalesce((SELECT value FROM service_facts WHERE key = 'final_statuses'), '["DONE"]'))))`

/** Tasks of one host and bin that ended in one way. `place`: that of the host among those named, or behind these. */
interface Cell {
  place: number
  bin: number
  ending: Ending
  tasks: number
}

/** Ended tasks of one host and bin that took about as long: their bucket, number, and sum of durations, ms. */
interface Bucket {
  place: number
  bin: number
  bucket: number
  ended: number
  sum: number
}

function readHosts(db: Db, span: Span): Pick<TaskFigures, 'endings' | 'hosts'> {
  // Only columns that the index tasks_outcomes holds, so that the index alone is read.
  const tasks = `(SELECT ${columnsAsMigrated(db, ['host'])}, created_at, completed_at, system_status, result_status_code
    FROM tasks WHERE deleted_at IS NULL)`
  const { named, hostCount } = readNames(db, tasks)
  const places = named.map((_, index) => `WHEN host IS ? THEN ${index}`)
  const place = places.length === 0 ? '0' : `CASE ${places.join(' ')} ELSE ${named.length} END`
  const bin = `CASE WHEN created_at BETWEEN ${EARLIEST} AND ${span.at + DAY_MS}
    THEN (created_at - ${span.start}) / ${span.binMs ?? DAY_MS} ELSE -1 END`
  const cells = db
    .prepare(
      `SELECT ${place} AS place, ${bin} AS bin, CASE WHEN NOT ${IS_FINAL} THEN 'open'
         WHEN result_status_code IS NULL THEN 'none'
         WHEN result_status_code BETWEEN 200 AND 599 THEN CAST(result_status_code AS TEXT) ELSE 'other' END AS ending,
       count(*) AS tasks
       FROM ${tasks} GROUP BY 1, 2, 3`,
    )
    .all(...named) as Cell[]
  const buckets = db
    .prepare(
      `SELECT ${place} AS place, ${bin} AS bin,
         CAST(log2(completed_at - created_at + 1) * ${BUCKETS_PER_DOUBLING} AS INTEGER) AS bucket,
         count(*) AS ended, total(completed_at - created_at) AS sum
       FROM ${tasks} WHERE completed_at >= created_at GROUP BY 1, 2, 3`,
    )
    .all(...named) as Bucket[]
  const endingOf = endingNames(cells)
  const endings = [...new Set(cells.map(endingOf))]
  const figuresOf = (
    about: Pick<HostFigures, 'kind' | 'host' | 'hosts'>,
    isOf: (row: Cell | Bucket) => boolean,
  ): HostFigures => ({
    ...about,
    cells: cellsOf(cells.filter(isOf), (cell) => endings.indexOf(endingOf(cell))),
    durations: durationsOf(buckets.filter(isOf)),
  })
  const more = hostCount - named.length
  const hosts = [
    figuresOf({ kind: 'all', host: null, hosts: hostCount }, () => true),
    ...named.map((host, index) => figuresOf({ kind: 'host', host, hosts: 1 }, (row) => row.place === index)),
  ]
  const rest = () => figuresOf({ kind: 'rest', host: null, hosts: more }, (row) => row.place === named.length)
  return { endings, hosts: more > 0 ? [...hosts, rest()] : hosts }
}

function readNames(db: Db, tasks: string): { named: (string | null)[]; hostCount: number } {
  const rows = db
    .prepare(
      `SELECT host, count(*) OVER () AS hostCount FROM (SELECT host, count(*) AS tasks FROM ${tasks} GROUP BY host)
       ORDER BY tasks DESC, host LIMIT ${MOST_HOSTS}`,
    )
    .all() as { host: string | null; hostCount: number }[]
  return { named: rows.map(({ host }) => host), hostCount: rows[0]?.hostCount ?? 0 }
}

/** Names the ending of a cell: codes that most tasks have by themselves, the rest of a class together. */
function endingNames(cells: readonly Cell[]): (cell: Cell) => Ending {
  const codes = [...Map.groupBy(cells, ({ ending }) => ending)]
    .filter(([ending]) => /^\d/.test(ending))
    .map(([code, some]) => [code, sumOf(some, ({ tasks }) => tasks)] as const)
    .sort(([, a], [, b]) => b - a)
  // 429, a refusal for too many requests, is always told apart from other refusals.
  const told = new Set(['open', 'none', 'other', '429', ...codes.slice(0, MOST_CODES).map(([code]) => code)])
  return ({ ending }) => (told.has(ending) ? ending : `${ending[0]}xx`)
}

function cellsOf(cells: readonly Cell[], endingIndex: (cell: Cell) => number): HostFigures['cells'] {
  const groups = Map.groupBy(cells, (cell) => `${cell.bin} ${endingIndex(cell)}`)
  return [...groups.values()].map((some) => [some[0]!.bin, endingIndex(some[0]!), sumOf(some, ({ tasks }) => tasks)])
}

function durationsOf(buckets: readonly Bucket[]): HostFigures['durations'] {
  return [...Map.groupBy(buckets, ({ bin }) => bin)]
    .sort(([a], [b]) => a - b)
    .map(([bin, some]) => {
      const counts = new Map<number, number>()
      for (const { bucket, ended } of some) counts.set(bucket, (counts.get(bucket) ?? 0) + ended)
      const all = sumOf(some, ({ ended }) => ended)
      return [bin, ...percentiles(counts), all, Math.round(sumOf(some, ({ sum }) => sum) / all)]
    })
}

function sumOf<Row>(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + of(row), 0)
}

/** p50, p90 and p99 of durations counted by bucket: the middle of the bucket of each, ms; 0 where there are none. */
export function percentiles(counts: ReadonlyMap<number, number>): [p50: number, p90: number, p99: number] {
  const sorted = [...counts].sort(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, count]) => sum + count, 0)
  const at = (share: number): number => {
    let below = 0
    for (const [bucket, count] of sorted) {
      below += count
      if (below >= share * total) return Math.max(0, Math.round(2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING) - 1))
    }
    return 0
  }
  return [at(0.5), at(0.9), at(0.99)]
}

function readOpen(db: Db, now: number): OpenFigures {
  const timeframe = readFacts(db).timeframe ?? null
  const steps = OPEN_AGES_MS.map((age, index) => `WHEN t.created_at > ${now - age} THEN ${index}`)
  const rows = db
    .prepare(
      `SELECT CASE ${steps.join(' ')} ELSE ${OPEN_AGES_MS.length} END AS age, count(*) AS tasks,
         total(t.timeframe < ${now}) AS late
       FROM open_checks o JOIN tasks t ON t.id = o.task_id
       WHERE o.reason = 'open' AND t.deleted_at IS NULL GROUP BY 1`,
    )
    .all() as { age: number; tasks: number; late: number }[]
  const byAge = new Map(rows.map(({ age, tasks, late }) => [age, { tasks, late: timeframe?.isMoment ? late : 0 }]))
  const ages = [...OPEN_AGES_MS, 0].map((_, index) => byAge.get(index) ?? { tasks: 0, late: 0 })
  return { byAge: ages, timeframe, ended: timeframe?.isMoment === true ? readEnded(db) : null }
}

function readEnded(db: Db): OpenFigures['ended'] {
  const rows = db
    .prepare(
      `SELECT CASE WHEN late_ms > 0 THEN CAST(log2(late_ms + 1) * ${BUCKETS_PER_DOUBLING} AS INTEGER) END AS bucket,
         count(*) AS tasks
       FROM (SELECT completed_at - timeframe AS late_ms FROM tasks WHERE deleted_at IS NULL
         ORDER BY created_at DESC LIMIT ${NEWEST})
       WHERE late_ms IS NOT NULL GROUP BY 1`,
    )
    .all() as { bucket: number | null; tasks: number }[]
  const late = new Map(rows.flatMap(({ bucket, tasks }) => (bucket === null ? [] : [[bucket, tasks] as const])))
  const [p50, , p99] = percentiles(late)
  return { tasks: sumOf(rows, ({ tasks }) => tasks), late: sumOf([...late.values()], (tasks) => tasks), p50, p99 }
}
