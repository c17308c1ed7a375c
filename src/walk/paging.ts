// How the service pages, as a walk learns it from its answers: part of what the walk resumes from, in its questions about
// the end, in its result and so in the mirror's facts; `probe` reports it in the same words (measure/paging.ts). Pure.
import type { ItemsWindow } from './source.ts'

/**
 * Why answers hold less than was asked for while more is there: at all, by a fixed number of items, by size or another number that
 * varies, or as items are left out after paging, so that an index says where a window lies and not where an item stands.
 */
export type Cut = 'none' | 'count' | 'bytes' | 'filtered'

/** Plain data. */
export interface Paging {
  /** The largest answer that was shorter than asked although more was there; 0 where none was. */
  cap: number
  /** The smallest such answer. */
  capLow: number
  /** What the last answer held where it was shorter than asked; it was a cap if more follows. */
  shortAnswer: number | null
  /** Seams in a row at which the last item stood further down than the answers before had said. */
  shifts: number
  filtered: boolean
}

export const UNPAGED: Paging = { cap: 0, capLow: 0, shortAnswer: null, shifts: 0, filtered: false }

/** After this many seams that moved, one after another, the list drifts, or items are left out. */
const SUSPICIOUS_SHIFTS = 3

export function cutOf({ cap, capLow, filtered }: Paging): Cut {
  if (filtered) return 'filtered'
  if (capLow < cap) return 'bytes'
  return cap > 0 ? 'count' : 'none'
}

/** How many items an answer holds says little of how far it reaches. */
export function isUneven(paging: Paging): boolean {
  const cut = cutOf(paging)
  return cut === 'bytes' || cut === 'filtered'
}

/**
 * What is known after `window` has joined. `endsFurther`: it ends further down than the answer before. `shift`: by how much further
 * down the chain's last items stand in it than was read before; null where it does not show that.
 */
export function pagingAfter(
  { cap, capLow, shortAnswer, shifts, filtered }: Paging,
  { ids, met, asked }: ItemsWindow,
  { endsFurther, shift }: { endsFurther: boolean; shift: number | null },
): Paging {
  // What ends where it ended shows another of the last ties, and nothing that the short answer left out.
  const wasCut = shortAnswer !== null && endsFurther && isCap(shortAnswer, met)
  return {
    cap: wasCut ? Math.max(cap, shortAnswer) : cap,
    capLow: !wasCut ? capLow : capLow === 0 ? shortAnswer : Math.min(capLow, shortAnswer),
    shortAnswer: ids.length < asked ? ids.length : null,
    shifts: shift === null ? shifts : shift > 0 ? shifts + 1 : 0,
    filtered,
  }
}

/** Whether an answer was cut, by what followed it: little that is new may have been listed since. */
function isCap(shortAnswer: number, met: Uint8Array): boolean {
  let newly = 0
  for (const isMet of met) newly += 1 - isMet
  return newly > 0 && 2 * newly >= shortAnswer - 1
}

/** Whether the answer gives reason to ask if items are left out: it is short, not by a cap, and the list seems to drift. */
export function mayBeFiltered({ filtered, shifts, cap }: Paging, { ids, asked }: ItemsWindow): boolean {
  return !filtered && shifts >= SUSPICIOUS_SHIFTS && ids.length !== asked && ids.length !== cap
}
