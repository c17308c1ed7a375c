// About how long a list is, from a few looks far apart: for the time that is left. Proves nothing: where the list ends is
// decided by the walk alone (end.ts), and counted exactly by total.ts.
import { FAR } from './paging.ts'

/** Whether something stands at an index of the list; null where that cannot be told. */
export type Look = (index: number) => Promise<boolean | null>

/** The end lies between: something was seen below `low`, nothing at `high`. */
export interface Reach {
  low: number
  high: number
}

const STRIDE = 4
/** Close enough: the middle is a twelfth off at most. */
const CLOSE = 6

/**
 * `known` items have been seen; where the list is not twice as long, it is soon read, and one look is all that is spent.
 * Null there, and where no end shows or a look fails. Five looks for 25,000 items, seven for a million, 16 at most.
 */
export async function estimateEnd(look: Look, known: number): Promise<Reach | null> {
  let low = known
  let high: number | null = null
  for (let place = 2 * known; high === null || high - low > high / CLOSE; ) {
    if (place > FAR) return null
    const isThere = await look(place)
    if (isThere === null || (!isThere && low === known)) return null
    if (isThere) low = place + 1
    else high = place
    place = high === null ? place * STRIDE : Math.round(Math.sqrt(low * high))
  }
  return { low, high }
}

/** The middle, rounded to what it is worth: 25,700 is 26,000. */
export function roundedMiddle({ low, high }: Reach): number {
  const middle = (low + high) / 2
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(middle)) - 1)
  return Math.round(middle / unit) * unit
}
