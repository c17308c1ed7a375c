// `snapshots`: what was published, written on a short connection of its own: an export never holds the lock.
import { setTimeout as sleep } from 'node:timers/promises'
import { isMirrorError } from '../../errors.ts'
import { connect, type Db, lend } from '../connect.ts'
import { explain, explaining, storedJson } from '../explain.ts'
import { refuseSecondName } from '../mounts.ts'
import { withReader } from '../open.ts'
import { checkSchema } from '../schema.ts'
import { writeOne } from './statements.ts'

export interface SnapshotRow {
  id: string
  /** Highest `change_seq` in it. */
  cut: number
  /** Where it was published: the file, or the folder or prefix that holds the datasets. */
  path: string
  /** As `--format` names it. */
  format: string
  files: number
  rows: number
  bytes: number
  /** The filters of the publication; equal ones are equal text. */
  filters: Record<string, unknown>
  /** For a feed: only rows with a greater `change_seq`; null for a full snapshot. */
  sinceSeq: number | null
  /** Epoch ms. */
  publishedAt: number
}

/** Rows about `place` in `format`, none older than `first`, in the order of publication whatever the clock said. */
export function snapshotsAt(
  dbPath: string,
  place: string,
  format: SnapshotRow['format'],
  first: string | null = null,
): Pick<SnapshotRow, 'id' | 'cut' | 'filters' | 'sinceSeq'>[] {
  const find = `SELECT id, cut, filters, since_seq AS sinceSeq FROM snapshots WHERE path = ? AND format = ?
    AND rowid >= coalesce((SELECT rowid FROM snapshots WHERE id = ?), 0) ORDER BY rowid`
  type Found = { id: string; cut: number; filters: string; sinceSeq: number | null }
  return withReader(dbPath, (db) => {
    const rows = db.prepare(find).all(place, format, first) as Found[]
    return rows.map((row) => ({ ...row, filters: storedJson<SnapshotRow['filters']>(row.filters) }))
  })
}

/** Whether the mirror has a row about this snapshot, wherever it was published. */
export function knowsSnapshot(dbPath: string, id: string): boolean {
  return withReader(dbPath, (db) => db.prepare('SELECT 1 FROM snapshots WHERE id = ?').get(id) !== undefined)
}

/** When the mirror changed last, epoch ms; null where it has no task. */
export function changedLastAt(dbPath: string): number | null {
  const find = 'SELECT changed_at FROM tasks ORDER BY change_seq DESC LIMIT 1'
  return withReader(dbPath, (db) => (db.prepare(find).pluck().get() as number | undefined) ?? null)
}

/** A publication that the mirror has a row about. */
export type Publication = Pick<SnapshotRow, 'id' | 'path' | 'bytes'>

/** All publications, the last first, whatever the clock said. */
export function publications(db: Db): Publication[] {
  return db.prepare('SELECT id, path, bytes FROM snapshots ORDER BY rowid DESC').all() as Publication[]
}

/** Names a publication. They sort by time; two of the same millisecond differ by `random`. */
export function snapshotIdOf(at: number, cut: number, random: string): string {
  return `${new Date(at).toISOString().replace(/[-:.]/g, '')}-${cut}-${random}`
}

/** As `snapshotIdOf` gives them: nothing else in a destination is ever touched. */
export const SNAPSHOT_ID = /^\d{8}T\d{9}Z-\d+-[0-9a-f]{6}$/

/** When a publication began, epoch ms, by its name (`20261122T092136123Z-...`); null where it is called otherwise. */
export function begunAt(id: string): number | null {
  const [, y, mo, d, h, mi, s, ms] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-/.exec(id) ?? []
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}.${ms}Z`) || null
}

const PAUSE_MS = 50
/** So many last rows stay, and the last one of each place, format and filters, from which a feed goes on. */
const KEPT_ROWS = 10_000

/**
 * Adds the row. Waits up to `busyTimeoutMs` for a writer, in short steps that leave the event loop free.
 * Throws `mirror-unwritable`, `mirror-locked`, `disk-full`, `mirror-damaged` or `mirror-unreadable`.
 */
export function recordSnapshot(dbPath: string, row: SnapshotRow, busyTimeoutMs: number): Promise<void> {
  return writing(dbPath, busyTimeoutMs, (db) => insert(db, row))
}

/** Removes the row, of a publication that was taken away. Waits and throws as `recordSnapshot` does. */
export function forgetSnapshot(dbPath: string, id: string, busyTimeoutMs: number): Promise<void> {
  return writing(dbPath, busyTimeoutMs, (db) => db.prepare('DELETE FROM snapshots WHERE id = ?').run(id))
}

async function writing(dbPath: string, busyTimeoutMs: number, write: (db: Db) => void): Promise<void> {
  explaining(dbPath, () => refuseSecondName(dbPath))
  for (let waitedMs = 0; ; waitedMs += 2 * PAUSE_MS) {
    try {
      lend(connect(dbPath, { fileMustExist: true, timeout: PAUSE_MS }), (db) => {
        checkSchema(db, dbPath)
        write(db)
      })
      return
    } catch (error) {
      const explained = explain(dbPath, error)
      if (!isMirrorError(explained, 'mirror-locked') || waitedMs >= busyTimeoutMs) throw explained
      await sleep(PAUSE_MS)
    }
  }
}

function insert(db: Db, row: SnapshotRow): void {
  const statement = db.prepare(
    `INSERT INTO snapshots (id, cut, path, format, files, rows, bytes, filters, since_seq, published_at)
     VALUES (@id, @cut, @path, @format, @files, @rows, @bytes, @filters, @sinceSeq, @publishedAt)`,
  )
  const prune = db.prepare(
    `DELETE FROM snapshots WHERE rowid IN (
       SELECT rowid FROM (
         SELECT rowid, row_number() OVER (ORDER BY rowid DESC) AS place,
           row_number() OVER (PARTITION BY path, format, filters ORDER BY rowid DESC) AS among
         FROM snapshots)
       WHERE place > 2 * ${KEPT_ROWS} OR (place > ${KEPT_ROWS} AND among > 1))`,
  )
  const count = db.prepare('SELECT count(*) FROM snapshots').pluck()
  db.transaction(() => {
    writeOne(statement, { ...row, filters: JSON.stringify(row.filters) })
    if ((count.get() as number) > KEPT_ROWS) prune.run()
  }).immediate()
}
