// What an answer, and a window that is taken in, prove of a list, step by step. docs/proof.md names the conditions as
// they are named here. Pure, plain data in and out.
import type { Moment } from '../task.ts'
import type { ConditionName } from './conditions.ts'
import { counted, hasRoom, owing, owingTied } from './counting.ts'
import { emptyAfter, emptyBehind } from './empty-indexes.ts'
import { type Fact, NO_RUN } from './facts.ts'
import { debtOf, placed, sightOf } from './places.ts'
import {
  type Basis,
  ended,
  type Floor,
  holds,
  isUnread,
  NO_TRIAL,
  type Sight,
  type State,
  type Trial,
  tiesAreOrdered,
  union,
  type WalkRange,
} from './state.ts'

/** How an answer is linked to what has been met, by its own items, whatever its place says. */
export type Seam = 'shown' | 'tied' | 'none'

export function seamOf(state: State, fact: Fact, trial: Trial): Seam {
  if (fact.skip === 0 || fact.anchor === 'shown') return 'shown'
  if (fact.anchor === 'none') return 'none'
  return tiesAreOrdered(state, trial) ? 'shown' : 'tied'
}

/**
 * What may be believed of an answer; null where that is nothing yet. One that brings nothing may be a mistake: it is
 * believed once it has come twice, directly one after the other. One of the two is no mistake, so both together say
 * what one answer would that was asked for with the first and came with the second.
 */
export function trusted(state: State, fact: Fact, trial: Trial = NO_TRIAL): Fact | null {
  const { doubted } = state
  if (isNarrow(state, fact, trial)) return null
  if (holds(trial, 'nothing: came twice', !isDoubtful(fact))) return fact
  if (doubted?.skip !== fact.skip || doubted.asked !== fact.asked || doubted.kind !== fact.kind) return null
  return { ...fact, sent: Math.min(doubted.sent, fact.sent) }
}

/** An empty answer that was asked for fewer items than another held says nothing: so many in a row may be hidden. */
export function isNarrow({ largest }: State, { kind, asked }: Fact, trial: Trial = NO_TRIAL): boolean {
  return kind === 'nothing' && !holds(trial, 'nothing: asked for as many as any answer held', asked >= largest)
}

/** The state once an answer has come, whether it is believed or not. */
export function heard(state: State, fact: Fact): State {
  const { skip, asked, kind, sent } = fact
  return { ...state, doubted: isDoubtful(fact) ? { skip, asked, kind, sent } : null }
}

function isDoubtful({ kind }: Fact): boolean {
  return kind === 'nothing' || kind === 'refused'
}

/** The state after an answer that is believed. */
export function told(before: State, fact: Fact, trial: Trial = NO_TRIAL): State {
  const isEnd = before.ended === null && isRepeated(before, fact, trial)
  const state = placed(noted(before, fact, trial), fact, trial)
  return isEnd ? ended(state, ['held', 'last-window-again', 'ties-keep-places']) : state
}

/** An answer as it was told. What its fact says of the floor and of a run is about those that were known then. */
export interface Told {
  fact: Fact
  floor: string | null
  owed: string | null
}

export function asTold(fact: Fact, { floor, owed }: State): Told {
  return { fact, floor: floor?.id ?? null, owed: owed?.member ?? null }
}

/** What that fact says by now: nothing of a floor or of an owed run that is another one by now. */
export function recalled({ fact, floor, owed }: Told, state: State): Fact {
  const floorAt = floor === (state.floor?.id ?? null) ? fact.floorAt : null
  return { ...fact, floorAt, ...(owed === (state.owed?.member ?? null) ? {} : NO_RUN) }
}

/** The sight by which the window joins if it is taken in now, with its basis; or the condition that is missing. */
export function linkOf(state: State, fact: Fact, trial: Trial): { sight: Sight; rests: Basis[] } | ConditionName {
  const { range } = trial
  const { skip, received, first } = fact
  const own = sightOf(fact)
  if (range !== null && range.from !== null && state.floor === null && skip > 0) {
    const isBefore = isBeforeRange(first, range)
    if (!holds(trial, 'from: begins before the range', isBefore)) return 'from: begins before the range'
    return { sight: own, rests: ['created-order'] }
  }
  const sight = state.pending.find((one) => one.received === received) ?? own
  if (!holds(trial, 'join: shows an anchor, or its place does', sight.low >= skip))
    return 'join: shows an anchor, or its place does'
  const debt = debtOf(state, [sight.but], trial)
  if (debt === null) return 'join: no other run is owed'
  return { sight: { ...sight, but: debt.but }, rests: union(sight.rests, debt.rests) }
}

/** The state once the window is taken in: its items are met from now on. What does not join spoils the walk. */
export function taken(state: State, fact: Fact, trial: Trial = NO_TRIAL): State {
  const link = linkOf(state, fact, trial)
  const isMissing = typeof link === 'string'
  // A window that brings nothing new is passed over where it does not join, or shows ties alone and nothing behind.
  const isKnown = fact.metPrefix === fact.count
  if (isKnown && seamOf(state, fact, trial) !== 'shown' && (isMissing || behindFloor(fact) === 0)) return state
  // Everything that stayed has been met, if that is the end.
  if (state.ended !== null) return { ...state, ...cutsSeen(state, behindFloor(fact)), isStray: true }
  return isMissing ? { ...state, spoiled: state.spoiled ?? link } : joined(state, fact, link)
}

/** The state once a window that joins by `sight` has been taken in. */
export function joined(state: State, fact: Fact, { sight, rests }: { sight: Sight; rests: Basis[] }): State {
  const { skip, count, last, lastId: id, trail, oldest, newest, sent, received, asked, anchor, first } = fact
  const { pending } = state
  const { but } = sight
  const index = skip + count - 1
  const isPlaced = skip > 0 && anchor === 'none' && sight.low >= skip
  const isApart = isPlaced && pending.some(({ kind, to }) => isUnread(kind) && to === skip)
  const showsRun = trail < count || skip === 0
  // What stands directly behind the floor's run shows where that ends.
  const isDirect = skip === (state.floor?.index ?? -1) + 1 && first !== state.floor?.moment
  const floor: Floor = {
    ...{ index, id, moment: last, joinedAt: index, but, aloneAt: null, again: null, apart: isApart ? skip : null },
    ...{ run: showsRun ? skip + count - trail : -1, oldest, newest },
    ...{ sent, received, short: count < asked ? count : null },
  }
  return {
    ...state,
    ...(isPlaced
      ? owing(state, but, isDirect ? skip : null, { received, id: fact.firstId, moment: first })
      : owingTied(state, but, fact)),
    floor,
    pending: pending.filter((one) => one.from > index && one.sent >= received && !beginsTied(one, last)),
    empty: emptyBehind(state, fact),
    tiedMet: Math.max(state.tiedMet, fact.tiedMet),
    ...cutsSeen(state, behindFloor(fact)),
    basis: union(state.basis, rests),
  }
}

/** The answer may show the floor's last item behind ties that were not met: when told, that item was not met either. */
function beginsTied({ kind, first }: Sight, last: Moment): boolean {
  return kind === 'items' && first === last
}

/** The state with the end of the list or range, where the window that joined last shows it; else null. */
export function atEnd(state: State, last: Fact, isAhead: boolean, trial: Trial = NO_TRIAL): State | null {
  const { floor, empty } = state
  const { range } = trial
  if (floor === null) return null
  const isReached = range !== null && holds(trial, 'reached: shows an item behind the range', isBehind(floor, range))
  if (isReached && range.to !== null) return ended(state, ['created-order'])
  if (hasPassed(floor, empty, trial)) return ended(state, ['held', 'grows-at-its-ends', 'nothing-hidden-behind'])
  return hasRoom(state, last, trial) && !isAhead ? ended(state, ['even-cuts']) : null
}

/** Everything that was listed at one moment of this walk has been met: docs/proof.md, "passed". */
export function hasPassed(floor: Floor | null, empty: State['empty'], trial: Trial = NO_TRIAL): boolean {
  return (
    empty !== null &&
    floor !== null &&
    holds(trial, 'passed: its last run begins behind what was empty', floor.run >= empty.index) &&
    holds(trial, 'passed: asked for after it was empty', floor.sent >= empty.received)
  )
}

/** Whether an item of this createdAt stands before all that the walk speaks of, in a list of that order. */
export function isBeforeRange(moment: Moment, range: WalkRange | null): boolean {
  if (moment === null || range === null || range.from === null) return false
  return range.order === 'created_desc' ? moment >= range.from : moment < range.from
}

function isBehind({ oldest, newest }: Floor, { order, to }: WalkRange): boolean {
  if (to === null || oldest === null || newest === null) return false
  return order === 'created_desc' ? oldest < to : newest >= to
}

/** The service gives its last window again behind the end: the last item stood further down before, now less far. */
function isRepeated(state: State, fact: Fact, trial: Trial): boolean {
  const { floor } = state
  const { skip, sent, firstId } = fact
  if (floor === null || floor.again === null || floor.id !== firstId) return false
  return (
    holds(trial, 'repeated: the last item, asked for alone', isLastAlone(state, fact, trial)) &&
    holds(trial, 'repeated: as further down before', skip > floor.joinedAt && skip < floor.again.skip) &&
    holds(trial, 'repeated: read one after another', sent >= floor.again.received)
  )
}

/** Asked for alone, and given alone: some services give more than they are asked for. */
function isLastAlone({ floor }: State, { asked, count, firstId }: Fact, trial: Trial): boolean {
  return asked === 1 && holds(trial, 'repeated: given alone', count === 1) && firstId === floor?.id
}

/** What is known of how answers are cut, once `behind` items were seen behind the floor. */
function cutsSeen({ floor, largest, isCut, uneven }: State, behind: number): Pick<State, 'isCut' | 'uneven'> {
  const short = floor?.short ?? null
  if (short === null || behind <= 0) return { isCut, uneven }
  // Much more stands there than the short answer showed: that one was cut. A few may have come in meanwhile.
  return { isCut: true, uneven: uneven || (short < largest && 2 * behind > short) }
}

/** The answer ends before the floor, shorter than asked and than another: the list shrank, or it was cut by size. */
function isCutShort({ floor, largest }: State, { skip, count, asked, floorAt }: Fact): boolean {
  const isShort = count > 0 && count < Math.min(asked, largest)
  return isShort && floor !== null && floorAt === null && skip + count <= floor.index
}

/** How many items stand behind the floor's last one, or, where that is not shown, behind the met ones at the start. */
function behindFloor({ skip, count, metPrefix, floorAt }: Fact): number {
  return floorAt === null ? count - metPrefix : skip + count - 1 - floorAt
}

/**
 * Forgets what empty answers said if one of them was asked for fewer items than this answer holds (see `isNarrow`); and
 * that the list is empty, if this answer shows an item.
 */
function unsaid(before: State, fact: Fact, trial: Trial): State {
  const { floor, pending, ended, narrowest, isStray } = before
  const isOutdone = narrowest !== null && heldOf(fact) > narrowest
  const isTakenBack = isOutdone ? ended?.includes('nothing-hidden-behind') === true : floor === null && fact.count > 0
  const isFree = holds(trial, 'nothing: no window was taken in behind an end it showed', !isStray)
  const stray = isFree ? null : 'nothing: no window was taken in behind an end it showed'
  const state = isTakenBack ? { ...before, ended: null, spoiled: before.spoiled ?? stray } : before
  if (!isOutdone) return state
  return {
    ...state,
    narrowest: null,
    pending: pending.some(({ kind }) => kind === 'nothing') ? [] : pending,
    empty: null,
    count: null,
  }
}

/** Number of items in the answer, at most as many as were asked for: some services round that up. */
function heldOf({ count, asked }: Fact): number {
  return Math.min(count, asked)
}

/** What is noted of every believed answer, whatever it says of places. */
function noted(earlier: State, fact: Fact, trial: Trial): State {
  const before = unsaid(earlier, fact, trial)
  const state = {
    ...before,
    largest: Math.max(before.largest, heldOf(fact)),
    givesMore: before.givesMore || fact.count > fact.asked,
    narrowest: fact.kind === 'nothing' ? Math.min(before.narrowest ?? fact.asked, fact.asked) : before.narrowest,
    tiesRise: before.tiesRise || fact.tiesRise,
    tiesFall: before.tiesFall || fact.tiesFall,
    uneven: before.uneven || isCutShort(before, fact),
    empty: emptyAfter(before, fact),
  }
  const { floor } = before
  if (floor !== null && isLastAlone(before, fact, trial)) {
    const { skip, sent, received } = fact
    const wasPlaced = floor.aloneAt !== null && sent >= floor.aloneAt
    if (skip === floor.joinedAt) state.floor = { ...floor, aloneAt: received }
    else if (skip > floor.index && holds(trial, 'repeated: at its place before, asked for alone', wasPlaced))
      state.floor = { ...floor, again: { skip, received } }
  }
  return state.owed === null ? state : counted(state, fact, trial)
}
