// When an open task, or a final one without a result, is asked for again (design.md 6.3). Pure.

import { ageOf, DAY_MS } from '../../clock.ts'
import type { TaskMoments } from '../../mirror/tables/tasks.ts'

const MINUTE_MS = 60_000
/** Of a task's age: one that has been open for ten hours is asked for about once an hour. */
const SHARE_OF_AGE = 0.1

/**
 * How long an open task waits for its next check, ms: in proportion to its age, or to the time since it was seen to
 * change; `longestMs` at most. A moment in the future does not count: where `createdAt` is one, its age is how long
 * this mirror has known it.
 */
export function openWait({ createdAt, firstSeenAt, changedAt }: TaskMoments, now: number, longestMs: number): number {
  const since = changedAt > firstSeenAt ? changedAt : null
  const born = ageOf(createdAt, now, 0) ?? ageOf(firstSeenAt, now, 0)
  const ages = [born, ageOf(since, now, 0)].filter((age) => age !== null)
  const age = ages.length === 0 ? 0 : Math.min(...ages)
  return Math.min(longestMs, Math.max(MINUTE_MS, Math.round(age * SHARE_OF_AGE)))
}

/**
 * How overdue a task is that was last seen at `seenAt`, epoch ms: 1 where it has waited as long as it has to. A power
 * of two, so that neighbours in the list that are about as overdue can be asked for together.
 */
export function overdueOf(task: TaskMoments, seenAt: number, now: number, longestMs: number): number {
  const waited = ageOf(seenAt, now)
  if (waited === null) return Number.POSITIVE_INFINITY
  return 2 ** Math.floor(Math.log2(waited / Math.max(1, openWait(task, now, longestMs))))
}

/** When a task that only its look-up finds is asked for again, epoch ms: it waits for as long as it has been hidden. */
export function nextHiddenCheck(hiddenAt: number, now: number): number {
  return now + Math.min(30 * DAY_MS, Math.max(DAY_MS / 2, ageOf(hiddenAt, now) ?? 0))
}
const FIRST_RETRY_MS = 30_000

/**
 * When a final task whose detail has no result is asked for again, epoch ms: by the next run; then in proportion to the
 * attempts before and to the time since it ended, three days later at most.
 */
export function nextResultCheck(attempts: number, completedAt: number | null, now: number): number {
  if (attempts === 0) return now
  const age = completedAt === null ? 0 : now - completedAt
  return now + Math.min(3 * DAY_MS, Math.max(FIRST_RETRY_MS * attempts ** 2, Math.round(age * SHARE_OF_AGE)))
}
