// The rules of proof: what a walk may claim of a list, step by step. Every rule is a table of conditions, named as in
// docs/proof.md, which proves them; a test switches each off in turn. What an accepted claim changes is in effects.ts. Pure.
import type { Fact } from './facts.ts'
import {
  BEFORE,
  type Claim,
  confirmedBy,
  type Floor,
  isUnread,
  reachOf,
  SETTINGS,
  type Settings,
  type State,
  type Trial,
  type WalkRange,
} from './state.ts'

type Condition = (state: State, fact: Fact, settings: Settings) => boolean

export function tiesAreOrdered({ tiedRising, tiedFalling }: State, settings: Settings): boolean {
  return Math.min(tiedRising, tiedFalling) === 0 && tiedRising + tiedFalling >= settings.orderedTies
}

/** The answer begins with the list, or shows an anchor that no tie can have carried past an item: docs/proof.md, "shown". */
export function isShown(state: State, fact: Fact, settings: Settings): boolean {
  if (fact.skip === 0 || fact.anchor === 'shown') return true
  return fact.anchor === 'tied' && tiesAreOrdered(state, settings)
}

/** Whether the claim speaks of something that was read. */
function saysSomething(
  { floor, bracket, empty }: State,
  { kind }: Fact,
  claim: Claim,
  range: WalkRange | null,
): boolean {
  if (claim === 'look') return true
  // In front of all positions that cannot be read, the list begins.
  if (claim === 'behind') return floor !== null || bracket !== null || isUnread(kind)
  if (claim === 'from') return kind === 'items' && floor === null && typeof range?.from === 'number'
  if (claim === 'reached') return floor !== null && typeof range?.to === 'number'
  if (claim === 'passed') return floor !== null && empty !== null
  if (claim !== 'again' && claim !== 'stands') return kind === 'items'
  if (bracket === null || bracket.last.kind === 'failed') return false
  // Where the list begins is no question, and no answer from there reaches beyond a refusal.
  return kind === 'items' || (bracket.index === BEFORE && bracket.last.kind !== 'refused')
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

export function isLastAlone({ floor }: State, { kind, asked, firstId }: Fact): boolean {
  return kind === 'items' && asked === 1 && firstId !== null && firstId === floor?.id
}

/** A refusal may be about the window, or the item, and not about the list: then this answer has to reach further. */
function reachesBeyondRefusal(state: State, fact: Fact): boolean {
  return state.bracket?.last.kind !== 'refused' || reachOf(state, fact) > state.bracket.reach
}

/** Whether every position that was passed was asked for again, and brought the same. */
function isAsItWas(state: State, fact: Fact): boolean {
  const { bracket } = state
  const confirmed = confirmedBy(state, fact)
  return bracket === null || bracket.gaps.every(({ skip }) => confirmed.includes(skip))
}

/** The answer begins directly behind what could not be read when the floor's window joined, and cannot be now. */
function beginsApart({ floor, bracket }: State, { skip }: Fact): boolean {
  return floor !== null && floor.apart === skip && bracket?.confirmed.includes(skip - 1) === true
}

/** For each claim its conditions, in the order in which they are tried. */
export const RULES = {
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
      fact.skip === (bracket?.reach ?? floor?.index ?? BEFORE) + 1,
    'behind: begins with another createdAt, or no other run is owed': (state, fact, settings) =>
      fact.kind !== 'items' || fact.first !== state.floor?.moment || mayOwe(state, settings),
    'behind: refused or failed for a single position': (_, { kind, asked }) =>
      kind === 'items' || kind === 'nothing' || asked === 1,
  },
  again: {
    'again: asked for after what was read behind': ({ bracket }, fact) => fact.sent >= (bracket?.received ?? 0),
    'again: begins with the list, shows an anchor, or is apart': (state, fact, settings) =>
      isShown(state, fact, settings) || beginsApart(state, fact),
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
    'passed: its last run begins behind what was empty': ({ floor, empty }) =>
      (floor?.run ?? -1) >= (empty?.index ?? Number.POSITIVE_INFINITY),
    'passed: asked for after it was empty': ({ empty }) => empty?.isBefore === true,
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
} satisfies Record<Claim, Record<string, Condition>>

/** The words of a condition. */
export type ConditionName =
  | { [C in Claim]: keyof (typeof RULES)[C] }[Claim]
  | `${Claim}: something was read that it can be said of`

const CONDITIONS = Object.fromEntries(
  Object.entries(RULES).map(([claim, conditions]) => [claim, Object.entries(conditions)]),
) as Record<Claim, [name: ConditionName, Condition][]>

/** The first condition of `claim` that `fact`, told just now, does not meet; null where it may be claimed. */
export function missingFor(state: State, fact: Fact, claim: Claim, trial: Trial = {}): ConditionName | null {
  const settings = trial.settings ?? SETTINGS
  if (!saysSomething(state, fact, claim, settings.range)) return `${claim}: something was read that it can be said of`
  for (const [name, holds] of CONDITIONS[claim]) {
    if (name !== trial.without && !holds(state, fact, settings)) return name
  }
  return null
}

/** How the answer stands to what has joined. */
export type Seam = 'shown' | 'tied' | 'none'

export function seamOf(state: State, fact: Fact, settings: Settings): Seam {
  return isShown(state, fact, settings) ? 'shown' : fact.anchor === 'none' ? 'none' : 'tied'
}
