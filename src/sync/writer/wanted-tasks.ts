// Which tasks are to be asked for by id: open ones, the most overdue first, and where the list has them; details,
// candidates for deletion and tombstones that are owed; and some of those that the mirror holds.
import type { OwedPart, OwedReason } from '../../mirror/tables/owed.ts'
import { compareRows, type ListedRow, placeTable } from '../../mirror/tables/places.ts'
import type { KnownTask } from '../../mirror/tables/tasks.ts'
import { openWait, overdueOf } from './open-checks.ts'
import type { Writing } from './writing.ts'

interface DueTask {
  id: string
  overdue: number
  createdAt: number | null
}

/** At most so many are looked at in one run; the others come in a later one. */
const MOST = 20_000
/** So many rows are looked at for a witness near a place. */
const NEARBY = 1_000

/** The `most` that are most overdue, in that order. */
function mostOverdue(found: DueTask[], most: number): DueTask[] {
  return found.sort((a, b) => b.overdue - a.overdue || (b.createdAt ?? 0) - (a.createdAt ?? 0)).slice(0, most)
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

function openTasks(writing: Writing) {
  const { db, seen } = writing
  const { owed, tasks } = writing.tables
  const places = placeTable(db)

  /** Whether the list last showed the row in every digit. */
  function isShownWhole(seq: number): boolean {
    const { contentHash, listHash } = tasks.hashes(seq)
    return listHash?.equals(contentHash) === true
  }

  function rowOf(id: string, known: KnownTask | undefined): ListedRow | null {
    const createdAt = known === undefined ? null : tasks.moments(known.seq).createdAt
    return createdAt === null ? null : { id, createdAt }
  }

  function postpone(ids: readonly string[], now: number): void {
    if (ids.length === 0) return
    writing.commit(() => {
      for (const id of ids) {
        const known = tasks.find(id)
        if (known === undefined) continue
        const wait = openWait(tasks.moments(known.seq), now, writing.openEveryMs)
        owed.postpone(id, 'open', { now, next: now + wait }, null)
      }
    })
  }

  return {
    /**
     * Open tasks that are due, the most overdue first. Leaves out those that the list showed whole in this run, and
     * marks them as checked where they had been asked for before.
     */
    openDue(now: number, limit: number): string[] {
      const most = Math.min(limit, MOST)
      let due: DueTask[] = []
      const met: string[] = []
      for (const { taskId: id, seq, checkedAt, nextCheckAt, isAsListed, ...task } of owed.dueOpen(now)) {
        if (isAsListed && seen.has(seq)) {
          if (checkedAt !== null && met.length < MOST) met.push(id)
          continue
        }
        const overdue = overdueOf(task, checkedAt ?? nextCheckAt, now, writing.openEveryMs)
        due.push({ id, overdue, createdAt: task.createdAt })
        // However many there are, few more than are wanted are held.
        if (due.length >= 2 * MOST) due = mostOverdue(due, most)
      }
      postpone(met, now)
      return mostOverdue(due, most).map(({ id }) => id)
    },

    /**
     * By index, how far each of `ids` stands behind the oldest of them; NaN where the list does not show it whole.
     * `widest`: see `placeTable`.
     */
    openDistances(ids: string[], widest: number): Float64Array {
      const rows = ids.map((id) => {
        const known = tasks.find(id)
        return known !== undefined && isShownWhole(known.seq) ? rowOf(id, known) : null
      })
      return measured(rows, (sorted) => places.distances(sorted, widest))
    },

    /** Estimated indexes of tasks in a list ordered by createdAt; NaN for those without one. */
    listIndexes(ids: string[], newestFirst: boolean): number[] {
      const rows = ids.map((id) => rowOf(id, tasks.find(id)))
      return [...measured(rows, (sorted) => places.indexes(sorted, newestFirst))]
    },

    /** Marks the open tasks of `ids` that the list showed whole in this run as checked; returns the others. */
    openUnmet(ids: string[], now: number): string[] {
      const unmet: string[] = []
      const met: string[] = []
      for (const id of ids) {
        const known = tasks.find(id)
        if (known === undefined || known.deletedAt !== null || owed.find(id, 'open') === undefined) continue
        const isMet = seen.has(known.seq) && isShownWhole(known.seq)
        ;(isMet ? met : unmet).push(id)
      }
      postpone(met, now)
      return unmet
    },
  }
}

function owedTasks(writing: Writing) {
  const { owed, tasks } = writing.tables
  const tombstonesAsked = new Set<string>()

  return {
    /** Ids of details and candidates that are due, oldest check first; without candidates that this run has seen. */
    due(reason: 'detail' | 'candidate', by: number, part?: OwedPart): string[] {
      const ids: string[] = []
      for (const { taskId, seq } of owed.due(reason, by, part))
        if (reason === 'detail' || !writing.seen.has(seq)) ids.push(taskId)
      return ids
    },

    /** Tombstones to ask for again, each once in a run. */
    dueTombstones(dueBy: number, now: number, limit: number): string[] {
      const due: string[] = []
      for (const id of owed.dueTombstones(dueBy)) {
        if (due.length >= limit) break
        if (!tombstonesAsked.has(id)) due.push(id)
      }
      for (const id of due) tombstonesAsked.add(id)
      if (due.length > 0) {
        writing.commit(() => {
          for (const id of due) owed.owe(id, 'deleted', now)
        })
      }
      return due
    },

    /** Whether the detail of one of `ids` came to be owed at `since`, epoch ms, or later. */
    areOwedSince: (ids: string[], since: number): boolean =>
      ids.some((id) => (owed.find(id, 'detail')?.owedAt ?? 0) >= since),

    owedCount: (reason: OwedReason): number => owed.count(reason),

    /** How many owed details are not expected any moment. */
    unexpectedCount: (now: number): number => owed.unexpectedCount(now),

    unlistedCount: (): number => writing.unlistedCount(),

    /** What this run has met is listed, and no candidate. */
    dropListed: (): void => writing.commit(() => writing.dropListed((seq) => writing.isMet(seq))),

    oweAllDetails: (now: number, { since, until }: { since: number | null; until: number | null }): void =>
      writing.commit(() => owed.oweAllDetails(now, since, until)),

    /** Ids of live tasks met in this run, near `parts` (0 to 1) of all rows, else the newest; no more than parts. */
    witnesses(parts: number[]): string[] {
      const found = new Set<string>()
      const highest = tasks.highestSeq()
      const look = (from: number, most: number): void => {
        for (let seq = from; seq > Math.max(0, from - most); seq -= 1) {
          const id = writing.isMet(seq) ? tasks.liveIdOf(seq) : undefined
          if (id === undefined || found.has(id)) continue
          found.add(id)
          return
        }
      }
      for (const part of parts) look(1 + Math.floor(part * highest), NEARBY)
      for (let seq = highest; seq > 0 && found.size < parts.length; seq -= 1) look(seq, 1)
      return [...found]
    },

    /** The live tasks at these parts (0 to 1) of all rows, each once. */
    liveIdsAt: (parts: number[]): string[] => [...new Set(parts.flatMap((part) => tasks.liveIdNear(part) ?? []))],
  }
}

export function wantedTasks(writing: Writing) {
  return { ...openTasks(writing), ...owedTasks(writing) }
}
