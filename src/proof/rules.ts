// The rules of proof: what a walk may claim of a list, step by step, and on what each claim rests. Every rule is a table of
// conditions, named as in docs/proof.md, which proves them; a test switches each off in turn. Pure, plain data in and out.
import { counted, owingFloor, owingTied, PAID } from './counting.ts'
import type { Fact } from './facts.ts'
import {
  type Basis,
  type Bracket,
  type Claim,
  ended,
  type Floor,
  SETTINGS,
  type Settings,
  type State,
  type Trial,
  union,
  type WalkRange,
} from './state.ts'

/** What an end of a list that grows rests on. */
const PASSED: Basis[] = ['held', 'grows-at-its-ends', 'nothing-hidden-behind']

type Condition = (state: State, fact: Fact, settings: Settings) => boolean

function tiesAreOrdered({ tiedRising, tiedFalling }: State, settings: Settings): boolean {
  return Math.min(tiedRising, tiedFalling) === 0 && tiedRising + tiedFalling >= settings.orderedTies
}

/** The answer begins with the list, or shows an anchor that no tie can have carried past an item: docs/proof.md, "shown". */
function isShown(state: State, fact: Fact, settings: Settings): boolean {
  if (fact.skip === 0 || fact.anchor === 'shown' || fact.showsPassed) return true
  return fact.anchor === 'tied' && tiesAreOrdered(state, settings)
}

/** Whether the claim speaks of something that was read. */
function saysSomething(
  { floor, bracket, ceiling }: State,
  { kind }: Fact,
  claim: Claim,
  range: WalkRange | null,
): boolean {
  if (claim === 'look') return true
  if (claim === 'behind') return floor !== null
  if (claim === 'from') return kind === 'items' && floor === null && typeof range?.from === 'number'
  if (claim === 'reached') return floor !== null && typeof range?.to === 'number'
  if (claim === 'passed') return floor !== null && ceiling !== null
  return (
    kind === 'items' &&
    ((claim !== 'again' && claim !== 'stands') || (bracket !== null && bracket.last.kind !== 'failed'))
  )
}

function isBefore(moment: number, { order, from }: WalkRange): boolean {
  return from !== null && (order === 'created_desc' ? moment >= from : moment < from)
}

function isBehind({ oldest, newest }: Floor, { order, to }: WalkRange): boolean {
  if (to === null || oldest === null || newest === null) return false
  return order === 'created_desc' ? oldest < to : newest >= to
}

/** Whether the floor's run may come to be owed: one run is owed at a time. */
function mayOwe(state: State, settings: Settings): boolean {
  return state.owed === null || state.owed.moment === state.floor?.moment || tiesAreOrdered(state, settings)
}

function isLastAlone({ floor }: State, { kind, asked, firstId }: Fact): boolean {
  return kind === 'items' && asked === 1 && firstId !== null && firstId === floor?.id
}

/** A refusal may be about the window and not about the list: then this answer has to reach further. */
function reachesBeyondRefusal({ bracket }: State, fact: Fact): boolean {
  return bracket?.last.kind !== 'refused' || fact.skip + fact.asked > bracket.reach
}

/** Whether every position that was passed was asked for again, and brought the same. */
function isAsItWas({ bracket }: State): boolean {
  return bracket === null || bracket.gaps.every(({ skip }) => bracket.confirmed.includes(skip))
}

/** For each claim its conditions, in the order in which they are tried. */
export const RULES: Record<Claim, Record<string, Condition>> = {
  look: {},
  join: {
    'join: shows an anchor, or begins with the list': (state, fact, settings) =>
      isShown(state, fact, settings) || fact.anchor !== 'none',
    'join: no other run is owed': (state, fact, settings) =>
      isShown(state, fact, settings) || state.owed === null || state.owed.moment === fact.first,
  },
  from: {
    'from: begins before the range': (_, { first }, { range }) =>
      first !== null && range !== null && isBefore(first, range),
  },
  behind: {
    'behind: nothing has come from behind yet': ({ bracket }) => bracket?.last.kind !== 'items',
    'behind: asked for after the floor was read': ({ bracket, floor }, fact) =>
      fact.sent >= (bracket?.received ?? floor?.received ?? 0),
    'behind: leaves no position out': ({ bracket, floor }, fact) =>
      fact.skip <= (bracket?.reach ?? floor?.index ?? -1) + 1,
    'behind: begins with another createdAt, or no other run is owed': (state, fact, settings) =>
      fact.kind !== 'items' || fact.first !== state.floor?.moment || mayOwe(state, settings),
    'behind: refused or failed for a single position': (_, { kind, asked }) =>
      kind === 'items' || kind === 'nothing' || asked === 1,
  },
  again: {
    'again: asked for after what was read behind': ({ bracket }, fact) => fact.sent >= (bracket?.received ?? 0),
    'again: begins with the list or shows an anchor': isShown,
    'again: everything up to the floor has been met': ({ bracket }, fact) =>
      fact.skip + fact.metPrefix > (bracket?.index ?? 0),
    'again: reaches beyond a refusal': reachesBeyondRefusal,
    'again: what was passed is as it was': isAsItWas,
  },
  stands: {
    'stands: asked for after what was read behind': ({ bracket }, fact) => fact.sent >= (bracket?.received ?? 0),
    'stands: begins with the last item': ({ floor }, { firstId }) => firstId !== null && firstId === floor?.id,
    'stands: where it stood': ({ bracket }, { skip }) => skip === bracket?.index,
    'stands: no other run is owed': (state, _, settings) => mayOwe(state, settings),
    'stands: reaches beyond a refusal': reachesBeyondRefusal,
    'stands: what was passed is as it was': isAsItWas,
  },
  room: {
    'room: begins with the list or shows an anchor': isShown,
    'room: shorter than asked': (_, fact) => fact.count < fact.asked,
    'room: shorter than another': (state, fact) => fact.count < state.largest,
    'room: no cut by size was seen': ({ uneven }) => !uneven,
  },
  passed: {
    'passed: its last run begins behind an index that was empty': ({ floor, ceiling }) =>
      (floor?.run ?? -1) >= (ceiling?.index ?? 0),
    'passed: asked for after it was empty': ({ ceiling }) => ceiling?.isBefore === true,
  },
  repeated: {
    'repeated: the last item, asked for alone': (state, fact) => isLastAlone(state, fact),
    'repeated: as further down before': ({ repeat }, { skip, firstId }) =>
      repeat !== null && repeat.id === firstId && skip < repeat.skip,
    'repeated: behind its place': ({ repeat }, { skip }) => repeat !== null && skip > repeat.place,
    'repeated: read one after another': ({ repeat }, { sent }) => repeat !== null && sent >= repeat.received,
    'repeated: at its place before, asked for alone': ({ repeat }) => repeat?.wasPlaced === true,
  },
  reached: {
    'reached: shows an item behind the range': ({ floor }, _, { range }) =>
      floor !== null && range !== null && isBehind(floor, range),
  },
}

const CONDITIONS = Object.fromEntries(
  Object.entries(RULES).map(([claim, conditions]) => [claim, Object.entries(conditions)]),
) as Record<Claim, [name: string, Condition][]>

/** The first condition of `claim` that `fact`, told just now, does not meet; null where it may be claimed. */
export function missingFor(state: State, fact: Fact, claim: Claim, trial: Trial = {}): string | null {
  const settings = trial.settings ?? SETTINGS
  if (!saysSomething(state, fact, claim, settings.range)) return `${claim}: something was read that it can be said of`
  for (const [name, holds] of CONDITIONS[claim]) {
    if (name !== trial.without && !holds(state, fact, settings)) return name
  }
  return null
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
  if (claim === 'from')
    return { ...told, floor: floorOf(fact, told.largest), basis: union(told.basis, ['created-order']) }
  if (claim === 'behind') return { ...told, bracket: bracketWith(told, fact) }
  if (claim === 'again' || claim === 'stands') return closed(told, fact, settings, claim)
  if (claim === 'look') return confirmed(sighted(told, fact), fact)
  if (claim === 'repeated') return ended(told, ['held', 'last-window-again', 'ties-keep-places'])
  const last = joined(told, fact, settings)
  return ended(fact.runStart === null || !fact.hasMember ? last : { ...last, ...PAID }, ['even-cuts'])
}

/** An answer at the beginning of the list that brought nothing: nothing has stayed. */
export function afterEmpty(state: State, fact: Fact): State {
  return fact.skip === 0 && fact.kind === 'nothing' ? ended(state, ['nothing-hidden-behind']) : state
}

/** How the answer stands to what has joined. */
export type Seam = 'shown' | 'tied' | 'none'

export function seamOf(state: State, fact: Fact, settings: Settings): Seam {
  return isShown(state, fact, settings) ? 'shown' : fact.anchor === 'none' ? 'none' : 'tied'
}

function floorOf(fact: Fact, largest: number): Floor {
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
    oldest,
    newest,
    sent,
    received,
    short: count < Math.min(asked, largest) ? count : null,
  }
}

function joined(state: State, fact: Fact, settings: Settings): State {
  const isTied = !isShown(state, fact, settings)
  const byIds = fact.skip > 0 && fact.anchor === 'tied' && !isTied
  return {
    ...state,
    ...(isTied ? owingTied(state, fact) : {}),
    bracket: null,
    floor: floorOf(fact, state.largest),
    passed: isTied || state.owed !== null ? state.passed : (fact.beforeTrail ?? state.passed),
    ceiling: ceilingBehind(state, fact),
    // Much more behind the floor than a short answer showed: that one was cut. A few may have come in meanwhile.
    uneven: state.uneven || 2 * behindFloor(fact) > (state.floor?.short ?? Number.POSITIVE_INFINITY),
    basis: byIds ? union(state.basis, ['ids-order-ties']) : state.basis,
  }
}

/** Items behind the floor's last one, or, where the answer does not show that, behind the ones met that it begins with. */
function behindFloor({ skip, count, metPrefix, floorAt }: Fact): number {
  return floorAt === null ? count - metPrefix : skip + count - 1 - floorAt
}

function bracketWith({ bracket, floor, largest }: State, fact: Fact): Bracket {
  const { skip, asked, kind, count, received } = fact
  const { index } = floor as Floor
  const gaps = bracket === null ? [] : [...bracket.gaps, bracket.last]
  // Where answers are cut, an empty one speaks of no more positions than the largest answer held.
  const width = kind === 'items' ? count : Math.min(asked, Math.max(1, largest))
  const reach = Math.max(bracket?.reach ?? index, skip + width - 1)
  // It begins with another createdAt than the floor has, so its first run begins with it.
  const end = kind === 'items' ? { ...floorOf(fact, largest), run: skip + count - fact.trail } : null
  return {
    index: bracket?.index ?? index,
    isWithinRun: kind === 'items' && fact.first === floor?.moment,
    reach,
    received,
    last: { skip, asked, kind },
    floor: end,
    gaps,
    confirmed: [],
  }
}

/** The floor stands where it stood: what was read behind it has joined, or it is the last of the list. */
function closed(state: State, fact: Fact, settings: Settings, claim: 'again' | 'stands'): State {
  // This very answer has completed the count of the run that the list ends with.
  if (state.bracket === null) return state
  const { floor, gaps, isWithinRun } = state.bracket
  const more: Basis[] = ['held']
  if (gaps.some(({ kind }) => kind !== 'failed')) more.push('even-cuts')
  if (tiesAreOrdered(state, settings)) more.push('ids-order-ties')
  const mayHaveTies =
    (claim === 'stands' || isWithinRun || state.floor?.isPlaced === true) && !tiesAreOrdered(state, settings)
  // Among items that are left out no run can be counted.
  if (mayHaveTies && state.isFiltered) more.push('ties-keep-places')
  const debt = mayHaveTies && !state.isFiltered && state.owed === null ? owingFloor(state) : {}
  const held = {
    ...state,
    ...debt,
    bracket: null,
    floor: floor ?? state.floor,
    ceiling: floor === null ? state.ceiling : ceilingHeld(state, floor, fact),
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
  const hasMoved = !isFiltered || count === asked || floorAt > floor.index
  const bracket = hasMoved ? null : state.bracket
  return { ...state, bracket, floor: { ...floor, index: floorAt, isPlaced: true, sent, received } }
}

/** A position that brought nothing, or could not be read, is still so. */
function confirmed(state: State, fact: Fact): State {
  const { bracket } = state
  const gap = bracket?.gaps.find(({ skip }) => skip === fact.skip)
  if (bracket === null || gap === undefined || fact.sent < bracket.received) return state
  if (fact.kind !== gap.kind || fact.asked < gap.asked || (fact.kind === 'failed' && fact.asked > 1)) return state
  return { ...state, bracket: { ...bracket, confirmed: [...bracket.confirmed, fact.skip] } }
}

/** What is noted of every answer, whatever is claimed of it. */
function noted(before: State, fact: Fact, trial: Trial): State {
  const state = {
    ...before,
    largest: Math.max(before.largest, fact.count),
    tiedRising: before.tiedRising + fact.tiedRising,
    tiedFalling: before.tiedFalling + fact.tiedFalling,
  }
  state.ceiling = ceilingAfter(before, fact)
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

/** Notes an index at which nothing stands; and, once the floor's last item is seen alone, where that index lies by now. */
function ceilingAfter({ ceiling, floor }: State, fact: Fact): State['ceiling'] {
  const { kind, skip, sent, received, isFloorAlone } = fact
  if (floor === null) return ceiling
  if (kind === 'nothing' && sent >= floor.received && (ceiling === null || skip < ceiling.index))
    return { index: skip, received, place: null, isBefore: false }
  if (ceiling === null || ceiling.place !== null || !isFloorAlone || sent < ceiling.received) return ceiling
  return { ...ceiling, index: ceiling.index + movedSince(ceiling, floor, fact), place: fact.floorAt }
}

/** Where the empty index lies in the list of the window that joins, by the last item of the one before, which it has to show. */
function ceilingBehind({ ceiling, floor }: State, fact: Fact): State['ceiling'] {
  if (ceiling === null || floor === null || floor.run < 0 || fact.floorAt === null) return null
  if (fact.sent < ceiling.received) return null
  const index = ceiling.index + movedSince(ceiling, floor, fact)
  return { ...ceiling, index, place: fact.skip + fact.count - 1, isBefore: true }
}

/** The same where the floor stands where it stood: nothing in front of it has changed, so the index has not moved. */
function ceilingHeld({ ceiling, floor }: State, behind: Floor, fact: Fact): State['ceiling'] {
  if (ceiling === null || floor === null || floor.run < 0 || fact.sent < ceiling.received) return null
  if (floor.isPlaced || fact.floorAt !== floor.joinedAt) return null
  const isBefore = behind.sent >= ceiling.received
  return { ...ceiling, index: ceiling.index + floor.joinedAt - floor.run, place: behind.joinedAt, isBefore }
}

/** By how much what was empty may lie further down than the index says, where the floor's last item is seen. */
function movedSince({ place }: { place: number | null }, { joinedAt, run }: Floor, { floorAt }: Fact): number {
  const shift = (floorAt ?? 0) - (place ?? joinedAt)
  if (place !== null && place !== joinedAt) return shift
  // Its ties may have moved behind it; and what was deleted may have been so before it was empty.
  return joinedAt - run + (place === null ? Math.max(0, shift) : shift)
}
