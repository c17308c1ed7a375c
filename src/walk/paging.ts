// How the service pages, as a walk learns it from its answers: the walk resumes from it, asks about the end by it, and
// reports it in its result and so in the mirror's facts; `probe` uses the same words (measure/paging.ts). Pure.
import type { ItemsWindow } from './source.ts'

/**
 * Why answers hold less than asked while more is there: they never do; they are cut at a fixed number of items, or by
 * size or another number that varies; or items are left out after paging: an index is then a window's, not an item's.
 */
export type Cut = 'none' | 'count' | 'bytes' | 'filtered'

/** Plain data. */
export interface Paging {
  /** Number of items in the largest answer that was shorter than asked although more was there; 0 where none was. */
  cap: number
  /** Number of items in the smallest such answer. */
  capLow: number
  /** Number of items in the last answer, where it was shorter than asked; it was a cap if more follows. */
  shortAnswer: number | null
  /** Seams in a row at which the last item stood further down than the answers before had said. */
  shifts: number
}

export const UNPAGED: Paging = { cap: 0, capLow: 0, shortAnswer: null, shifts: 0 }

/** After so many seams in a row that moved, the list drifts, or answers leave items out. */
const SUSPICIOUS_SHIFTS = 3

export function cutOf({ cap, capLow }: Paging): Cut {
  if (capLow < cap) return 'bytes'
  return cap > 0 ? 'count' : 'none'
}

/**
 * What is known after `window` has joined. `endsFurther`: it ends further down than the answer before. `shift`: how
 * much further down the chain's last items stand in it than they did before; null where it does not show that.
 */
export function pagingAfter(
  { cap, capLow, shortAnswer, shifts }: Paging,
  { ids, met, asked }: ItemsWindow,
  { endsFurther, shift }: { endsFurther: boolean; shift: number | null },
): Paging {
  // A window that ends where the one before did shows another of its last ties, and nothing that was cut off.
  const wasCut = shortAnswer !== null && endsFurther && isCap(shortAnswer, met)
  return {
    cap: wasCut ? Math.max(cap, shortAnswer) : cap,
    capLow: !wasCut ? capLow : capLow === 0 ? shortAnswer : Math.min(capLow, shortAnswer),
    shortAnswer: ids.length < asked ? ids.length : null,
    shifts: shift === null ? shifts : shift > 0 ? shifts + 1 : 0,
  }
}

/** Whether a short answer was cut, by the window that followed: few of its new items can have been listed since. */
function isCap(shortAnswer: number, met: Uint8Array): boolean {
  let newly = 0
  for (const isMet of met) newly += 1 - isMet
  return newly > 0 && 2 * newly >= shortAnswer - 1
}

/** Whether to ask if answers leave items out: this one is short, not by a cap, and the list seems to drift. */
export function mayBeFiltered({ shifts, cap }: Paging, { ids, asked }: ItemsWindow): boolean {
  return shifts >= SUSPICIOUS_SHIFTS && ids.length !== asked && ids.length !== cap
}
