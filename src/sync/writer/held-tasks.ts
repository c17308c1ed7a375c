// What the mirror holds already: tasks to compare the service's answers with.
import { placesOf } from '../../mirror/tables/places.ts'
import type { WalkKind } from '../../mirror/tables/walks.ts'
import type { Writing } from './writing.ts'

/** So many rows are looked at for a witness near a place. */
const NEARBY = 1_000

export function heldTasks(writing: Writing) {
  const { seen, walks } = writing
  const { tasks } = writing.tables

  return {
    /**
     * The highest seq from before any walk took in anything, since the last complete one before `walkId` (of `kind`,
     * where given). What walks met since stands at the front of the list like what they did not meet.
     */
    certainSeq: (walkId: number, kind: WalkKind | null = null): number =>
      walks.seqAfterComplete(walkId, kind) ?? Number.MAX_SAFE_INTEGER,

    /** Ids of live tasks met in this run, near `parts` (0 to 1) of all rows, else the newest; no more than parts. */
    witnesses(parts: number[]): string[] {
      const found = new Set<string>()
      const highest = tasks.highestSeq()
      const look = (from: number, most: number): void => {
        for (let seq = from; seq > Math.max(0, from - most); seq -= 1) {
          const id = seen.has(seq) ? tasks.liveIdOf(seq) : undefined
          if (id === undefined || found.has(id)) continue
          found.add(id)
          return
        }
      }
      for (const part of parts) look(1 + Math.floor(part * highest), NEARBY)
      for (let seq = highest; seq > 0 && found.size < parts.length; seq -= 1) look(seq, 1)
      return [...found]
    },

    /** Where rows stand by createdAt among all that the mirror holds, newest first. */
    placesOf: (seqs: number[]): number[] => placesOf(writing.db, seqs),

    /** The seq of the live task created last before `bound`, epoch ms; null where there is none. */
    newestSeq: (bound: number): number | null => tasks.newestSeq(bound) ?? null,

    /** The live tasks at these parts (0 to 1) of all rows, each once. */
    liveIdsAt: (parts: number[]): string[] => [...new Set(parts.flatMap((part) => tasks.liveIdNear(part) ?? []))],
  }
}
