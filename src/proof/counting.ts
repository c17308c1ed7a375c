// Runs of equal createdAt that are owed, and how they are paid: docs/proof.md, "counted". Pure.
import { type Fact, idsOfRun, type ListAnswer, type RunMember } from './facts.ts'
import {
  type Basis,
  type Behind,
  type Edge,
  ended,
  holds,
  isUnread,
  reachOf,
  type State,
  type Trial,
  union,
} from './state.ts'

export type Counts = 'shown' | 'counted' | 'counts'

/** The part of the state that changes when a run comes to be owed. */
type Debts = Pick<State, 'owed' | 'count' | 'ahead' | 'within'>

/** Pays the owed run: no floor or sight excepts its ties any more. `isShown`: one answer showed all of the run. */
function paid({ floor, pending, owed, ...state }: State, isShown: boolean): State {
  const without = <T extends { but: RunMember | null }>(one: T): T =>
    one.but?.moment === owed?.moment ? { ...one, but: null } : one
  const settled = { floor: floor === null ? null : without(floor), pending: pending.map(without) }
  return { ...state, ...settled, owed: null, count: null, ahead: null, within: null, isShown }
}

/**
 * What an answer did for the run that was owed. `shown`: it showed all of it. `counted`: it completed the count, with
 * the ids collected before and its own. `counts`: the count goes on, and collects its ids as well.
 */
export function countsFor(before: State, { owed, count, isShown }: State): Counts | null {
  if (before.owed === null) return null
  // Not only where none is owed any more: another run may have come to be owed at once.
  if (owed !== before.owed) return isShown ? 'shown' : 'counted'
  return count !== null && count.since === before.count?.since && count.ids > before.count.ids ? 'counts' : null
}

/** Ids of the run that was owed, by what the answer did for it: those of the answer, and those `seen` so far. */
export function idsFor(before: State, counts: Counts, answer: ListAnswer, seen: Iterable<string>): string[] {
  // The answer holds the whole run, wherever that was counted: the count may be of another run of this createdAt.
  return counts === 'shown' ? [...idsOfRun(answer, { ...before, count: null })] : [...seen, ...idsOfRun(answer, before)]
}

/** The run is owed from now on, unless one was. `end`: the index behind it; `behind`: what stands there, or null. */
export function owing(
  state: State,
  owed: RunMember | null,
  end: number | null = null,
  { received, id = null, moment = null, rests = [] }: Partial<Behind> & { received: number; rests?: Basis[] } = {
    received: 0,
  },
): Debts {
  if (state.owed !== null || owed === null) return state
  const behind = { index: end ?? 0, id, moment }
  const count = end === null ? null : { ...UNCOUNTED, end, behind, rests, since: received, received }
  return { owed, count, ahead: null, within: null }
}

/** As `owing`, for an answer with nothing but ties up to its anchor: it may show where the run ends, too. */
export function owingTied(state: State, owed: RunMember | null, fact: Fact): Debts {
  const { runEnd, runGoesOn, received, behindId, behind } = fact
  const debts = owing(state, owed, runEnd, { received, id: behindId, moment: behind })
  if (state.owed !== null || owed === null || runGoesOn === null) return debts
  return { ...debts, within: { index: runGoesOn, unread: 0, received, reach: reachOf(state, fact) } }
}

/**
 * Counts the owed run (docs/proof.md, "counted"): sees its end, later its beginning, and later its end again, and
 * collects the ids seen meanwhile. A side is shown by one answer, or by two, the second asked for after the first: one
 * ends with an item of the run and the next begins with another item, or the other way round.
 */
export function counted(before: State, fact: Fact, trial: Trial): State {
  if (showsAll(before, fact, trial) && holds(trial, 'counted: shows one that was met', fact.hasMember))
    return paid(fact.runEnd === null ? { ...before, basis: union(before.basis, ['even-cuts']) } : before, true)
  const { skip, sent, received, fresh, hasMember, runStart, runGoesOn } = fact
  const { start, end, behind, rests } = sidesShown(before, fact, trial)
  const earlier = isOfAnother(before.count, fact) ? null : before.count
  const state = { ...before, ...edgesAfter(before, fact, earlier?.since ?? null) }
  // An edge from before the count is none of it: the list may have moved meanwhile.
  const begun = { ...UNCOUNTED, end: end ?? 0, behind, rests, since: received, received }
  const anew = end === null ? { count: null } : { count: begun, ahead: null }
  if (earlier === null) return { ...state, ...anew }
  if (!holds(trial, 'counted: read one after another', sent >= earlier.since)) return { ...state, count: earlier }
  const endsAt = end ?? Math.max(runGoesOn ?? 0, earlier.end)
  const isAlike = end === null || isLike(behind, earlier.behind)
  const hasMoved = !holds(trial, 'counted: ends where it ended', endsAt === earlier.end && isAlike)
  const beginsElsewhere = start !== null && earlier.start !== null && start !== earlier.start
  if (hasMoved || beginsElsewhere) return { ...state, drifts: true, ...anew }
  const isLater = holds(trial, 'counted: read one after another', sent >= earlier.received)
  const from = earlier.start ?? (isLater ? start : null)
  // Ids that are seen before the run's beginning is known do not count: they may stand elsewhere by then.
  if (from === null) return { ...state, count: earlier }
  // Another item of the same createdAt stands behind: another run of the owed createdAt may have come to end there.
  const isApart = end !== null && behind.id !== earlier.behind.id
  // Where the run begins in front of what is counted, its member may stand there, too.
  const isWithin = runStart !== null || skip >= from
  const count = {
    ...{ ...earlier, received, ids: earlier.ids + fresh, hasMember: earlier.hasMember || (hasMember && isWithin) },
    rests: union(union(earlier.rests, rests), isApart ? ['ties-side-by-side'] : []),
  }
  if (!isLater) return { ...state, count }
  if (earlier.start === null) return { ...state, count: { ...count, start } }
  const isEnough =
    holds(trial, 'counted: as many ids as it is long', count.ids >= count.end - from) &&
    holds(trial, 'counted: shows one that was met', count.hasMember)
  const closed = end !== null && isEnough ? { ...count, isClosed: true } : count
  // In a list that was seen to move, the run is paid only once its beginning has been seen again.
  if (!closed.isClosed || (state.drifts && (start === null || !count.isClosed))) return { ...state, count: closed }
  const all = paid({ ...state, basis: union(state.basis, ['held', ...closed.rests]) }, false)
  // Nothing stands behind the run, and what stands before it has been met.
  return closed.behind.id === null && state.ended === null ? ended(all, ['held', 'nothing-hidden-behind']) : all
}

/** Whether the run's member is seen in front of what was counted, or behind it: another run was counted. */
function isOfAnother(count: State['count'], { hasMember, runStart, runEnd, runGoesOn }: Fact): boolean {
  if (count === null || count.hasMember || !hasMember) return false
  return (runStart ?? -1) >= count.end || (runEnd ?? runGoesOn ?? 0) <= (count.start ?? 0)
}

const UNCOUNTED = { start: null, isClosed: false, hasMember: false, ids: 0 }

/** Whether both looks may have seen the same behind the run: nothing, or items of one createdAt, at one index. */
function isLike(one: Behind, other: Behind): boolean {
  return one.index === other.index && (one.id === null) === (other.id === null) && one.moment === other.moment
}

/** Whether the answer shows the whole run: something behind it, too, or room for more once an end has been shown. */
function showsAll(state: State, fact: Fact, trial: Trial): boolean {
  return fact.runStart !== null && (fact.runEnd !== null || hasRoomBehind(state, fact, trial))
}

/** The list is known to end, and the answer ends within the run and has room for more: the list ends with the run. */
function hasRoomBehind(state: State, fact: Fact, trial: Trial): boolean {
  return state.ended !== null && fact.runGoesOn !== null && hasRoom(state, fact, trial)
}

/** The run's first index and the one behind its end (null: not shown), by the answer and the edges; and the basis. */
function sidesShown(before: State, fact: Fact, trial: Trial) {
  const { kind, skip, asked, count, first, firstId, runGoesOn, runStart, runEnd, behindId } = fact
  const { ahead, within, owed } = before
  const isOver = kind === 'nothing' || (kind === 'refused' && within !== null && skip + asked <= within.reach)
  const isOther = kind === 'items' && first !== owed?.moment
  const beginsNext = isNext(ahead, fact) && count > 0 && !isOther
  const start = beginsNext ? skip : runStart
  const passed = beginsNext ? unreadOf(ahead) : []
  if (hasRoomBehind(before, fact, trial))
    return {
      start,
      end: runGoesOn,
      behind: { index: skip + count, id: null, moment: null },
      rests: union(passed, ['even-cuts']),
    }
  if (within === null || !isNext(within, fact) || !(isOver || isOther))
    return { start, end: runEnd, behind: { index: runEnd ?? 0, id: behindId, moment: fact.behind }, rests: passed }
  const rests = union(passed, unreadOf(within))
  const behind = { index: skip, id: firstId, moment: first }
  if (isOther) return { start, end: within.index, behind, rests }
  // A refusal counts as an empty answer, though it may be about an item there.
  const over: Basis[] = kind === 'refused' ? ['even-cuts', 'nothing-hidden-behind'] : ['nothing-hidden-behind']
  return { start, end: within.index, behind, rests: union(rests, over) }
}

/** What cannot be read behind the edge is taken for no part of the run. */
function unreadOf(edge: Edge | null): Basis[] {
  return edge !== null && edge.unread > 0 ? ['unread-apart'] : []
}

/** Whether the answer was asked for after the edge was seen, and begins behind it and what cannot be read there. */
function isNext(edge: Edge | null, { skip, sent }: Fact): boolean {
  return edge !== null && skip === edge.index + edge.unread && sent >= edge.received
}

/** The edges by now: `ahead`, where the last answer ends that ends with another item; `within`, with one of the run. */
function edgesAfter(state: State, fact: Fact, since: number | null): Pick<State, 'ahead' | 'within'> {
  const { ahead, within, owed, givesMore } = state
  const { sent, received, kind, skip, count, asked, last, runGoesOn } = fact
  // What an answer shows that was asked for before the count began may be gone.
  if (since !== null && sent < since) return { ahead, within }
  const after = (edge: Edge | null, endsSo: boolean): Edge | null => {
    if (edge !== null && isNext(edge, fact) && isUnread(kind) && asked === 1 && !givesMore)
      return { ...edge, unread: edge.unread + 1, received }
    if (!endsSo) return edge
    const index = skip + count
    const reach = Math.max(reachOf(state, fact), edge?.index === index ? edge.reach : 0)
    return { index, unread: 0, received, reach }
  }
  // A single item is a question of its own: it does not replace an edge behind which the unreadable is being passed.
  const isOther = kind === 'items' && last !== owed?.moment
  const endsAhead = isOther && (asked > 1 || (ahead?.unread ?? 0) === 0)
  return { ahead: after(ahead, endsAhead), within: after(within, runGoesOn !== null) }
}

/** Whether the answer is shorter than asked for, and not because answers are cut: docs/proof.md, "room". */
export function hasRoom({ largest, uneven }: State, { count, asked }: Fact, trial: Trial): boolean {
  return (
    holds(trial, 'room: shorter than asked', count < asked) &&
    holds(trial, 'room: shorter than another', count < largest) &&
    holds(trial, 'room: no cut by size was seen', !uneven)
  )
}
