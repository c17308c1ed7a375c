// Key ranges of a cut in the order `created_at, id`, and the conditions on their rows. Pure; rows.ts looks things up.
import { both, type Conditions, conditions } from './conditions.ts'
import { type FileLimits, type Partition, partitionOf, staysIn } from './partition.ts'

/** A row's place in the order of `created_at, id`. */
export interface Place {
  createdAt: bigint | null
  id: string
}

/** The rows behind `after` (null: from the first), up to and with the one at `upTo` (null: to the last). */
interface Between {
  after: Place | null
  upTo: Place | null
}

/** What is read and encoded at a time: a stretch of the order or, where few rows of many are wanted, their `seq`s. */
export type KeyRange = Between | { seqs: readonly bigint[] }

/** Below every other `created_at` there can be. */
const LEAST_INTEGER = -(2n ** 63n)

/** The conditions of a stretch, one after another as the index has the rows: those without `createdAt` come first. */
export function conditionsOf({ after, upTo }: Between, range: Conditions): Conditions[] {
  const found: Conditions[] = []
  if (after === null || after.createdAt === null) {
    const isLast = upTo !== null && upTo.createdAt === null
    const undated = conditions(
      ['created_at IS NULL'],
      after === null ? null : ['id > ?', after.id],
      isLast ? ['id <= ?', upTo.id] : null,
    )
    if (isLast) return [both(range, undated)]
    found.push(both(range, undated))
  }
  const isBehind = after !== null && after.createdAt !== null
  const dated = conditions(
    isBehind ? ['(created_at, id) > (?, ?)', after.createdAt as bigint, after.id] : ['created_at >= ?', LEAST_INTEGER],
    upTo === null ? null : ['(created_at, id) <= (?, ?)', upTo.createdAt as bigint, upTo.id],
  )
  return [...found, both(range, dated)]
}

/** Steps through the wanted rows in their order. */
interface Cursor {
  /** `createdAt` of the row that it stands before, which need not be a wanted one; undefined at the end. */
  createdAt(): bigint | null | undefined
  /** The next rows, `most` of them or fewer, none with a `createdAt` from `before` on (null: no such bound). */
  take(most: number, before: bigint | null): { keyRange: KeyRange; rows: number }
}

/** What the index of `created_at, id` tells of the rows that fulfil `conditions`. */
export interface Index {
  first(conditions: Conditions): Place | null
  /**
   * Steps to the `nth` wanted row, from 1, or to where enough rows were looked at; `upTo` is null where all were.
   * `rows`: how many of them are wanted.
   */
  forward(conditions: Conditions, nth: number): { upTo: Place | null; rows: number }
}

/** A cursor that finds its rows in the index, as it is asked. */
export function indexCursor(index: Index, range: Conditions): Cursor {
  let after: Place | null = null
  let isOver = false

  return {
    createdAt() {
      if (isOver) return undefined
      for (const stretch of conditionsOf({ after, upTo: null }, range)) {
        const place = index.first(stretch)
        if (place !== null) return place.createdAt
      }
      return undefined
    },
    take(most, before) {
      let rows = 0
      let upTo: Place | null = null
      // No id is empty, so no row stands at this place, and all rows from that createdAt on stand behind it.
      const end = before === null ? null : { createdAt: before, id: '' }
      for (const stretch of conditionsOf({ after, upTo: end }, range)) {
        const found = index.forward(stretch, most - rows)
        rows += found.rows
        upTo = found.upTo
        if (upTo !== null) break
      }
      upTo ??= end
      isOver = upTo === null
      const keyRange = { after, upTo }
      after = upTo
      return { keyRange, rows }
    },
  }
}

/** One of few changed rows, listed beforehand in their order. */
export interface ChangedRow {
  seq: bigint
  createdAt: bigint | null
}

export function listCursor(list: readonly ChangedRow[]): Cursor {
  let at = 0
  return {
    createdAt: () => list[at]?.createdAt,
    take(most, before) {
      const seqs: bigint[] = []
      for (; seqs.length < most && at < list.length; at++) {
        const { seq, createdAt } = list[at]!
        if (before !== null && createdAt !== null && createdAt >= before) break
        seqs.push(seq)
      }
      return { keyRange: { seqs }, rows: seqs.length }
    },
  }
}

/** Divides all rows into key ranges of `rows` rows, found as they are asked for. None holds rows of two files. */
export function* keyRangesOf(
  cursor: Cursor,
  rows: number,
  { partitionBy, rowsPerFile }: FileLimits,
): Generator<KeyRange, void, void> {
  let partition: Partition | null = null
  let room = rowsPerFile ?? Number.POSITIVE_INFINITY
  for (;;) {
    const createdAt = cursor.createdAt()
    if (createdAt === undefined) return
    if (partition === null || room === 0 || !staysIn(partition, createdAt)) {
      partition = partitionOf(createdAt, partitionBy)
      room = rowsPerFile ?? Number.POSITIVE_INFINITY
    }
    const taken = cursor.take(Math.min(rows, room), partition.until)
    room -= taken.rows
    yield taken.keyRange
  }
}
