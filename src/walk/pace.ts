// Where the next window lies. Pure.
import { NO_TRIAL, tiesAreOrdered } from '../proof/state.ts'
import { type ChainState, overlapOf } from './chain.ts'
import type { Reader } from './reader.ts'

/** How many items the next answer can be expected to hold. */
export function capacityOf(chain: ChainState, reader: Reader): number {
  if (reader.take < reader.window) return reader.take
  if (chain.returned > 0 && chain.returned <= chain.cap) return chain.cap
  return Math.min(reader.take, reader.largest)
}

/** By the overlap before the chain's end, and before its tie run where that fits; never below `notBelow`. */
export function nextSkip(chain: ChainState, owes: boolean, reader: Reader, overlapWanted: number): number {
  const capacity = capacityOf(chain, reader)
  const overlap = overlapOf(Math.min(capacity, Math.max(chain.returned, 2)), overlapWanted)
  const plain = Math.max(chain.notBelow, chain.end - overlap)
  if (owes || chain.tie === null || tiesAreOrdered(reader.kernel.state, NO_TRIAL)) return plain
  const reach = chain.end - chain.tie.start + Math.max(1, Math.floor(overlap / 2))
  return reach <= overlap || reach >= capacity ? plain : Math.max(chain.notBelow, chain.end - reach)
}
