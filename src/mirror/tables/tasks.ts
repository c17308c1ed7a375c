// The rows of `tasks`: look up, insert, replace, mark deleted. Whether a row is to be changed is decided elsewhere (sync/intake).
import { hostOf } from '../../host.ts'
import { INTEGER_COLUMNS, TASK_COLUMNS } from '../../task/columns.ts'
import { valuesOf } from '../../task/row.ts'
import type { TaskRow } from '../../task.ts'
import type { Db } from '../connect.ts'
import { boundValues } from '../row-bytes.ts'
import { IdFilter } from './id-filter.ts'
import { writeOne } from './statements.ts'

/** What the mirror knows of a task before an answer is taken in. */
export interface KnownTask {
  seq: number
  /** Whether the list last showed it with the hash that was asked for. */
  isListedSo: boolean
  deletedAt: number | null
  /** Start of the read that brought the present content, epoch ms. */
  readAt: number
}

interface KnownHashes {
  contentHash: Buffer
  /** Null until the list has shown the task. */
  listHash: Buffer | null
  /** See `tasks.detail_at`. */
  detailAt: number | null
}

interface TaskMoments {
  createdAt: number | null
  firstSeenAt: number
  changedAt: number
}

export interface TaskTable {
  find(id: string, listHash?: Buffer): KnownTask | undefined
  hashes(seq: number): KnownHashes
  /** The stored columns; integers beyond 2^53 come as bigint. */
  read(seq: number): TaskRow
  /** Its id, where the row is no tombstone. */
  liveIdOf(seq: number): string | undefined
  /** When it was created, first seen and last seen to change, epoch ms. */
  moments(seq: number): TaskMoments
  /** What tells it apart from another task of the same id. */
  identity(seq: number): Pick<TaskRow, 'user_id' | 'created_at'>
  /** Id of a live task near this part (0 to 1) of all rows; undefined where there is none. */
  liveIdNear(part: number): string | undefined
  insert(row: TaskRow, contentHash: Buffer, listHash: Buffer | null, readAt: number, now: number): number
  /** `insert` of an encoded row, see row-bytes.ts, whose columns SQLite reads where they are. */
  insertBytes(
    id: string,
    row: Buffer,
    contentHash: Buffer,
    listHash: Buffer | null,
    readAt: number,
    now: number,
  ): number
  /** Replaces the content by what the list shows; takes a tombstone back. */
  replace(seq: number, row: TaskRow, contentHash: Buffer, listHash: Buffer | null, readAt: number, now: number): void
  /** The list shows the task in another form than before, its content in the mirror is the same. */
  setListHash(seq: number, listHash: Buffer): void
  /** The detail that was asked for then agrees with what the list shows, or is newer; null: there is none any more. */
  setDetailAt(seq: number, readAt: number | null): void
  /** Live rows from `seq` on whose detail is not in, and where to go on; null behind the last one. */
  withoutDetail(seq: number, limit: number): { seqs: number[]; next: number | null }
  markDeleted(seq: number, now: number): void
  restore(seq: number, now: number): void
  /** Replaces the content of a tombstone, which it stays; the list has to show the task anew. */
  strip(seq: number, row: TaskRow, contentHash: Buffer, now: number): void
  highestSeq(): number
  liveCount(): number
  /** Forgets counters that a rolled back transaction moved. */
  reload(): void
}

const columns = TASK_COLUMNS.join(', ')
const URL_COLUMN = TASK_COLUMNS.indexOf('data_url')

export function taskTable(db: Db): TaskTable {
  const find = db.prepare('SELECT seq, list_hash = ?, deleted_at, read_at FROM tasks WHERE id = ?').raw()
  const hashes = db.prepare(
    'SELECT content_hash AS contentHash, list_hash AS listHash, detail_at AS detailAt FROM tasks WHERE seq = ?',
  )
  const read = db.prepare(`SELECT ${columns} FROM tasks WHERE seq = ?`).safeIntegers()
  const liveIdOf = db.prepare('SELECT id FROM tasks WHERE seq = ? AND deleted_at IS NULL').pluck()
  const moments = db.prepare(
    'SELECT created_at AS createdAt, first_seen_at AS firstSeenAt, changed_at AS changedAt FROM tasks WHERE seq = ?',
  )
  const identity = db.prepare('SELECT user_id, created_at FROM tasks WHERE seq = ?').safeIntegers()
  const liveUpTo = db
    .prepare('SELECT id FROM tasks WHERE seq <= ? AND deleted_at IS NULL ORDER BY seq DESC LIMIT 1')
    .pluck()
  const liveFrom = db.prepare('SELECT id FROM tasks WHERE seq > ? AND deleted_at IS NULL ORDER BY seq LIMIT 1').pluck()
  const insert = db.prepare(
    `INSERT INTO tasks (seq, ${columns}, host, content_hash, list_hash, read_at, first_seen_at, changed_at, change_seq)
     VALUES (?, ${TASK_COLUMNS.map(() => '?').join(', ')}, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertBytes = db.prepare(
    `INSERT INTO tasks (seq, ${columns}, host, content_hash, list_hash, read_at, first_seen_at, changed_at, change_seq)
     VALUES (?, ${TASK_COLUMNS.map((name) => (INTEGER_COLUMNS.has(name) ? '?' : 'CAST(? AS TEXT)')).join(', ')}, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const replace = db.prepare(
    `UPDATE tasks SET ${TASK_COLUMNS.map((name) => `${name} = ?`).join(', ')}, host = ?,
     content_hash = ?, list_hash = ?, detail_at = NULL, read_at = ?, changed_at = ?, change_seq = ?, deleted_at = NULL
     WHERE seq = ?`,
  )
  const strip = db.prepare(
    `UPDATE tasks SET ${TASK_COLUMNS.map((name) => `${name} = ?`).join(', ')}, host = ?,
     content_hash = ?, list_hash = NULL, detail_at = NULL, changed_at = ?, change_seq = ? WHERE seq = ?`,
  )
  const setListHash = db.prepare('UPDATE tasks SET list_hash = ? WHERE seq = ?')
  const setDetailAt = db.prepare('UPDATE tasks SET detail_at = ? WHERE seq = ?')
  const withoutDetail = db
    .prepare('SELECT seq FROM tasks WHERE seq >= ? AND deleted_at IS NULL AND detail_at IS NULL ORDER BY seq LIMIT ?')
    .pluck()
  const markDeleted = db.prepare('UPDATE tasks SET deleted_at = ?, changed_at = ?, change_seq = ? WHERE seq = ?')
  const restore = db.prepare('UPDATE tasks SET deleted_at = NULL, changed_at = ?, change_seq = ? WHERE seq = ?')
  const highestSeq = db.prepare('SELECT coalesce(max(seq), 0) FROM tasks').pluck()
  const highestChange = db.prepare('SELECT coalesce(max(change_seq), 0) FROM tasks').pluck()
  const liveCount = db
    .prepare('SELECT (SELECT count(*) FROM tasks) - (SELECT count(*) FROM tasks WHERE deleted_at IS NOT NULL)')
    .pluck()

  let seq = 0
  let changeSeq = 0
  const reload = (): void => {
    seq = highestSeq.get() as number
    changeSeq = highestChange.get() as number
  }
  reload()
  const filter = seq === 0 ? new IdFilter() : null

  return {
    // Compared where they stand: most hashes are equal, and a buffer for each would cost more than the look-up.
    find(id, listHash) {
      if (filter?.mayHave(id) === false) return undefined
      const found = find.get(listHash ?? null, id) as [number, number | null, number | null, number] | undefined
      if (found === undefined) return undefined
      return { seq: found[0], isListedSo: found[1] === 1, deletedAt: found[2], readAt: found[3] }
    },
    hashes: (wanted) => hashes.get(wanted) as KnownHashes,
    read(wanted) {
      const row = read.get(wanted) as Record<string, string | bigint | null>
      for (const [name, value] of Object.entries(row)) {
        if (typeof value === 'bigint' && Number.isSafeInteger(Number(value)))
          Object.assign(row, { [name]: Number(value) })
      }
      return row as unknown as TaskRow
    },
    liveIdOf: (wanted) => liveIdOf.get(wanted) as string | undefined,
    moments: (wanted) => moments.get(wanted) as TaskMoments,
    identity: (wanted) => identity.get(wanted) as Pick<TaskRow, 'user_id' | 'created_at'>,
    liveIdNear(part) {
      const near = 1 + Math.floor(part * seq)
      return (liveUpTo.get(near) ?? liveFrom.get(near)) as string | undefined
    },
    insert(row, contentHash, listHash, readAt, now) {
      seq += 1
      changeSeq += 1
      filter?.add(row.id)
      writeOne(insert, seq, ...valuesOf(row), hostOf(row.data_url), contentHash, listHash, readAt, now, now, changeSeq)
      return seq
    },
    insertBytes(id, row, contentHash, listHash, readAt, now) {
      seq += 1
      changeSeq += 1
      filter?.add(id)
      const values = boundValues(row)
      const host = hostOf(values[URL_COLUMN]?.toString() ?? null)
      writeOne(insertBytes, seq, ...values, host, contentHash, listHash, readAt, now, now, changeSeq)
      return seq
    },
    replace(wanted, row, contentHash, listHash, readAt, now) {
      changeSeq += 1
      writeOne(replace, ...valuesOf(row), hostOf(row.data_url), contentHash, listHash, readAt, now, changeSeq, wanted)
    },
    setListHash: (wanted, listHash) => void writeOne(setListHash, listHash, wanted),
    setDetailAt: (wanted, readAt) => void writeOne(setDetailAt, readAt, wanted),
    withoutDetail(from, limit) {
      const seqs = withoutDetail.all(from, limit) as number[]
      return { seqs, next: seqs.length < limit ? null : (seqs.at(-1) as number) + 1 }
    },
    markDeleted(wanted, now) {
      changeSeq += 1
      writeOne(markDeleted, now, now, changeSeq, wanted)
    },
    restore(wanted, now) {
      changeSeq += 1
      writeOne(restore, now, changeSeq, wanted)
    },
    strip(wanted, row, contentHash, now) {
      changeSeq += 1
      writeOne(strip, ...valuesOf(row), hostOf(row.data_url), contentHash, now, changeSeq, wanted)
    },
    highestSeq: () => seq,
    liveCount: () => liveCount.get() as number,
    reload,
  }
}

/** Places of live rows by `created_at`, newest or oldest first: one pass over an index, tombstones counted out. */
export function placesOf(db: Db, seqs: number[], newestFirst: boolean): number[] {
  const wanted = new Set(seqs)
  const tombstones = new Set(db.prepare('SELECT seq FROM tasks WHERE deleted_at IS NOT NULL').pluck().all() as number[])
  const direction = newestFirst ? 'DESC' : 'ASC'
  const walk = db.prepare(`SELECT seq FROM tasks ORDER BY created_at ${direction}, id ${direction}`).pluck()
  const places: number[] = []
  let place = 0
  for (const seq of walk.iterate() as Iterable<number>) {
    if (wanted.has(seq)) places.push(place)
    if (places.length === seqs.length) break
    if (!tombstones.has(seq)) place += 1
  }
  return places
}
