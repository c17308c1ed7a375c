// The last item of a list that moves, found again in one answer however far it has gone since. What that proves is
// judged by end.ts and ties.ts.

import { isNothing, probeAt, type Reader } from './reader.ts'
import { Search } from './search.ts'
import type { ItemsWindow } from './source.ts'

/** How many answers the last item of a drifting list is followed through. */
const MOST_HOPS = 16

/**
 * An answer that holds the last item, looked for from about `reach` before `index` on, where it stood: meanwhile it may
 * have moved by many windows. To be taken in or dropped. Null where it is not found.
 */
export async function followLast(
  reader: Reader,
  lastId: string,
  index: number,
  reach: number,
): Promise<ItemsWindow | null> {
  const search = new Search(Math.max(0, index - reach), { stride: Math.max(1, Math.floor(reader.largest / 2)) })
  for (let hops = 0; hops < MOST_HOPS; hops += 1) {
    const answer = await probeAt(reader, search.place, { once: true })
    if (answer.kind === 'items' && answer.ids.includes(lastId)) return answer
    reader.drop(answer)
    if (isNothing(answer)) {
      if (!search.tooFar()) return null
      continue
    }
    if (answer.kind !== 'items') return null
    if (answer.met.includes(0)) return null
    search.tooNear(answer.ids.length)
  }
  return null
}
