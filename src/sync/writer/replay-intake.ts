// Set-aside items on the writing side: taken in from their own raw text where that can be read now.
import { ageOf, latestKnown } from '../../clock.ts'
import { shapeTask } from '../../mirror/shape.ts'
import {
  lastMetBefore,
  markReplayed,
  rawTextOf,
  type WaitingItem,
  waitingItems,
} from '../../mirror/tables/set-aside.ts'
import type { WalkRow } from '../../mirror/tables/walks.ts'
import { type PageItem, readItemText } from '../../service/decode/wire.ts'
import type { Task } from '../../task.ts'
import { isAnother } from './intake.ts'
import { prepareTask } from './prepare.ts'
import { takeDetail } from './take-detail.ts'
import { takeListed } from './take-listed.ts'
import type { Writing } from './writing.ts'

/**
 * Marks set-aside items that a complete full walk has settled: it began after the item was last met, and met its task
 * whole or, where it has no id, read the whole list without it. Returns how many. A walk dated in the future settles
 * none. `latest`: what was met later was met before that walk, for the walk has just ended. In a transaction.
 */
export function settleByWalk(
  writing: Writing,
  { id: walkId, startedAt }: WalkRow,
  now: number,
  latest = Number.POSITIVE_INFINITY,
): number {
  const { db, tables } = writing
  if (startedAt > latestKnown(now)) return 0
  const isMet = (taskId: string): boolean => {
    const known = tables.tasks.find(taskId)
    return known !== undefined && writing.marks(walkId).has(known.seq)
  }
  const settled = lastMetBefore(db, startedAt, latest).filter(({ taskId }) => taskId === null || isMet(taskId))
  for (const { id } of settled) markReplayed(db, id, now)
  tables.setAside.reload()
  return settled.length
}

export function replayIntake(writing: Writing) {
  const { db, tables } = writing

  /** Null where the text is no task that this item may stand for. */
  function readTask(item: WaitingItem): Task | null {
    const raw = rawTextOf(db, item.id)
    if (raw === '') return null
    let read: PageItem
    try {
      read = readItemText(raw)
    } catch {
      return null
    }
    if (read.kind !== 'task') return null
    return item.taskId === null || item.taskId === read.task.id ? read.task : null
  }

  /** True where the mirror now holds what the text says, or something newer. */
  function takeText(item: WaitingItem, now: number): boolean {
    const task = readTask(item)
    if (task === null) return false
    const listed = item.source === 'list' ? prepareTask(task, writing.rules.finalStatuses) : null
    const known = tables.tasks.find(task.id, listed?.hash)
    if (known !== undefined) {
      if (isAnother(writing, known, shapeTask(task))) return false
      const heldSince = known.deletedAt ?? known.readAt
      // One of the two was stored under a clock that was ahead: only the service can tell which is newer.
      if (ageOf(Math.max(heldSince, item.seenAt), now, 0) === null) return false
      // An old text neither replaces newer content nor takes a tombstone back.
      if (known.deletedAt !== null) return heldSince >= item.seenAt
      if (heldSince >= item.seenAt) return true
    }
    const times = { readAt: item.seenAt, now }
    const { outcome } =
      listed !== null
        ? takeListed(writing, known, listed, times)
        : takeDetail(writing, known, task, { ...times, byHand: false, isListed: false })
    writing.count('seen')
    writing.count(outcome)
    return true
  }

  function settle(items: WaitingItem[], now: number): void {
    for (const { id } of items) markReplayed(db, id, now)
    // The bytes and counts of what waits have changed.
    tables.setAside.reload()
  }

  return {
    waitingItems: (after: number, limit: number): WaitingItem[] => waitingItems(db, after, limit),

    /** Takes in what can be read from the raw texts, in one transaction; returns how many of `items` are done with. */
    replayTexts(items: WaitingItem[], now: number): number {
      return writing.commit(() => {
        const done = items.filter((item) => takeText(item, now))
        settle(done, now)
        return done.length
      })
    },

    /** The service has been asked for the tasks of `items`, and they were taken in. */
    settleReplayed: (items: WaitingItem[], now: number): void => writing.commit(() => settle(items, now)),

    /** As the end of the last complete full walk does: that may have been made by an earlier version. */
    settleByWalk: (now: number): number =>
      writing.commit(() => {
        const walk = writing.walks.lastFull('complete')
        return walk === null ? 0 : settleByWalk(writing, walk, now)
      }),
  }
}
