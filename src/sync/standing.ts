// What the mirror holds of listed tasks before they are taken in, on the writing side: which rows they are, and whether
// the list has changed what it shows of them. Reads only.
import type { Writing } from './writing.ts'

/** A live task of the mirror. */
export interface Standing {
  seq: number
  /** What the list last showed of it, as a hash; null where it never did. */
  form: string | null
}

/** Walks looked back at, far more than ever end partial in a row. */
const MOST_WALKS = 1_000

export function standingLookUp({ tables, walks }: Writing) {
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

    /** By index; null where the mirror holds no live task with this id. */
    standing(ids: string[]): (Standing | null)[] {
      return ids.map((id) => {
        const known = tables.tasks.find(id)
        if (known === undefined || known.deletedAt !== null) return null
        return { seq: known.seq, form: tables.tasks.hashes(known.seq).listHash?.toString('base64') ?? null }
      })
    },
  }
}
