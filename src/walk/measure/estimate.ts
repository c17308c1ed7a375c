// Estimates how long a list is from a few looks far apart, for the time that is left. Proves nothing: where the list
// ends only the walk decides (walk/behind.ts), and total.ts counts exactly.

import { Search } from '../search.ts'
import { FAR_SKIP } from './paging.ts'

/** Whether something stands at an index of the list; null where that cannot be told. */
type Look = (index: number) => Promise<boolean | null>

/** The list ends between the two: something was seen below `low`, nothing at `high`. */
export interface Reach {
  low: number
  high: number
}

const GROWTH = 4
/** Close enough: the middle is off by a twelfth at most. */
const CLOSE = 6

/**
 * `known` items have been seen. A list that is not twice as long is soon read: then one look is spent, and it is null;
 * so it is where no end shows or a look fails. Three looks for 25,000 items, eight for a million, 16 at most.
 */
export async function estimateEnd(look: Look, known: number): Promise<Reach | null> {
  const search = new Search(2 * known, { near: known, stride: known, growth: GROWTH })
  for (;;) {
    const { near: low, far: high, place } = search as { near: number; far: number | null; place: number }
    if (high !== null && high - low <= high / CLOSE) return { low, high }
    if (place > FAR_SKIP) return null
    const isThere = await look(place)
    if (isThere === null || (!isThere && low === known)) return null
    if (isThere) search.tooNear()
    else search.tooFar()
  }
}

/** The middle, rounded to what it is worth: 25,700 is 26,000. */
export function roundedMiddle({ low, high }: Reach): number {
  const middle = (low + high) / 2
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(middle)) - 1)
  return Math.round(middle / unit) * unit
}
