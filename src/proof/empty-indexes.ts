// The lowest index at which nothing stood, and where it lies once another window joins: the list may have moved
// meanwhile (docs/proof.md, "passed"). Pure.
import type { Fact } from './facts.ts'
import type { EmptyIndex, Floor, State } from './state.ts'

/** Notes an index at which nothing stands. */
export function emptyAfter({ empty, floor }: State, fact: Fact): EmptyIndex | null {
  const { kind, skip, sent, received } = fact
  if (floor === null) return empty
  const isLower = kind === 'nothing' && sent >= floor.received && (empty === null || skip < empty.index)
  return isLower ? { index: skip, received, place: null } : empty
}

/** Where the empty index lies in the list of the window that joins, which has to show the floor's last item. */
export function emptyBehind({ empty, floor }: State, fact: Fact): EmptyIndex | null {
  const { floorAt, sent, skip, count } = fact
  if (empty === null || floor === null || floor.run < 0 || floorAt === null || sent < empty.received) return null
  return { ...empty, index: empty.index + movedSince(empty, floor, fact), place: skip + count - 1 }
}

/** How much further down the empty index may lie than it says, by where the floor's last item is seen. */
function movedSince({ place }: EmptyIndex, { joinedAt, run }: Floor, { floorAt }: Fact): number {
  const shift = (floorAt ?? 0) - (place ?? joinedAt)
  // The floor's ties may have moved behind its last item; and deletions may have come before the index was empty.
  return joinedAt - run + (place === null ? Math.max(0, shift) : shift)
}
