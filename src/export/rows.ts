// Reads one cut of the mirror: everything inside one read transaction on a connection of its own, in bounded batches.
// Knows the table `tasks`; nothing of formats or files. Never blocks a writer and is never blocked by one.
import { explain, openReader } from '../mirror/open.ts'
import type { Verdict } from '../task.ts'
import { COLUMNS, positionOf, type RawRow } from './columns.ts'

export interface Filters {
  /** Lower bound of `createdAt` (inclusive), epoch ms. Tasks without an integer `createdAt` are outside any bound. */
  since?: number | bigint | null
  /** Upper bound of `createdAt` (exclusive), epoch ms. */
  until?: number | bigint | null
  /** Values of `systemStatus`; all where absent. */
  statuses?: readonly string[] | null
  /** Whether tombstones are in it; not by default. */
  includeDeleted?: boolean
}

export interface CutReader {
  /** The highest `change_seq` of the mirror at this moment; 0 where it is empty. Names the cut. */
  readonly cut: number
  /** How the last full walk that ended did, and when (epoch ms); nulls where there was none. */
  readonly verdict: Verdict | null
  readonly verdictAt: number | null
  /** Rows the batches will bring; null where that takes reading them, that is with `statuses`. */
  total(): number | null
  /** The rows in the order of `created_at, id`, at most about `BATCH_BYTES` of text at a time; a batch may be empty. */
  batches(): Generator<RawRow[], void, void>
  close(): void
}

/** Small enough that a batch takes a few milliseconds, large enough that a write per batch costs nothing. */
const BATCH_BYTES = 512 * 1024
const BATCH_ROWS = 1_000

const LAST_FULL_WALK = `SELECT verdict, finished_at AS finishedAt FROM walks
  WHERE kind = 'full' AND finished_at IS NOT NULL ORDER BY id DESC LIMIT 1`

const SYSTEM_STATUS = positionOf('system_status')
const DELETED_AT = positionOf('deleted_at')

/** Opens the mirror at `path` and fixes the cut. Throws what `openReader` throws. */
export function openCut(path: string, filters: Filters): CutReader {
  const db = openReader(path)
  try {
    db.exec('BEGIN')
    // The first SELECT of the transaction takes SQLite's snapshot: from here on, later commits are invisible.
    const cut = db.prepare('SELECT max(change_seq) FROM tasks').pluck().get() as number | null
    const walk = db.prepare(LAST_FULL_WALK).get() as { verdict: Verdict; finishedAt: number } | undefined
    return {
      cut: cut ?? 0,
      verdict: walk?.verdict ?? null,
      verdictAt: walk?.finishedAt ?? null,
      total,
      batches,
      close: () => db.close(),
    }
  } catch (error) {
    db.close()
    throw explain(path, error)
  }

  function range(): { where: string; bounds: bigint[] } {
    const terms: string[] = []
    const bounds: bigint[] = []
    for (const [term, bound] of [
      ['created_at >= ?', filters.since],
      ['created_at < ?', filters.until],
    ] as const) {
      if (bound === undefined || bound === null) continue
      terms.push(term)
      bounds.push(BigInt(bound))
    }
    return { where: terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`, bounds }
  }

  function total(): number | null {
    if (filters.statuses) return null
    const { where, bounds } = range()
    const count = (table: string, condition: string) =>
      db
        .prepare(`SELECT count(*) FROM ${table} ${condition}`)
        .pluck()
        .get(...bounds) as number
    const all = count('tasks', where)
    if (filters.includeDeleted) return all
    const isDeleted = where === '' ? 'WHERE deleted_at IS NOT NULL' : `${where} AND deleted_at IS NOT NULL`
    // By the partial index of tombstones, which are few; both counts together never touch the payloads.
    return all - count('tasks INDEXED BY tasks_deleted_at', isDeleted)
  }

  function* batches(): Generator<RawRow[], void, void> {
    const { where, bounds } = range()
    // The index is named so that no plan can ever sort the whole mirror. Integers come as bigint: exact at 64 bit, and
    // faster than CAST to text. Status and tombstones are sifted here rather than in SQL, so that a stretch without
    // any wanted row does not hold the event loop for the length of a scan.
    const select = db
      .prepare(
        `SELECT ${COLUMNS.map((column) => column.source).join()} FROM tasks INDEXED BY tasks_created_at ${where}
         ORDER BY created_at, id`,
      )
      .raw()
      .safeIntegers()
    const statuses = filters.statuses ? new Set<unknown>(filters.statuses) : null
    let batch: RawRow[] = []
    let bytes = 0
    let read = 0
    try {
      for (const found of select.iterate(...bounds)) {
        const row = found as RawRow
        read++
        for (const value of row) if (typeof value === 'string') bytes += value.length
        const isWanted =
          (filters.includeDeleted || row[DELETED_AT] === null) &&
          (statuses === null || statuses.has(row[SYSTEM_STATUS]))
        if (isWanted) batch.push(row)
        if (bytes < BATCH_BYTES && read < BATCH_ROWS) continue
        yield batch
        batch = []
        bytes = 0
        read = 0
      }
    } catch (error) {
      throw explain(path, error)
    }
    if (batch.length > 0) yield batch
  }
}
