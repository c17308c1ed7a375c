// The lowest index at which nothing stood, followed from the list in which it was seen to the one in which a window joins:
// docs/proof.md, "passed". Pure.
import type { Fact } from './facts.ts'
import type { EmptyIndex, Floor, State } from './state.ts'

/** Notes an index at which nothing stands; and, once the floor's last item is seen alone, where that index lies by now. */
export function emptyAfter({ empty, floor }: State, fact: Fact): EmptyIndex | null {
  const { kind, skip, sent, received, isFloorAlone } = fact
  if (floor === null) return empty
  if (kind === 'nothing' && sent >= floor.received && (empty === null || skip < empty.index))
    return { index: skip, received, place: null }
  if (empty === null || empty.place !== null || !isFloorAlone || sent < empty.received) return empty
  return { ...empty, index: empty.index + movedSince(empty, floor, fact), place: fact.floorAt }
}

/** Where it lies in the list of the window that joins, by the last item of the one before, which it has to show. */
export function emptyBehind({ empty, floor }: State, fact: Fact): EmptyIndex | null {
  const { floorAt, sent, skip, count } = fact
  if (empty === null || floor === null || floor.run < 0 || floorAt === null || sent < empty.received) return null
  return { ...empty, index: empty.index + movedSince(empty, floor, fact), place: skip + count - 1 }
}

/**
 * The same where the floor stood where it joined until `heldAt`, after it was empty: nothing in front of it had changed, so the index has not
 * moved.
 */
export function emptyHeld({ empty, floor }: State, place: number, heldAt: number): EmptyIndex | null {
  if (empty === null || floor === null || floor.run < 0 || floor.index !== floor.joinedAt) return null
  if (heldAt < empty.received || floor.received > empty.received) return null
  const { joinedAt, run } = floor
  return { ...empty, index: empty.index + joinedAt - run, place }
}

/** By how much what was empty may lie further down than the index says, where the floor's last item is seen. */
function movedSince({ place }: EmptyIndex, { joinedAt, run }: Floor, { floorAt }: Fact): number {
  const shift = (floorAt ?? 0) - (place ?? joinedAt)
  if (place !== null && place !== joinedAt) return shift
  // Its ties may have moved behind it; and what was deleted may have been so before it was empty.
  return joinedAt - run + (place === null ? Math.max(0, shift) : shift)
}
