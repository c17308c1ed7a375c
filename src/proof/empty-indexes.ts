// The lowest indexes at which nothing stood, each followed from the list in which it was seen to the one in which a window
// joins: docs/proof.md, "passed". Pure.
import type { Fact } from './facts.ts'
import type { EmptyIndex, Floor, State } from './state.ts'

/** An answer that is empty may be so by mistake: it takes two. */
export const MOST_EMPTY = 2

/** Notes an index at which nothing stands; and, once the floor's last item is seen alone, where such indexes lie by now. */
export function emptyAfter({ empty, floor }: State, fact: Fact): EmptyIndex[] {
  const { kind, skip, sent, received, isFloorAlone } = fact
  if (floor === null) return empty
  if (kind === 'nothing' && sent >= floor.received) {
    const one = { index: skip, received, place: null, isBefore: false }
    return [...empty, one].sort((a, b) => a.index - b.index).slice(0, MOST_EMPTY)
  }
  if (!isFloorAlone) return empty
  return empty.map((one) =>
    one.place !== null || sent < one.received
      ? one
      : { ...one, index: one.index + movedSince(one, floor, fact), place: fact.floorAt },
  )
}

/** Where they lie in the list of the window that joins, by the last item of the one before, which it has to show. */
export function emptyBehind({ empty, floor }: State, fact: Fact): EmptyIndex[] {
  const { floorAt, sent, skip, count } = fact
  if (floor === null || floor.run < 0 || floorAt === null) return []
  return empty
    .filter(({ received }) => sent >= received)
    .map((one) => ({
      ...one,
      index: one.index + movedSince(one, floor, fact),
      place: skip + count - 1,
      isBefore: true,
    }))
}

/** The same where the floor stands where it stood: nothing in front of it has changed, so the indexes have not moved. */
export function emptyHeld({ empty, floor }: State, behind: Floor, { sent, floorAt }: Fact): EmptyIndex[] {
  if (floor === null || floor.run < 0 || floor.isPlaced || floorAt !== floor.joinedAt) return []
  const { joinedAt, run } = floor
  return empty
    .filter(({ received }) => sent >= received)
    .map((one) => ({
      ...one,
      index: one.index + joinedAt - run,
      place: behind.joinedAt,
      isBefore: behind.sent >= one.received,
    }))
}

/** By how much what was empty may lie further down than the index says, where the floor's last item is seen. */
function movedSince({ place }: EmptyIndex, { joinedAt, run }: Floor, { floorAt }: Fact): number {
  const shift = (floorAt ?? 0) - (place ?? joinedAt)
  if (place !== null && place !== joinedAt) return shift
  // Its ties may have moved behind it; and what was deleted may have been so before it was empty.
  return joinedAt - run + (place === null ? Math.max(0, shift) : shift)
}
