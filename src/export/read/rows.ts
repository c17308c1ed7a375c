// Reads one cut of the mirror in one read transaction, in bounded batches. Never blocks a writer, nor is blocked.

import { columnsAsMigrated, evidenceAsMigrated } from '../../mirror/as-migrated.ts'
import { explain, explaining } from '../../mirror/explain.ts'
import { openReader } from '../../mirror/open.ts'
import type { Verdict } from '../../task.ts'
import { COLUMNS, positionOf, type RawRow } from './columns.ts'
import { type InvalidJson, replaceInvalid } from './invalid-json.ts'
import { type Conditions, conditionsOf, type KeyRange, keyRangesOf, type Place, rangeOf } from './key-ranges.ts'

export interface Filters {
  /** Lower bound of `createdAt` (inclusive), epoch ms. Tasks without an integer `createdAt` are outside any bound. */
  since?: number | bigint | null
  /** Upper bound of `createdAt` (exclusive), epoch ms. */
  until?: number | bigint | null
  /** Values of `systemStatus`; all where absent. */
  statuses?: readonly string[] | null
  /** Whether tombstones are in it; not by default. */
  includeDeleted?: boolean
  /** Only rows with a greater `change_seq`; all where absent. */
  sinceSeq?: number | null
  /** What becomes of JSON that others refuse; kept where absent. */
  invalidJson?: InvalidJson
}

export interface CutReader {
  /** The highest `change_seq` of the mirror at this moment; 0 where it is empty. Names the cut. */
  readonly cut: number
  /** How the last full walk that ended did, and when (epoch ms); nulls where there was none. */
  readonly verdict: Verdict | null
  readonly verdictAt: number | null
  /** What proves the last complete full walk; null where there is no proof. */
  readonly proof: Proof | null
  /** Rows the batches will bring; null where that takes reading them, that is with `statuses`. */
  total(): number | null
  /** Rows by `created_at, id`, about `BATCH_BYTES` of text at a time; of `keyRange`, not with `sinceSeq`. */
  batches(keyRange?: KeyRange): Generator<RawRow[], void, void>
  /** Cuts all rows into key ranges that hold about `bytes` of text each, found as they are asked for. */
  keyRanges(bytes: number): Generator<KeyRange, void, void>
  /** The row of a task, whatever the filters; null where there is none. */
  row(id: string): RawRow | null
  /** Whether any row, tombstones included, has this `systemStatus`. */
  hasStatus(status: string): boolean
  /** The first `limit` values of `systemStatus`, in order. */
  someStatuses(limit: number): string[]
  close(): void
}

/** Up to so many changed rows are looked up one by one; beyond, or beyond a quarter of the mirror, it is read through. */
const MOST_LOOKED_UP = 200_000

/** Small enough that rows are forgotten while they are young, which halves the heap; large enough to cost nothing. */
const BATCH_BYTES = 64 * 1024
const BATCH_ROWS = 1_000

const LAST_FULL_WALK = `SELECT verdict, finished_at AS finishedAt FROM walks
  WHERE kind = 'full' AND finished_at IS NOT NULL ORDER BY id DESC LIMIT 1`

/** Of the whole list, while the walk went on. `verify --proof` judges the evidence of that walk anew. */
export interface Proof {
  walkId: number
  /** Epoch ms. */
  startedAt: number
  finishedAt: number
  /** SHA-256 of the evidence, hex. */
  sha256: string
}

function lastProof(db: ReturnType<typeof openReader>): Proof | null {
  const sha256 = evidenceAsMigrated(db)
  const found = db
    .prepare(
      `SELECT id AS walkId, started_at AS startedAt, finished_at AS finishedAt, ${sha256} AS sha256 FROM walks
       WHERE kind = 'full' AND verdict = 'complete' AND ${sha256} IS NOT NULL ORDER BY id DESC LIMIT 1`,
    )
    .get()
  return (found as Proof | undefined) ?? null
}

const STATUSES = `SELECT DISTINCT system_status FROM tasks WHERE system_status IS NOT NULL ORDER BY 1 LIMIT ?`

const SYSTEM_STATUS = positionOf('system_status')
const DELETED_AT = positionOf('deleted_at')
const CHANGE_SEQ = positionOf('change_seq')
const TEXTS = COLUMNS.flatMap(({ kind }, i) => (kind === 'int64' || kind === 'timestamp_ms' ? [] : [i]))

/** Of a key range, however large the rows are. */
const LEAST_ROWS = 4

const EVERY_ROW: Conditions = { terms: [], bounds: [] }

type Statement = ReturnType<ReturnType<typeof openReader>['prepare']>

/**
 * Tells whether anything was committed to the mirror at `path` since it was opened, or since it was asked last: two cuts
 * opened between two answers of which the second is false are the same. https://www.sqlite.org/pragma.html#pragma_data_version
 */
export function watchCommits(path: string): { hasCommits(): boolean; close(): void } {
  const db = openReader(path)
  const version = db.prepare('PRAGMA data_version').pluck()
  let last = version.get()
  return {
    hasCommits() {
      const before = last
      last = version.get()
      return last !== before
    },
    close: () => void db.close(),
  }
}

/** Opens the mirror at `path` and fixes the cut. Throws what `openReader` throws. */
export function openCut(path: string, filters: Filters): CutReader {
  const range = rangeOf(filters)
  const { terms, bounds } = range
  const db = openReader(path)
  let byId: Statement | null = null
  let names = ''
  const replaces = filters.invalidJson === 'replace'
  const hasSince = filters.sinceSeq !== undefined && filters.sinceSeq !== null
  try {
    // Read once from one end to the other, pages are hardly needed twice.
    db.pragma('cache_size = -4096')
    db.exec('BEGIN')
    // The first SELECT of the transaction takes SQLite's snapshot: from here on, later commits are invisible.
    const cut = db.prepare('SELECT max(change_seq) FROM tasks').pluck().get() as number | null
    names = columnsAsMigrated(
      db,
      COLUMNS.map(({ source }) => source),
    )
    const walk = db.prepare(LAST_FULL_WALK).get() as { verdict: Verdict; finishedAt: number } | undefined
    return {
      cut: cut ?? 0,
      verdict: walk?.verdict ?? null,
      verdictAt: walk?.finishedAt ?? null,
      proof: lastProof(db),
      total,
      batches,
      keyRanges,
      row,
      hasStatus: (status) =>
        db.prepare('SELECT 1 FROM tasks WHERE system_status = ? LIMIT 1').get(status) !== undefined,
      someStatuses: (limit) => db.prepare(STATUSES).pluck().all(limit) as string[],
      close: () => db.close(),
    }
  } catch (error) {
    db.close()
    throw explain(path, error)
  }

  function count(table: string, conditions: Conditions): number {
    const where = conditions.terms.length === 0 ? '' : `WHERE ${conditions.terms.join(' AND ')}`
    const counting = db.prepare(`SELECT count(*) FROM ${table} ${where}`).pluck()
    return explaining(path, () => counting.get(...conditions.bounds) as number)
  }

  function total(): number | null {
    if (filters.statuses) return null
    if (hasSince) return terms.length === 0 && filters.includeDeleted ? changed() : null
    const all = count('tasks', range)
    if (filters.includeDeleted) return all
    // By the partial index of tombstones, which are few; both counts together never touch the payloads.
    const deleted = { terms: [...terms, 'deleted_at IS NOT NULL'], bounds }
    return all - count('tasks INDEXED BY tasks_deleted_at', deleted)
  }

  function changed(): number {
    const behind = { terms: ['change_seq > ?'], bounds: [BigInt(filters.sinceSeq ?? 0)] }
    return count('tasks INDEXED BY tasks_change_seq', behind)
  }

  function* keyRanges(bytes: number): Generator<KeyRange, void, void> {
    const index = { place, count: (conditions: Conditions) => count('tasks INDEXED BY tasks_created_at', conditions) }
    yield* keyRangesOf(index, range, rowsOf(bytes))
  }

  /** By the index, never by the rows. */
  function place(conditions: Conditions, nth: number): Place | null {
    const finding = db
      .prepare(
        `SELECT created_at AS createdAt, id FROM tasks INDEXED BY tasks_created_at
         WHERE ${conditions.terms.join(' AND ')} ORDER BY created_at, id LIMIT 1 OFFSET ?`,
      )
      .safeIntegers()
    const found = explaining(path, () => finding.get(...conditions.bounds, BigInt(nth - 1)))
    return (found as Place | undefined) ?? null
  }

  /** So many rows hold about `bytes`, by the size of the mirror and the share of tombstones. */
  function rowsOf(bytes: number): number {
    const pragma = (name: string) => db.pragma(name, { simple: true }) as number
    const size = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
    const share = (total() ?? 0) / Math.max(count('tasks', range), 1)
    return Math.max(Math.round((bytes * count('tasks', EVERY_ROW)) / size / Math.max(share, 0.1)), LEAST_ROWS)
  }

  /** The rows of the range in order: read through by the index, or looked up where only few have changed. */
  function select(): Iterable<RawRow> {
    const since = BigInt(filters.sinceSeq ?? 0)
    // Integers come as bigint: exact at 64 bit, and faster than CAST to text.
    const rows = (sql: string) => db.prepare(sql).raw().safeIntegers()
    const few = hasSince ? changed() : null
    if (few !== null && few <= MOST_LOOKED_UP && few * 4 <= count('tasks', EVERY_ROW)) {
      const seqs = db
        .prepare(
          `SELECT seq FROM tasks INDEXED BY tasks_change_seq WHERE ${['change_seq > ?', ...terms].join(' AND ')}
           ORDER BY created_at, id`,
        )
        .pluck()
        .all(since, ...bounds) as number[]
      return lookUp(rows(`SELECT ${names} FROM tasks WHERE seq = ?`), seqs)
    }
    // The index is named so that no plan can ever sort the whole mirror.
    const where = terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`
    const all = rows(`SELECT ${names} FROM tasks INDEXED BY tasks_created_at ${where} ORDER BY created_at, id`)
    return all.iterate(...bounds) as Iterable<unknown> as Iterable<RawRow>
  }

  function* lookUp(statement: Statement, seqs: readonly number[]): Generator<RawRow> {
    for (const seq of seqs) yield statement.get(BigInt(seq)) as unknown as RawRow
  }

  function row(id: string): RawRow | null {
    byId ??= db.prepare(`SELECT ${names} FROM tasks WHERE id = ?`).raw().safeIntegers()
    const looking = byId
    const found = explaining(path, () => (looking.get(id) as unknown as RawRow | undefined) ?? null)
    if (replaces && found !== null) replaceInvalid(found)
    return found
  }

  /** The rows of a key range in order, as one after another gives them. */
  function* runsIn(keyRange: KeyRange): Generator<Iterable<RawRow>> {
    for (const { terms, bounds } of conditionsOf(keyRange, range)) {
      const statement = db.prepare(
        `SELECT ${names} FROM tasks INDEXED BY tasks_created_at WHERE ${terms.join(' AND ')} ORDER BY created_at, id`,
      )
      yield statement
        .raw()
        .safeIntegers()
        .iterate(...bounds) as Iterable<unknown> as Iterable<RawRow>
    }
  }

  function* batches(keyRange?: KeyRange): Generator<RawRow[], void, void> {
    const statuses = filters.statuses ? new Set<unknown>(filters.statuses) : null
    const since = hasSince ? BigInt(filters.sinceSeq ?? 0) : null
    let batch: RawRow[] = []
    let bytes = 0
    let read = 0
    try {
      // Not in SQL: a key range without any wanted row must not hold the event loop for the length of a scan.
      for (const run of keyRange === undefined ? [select()] : runsIn(keyRange)) {
        for (const row of run) {
          read++
          for (const position of TEXTS) bytes += (row[position] as string | null)?.length ?? 0
          const isWanted =
            (filters.includeDeleted || row[DELETED_AT] === null) &&
            (since === null || (row[CHANGE_SEQ] as bigint) > since) &&
            (statuses === null || statuses.has(row[SYSTEM_STATUS]))
          if (isWanted) batch.push(row)
          if (isWanted && replaces) replaceInvalid(row)
          if (bytes < BATCH_BYTES && read < BATCH_ROWS) continue
          yield batch
          batch = []
          bytes = 0
          read = 0
        }
      }
    } catch (error) {
      throw explain(path, error)
    }
    if (batch.length > 0) yield batch
  }
}
