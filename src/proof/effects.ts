// What an answer, and a claim that the rules allow, change of what is known of a walk, and on what the claim rests. Pure,
// plain data in and out.
import { counted, owingFloor, owingTied, PAID } from './counting.ts'
import { emptyAfter, emptyBehind, emptyHeld } from './empty-indexes.ts'
import type { Fact } from './facts.ts'
import { isLastAlone, isShown, tiesAreOrdered } from './rules.ts'
import {
  type Basis,
  BEFORE,
  type Bracket,
  type Claim,
  confirmedBy,
  ended,
  type Floor,
  isUnread,
  SETTINGS,
  type Settings,
  type State,
  type Trial,
  union,
} from './state.ts'

/** What an end of a list that grows rests on. */
const PASSED: Basis[] = ['held', 'grows-at-its-ends', 'nothing-hidden-behind']

/**
 * What may be believed of an answer, null where that is nothing yet. One that brings nothing may be a mistake: it is believed once it has
 * come twice, one directly after the other. One of the two is no mistake, so they say what one answer would that was asked for
 * with the first and came with the second.
 */
export function trusted(state: State, fact: Fact, trial: Trial = {}): Fact | null {
  const { doubted } = state
  if (isNarrow(state, fact, trial)) return null
  if (!isDoubtful(fact) || trial.without === 'nothing: came twice') return fact
  if (doubted?.skip !== fact.skip || doubted.asked !== fact.asked || doubted.kind !== fact.kind) return null
  return { ...fact, sent: Math.min(doubted.sent, fact.sent) }
}

/** An empty answer that was asked for fewer items than another answer held says nothing: so many in a row may be hidden. */
export function isNarrow({ largest }: State, { kind, asked }: Fact, { without }: Trial = {}): boolean {
  return kind === 'nothing' && asked < largest && without !== 'nothing: asked for as many as any answer held'
}

/** The state once an answer has come, whether it is believed or not. */
export function heard(state: State, fact: Fact): State {
  const { skip, asked, kind, sent } = fact
  return { ...state, doubted: isDoubtful(fact) ? { skip, asked, kind, sent } : null }
}

function isDoubtful({ kind }: Fact): boolean {
  return kind === 'nothing' || kind === 'refused'
}

/** The state after a fact was told, and a claim made of it for which nothing was missing. */
export function after(before: State, fact: Fact, claim: Claim, trial: Trial = {}): State {
  // These two speak of the windows that have joined, not of this answer.
  if (claim === 'passed') return ended(before, PASSED)
  if (claim === 'reached') return ended(before, ['created-order'])
  return claimed(noted(before, fact, trial), fact, claim, trial)
}

/** As `after`, for a fact that was told before: adds only what the claim itself does. */
export function claimed(told: State, fact: Fact, claim: Claim, trial: Trial = {}): State {
  const settings = trial.settings ?? SETTINGS
  if (claim === 'passed') return ended(told, PASSED)
  if (claim === 'reached') return ended(told, ['created-order'])
  if (claim === 'join') return joined(told, fact, settings)
  if (claim === 'from') return { ...told, floor: floorOf(fact), basis: union(told.basis, ['created-order']) }
  if (claim === 'behind') return { ...told, bracket: bracketWith(told, fact) }
  if (claim === 'again' || claim === 'stands') return closed(told, fact, settings, claim)
  if (claim === 'look') return confirmed(sighted(told, fact), fact)
  if (claim === 'repeated') return ended(told, ['held', 'last-window-again', 'ties-keep-places'])
  const last = joined(told, fact, settings)
  return ended(fact.runStart === null || !fact.hasMember ? last : { ...last, ...PAID }, ['even-cuts'])
}

/** Nothing stands at the beginning of the list: nothing has stayed. */
export function afterEmpty(state: State, { skip, kind }: Fact): State {
  return skip === 0 && kind === 'nothing' ? ended(state, ['nothing-hidden-behind']) : state
}

function floorOf(fact: Fact): Floor {
  const { skip, count, last, lastId: id, trail, oldest, newest, sent, received, asked } = fact
  const run = trail < count || skip === 0 ? skip + count - trail : -1
  return {
    index: skip + count - 1,
    id,
    moment: last,
    joinedAt: skip + count - 1,
    isPlaced: false,
    aloneAt: null,
    run,
    apart: null,
    oldest,
    newest,
    sent,
    received,
    short: count < asked ? count : null,
  }
}

function joined(state: State, fact: Fact, settings: Settings): State {
  const isTied = !isShown(state, fact, settings)
  const byIds = fact.skip > 0 && fact.anchor === 'tied' && !isTied
  // Among items that are left out no run can be counted.
  const byPlace = isTied && state.isFiltered
  const more: Basis[] = byIds ? ['ids-order-ties'] : byPlace ? ['ties-keep-places'] : []
  return {
    ...state,
    ...(isTied && !byPlace ? owingTied(state, fact) : {}),
    bracket: null,
    floor: floorOf(fact),
    empty: emptyBehind(state, fact),
    ...cutsSeen(state, behindFloor(fact)),
    basis: union(state.basis, more),
  }
}

/** What is known of how answers are cut, once so many items were seen behind the floor. */
function cutsSeen({ floor, largest, isCut, uneven }: State, behind: number): Pick<State, 'isCut' | 'uneven'> {
  const short = floor?.short ?? null
  if (short === null || behind <= 0) return { isCut, uneven }
  // Much more than a short answer showed: that one was cut. A few may have come in meanwhile.
  return { isCut: true, uneven: uneven || (short < largest && 2 * behind > short) }
}

/** It ends before the floor, shorter than asked and than another: the list has become shorter, or the answer was cut by size. */
function isCutShort({ floor, largest }: State, { skip, count, asked, floorAt }: Fact): boolean {
  const isShort = count > 0 && count < Math.min(asked, largest)
  return isShort && floor !== null && floorAt === null && skip + count <= floor.index
}

/** Items behind the floor's last one, or, where the answer does not show that, behind the ones met that it begins with. */
export function behindFloor({ skip, count, metPrefix, floorAt }: Fact): number {
  return floorAt === null ? count - metPrefix : skip + count - 1 - floorAt
}

function bracketWith({ bracket, floor }: State, fact: Fact): Bracket {
  const { skip, asked, kind, count, received } = fact
  const index = bracket?.index ?? floor?.index ?? BEFORE
  const gaps = bracket === null ? [] : [...bracket.gaps, bracket.last]
  const isApart = isUnread(gaps.at(-1)?.kind ?? 'items')
  // An empty answer may have been cut before an item that no answer can hold: it speaks of no other position.
  const width = kind === 'items' ? count : 1
  const reach = Math.max(bracket?.reach ?? index, skip + width - 1)
  // It begins with another createdAt than the floor has, so its first run begins with it.
  const end =
    kind === 'items' ? { ...floorOf(fact), run: skip + count - fact.trail, apart: isApart ? skip : null } : null
  return {
    index,
    isWithinRun: kind === 'items' && fact.first === floor?.moment,
    reach,
    received,
    last: { skip, asked, kind },
    floor: end,
    gaps,
    confirmed: [],
  }
}

/** The last answer is read once more: only what comes now counts. */
export function withoutLast(bracket: Bracket): Bracket | null {
  const { gaps } = bracket
  const last = gaps.at(-1)
  if (last === undefined) return null
  return { ...bracket, last, gaps: gaps.slice(0, -1), reach: bracket.last.skip - 1, isWithinRun: false, floor: null }
}

/** The floor stands where it stood: what was read behind it has joined, or it is the last of the list. */
function closed(state: State, fact: Fact, settings: Settings, claim: 'again' | 'stands'): State {
  // This very answer has completed the count of the run that the list ends with.
  if (state.bracket === null) return state
  const { index, floor, gaps, last, isWithinRun } = state.bracket
  const more: Basis[] = ['held']
  const isApart = floor !== null && floor.apart !== null
  if (gaps.some(({ kind }) => isUnread(kind)) || (claim === 'again' && !isShown(state, fact, settings)))
    more.push('unread-apart')
  if (last.kind === 'refused' || gaps.some(({ kind }) => kind !== 'failed')) more.push('even-cuts')
  if (tiesAreOrdered(state, settings)) more.push('ids-order-ties')
  const mayHaveTies =
    (claim === 'stands' || (isWithinRun && !isApart) || state.floor?.isPlaced === true) &&
    !tiesAreOrdered(state, settings)
  // Among items that are left out no run can be counted.
  if (mayHaveTies && state.isFiltered) more.push('ties-keep-places')
  const debt = mayHaveTies && !state.isFiltered && state.owed === null ? owingFloor(state) : {}
  const held = {
    ...state,
    ...debt,
    bracket: null,
    floor: floor ?? state.floor,
    ...(floor === null ? {} : cutsSeen(state, floor.index - index)),
    empty: floor === null ? state.empty : emptyHeld(state, floor, fact),
    basis: union(state.basis, more),
  }
  return floor === null ? ended(held, ['held', 'nothing-hidden-behind']) : held
}

/**
 * The floor's last item was seen: it stands there by now, or further down where hidden items are left out. Where it has moved
 * for certain, what was read behind its former place is forgotten.
 */
function sighted(state: State, { floorAt, sent, received, count, asked }: Fact): State {
  const { floor, isFiltered } = state
  if (floor === null || floorAt === null || sent < floor.received || floorAt === floor.index) return state
  const isBack = floorAt === state.bracket?.index
  const hasMoved = !isBack && (!isFiltered || count === asked || floorAt > floor.index)
  const bracket = hasMoved ? null : state.bracket
  return { ...state, bracket, floor: { ...floor, index: floorAt, isPlaced: true, sent, received } }
}

/** A position that brought nothing, or could not be read, is still so. */
function confirmed(state: State, fact: Fact): State {
  const { bracket } = state
  return bracket === null ? state : { ...state, bracket: { ...bracket, confirmed: confirmedBy(state, fact) } }
}

/** What empty answers said is forgotten where one of them was asked for fewer items than this answer holds: see `isNarrow`. */
function unsaid(before: State, fact: Fact): State {
  const { bracket, ended, count, narrowest } = before
  if (narrowest === null || heldOf(fact) <= narrowest) return before
  const rests = bracket !== null && [...bracket.gaps, bracket.last].some(({ kind }) => kind === 'nothing')
  return {
    ...before,
    narrowest: null,
    bracket: rests ? null : bracket,
    empty: null,
    count: count === null ? null : { ...count, isOver: false },
    ended: ended?.includes('nothing-hidden-behind') === true ? null : ended,
  }
}

/** Items in the answer, of those that were asked for: some services round that up. */
function heldOf({ count, asked }: Fact): number {
  return Math.min(count, asked)
}

/** What is noted of every answer, whatever is claimed of it. */
function noted(earlier: State, fact: Fact, trial: Trial): State {
  const before = unsaid(earlier, fact)
  const state = {
    ...before,
    largest: Math.max(before.largest, heldOf(fact)),
    narrowest: fact.kind === 'nothing' ? Math.min(before.narrowest ?? fact.asked, fact.asked) : before.narrowest,
    tiedRising: before.tiedRising + fact.tiedRising,
    tiedFalling: before.tiedFalling + fact.tiedFalling,
    uneven: before.uneven || isCutShort(before, fact),
  }
  state.empty = emptyAfter(before, fact)
  const { floor } = before
  if (floor !== null && isLastAlone(before, fact)) {
    const { firstId, skip, sent, received } = fact
    const wasPlaced = floor.aloneAt !== null && sent >= floor.aloneAt
    if (skip === floor.joinedAt) state.floor = { ...floor, aloneAt: received }
    else if (skip > floor.index)
      state.repeat = { id: firstId as string, skip, place: floor.joinedAt, received, wasPlaced }
  }
  return state.owed === null ? state : counted(state, fact, trial)
}
