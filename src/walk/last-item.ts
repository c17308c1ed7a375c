// The last item of a list that moves, found again in one answer however far it has gone since. What that proves is
// judged by end.ts and ties.ts.
import type { Moment } from '../task.ts'
import { probe, type Reader } from './reader.ts'
import type { ItemsWindow } from './source.ts'

export interface LastItem {
  id: string
  moment: Moment
}

/** How many answers the last item of a drifting list is followed through. */
const MOST_HOPS = 6

/**
 * An answer that holds the last item, from about `reach` before it: since it stood at `index` it may have moved down by
 * more than a window. Null where it is not found.
 */
export async function followLast(
  reader: Reader,
  lastId: string,
  index: number,
  reach: number,
): Promise<ItemsWindow | null> {
  let skip = Math.max(0, index - reach)
  for (let hops = 0; hops < MOST_HOPS; hops += 1) {
    const answer = await probe(reader, skip)
    reader.drop(answer)
    if (answer.kind !== 'items' || answer.ids.length === 0) return null
    if (answer.ids.includes(lastId)) return answer
    if (answer.met.includes(0)) return null
    skip = answer.skip + answer.ids.length
  }
  return null
}
