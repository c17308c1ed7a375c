// When an open task is asked for again (design.md 6.3). Pure.

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** Of a task's age: one that has been open for ten hours is asked for about once an hour. */
const SHARE_OF_AGE = 0.1

/** Unchanged open tasks wait longer each time in proportion to their age, a day at most. Epoch ms. */
export function nextOpenCheck(task: { createdAt: number | null; changedAt: number }, now: number): number {
  const since = Math.max(task.createdAt ?? task.changedAt, task.changedAt)
  const age = Math.max(0, now - since)
  return now + Math.min(DAY_MS, Math.max(MINUTE_MS, Math.round(age * SHARE_OF_AGE)))
}
