// Guards against services that mislead a walk by repeated items, empty lists or positions that cannot be read
// (design.md 6.1, "Guards").

import { type ChainState, tailAgain } from './chain.ts'
import { FAR } from './further.ts'
import { glanceAt, probeSize, type Reader } from './reader.ts'
import { Search } from './search.ts'
import type { ItemsWindow } from './source.ts'

/** In a list that seems to be empty: the first further index at which an item is looked for. */
const NEAREST = 2

/** Whether nothing stands at 0, which was asked for, nor beyond; an empty list never means that all was deleted. */
export async function isListEmpty(reader: Reader): Promise<boolean> {
  // How far one answer reaches is not known yet.
  const places: number[] = []
  const farthest = FAR * reader.window
  for (let place = NEAREST; place < farthest; place *= 4) places.push(place)
  for (const place of [...places, farthest]) {
    const answer = await glanceAt(reader, place)
    if (answer.kind === 'failed' || (answer.kind === 'items' && answer.ids.length > 0)) return false
  }
  return true
}

/** The sequence of at least so many items from the chain's end says something; that of fewer is chance. */
const LEAST_AGAIN = 5
/** Only where no order holds do items met before and items not met take turns so often in one answer. */
const TURNS = 4

/**
 * Whether an answer shows that no order holds at all, and not only that a few items moved, came or went: it shows what
 * the chain ended with in another sequence throughout; or it shows none of that, while items met before are strewn
 * among others that were not.
 */
export function isScrambled(chain: ChainState, window: ItemsWindow): boolean {
  const { moments, met } = window
  if (chain.last === null || window.skip === 0) return false
  const { again, reversed } = tailAgain(chain, window)
  if (again > 0) return again >= LEAST_AGAIN && 3 * reversed >= again - 1
  let turns = 0
  for (let index = 1; index < met.length; index += 1) {
    // Items of equal createdAt may change places.
    if (met[index] !== met[index - 1] && moments[index] !== moments[index - 1]) turns += 1
  }
  return turns >= TURNS
}

/**
 * Whether items have changed places: `window` goes on from an item met earlier and shows nothing of what the chain
 * ended with. That may have been deleted; but where the chain's last item stands in front of that anchor now, with
 * another createdAt, it was the anchor that moved, and what lay between was passed over.
 */
export async function hasMoved(reader: Reader, { last, tail }: ChainState, window: ItemsWindow): Promise<boolean> {
  const anchor = window.met.lastIndexOf(1, window.met.indexOf(0))
  if (last === null || window.skip === 0 || anchor < 0 || window.moments[anchor] === last.moment) return false
  if (window.ids.some((id) => tail.includes(id))) return false
  const anchorId = window.ids[anchor] as string
  const search = new Search(window.skip, { stride: window.ids.length })
  while (search.tooFar()) {
    const before = await reader.look(search.place, probeSize(reader))
    if (before.kind !== 'items') return false
    const at = before.ids.indexOf(last.id)
    if (at >= 0) return !before.ids.slice(0, at).includes(anchorId)
  }
  return false
}
