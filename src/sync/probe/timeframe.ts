// Whether the undocumented `timeframe` reads as a moment in ms, by where it lies beside its task's moments. Pure.
import type { TimeframeFinding } from '../../mirror/tables/facts.ts'
import type { WindowMoments } from '../writer/windows.ts'

/** Counts every task once, however often it was listed. */
export interface TimeframeEvidence {
  ids: Set<string>
  tasks: number
  afterCreated: number
  ended: number
  nearCompleted: number
}

const NEAR_MS = 86_400_000
/** Fewer tasks than this say nothing. */
const LEAST = 20
/** From these shares on it reads as a moment: a few tasks may be odd, or late by more than a day. */
const MOSTLY_AFTER = 0.95
const MOSTLY_NEAR = 0.9

export function noTimeframes(): TimeframeEvidence {
  return { ids: new Set(), tasks: 0, afterCreated: 0, ended: 0, nearCompleted: 0 }
}

export function noteTimeframes(evidence: TimeframeEvidence, ids: readonly string[], moments: WindowMoments): void {
  ids.forEach((id, index) => {
    const timeframe = moments.timeframe[index] as number
    const createdAt = moments.createdAt[index] as number
    if (Number.isNaN(timeframe) || Number.isNaN(createdAt) || evidence.ids.has(id)) return
    evidence.ids.add(id)
    evidence.tasks += 1
    if (timeframe >= createdAt) evidence.afterCreated += 1
    const completedAt = moments.completedAt[index] as number
    if (Number.isNaN(completedAt)) return
    evidence.ended += 1
    if (Math.abs(completedAt - timeframe) <= NEAR_MS) evidence.nearCompleted += 1
  })
}

/** What the evidence shows; null where there is too little of it. */
export function judgeTimeframe({
  tasks,
  afterCreated,
  ended,
  nearCompleted,
}: TimeframeEvidence): TimeframeFinding | null {
  if (tasks < LEAST) return null
  const shares = { afterCreated: afterCreated / tasks, nearCompleted: ended === 0 ? 0 : nearCompleted / ended }
  const isAfter = shares.afterCreated >= MOSTLY_AFTER
  if (isAfter && ended < LEAST) return null
  return { isMoment: isAfter && shares.nearCompleted >= MOSTLY_NEAR, tasks, ended, ...shares }
}
