// The rows of `tasks`: read, look up, insert, replace, mark deleted. sync/writer decides whether a row is changed.
import { hostOf } from '../../host.ts'
import { INTEGER_COLUMNS, TASK_COLUMNS } from '../../task/columns.ts'
import { valuesOf } from '../../task/row.ts'
import type { Integer, TaskRow } from '../../task.ts'
import { columnsAsMigrated } from '../as-migrated.ts'
import type { Db } from '../connect.ts'
import { boundValues, rowBytes } from '../row-bytes.ts'
import { IdFilter } from './id-filter.ts'
import { writeOne } from './statements.ts'

/** What the mirror knows of a task before an answer is taken in. */
export interface KnownTask {
  seq: number
  /** Whether the list last showed it with the hash that was asked for. */
  isListedSo: boolean
  /** Whether the list last showed it with another content than the row holds. */
  isListedOtherwise: boolean
  deletedAt: number | null
  /** Start of the read that brought content, deletion or return, epoch ms by the clock of the run that took it in. */
  readAt: number
  /** When the row last changed, epoch ms by the same clock. */
  changedAt: number
  /** Whether this run has written the row. */
  isOfThisRun: boolean
}

interface KnownHashes extends RowHashes {
  /** See `tasks.detail_at`. */
  detailAt: number | null
}

export interface TaskMoments {
  /** By the service's clock, epoch ms; null where it says nothing. */
  createdAt: number | null
  /** When this mirror first saw it, and saw it change last; epoch ms. */
  firstSeenAt: number
  changedAt: number
}

interface RowHashes {
  contentHash: Buffer
  /** Null until the list has shown the task, or shown it again after a look-up has changed it. */
  listHash: Buffer | null
}

/** When the answer that shows a row was asked for, and when it is taken in, epoch ms. */
export interface RowTimes {
  readAt: number
  now: number
}

const columns = TASK_COLUMNS.join(', ')
const URL_COLUMN = TASK_COLUMNS.indexOf('data_url')

function statements(db: Db) {
  return {
    find: db
      .prepare(
        `SELECT seq, list_hash = ?, list_hash <> content_hash, deleted_at, read_at, changed_at, change_seq
         FROM tasks WHERE id = ?`,
      )
      .raw(),
    hashes: db.prepare(
      'SELECT content_hash AS contentHash, list_hash AS listHash, detail_at AS detailAt FROM tasks WHERE seq = ?',
    ),
    read: db.prepare(`SELECT ${columns} FROM tasks WHERE seq = ?`).safeIntegers(),
    liveIdOf: db.prepare('SELECT id FROM tasks WHERE seq = ? AND deleted_at IS NULL').pluck(),
    moments: db.prepare(
      'SELECT created_at AS createdAt, first_seen_at AS firstSeenAt, changed_at AS changedAt FROM tasks WHERE seq = ?',
    ),
    identity: db.prepare('SELECT user_id, created_at FROM tasks WHERE seq = ?').safeIntegers(),
    liveUpTo: db
      .prepare('SELECT id FROM tasks WHERE seq <= ? AND deleted_at IS NULL ORDER BY seq DESC LIMIT 1')
      .pluck(),
    liveFrom: db.prepare('SELECT id FROM tasks WHERE seq > ? AND deleted_at IS NULL ORDER BY seq LIMIT 1').pluck(),
    insert: db.prepare(
      `INSERT INTO tasks (seq, ${columns}, host, content_hash, list_hash, read_at, first_seen_at, changed_at, change_seq)
       VALUES (?, ${TASK_COLUMNS.map((name) => (INTEGER_COLUMNS.has(name) ? '?' : 'CAST(? AS TEXT)')).join(', ')}, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    replace: db.prepare(
      `UPDATE tasks SET ${TASK_COLUMNS.map((name) => `${name} = ?`).join(', ')}, host = ?,
       content_hash = ?, list_hash = ?, detail_at = NULL, read_at = ?, changed_at = ?, change_seq = ?, deleted_at = NULL
       WHERE seq = ?`,
    ),
    strip: db.prepare(
      `UPDATE tasks SET ${TASK_COLUMNS.map((name) => `${name} = ?`).join(', ')}, host = ?,
       content_hash = ?, list_hash = NULL, detail_at = NULL, changed_at = ?, change_seq = ? WHERE seq = ?`,
    ),
    setListHash: db.prepare('UPDATE tasks SET list_hash = ? WHERE seq = ?'),
    forgetListed: db.prepare(
      'UPDATE tasks SET list_hash = NULL WHERE seq >= ? AND seq < ? AND list_hash <> content_hash',
    ),
    setDetailAt: db.prepare('UPDATE tasks SET detail_at = ? WHERE seq = ?'),
    withoutDetail: db
      .prepare('SELECT seq FROM tasks WHERE seq >= ? AND deleted_at IS NULL AND detail_at IS NULL ORDER BY seq LIMIT ?')
      .pluck(),
    markDeleted: db.prepare(
      'UPDATE tasks SET deleted_at = ?, read_at = ?, changed_at = ?, change_seq = ? WHERE seq = ?',
    ),
    restore: db.prepare(
      'UPDATE tasks SET deleted_at = NULL, read_at = ?, changed_at = ?, change_seq = ? WHERE seq = ?',
    ),
    highestSeq: db.prepare('SELECT coalesce(max(seq), 0) FROM tasks').pluck(),
    highestChange: db.prepare('SELECT coalesce(max(change_seq), 0) FROM tasks').pluck(),
    newestSeq: db
      .prepare(
        `SELECT seq FROM tasks WHERE created_at < ? AND deleted_at IS NULL
         ORDER BY created_at DESC, id DESC LIMIT 1`,
      )
      .pluck(),
    liveCount: db
      .prepare('SELECT (SELECT count(*) FROM tasks) - (SELECT count(*) FROM tasks WHERE deleted_at IS NOT NULL)')
      .pluck(),
  }
}

/** Whether the row holds what a look-up has shown and the list has not shown yet. */
export function awaitsList({ listHash, detailAt }: KnownHashes): boolean {
  return listHash === null && detailAt !== null
}

export class TaskTable {
  readonly #sql: ReturnType<typeof statements>
  readonly #filter: IdFilter | null
  #seq = 0
  #changeSeq = 0
  /** The last change of the runs before. */
  readonly #changesBefore: number

  constructor(db: Db) {
    this.#sql = statements(db)
    this.reload()
    this.#changesBefore = this.#changeSeq
    this.#filter = this.#seq === 0 ? new IdFilter() : null
  }

  /** Reads counters anew, after a transaction that moved them was rolled back. */
  reload(): void {
    this.#seq = this.#sql.highestSeq.get() as number
    this.#changeSeq = this.#sql.highestChange.get() as number
  }

  /** SQLite compares the hashes: most are equal, and a buffer for each would cost more than the look-up. */
  find(id: string, listHash?: Buffer): KnownTask | undefined {
    if (this.#filter?.mayHave(id) === false) return undefined
    const found = this.#sql.find.get(listHash ?? null, id) as
      | [number, number | null, number | null, number | null, number, number, number]
      | undefined
    if (found === undefined) return undefined
    const [seq, isListedSo, isListedOtherwise, deletedAt, readAt, changedAt, changeSeq] = found
    return {
      seq,
      isListedSo: isListedSo === 1,
      isListedOtherwise: isListedOtherwise === 1,
      deletedAt,
      readAt,
      changedAt,
      isOfThisRun: changeSeq > this.#changesBefore,
    }
  }

  hashes(seq: number): KnownHashes {
    return this.#sql.hashes.get(seq) as KnownHashes
  }

  /** The stored columns; integers beyond 2^53 come as bigint. */
  read(seq: number): TaskRow {
    return exactly(this.#sql.read.get(seq)) as unknown as TaskRow
  }

  /** Id of a row that is no tombstone. */
  liveIdOf(seq: number): string | undefined {
    return this.#sql.liveIdOf.get(seq) as string | undefined
  }

  /** When it was created, first seen and last seen to change, epoch ms. */
  moments(seq: number): TaskMoments {
    return this.#sql.moments.get(seq) as TaskMoments
  }

  /** What tells it apart from another task of the same id. */
  identity(seq: number): Pick<TaskRow, 'user_id' | 'created_at'> {
    return this.#sql.identity.get(seq) as Pick<TaskRow, 'user_id' | 'created_at'>
  }

  /** Id of a live task near this part (0 to 1) of all rows; undefined where there is none. */
  liveIdNear(part: number): string | undefined {
    const near = 1 + Math.floor(part * this.#seq)
    return (this.#sql.liveUpTo.get(near) ?? this.#sql.liveFrom.get(near)) as string | undefined
  }

  insert(row: TaskRow, hashes: RowHashes, times: RowTimes): number {
    return this.insertBytes(row.id, rowBytes(row), hashes, times)
  }

  /** `insert` of an encoded row, see row-bytes.ts, whose columns SQLite reads where they are. */
  insertBytes(id: string, row: Buffer, { contentHash, listHash }: RowHashes, { readAt, now }: RowTimes): number {
    const change = this.#nextChange()
    this.#seq += 1
    this.#filter?.add(id)
    const values = boundValues(row)
    const host = hostOf(values[URL_COLUMN]?.toString() ?? null)
    writeOne(this.#sql.insert, this.#seq, ...values, host, contentHash, listHash, readAt, now, now, change)
    return this.#seq
  }

  /** Replaces the content by what the list shows; a tombstone lives again. */
  replace(seq: number, row: TaskRow, { contentHash, listHash }: RowHashes, { readAt, now }: RowTimes): void {
    const values = [...valuesOf(row), hostOf(row.data_url), contentHash, listHash]
    writeOne(this.#sql.replace, ...values, readAt, now, this.#nextChange(), seq)
  }

  /** Notes the hash of the form listed now, for the same content; null: what a look-up brought is not listed yet. */
  setListHash(seq: number, listHash: Buffer | null): void {
    writeOne(this.#sql.setListHash, listHash, seq)
  }

  /** Has the next walk compare anew what is listed in another form, in `count` rows from `from`. Next row or null. */
  forgetListed(from: number, count: number): number | null {
    this.#sql.forgetListed.run(from, from + count)
    return from + count <= this.#seq ? from + count : null
  }

  /** Notes when the detail was asked for that agrees with the list or is newer; null: there is none any more. */
  setDetailAt(seq: number, readAt: number | null): void {
    writeOne(this.#sql.setDetailAt, readAt, seq)
  }

  /** Live rows from `from` on whose detail is not in, and where to go on; null behind the last one. */
  withoutDetail(from: number, limit: number): { seqs: number[]; next: number | null } {
    const seqs = this.#sql.withoutDetail.all(from, limit) as number[]
    return { seqs, next: seqs.length < limit ? null : (seqs.at(-1) as number) + 1 }
  }

  markDeleted(seq: number, { readAt, now }: RowTimes): void {
    writeOne(this.#sql.markDeleted, now, readAt, now, this.#nextChange(), seq)
  }

  restore(seq: number, { readAt, now }: RowTimes): void {
    writeOne(this.#sql.restore, readAt, now, this.#nextChange(), seq)
  }

  /** Replaces the content of a tombstone, which stays one; the list has to show the task anew. */
  strip(seq: number, row: TaskRow, contentHash: Buffer, now: number): void {
    writeOne(this.#sql.strip, ...valuesOf(row), hostOf(row.data_url), contentHash, now, this.#nextChange(), seq)
  }

  highestSeq(): number {
    return this.#seq
  }

  /** The live row created last before `bound`, epoch ms. */
  newestSeq(bound: number): number | undefined {
    return this.#sql.newestSeq.get(bound) as number | undefined
  }

  liveCount(): number {
    return this.#sql.liveCount.get() as number
  }

  #nextChange(): number {
    this.#changeSeq += 1
    return this.#changeSeq
  }
}

interface StoredTask {
  row: TaskRow
  changeSeq: number
  /** Epoch ms of this mirror's clock, as the next two. */
  firstSeenAt: number
  changedAt: number
  /** null while the task lives. */
  deletedAt: number | null
}

const META = ['change_seq', 'first_seen_at', 'changed_at', 'deleted_at'] as const

/** The task with this id, tombstones included; null where the mirror has none. For connections of `openReader`. */
export function readTask(db: Db, id: string): StoredTask | null {
  const found = db
    .prepare(`SELECT ${columnsAsMigrated(db, [...TASK_COLUMNS, ...META])} FROM tasks WHERE id = ?`)
    .safeIntegers()
    .get(id)
  if (found === undefined) return null
  const { change_seq, first_seen_at, changed_at, deleted_at, ...row } = exactly(found)
  return {
    row: row as unknown as TaskRow,
    changeSeq: change_seq as number,
    firstSeenAt: first_seen_at as number,
    changedAt: changed_at as number,
    deletedAt: deleted_at as number | null,
  }
}

/** Turns each `bigint` of a row into a `number` where that holds it exactly. */
function exactly(found: unknown): Record<string, string | Integer | null> {
  const row = found as Record<string, string | Integer | null>
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) row[name] = Number(value)
  }
  return row
}
