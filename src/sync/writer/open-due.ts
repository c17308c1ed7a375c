// Open tasks on the writing side: which of them are due, the most overdue first, and where the list has them.
import { compareRows, placeTable } from '../../mirror/tables/places.ts'
import { openWait, overdueOf } from '../steps/open-checks.ts'
import type { Writing } from './writing.ts'

interface OpenQuestion {
  /** Epoch ms. */
  now: number
  limit: number
  /** Null where the places of tasks in the list are not wanted. As `PlaceTable.distances` has it. */
  widest: number | null
}

/** Open tasks that are due, the most overdue first. */
export interface OpenDueNow {
  ids: string[]
  /** By index how far each stands behind the oldest of them; NaN where the list does not show it whole. */
  distances: Float64Array
}

interface Candidate {
  id: string
  overdue: number
  createdAt: number | null
  isAsListed: boolean
}

/** The most that are looked at in one run: what is over comes in a later one. */
const MOST = 20_000

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
    /** Those that the list has shown whole in this run are left out: of those asked for before, that was their check. */
    openDue({ now, limit, widest }: OpenQuestion): OpenDueNow {
      let found: Candidate[] = []
      const met: string[] = []
      const most = Math.min(limit, MOST)
      const byOverdue = (a: Candidate, b: Candidate): number =>
        b.overdue - a.overdue || (b.createdAt ?? 0) - (a.createdAt ?? 0)
      for (const { taskId: id, seq, checkedAt, nextCheckAt, isAsListed, ...task } of tables.owed.dueOpen(now)) {
        if (isAsListed && writing.seen.has(seq)) {
          if (checkedAt !== null && met.length < MOST) met.push(id)
          continue
        }
        const overdue = overdueOf(task, checkedAt ?? nextCheckAt, now, writing.openEveryMs)
        found.push({ id, overdue, createdAt: task.createdAt, isAsListed })
        if (found.length >= 2 * MOST) found = found.sort(byOverdue).slice(0, most)
      }
      postpone(met, now)
      found = found.sort(byOverdue).slice(0, most)
      const distances = new Float64Array(found.length).fill(Number.NaN)
      if (widest !== null) {
        const rows = found.flatMap(({ id, createdAt, isAsListed }, index) =>
          isAsListed && createdAt !== null ? [{ id, createdAt, index }] : [],
        )
        rows.sort(compareRows)
        places.distances(rows, widest).forEach((distance, nth) => {
          distances[(rows[nth] as (typeof rows)[number]).index] = distance
        })
      }
      return { ids: found.map(({ id }) => id), distances }
    },

    /** Estimated indexes of tasks in a list ordered by createdAt; NaN for those without one. */
    listIndexes(ids: string[], newestFirst: boolean): number[] {
      const indexes = new Array<number>(ids.length).fill(Number.NaN)
      const rows = ids.flatMap((id, index) => {
        const known = tables.tasks.find(id)
        const createdAt = known === undefined ? null : tables.tasks.moments(known.seq).createdAt
        return createdAt === null ? [] : [{ id, createdAt, index }]
      })
      rows.sort(compareRows)
      places.indexes(rows, newestFirst).forEach((place, nth) => {
        indexes[(rows[nth] as (typeof rows)[number]).index] = place
      })
      return indexes
    },

    /** Of open tasks that were looked for in the list: those it has shown whole in this run count as checked; the others. */
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
