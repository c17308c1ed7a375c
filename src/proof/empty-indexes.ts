// The lowest index at which nothing stood, and where it lies once another window joins: the list may have moved
// meanwhile (docs/proof.md, "passed"). Pure.
import type { Fact } from './facts.ts'
import type { EmptyIndex, State } from './state.ts'

/** Notes an index at which nothing stands. */
export function emptyAfter({ empty, floor }: State, fact: Fact): EmptyIndex | null {
  const { kind, skip, sent, received } = fact
  if (floor === null) return empty
  const isLower = kind === 'nothing' && sent >= floor.received && (empty === null || skip < empty.index)
  return isLower ? { index: skip, received } : empty
}

/** Where the empty index lies in the list of the window that joins, which has to show the floor's last item. */
export function emptyBehind({ empty, floor }: State, { floorAt, sent }: Fact): EmptyIndex | null {
  if (empty === null || floor === null || floor.run < 0 || floorAt === null || sent < empty.received) return null
  const { joinedAt, run } = floor
  const shift = floorAt - joinedAt
  // What was deleted in front of the floor may have been so before the index was empty.
  const moved = floor.sent < empty.received ? Math.max(0, shift) : shift
  // The floor's ties may have moved behind its last item.
  return { ...empty, index: empty.index + moved + joinedAt - run }
}
