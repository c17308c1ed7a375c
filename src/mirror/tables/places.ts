// Where live rows stand in a list by created_at, according to the mirror: counted in SQLite, no further than asked.
import type { Db } from '../connect.ts'

export interface ListedRow {
  id: string
  /** Epoch ms. */
  createdAt: number
}

/** Oldest first, equal createdAt by id, as the index has them. */
export function compareRows(a: ListedRow, b: ListedRow): number {
  return a.createdAt - b.createdAt || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))
}

export function placeTable(db: Db) {
  const between = db
    .prepare(
      `SELECT count(*) FROM (SELECT 1 FROM tasks WHERE (created_at, id) > (?, ?) AND (created_at, id) <= (?, ?) LIMIT ?)`,
    )
    .pluck()
  const before = db
    .prepare('SELECT count(*) FROM tasks WHERE created_at IS NOT NULL AND (created_at, id) < (?, ?)')
    .pluck()
  const behind = db.prepare('SELECT count(*) FROM tasks WHERE (created_at, id) > (?, ?)').pluck()
  const deleted = db
    .prepare('SELECT created_at FROM tasks WHERE deleted_at IS NOT NULL AND created_at IS NOT NULL')
    .pluck()

  /** Counts tombstones created before a moment; they are few, so they are held in memory. */
  function countTombstones(): (moment: number) => number {
    const moments = Float64Array.from(deleted.all() as number[]).sort()
    return (moment) => {
      let [low, high] = [0, moments.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((moments[middle] as number) < moment) low = middle + 1
        else high = middle
      }
      return low
    }
  }

  /** Number of live rows behind each row up to the next one, `widest` at most. */
  function gaps(rows: readonly ListedRow[], widest: number): number[] {
    const tombstonesBefore = countTombstones()
    return rows.slice(1).map((row, index) => {
      const last = rows[index] as ListedRow
      const counted = between.get(last.createdAt, last.id, row.createdAt, row.id, widest) as number
      if (counted >= widest) return widest
      return Math.max(0, counted - tombstonesBefore(row.createdAt) + tombstonesBefore(last.createdAt))
    })
  }

  return {
    /** How far each of the rows, sorted by `compareRows`, is behind the first; a gap counts as `widest` at most. */
    distances(rows: readonly ListedRow[], widest: number): number[] {
      let distance = 0
      return rows.length === 0 ? [] : [0, ...gaps(rows, widest).map((gap) => (distance += gap))]
    },

    /** Live rows in front of each of `rows` (sorted by `compareRows`), newest or oldest first. Reads the index once. */
    indexes(rows: readonly ListedRow[], newestFirst: boolean): number[] {
      const [first, last] = [rows[0], rows.at(-1)]
      if (first === undefined || last === undefined) return []
      const tombstonesBefore = countTombstones()
      const steps = gaps(rows, Number.MAX_SAFE_INTEGER)
      if (!newestFirst) {
        let index = (before.get(first.createdAt, first.id) as number) - tombstonesBefore(first.createdAt)
        return [index, ...steps.map((step) => (index += step))]
      }
      const newer = tombstonesBefore(Number.POSITIVE_INFINITY) - tombstonesBefore(last.createdAt)
      let index = (behind.get(last.createdAt, last.id) as number) - newer
      return [index, ...steps.toReversed().map((step) => (index += step))].toReversed()
    },
  }
}

/**
 * Numbers live rows in the order of `compareRows`: by one more where they stand side by side, by two more where not.
 * Unlike `indexes` it is exact where a tombstone has the createdAt of a row, and reads no tombstones elsewhere.
 */
export function placesOf(db: Db, seqs: readonly number[]): number[] {
  const never = Number.MIN_SAFE_INTEGER
  const find = db.prepare(`SELECT id, coalesce(created_at, ${never}) AS createdAt FROM tasks WHERE seq = ?`)
  const between = db
    .prepare(
      `SELECT count(*) FROM (SELECT 1 FROM tasks WHERE (created_at, id) > (?, ?) AND (created_at, id) <= (?, ?)
       AND deleted_at IS NULL LIMIT 2)`,
    )
    .pluck()
  const rows = seqs.map((seq, index) => ({ ...(find.get(seq) as ListedRow), index })).sort(compareRows)
  const places: number[] = []
  let place = 0
  rows.forEach(({ id, createdAt, index }, nth) => {
    const last = rows[nth - 1]
    // A row without createdAt stands beside no other.
    if (last?.createdAt === never) place += 2
    else if (last !== undefined) place += between.get(last.createdAt, last.id, createdAt, id) as number
    places[index] = place
  })
  return places
}
