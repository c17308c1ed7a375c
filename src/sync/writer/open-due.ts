// Open tasks on the writing side: which of them are due, the most overdue first, and where the list has them.
import { compareRows, type ListedRow, placeTable } from '../../mirror/tables/places.ts'
import { openWait, overdueOf } from '../steps/open-checks.ts'
import type { Writing } from './writing.ts'

interface OpenQuestion {
  /** Epoch ms. */
  now: number
  limit: number
  /** As in `placeTable`; null where the places of tasks in the list are not wanted. */
  widest: number | null
}

/** Open tasks that are due, the most overdue first. */
export interface OpenDueNow {
  ids: string[]
  /** By index, how far each task stands behind the oldest of them; NaN where the list does not show it whole. */
  distances: Float64Array
}

interface Candidate {
  id: string
  overdue: number
  createdAt: number | null
  isAsListed: boolean
}

/** At most so many are looked at in one run; the others come in a later one. */
const MOST = 20_000

/** The `most` that are most overdue, out of any number, without ever holding many more. */
class MostOverdue {
  readonly #most: number
  #found: Candidate[] = []

  constructor(most: number) {
    this.#most = most
  }

  add(candidate: Candidate): void {
    this.#found.push(candidate)
    if (this.#found.length >= 2 * MOST) this.#found = this.ranked()
  }

  ranked(): Candidate[] {
    return this.#found
      .sort((a, b) => b.overdue - a.overdue || (b.createdAt ?? 0) - (a.createdAt ?? 0))
      .slice(0, this.#most)
  }
}

/** What `measure` tells of rows in the order of the list, by index in `rows`; NaN where there is no row. */
function measured(
  rows: readonly (ListedRow | null)[],
  measure: (sorted: readonly ListedRow[]) => readonly number[],
): Float64Array {
  const sorted = rows.flatMap((row, index) => (row === null ? [] : { ...row, index }))
  sorted.sort(compareRows)
  const byIndex = new Float64Array(rows.length).fill(Number.NaN)
  measure(sorted).forEach((value, nth) => {
    byIndex[(sorted[nth] as (typeof sorted)[number]).index] = value
  })
  return byIndex
}

export function openDue(writing: Writing) {
  const { tables, db } = writing
  const places = placeTable(db)

  function postpone(ids: readonly string[], now: number): void {
    if (ids.length === 0) return
    writing.commit(() => {
      for (const id of ids) {
        const known = tables.tasks.find(id)
        if (known === undefined) continue
        const wait = openWait(tables.tasks.moments(known.seq), now, writing.openEveryMs)
        tables.owed.postpone(id, 'open', { now, next: now + wait }, null)
      }
    })
  }

  return {
    /**
     * The most overdue ones. Leaves out open tasks that the list showed whole in this run, and marks them as checked
     * where they had been asked for before.
     */
    openDue({ now, limit, widest }: OpenQuestion): OpenDueNow {
      const due = new MostOverdue(Math.min(limit, MOST))
      const met: string[] = []
      for (const { taskId: id, seq, checkedAt, nextCheckAt, isAsListed, ...task } of tables.owed.dueOpen(now)) {
        if (isAsListed && writing.seen.has(seq)) {
          if (checkedAt !== null && met.length < MOST) met.push(id)
          continue
        }
        const overdue = overdueOf(task, checkedAt ?? nextCheckAt, now, writing.openEveryMs)
        due.add({ id, overdue, createdAt: task.createdAt, isAsListed })
      }
      postpone(met, now)
      const found = due.ranked()
      const rows = found.map(({ id, createdAt, isAsListed }) =>
        widest !== null && isAsListed && createdAt !== null ? { id, createdAt } : null,
      )
      return {
        ids: found.map(({ id }) => id),
        distances: measured(rows, (sorted) => places.distances(sorted, widest ?? 0)),
      }
    },

    /** Estimated indexes of tasks in a list ordered by createdAt; NaN for those without one. */
    listIndexes(ids: string[], newestFirst: boolean): number[] {
      const rows = ids.map((id) => {
        const known = tables.tasks.find(id)
        const createdAt = known === undefined ? null : tables.tasks.moments(known.seq).createdAt
        return createdAt === null ? null : { id, createdAt }
      })
      return [...measured(rows, (sorted) => places.indexes(sorted, newestFirst))]
    },

    /** Marks the open tasks of `ids` that the list showed whole in this run as checked; returns the others. */
    openUnmet(ids: string[], now: number): string[] {
      const unmet: string[] = []
      const met: string[] = []
      for (const id of ids) {
        const known = tables.tasks.find(id)
        if (known === undefined || known.deletedAt !== null || tables.owed.find(id, 'open') === undefined) continue
        const { contentHash, listHash } = tables.tasks.hashes(known.seq)
        const isMet = writing.seen.has(known.seq) && listHash?.equals(contentHash) === true
        ;(isMet ? met : unmet).push(id)
      }
      postpone(met, now)
      return unmet
    },
  }
}
