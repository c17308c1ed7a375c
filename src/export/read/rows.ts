// Reads one cut of the mirror in one read transaction, in bounded batches. Never blocks a writer, nor is blocked.
import { columnsAsMigrated, evidenceAsMigrated } from '../../mirror/as-migrated.ts'
import { explain, explaining } from '../../mirror/explain.ts'
import type { WalkProof } from '../../mirror/maintenance/proof.ts'
import { openReader } from '../../mirror/open.ts'
import { type LastFullWalk, lastFullWalkOf } from '../../mirror/shown/history.ts'
import { COLUMNS, type RawRow } from './columns.ts'
import {
  both,
  type Conditions,
  conditions,
  type Filters,
  hasSinceSeq,
  rangeOf,
  wantedOf,
  whereOf,
} from './conditions.ts'
import { replaceInvalid } from './invalid-json.ts'
import {
  type ChangedRow,
  conditionsOf,
  type Index,
  indexCursor,
  type KeyRange,
  keyRangesOf,
  listCursor,
  type Place,
} from './key-ranges.ts'
import type { FileLimits } from './partition.ts'

/** Most changed rows looked up one by one; for more, or over a quarter of the mirror, the mirror is read through. */
const MOST_LOOKED_UP = 200_000

/** Small enough that rows die in V8's young generation, which halves the heap; large enough to cost nothing. */
const BATCH_BYTES = 64 * 1024
const BATCH_ROWS = 1_000

/** The proof of a full walk, of the whole list. `verify --proof` judges the evidence of that walk anew. */
export type Proof = Pick<WalkProof, 'walkId' | 'startedAt' | 'finishedAt' | 'sha256'>

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

const TEXTS = COLUMNS.flatMap(({ kind }, i) => (kind === 'int64' || kind === 'timestamp_ms' ? [] : [i]))

/** Least rows of a key range, however large they are. */
const LEAST_ROWS = 4
/** Rows looked at per wanted row before a key range ends, so that no statement takes much longer than others. */
const MOST_PASSED_OVER = 32

/** The index is named so that no plan can ever sort the whole mirror. */
const BY_MOMENT = 'tasks INDEXED BY tasks_created_at'
/** The columns that the conditions on wanted rows name. */
const SIFTED_BY = 'system_status, deleted_at, change_seq'
const NO_LIMITS: FileLimits = { partitionBy: 'none', rowsPerFile: null }
const EVERY_ROW = conditions()

type Statement = ReturnType<ReturnType<typeof openReader>['prepare']>

/** Opens the mirror at `path` and fixes the cut. Throws what `openReader` throws. */
export function openCut(path: string, filters: Filters): CutReader {
  const db = openReader(path)
  try {
    return new CutReader(path, db, filters)
  } catch (error) {
    db.close()
    throw explain(path, error)
  }
}

export class CutReader {
  /** The highest `change_seq` of the mirror at this moment; 0 where it is empty. Names the cut. */
  readonly cut: number
  /** The last full walk that ended; null where there was none. */
  readonly lastFullWalk: LastFullWalk | null
  /** What proves the last complete full walk; null where there is no proof. */
  readonly proof: Proof | null
  readonly #path: string
  readonly #db: ReturnType<typeof openReader>
  readonly #filters: Filters
  readonly #range: Conditions
  readonly #wanted: Conditions
  readonly #names: string
  readonly #replaces: boolean
  readonly #prepared = new Map<string, Statement>()
  #byId: Statement | null = null

  constructor(path: string, db: ReturnType<typeof openReader>, filters: Filters) {
    this.#path = path
    this.#db = db
    this.#filters = filters
    this.#range = rangeOf(filters)
    this.#wanted = wantedOf(filters)
    this.#replaces = filters.invalidJson === 'replace'
    // A small cache is enough: read once from one end to the other, pages are hardly needed twice.
    db.pragma('cache_size = -4096')
    db.exec('BEGIN')
    // The first SELECT of the transaction takes SQLite's snapshot: from here on, later commits are invisible.
    this.cut = (db.prepare('SELECT max(change_seq) FROM tasks').pluck().get() as number | null) ?? 0
    this.#names = columnsAsMigrated(
      db,
      COLUMNS.map(({ name }) => name),
    )
    this.lastFullWalk = lastFullWalkOf(db)
    this.proof = lastProof(db)
  }

  /** About how many bytes of the mirror have to be read for the rows. */
  bytes(): number {
    return Math.round((this.#changedFew() ?? this.#count('tasks', this.#range)) * this.#rowBytes())
  }

  /** Whether any row, tombstones included, has this `systemStatus`. */
  hasStatus(status: string): boolean {
    return this.#db.prepare('SELECT 1 FROM tasks WHERE system_status = ? LIMIT 1').get(status) !== undefined
  }

  /** The first `limit` values of `systemStatus`, in order. */
  someStatuses(limit: number): string[] {
    return this.#db.prepare(STATUSES).pluck().all(limit) as string[]
  }

  close(): void {
    this.#db.close()
  }

  /** Integers come as bigint: exact at 64 bit, and faster than CAST to text. */
  #prepare(sql: string): Statement {
    return this.#db.prepare(sql).safeIntegers()
  }

  #statement(sql: string) {
    const known = this.#prepared.get(sql) ?? this.#prepare(sql)
    this.#prepared.set(sql, known)
    return known
  }

  #count(source: string, { terms, bounds }: Conditions): number {
    const counting = this.#statement(`SELECT count(*) AS rows FROM ${source} ${whereOf(terms)}`)
    return Number(explaining(this.#path, () => counting.get(...bounds) as { rows: bigint }).rows)
  }

  /** By the partial index of tombstones, which are few: this never touches the payloads. */
  #countDeleted(): number {
    return this.#count('tasks INDEXED BY tasks_deleted_at', both(this.#range, conditions(['deleted_at IS NOT NULL'])))
  }

  /** Number of rows that the batches will bring; null where only reading them would tell. */
  total(): number | null {
    if (this.#filters.statuses) return null
    if (hasSinceSeq(this.#filters))
      return this.#range.terms.length === 0 && this.#filters.includeDeleted ? this.#changed() : null
    return this.#count('tasks', this.#range) - (this.#filters.includeDeleted ? 0 : this.#countDeleted())
  }

  /** Number of wanted rows that have not changed since the cut `cut`, which may be an earlier one. */
  countUpTo(cut: number): number {
    // Without the plus SQLite takes the index of `change_seq`, and looks up nearly every row of the mirror by it.
    const upTo = conditions(['+change_seq <= ?', BigInt(cut)])
    return this.#count('tasks', both(both(this.#range, this.#wanted), upTo))
  }

  #changed(): number {
    const behind = conditions(['change_seq > ?', BigInt(this.#filters.sinceSeq ?? 0)])
    return this.#count('tasks INDEXED BY tasks_change_seq', behind)
  }

  /** How many rows have changed, where that is few enough to look them up one by one; else null. */
  #changedFew(): number | null {
    const few = hasSinceSeq(this.#filters) ? this.#changed() : null
    return few !== null && few <= MOST_LOOKED_UP && few * 4 <= this.#count('tasks', EVERY_ROW) ? few : null
  }

  #rowBytes(): number {
    const pragma = (name: string) => this.#db.pragma(name, { simple: true }) as number
    const size = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
    return size / Math.max(this.#count('tasks', EVERY_ROW), 1)
  }

  /** Divides all rows into key ranges that hold about `bytes` of text each, found as they are asked for. */
  *keyRanges(bytes: number, limits: FileLimits = NO_LIMITS): Generator<KeyRange, void, void> {
    const rows = Math.max(Math.round(bytes / this.#rowBytes()), LEAST_ROWS)
    if (this.#changedFew() !== null) return yield* keyRangesOf(listCursor(this.#changedRows()), rows, limits)
    // Tombstones are few: unless rows are to be counted exactly, their number is enough.
    const isExact = limits.rowsPerFile !== null || hasSinceSeq(this.#filters) || Boolean(this.#filters.statuses)
    const share = isExact ? 1 : (this.total() ?? 0) / Math.max(this.#count('tasks', this.#range), 1)
    const read = Math.max(Math.round(rows / Math.max(share, 0.1)), LEAST_ROWS)
    const index = this.#indexOf(isExact ? this.#wanted : EVERY_ROW, read * MOST_PASSED_OVER)
    yield* keyRangesOf(indexCursor(index, this.#range), read, limits)
  }

  #changedRows(): ChangedRow[] {
    const { terms, bounds } = both(this.#range, this.#wanted)
    const listing = this.#statement(
      `SELECT seq, created_at AS createdAt FROM tasks INDEXED BY tasks_change_seq ${whereOf(terms)} ORDER BY created_at, id`,
    )
    return explaining(this.#path, () => listing.all(...bounds) as ChangedRow[])
  }

  /** The index of `created_at, id`, with rows wanted that fulfil `sift`; `most` are looked at for a key range. */
  #indexOf(sift: Conditions, most: number): Index {
    const isSifted = sift.terms.length > 0

    return {
      first: (stretch) => this.#find(BY_MOMENT, stretch, 'created_at, id LIMIT 1'),
      forward: (conditions, nth) => {
        const looked = `(SELECT created_at, id, ${SIFTED_BY} FROM ${BY_MOMENT} ${whereOf(conditions.terms)} ORDER BY created_at, id LIMIT ${most})`
        const among = { terms: sift.terms, bounds: [...conditions.bounds, ...sift.bounds] }
        const upTo = isSifted ? this.#nth(looked, among, nth) : this.#nth(BY_MOMENT, conditions, nth)
        if (upTo !== null) return { upTo, rows: nth }
        if (!isSifted) return { upTo, rows: this.#count(BY_MOMENT, conditions) }
        return { upTo: this.#nth(BY_MOMENT, conditions, most), rows: this.#count(looked, among) }
      },
    }
  }

  /** The place of the `nth` row; where all rows are wanted, the index alone tells it. */
  #nth(source: string, { terms, bounds }: Conditions, nth: number): Place | null {
    return this.#find(source, { terms, bounds: [...bounds, BigInt(nth - 1)] }, 'created_at, id LIMIT 1 OFFSET ?')
  }

  #find(source: string, { terms, bounds }: Conditions, order: string): Place | null {
    const finding = this.#statement(
      `SELECT created_at AS createdAt, id FROM ${source} ${whereOf(terms)} ORDER BY ${order}`,
    )
    return (explaining(this.#path, () => finding.get(...bounds)) as Place | undefined) ?? null
  }

  /** The row of a task, whatever the filters; null where there is none. */
  row(id: string): RawRow | null {
    this.#byId ??= this.#db.prepare(`SELECT ${this.#names} FROM tasks WHERE id = ?`).raw().safeIntegers()
    const looking = this.#byId
    const found = explaining(this.#path, () => (looking.get(id) as unknown as RawRow | undefined) ?? null)
    if (this.#replaces && found !== null) replaceInvalid(found)
    return found
  }

  /** The rows of a key range in order, one statement's after another's. */
  *#runsIn(keyRange: KeyRange): Generator<Iterable<RawRow>> {
    const raw = (sql: string) => this.#prepare(sql).raw()
    if ('seqs' in keyRange)
      return yield this.#lookUp(raw(`SELECT ${this.#names} FROM tasks WHERE seq = ?`), keyRange.seqs)
    for (const stretch of conditionsOf(keyRange, this.#range)) {
      const { terms, bounds } = both(stretch, this.#wanted)
      const all = raw(`SELECT ${this.#names} FROM ${BY_MOMENT} ${whereOf(terms)} ORDER BY created_at, id`)
      yield all.iterate(...bounds) as Iterable<unknown> as Iterable<RawRow>
    }
  }

  *#lookUp(bySeq: Statement, seqs: readonly bigint[]): Generator<RawRow> {
    for (const seq of seqs) yield bySeq.get(seq) as unknown as RawRow
  }

  /** The rows of a key range in the order of `created_at, id`, about `BATCH_BYTES` of text at a time. */
  *batches(keyRange: KeyRange): Generator<RawRow[], void, void> {
    let batch: RawRow[] = []
    let bytes = 0
    try {
      for (const run of this.#runsIn(keyRange)) {
        for (const found of run) {
          for (const position of TEXTS) bytes += (found[position] as string | null)?.length ?? 0
          if (this.#replaces) replaceInvalid(found)
          batch.push(found)
          if (bytes < BATCH_BYTES && batch.length < BATCH_ROWS) continue
          yield batch
          batch = []
          bytes = 0
        }
      }
    } catch (error) {
      throw explain(this.#path, error)
    }
    if (batch.length > 0) yield batch
  }
}
