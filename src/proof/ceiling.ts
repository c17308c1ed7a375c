// The lowest index at which nothing stood, followed from the list in which it was seen to the one in which a window joins:
// docs/proof.md, "passed". Pure.
import type { Fact } from './facts.ts'
import type { Floor, State } from './state.ts'

/** Notes an index at which nothing stands; and, once the floor's last item is seen alone, where that index lies by now. */
export function ceilingAfter({ ceiling, floor }: State, fact: Fact): State['ceiling'] {
  const { kind, skip, sent, received, isFloorAlone } = fact
  if (floor === null) return ceiling
  if (kind === 'nothing' && sent >= floor.received && (ceiling === null || skip < ceiling.index))
    return { index: skip, received, place: null, isBefore: false }
  if (ceiling === null || ceiling.place !== null || !isFloorAlone || sent < ceiling.received) return ceiling
  return { ...ceiling, index: ceiling.index + movedSince(ceiling, floor, fact), place: fact.floorAt }
}

/** Where the empty index lies in the list of the window that joins, by the last item of the one before, which it has to show. */
export function ceilingBehind({ ceiling, floor }: State, fact: Fact): State['ceiling'] {
  if (ceiling === null || floor === null || floor.run < 0 || fact.floorAt === null) return null
  if (fact.sent < ceiling.received) return null
  const index = ceiling.index + movedSince(ceiling, floor, fact)
  return { ...ceiling, index, place: fact.skip + fact.count - 1, isBefore: true }
}

/** The same where the floor stands where it stood: nothing in front of it has changed, so the index has not moved. */
export function ceilingHeld({ ceiling, floor }: State, behind: Floor, fact: Fact): State['ceiling'] {
  if (ceiling === null || floor === null || floor.run < 0 || fact.sent < ceiling.received) return null
  if (floor.isPlaced || fact.floorAt !== floor.joinedAt) return null
  const isBefore = behind.sent >= ceiling.received
  return { ...ceiling, index: ceiling.index + floor.joinedAt - floor.run, place: behind.joinedAt, isBefore }
}

/** By how much what was empty may lie further down than the index says, where the floor's last item is seen. */
function movedSince({ place }: { place: number | null }, { joinedAt, run }: Floor, { floorAt }: Fact): number {
  const shift = (floorAt ?? 0) - (place ?? joinedAt)
  if (place !== null && place !== joinedAt) return shift
  // Its ties may have moved behind it; and what was deleted may have been so before it was empty.
  return joinedAt - run + (place === null ? Math.max(0, shift) : shift)
}
