// What the mirror holds of listed tasks before they are taken in, on the writing side: which rows they are, and whether
// the list has changed what it shows of them. Reads only.
import type { Writing } from './writing.ts'

/** A live task of the mirror. */
export interface Standing {
  seq: number
  /** What the list last showed of it, as a hash; null where it never did. */
  form: string | null
}

export function standingLookUp({ tables }: Writing) {
  return {
    /** By index; null where the mirror holds no live task with this id. */
    standing(ids: string[]): (Standing | null)[] {
      return ids.map((id) => {
        const known = tables.tasks.find(id)
        if (known === undefined || known.deletedAt !== null) return null
        return { seq: known.seq, form: known.listHash?.toString('base64') ?? null }
      })
    },
  }
}
