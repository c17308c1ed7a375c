// The front of a list as a walk reads it, compared with how it stood when everything was met last (front.ts).
import { keepLatest } from '../../bounded.ts'
import type { ItemsWindow } from '../../walk/source.ts'
import type { Run } from '../context.ts'
import { finalsOf } from '../writer/prepare.ts'
import type { ParsedList } from '../writer/writing.ts'
import { type FrontEvidence, frontEvidence, type Listed, untouchedFrom } from './front.ts'
import { neighboursWanted } from './neighbours.ts'

/** At most so many tasks are compared one by one: fewer were touched since, or the walk was a full one. */
const MOST_COMPARED = 20_000
/** At most so many answers may be on their way to the walk. */
const MOST_WINDOWS = 256

export interface WatchedFront {
  begun(walkId: number): Promise<void>
  onParsed(parsed: ParsedList): Promise<void>
  /** A window has joined the walk. */
  joined(window: ItemsWindow): void
  /**
   * What the walk so far shows of where new and changed tasks end; null where it has not come to what is untouched, or
   * has seen new tasks behind that, too.
   */
  judge(): FrontEvidence | null
}

/**
 * `front`: ids that stood first at an earlier moment, in their order. `since`: that moment was at the last complete
 * walk or before (`complete`), at the last full one (`full`), or just now (null). `at`, epoch ms: a task whose content
 * was read later has been written to since.
 */
export function watchFront(
  run: Run,
  front: readonly string[],
  { since, at = Number.POSITIVE_INFINITY }: { since: 'complete' | 'full' | null; at?: number | undefined },
): WatchedFront {
  const { writer, config } = run
  const wanted = neighboursWanted(config.sync.overlap)
  const before = new Map<string, Pick<Listed, 'isKnown' | 'isAsBefore'>>()
  const finals = new Map<number, Uint8Array>()
  const listed: Listed[] = []
  let certain = Number.MAX_SAFE_INTEGER
  let seen = 0
  let lastFresh = -1
  let freshOpen = -1

  function judge(): FrontEvidence | null {
    const untouched = untouchedFrom(front, listed, wanted)
    return untouched === null || lastFresh >= untouched ? null : frontEvidence(front, listed, untouched)
  }

  return {
    async begun(walkId) {
      if (since !== null && front.length > 0)
        certain = await writer.certainSeq(walkId, since === 'full' ? 'full' : null)
    },

    async onParsed(parsed) {
      const { handle, ids } = parsed
      finals.set(handle, finalsOf(parsed))
      // Answers that joined nothing are forgotten.
      keepLatest(finals, MOST_WINDOWS)
      if (front.length === 0 || before.size >= 2 * MOST_COMPARED) return
      const { seqs, isAsBefore, readAt } = await writer.knownState(handle)
      for (const [index, id] of ids.entries()) {
        // What was seen first counts: later, this walk may have taken the task in.
        if (before.has(id)) continue
        const seq = seqs[index] as number
        const isSo = isAsBefore[index] === 1 && (readAt[index] as number) <= at
        before.set(id, { isKnown: seq > 0 && seq <= certain, isAsBefore: isSo })
      }
    },

    joined({ ids, met, held, handle }) {
      const final = finals.get(handle)
      finals.delete(handle)
      ids.forEach((id, index) => {
        if (met[index] === 1) return
        const state = before.get(id)
        const isKnown = state?.isKnown ?? held[index] === 1
        const isFinal = final?.[index] === 1
        if (isFinal) lastFresh = isKnown ? Math.max(lastFresh, freshOpen) : seen
        // Behind all final tasks, it stands where the end of the list is looked at (open-apart.ts).
        else if (!isKnown) freshOpen = seen
        if (state !== undefined && listed.length < MOST_COMPARED) listed.push({ id, ...state, isFinal })
        seen += 1
      })
    },

    judge,
  }
}
