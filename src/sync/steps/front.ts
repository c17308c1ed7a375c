// The front of a list in which whatever is written to comes first (by an update time that nobody sees, or by
// completion): where, below what is new or was touched, the list goes on as it was read last.
//
// Rule. Let a list change only by tasks that come in or move to its front, and by deletions. Then at any moment it
// consists of M, what came or moved since some earlier moment, and behind that of U, everything else, in the order it
// had then. So if one answer from index 0 reaches an item of U, it shows all of M; and a mirror that held everything at
// the earlier moment holds all of U. Several answers show all of M but for what moved while they were read: the front
// is read again (the closing lap) until one answer reaches what has not moved since the first of them.
//
// What shows that an item belongs to U: as many neighbours as `wanted` that follow one another as they did, final and
// unchanged, and nothing behind them, as far as answers and memory reach, that contradicts it.
import { keepLatest } from '../../bounded.ts'
import { ageOf } from '../../clock.ts'
import type { Facts } from '../../mirror/tables/facts.ts'
import type { Run } from '../context.ts'
import { finalsOf } from '../writer/prepare.ts'
import { neighboursWanted } from './neighbours.ts'
import type { Watcher } from './walking.ts'

/**
 * What to keep of a walk that met everything and began at `begunAt`: by `at` one answer showed that `ids` stand first.
 *
 * Rule. An update may appear in the list up to `settleMs` late, behind newer updates. And what is updated while a walk
 * goes on may stand in front as it stood before. So by last update the next walk reads on to what stood in front
 * `settleMs` or more before this one began: this one has met all that was updated since then.
 */
export function frontsAfter(
  { order, front, front_at, front_next: next }: Facts,
  { ids, begunAt, at }: { ids: string[]; begunAt: number; at: number },
  settleMs: number,
): Pick<Facts, 'front' | 'front_at' | 'front_next'> {
  const age = ageOf(next?.at, begunAt, settleMs)
  if (next !== undefined && age !== null && age >= settleMs)
    return { front: next.ids, front_at: next.at, front_next: { ids, at } }
  // A front that has not settled is kept, else quick runs never had one; in other orders the last full walk's counts.
  const isKept = next !== undefined && age !== null && order === 'updated_desc'
  return { front, front_at, front_next: isKept ? next : { ids, at } }
}

/** A task in list order, as an answer shows it. */
export interface Listed {
  id: string
  /** The mirror held the task when `front` was read. */
  isKnown: boolean
  /** The list shows the task in the form in which it showed it last, and that was when `front` was read or before. */
  isAsBefore: boolean
  isFinal: boolean
}

/**
 * Index in `listed` of the first of the neighbours from which on it is the list that began with `front`; null where
 * there are none. `front`: the ids that stood first, in their order; those above the neighbours have moved, those that
 * are found nowhere are deleted.
 */
export function untouchedFrom(front: readonly string[], listed: readonly Listed[], wanted: number): number | null {
  const placeOf = new Map(front.map((id, place) => [id, place]))
  const placeAt = (index: number): number | undefined => placeOf.get((listed[index] as Listed).id)
  // From the back: how far up everything goes on as it did. What stood behind the front may follow its last item.
  let begin = listed.length
  let next = Number.POSITIVE_INFINITY
  while (begin > 0) {
    const place = placeAt(begin - 1)
    const goesOn = place === undefined ? next === Number.POSITIVE_INFINITY : place < next
    if (!goesOn) break
    next = place ?? next
    begin -= 1
  }
  const above = new Set<number>()
  for (let index = 0; index < begin; index += 1) {
    const place = placeAt(index)
    if (place !== undefined) above.add(place)
  }
  let inARow = 0
  let last = -1
  for (let index = begin; index < listed.length; index += 1) {
    const { isAsBefore, isFinal } = listed[index] as Listed
    const place = placeAt(index)
    if (place === undefined) break
    let follows = inARow > 0
    for (let between = last + 1; between < place && follows; between += 1) follows = above.has(between)
    inARow = isAsBefore && isFinal ? (follows ? inARow + 1 : 1) : 0
    last = place
    above.add(place)
    if (inARow >= wanted) return index - wanted + 1
  }
  return null
}

/** What a walk has seen of where the new and changed tasks of a list end. */
export interface CameToFront {
  /** How many known tasks above what is untouched stood elsewhere before. */
  moved: number
  /** How many tasks above what is untouched the mirror did not hold. */
  fresh: number
}

const LEAST_MOVED = 3
/** More, if no task moved: some lists put one kind of task first, and only new ones of that kind. */
const LEAST_FRESH = 10

/**
 * Whether so much came to the front, and nothing anywhere else, that everything does in this list. `isByCreation`: as
 * far as the walk shows, `createdAt` orders it, newest first. There new tasks come to the front, too, and soon one
 * behind others that was created a little earlier: only known tasks that moved tell a list by last update from it.
 */
export function isTouchOrder({ moved, fresh }: CameToFront, isByCreation: boolean): boolean {
  return moved >= LEAST_MOVED || (fresh >= LEAST_FRESH && !isByCreation)
}

/** What the items above index `untouched` show of the order. A task that changed and kept its place shows nothing. */
export function cameToFront(front: readonly string[], listed: readonly Listed[], untouched: number): CameToFront {
  const placeOf = new Map(front.map((id, place) => [id, place]))
  const places = listed.map(({ id }) => placeOf.get(id))
  /** At each index, the place furthest up of all items that stand there or behind. */
  const furthestUp: number[] = []
  for (let index = listed.length - 1; index >= 0; index -= 1)
    furthestUp[index] = Math.min(
      furthestUp[index + 1] ?? Number.POSITIVE_INFINITY,
      places[index] ?? Number.POSITIVE_INFINITY,
    )
  const came: CameToFront = { moved: 0, fresh: 0 }
  let furthestDown = -1
  for (const [index, { isKnown, isAsBefore }] of listed.slice(0, untouched).entries()) {
    const place = places[index]
    const hasPassed = place !== undefined && (place < furthestDown || place > (furthestUp[index] as number))
    if (!isKnown) came.fresh += 1
    // A task that had no place in front stood further down.
    else if (place === undefined || (hasPassed && !isAsBefore)) came.moved += 1
    furthestDown = Math.max(furthestDown, place ?? -1)
  }
  return came
}

/** At most so many tasks are compared one by one: fewer were touched since, or the walk was a full one. */
const MOST_COMPARED = 20_000
/** At most so many answers may be on their way to the walk. */
const MOST_WINDOWS = 256

export interface WatchedFront extends Required<Watcher> {
  /**
   * What the walk so far shows of where new and changed tasks end; null where it has not come to what is untouched, or
   * has seen new tasks behind that, too.
   */
  judge(): CameToFront | null
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

  return {
    async begun({ walkId }) {
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

    judge() {
      const untouched = untouchedFrom(front, listed, wanted)
      return untouched === null || lastFresh >= untouched ? null : cameToFront(front, listed, untouched)
    },
  }
}
