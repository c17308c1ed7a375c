// How far what the mirror held before a walk can be relied on, on the writing side. Reads only.
import type { Writing } from './writing.ts'

/** Walks looked back at, far more than ever end partial in a row. */
const MOST_WALKS = 1_000

export function settledLookUp({ walks }: Writing) {
  return {
    /**
     * The highest seq that was there before anything was taken in by a walk that ended short of `complete` or not at all,
     * since the last one before `walkId` that was complete. What such a walk met stands at the front of the list like what
     * it did not meet.
     */
    settledSeq(walkId: number): number {
      let settled = Number.MAX_SAFE_INTEGER
      for (let id = walkId - 1; id > 0 && id >= walkId - MOST_WALKS; id -= 1) {
        const walk = walks.get(id)
        if (walk === null || (walk.verdict === 'complete' && walk.kind !== 'range')) break
        settled = Math.min(settled, walk.maxSeqAtStart)
      }
      return settled
    },
  }
}
