// When an open task, or a final one without a result, is asked for again (design.md 6.3). Pure.

import { ageOf } from '../../clock.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** Of a task's age: one that has been open for ten hours is asked for about once an hour. */
const SHARE_OF_AGE = 0.1

interface OpenTask {
  createdAt: number | null
  changedAt: number
}

/**
 * Unchanged open tasks wait longer each time in proportion to their age, a day at most. A moment in the future says nothing
 * of it. Epoch ms.
 */
export function nextOpenCheck({ createdAt, changedAt }: OpenTask, now: number): number {
  const ages = [ageOf(createdAt, now, 0), ageOf(changedAt, now, 0)].filter((age) => age !== null)
  const age = ages.length === 0 ? 0 : Math.min(...ages)
  return now + Math.min(DAY_MS, Math.max(MINUTE_MS, Math.round(age * SHARE_OF_AGE)))
}

const FIRST_RETRY_MS = 30_000

/**
 * A final task whose detail has no result: the next run asks again, later runs in proportion to the attempts before and
 * to the time since it ended, three days later at most. Epoch ms.
 */
export function nextResultCheck(attempts: number, completedAt: number | null, now: number): number {
  if (attempts === 0) return now
  const age = completedAt === null ? 0 : Math.max(0, now - completedAt)
  return now + Math.min(3 * DAY_MS, Math.max(FIRST_RETRY_MS * attempts ** 2, Math.round(age * SHARE_OF_AGE)))
}
