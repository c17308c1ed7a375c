// What clocks can be believed. Wall clocks are wrong and jump: within a process, the monotonic clock counts time; a
// stored moment in the future says nothing. The one place that compares stored moments with now. Pure.

/** Epoch ms by the wall clock, or ms of the monotonic clock. */
export type Clock = () => number

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** The value of `sync.settleMs` where there is no configuration. */
const SETTLE_MS = 60_000
/** Least tolerance: a clock may be adjusted by this much between two runs. */
const LEAST_TOLERANCE_MS = 1000

/** Age of a stored moment (epoch ms), ms; null where there is none or it lies in the future by more than `settleMs`. */
export function ageOf(moment: number | null | undefined, now: number, settleMs = SETTLE_MS): number | null {
  if (moment === null || moment === undefined || moment > latestKnown(now, settleMs)) return null
  return Math.max(0, now - moment)
}

/** The latest stored moment that is believed, epoch ms. */
export function latestKnown(now: number, settleMs = SETTLE_MS): number {
  return now + Math.max(settleMs, LEAST_TOLERANCE_MS)
}

/** How far another clock is ahead of this one, and how uncertain that is, ms. */
export interface Skew {
  aheadMs: number
  uncertainMs: number
}

/** By the `Date` of an answer, when the request was sent and when the answer came: epoch ms. */
export function skewOf(date: number, askedAt: number, cameAt: number): Skew {
  const halfMs = (cameAt - askedAt) / 2
  // A Date has whole seconds: on average it is half a second behind.
  return { aheadMs: date + 500 - (askedAt + halfMs), uncertainMs: halfMs + 500 }
}

/** The smaller skew: an answer from a cache has an old Date, so the Date that fits best is believed. */
export function leastSkew(one: Skew | null, other: Skew): Skew {
  return one !== null && Math.abs(one.aheadMs) <= Math.abs(other.aheadMs) ? one : other
}

/** With more skew, `sync.settleMs` no longer covers the difference between two clocks. */
const MOST_SKEW_MS = SETTLE_MS / 2

/** Whether one of the two clocks needs to be set. */
export function isApart({ aheadMs, uncertainMs }: Skew): boolean {
  return Math.abs(aheadMs) - uncertainMs > MOST_SKEW_MS
}

/** Epoch ms that never jump: the wall clock at the time of this call, advanced by the monotonic clock. */
export function steadyClock(wall: Clock, monotonic: Clock): Clock {
  const begun = wall() - monotonic()
  return () => Math.floor(begun + monotonic())
}

/** A wall clock that differs from the monotonic one by more has been set, or the machine has slept. */
const JUMP_MS = 1000

/** Returns by how many ms the wall clock has jumped since it was last called, forwards or backwards; 0 for no jump. */
export function jumpWatch(wall: Clock, monotonic: Clock): () => number {
  let offset = wall() - monotonic()
  return () => {
    const next = wall() - monotonic()
    const jump = next - offset
    // Small differences are not added up: clocks that are slewed drift apart slowly.
    offset = next
    return Math.abs(jump) > JUMP_MS ? Math.round(jump) : 0
  }
}
