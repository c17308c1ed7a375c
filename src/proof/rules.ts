// The rules of proof: what a walk may claim of a list, step by step, and on what each claim rests. Every rule is a table of
// conditions, named as in docs/proof.md, which proves them; a test switches each off in turn. Pure, plain data in and out.
import type { Moment } from '../task.ts'
import type { Fact } from './facts.ts'

/** What a claim rests on beside the assumptions about any list: docs/proof.md names each and says who breaks it. */
export type Basis =
  | 'held'
  | 'even-cuts'
  | 'ids-order-ties'
  | 'grows-at-its-ends'
  | 'nothing-hidden-behind'
  | 'last-window-again'
  | 'created-order'
  | 'ties-keep-places'

/** The claims a strategy can make of the reading that was told last. */
export type Claim =
  | 'look'
  | 'join'
  | 'from'
  | 'place'
  | 'behind'
  | 'again'
  | 'stands'
  | 'room'
  | 'passed'
  | 'repeated'
  | 'reached'

/** The last window that joined: everything that stayed and stood before `index` + 1 when it was read has been met. */
export interface Floor {
  index: number
  id: string | null
  moment: Moment
  /** Where the run of that createdAt begins; -1 where the window does not show it. */
  run: number
  /** The oldest and the newest createdAt in the window. */
  oldest: Moment
  newest: Moment
  sent: number
  received: number
  /** Its items, where another answer held more, and more was asked for: an end, or a cut by something else than count. */
  short: number | null
}

interface Gap {
  skip: number
  asked: number
  kind: Fact['kind']
}

/** What was read directly behind the floor, joined once the floor has been seen to be where it was. */
export interface Bracket {
  /** The floor's index when the bracket was begun. */
  index: number
  /** Every position up to here was asked for. */
  reach: number
  received: number
  /** The last answer, and where its items end. */
  last: Gap
  floor: Floor | null
  /** Positions before it that brought nothing or could not be read, and those that did so again afterwards. */
  gaps: Gap[]
  confirmed: number[]
}

/** The count of the owed run: where it ended, where it began later, and how many different ids were seen since its end. */
export interface Count {
  end: number
  start: number | null
  received: number
  ids: number
}

/** Plain data of bounded size: kept with the walk, so that another process can go on. */
export interface State {
  floor: Floor | null
  bracket: Bracket | null
  /** A run of which some that stayed may not have been met. */
  owed: { moment: Moment } | null
  count: Count | null
  /** Behind the owed run as far as it was read last. */
  runGoesOn: number | null
  /** That answer asked for more than there was: what lies behind is not refused for being too far. */
  reachesBeyond: boolean
  /** The largest answer. */
  largest: number
  /** Answers were cut, and not by count. */
  uneven: boolean
  tiedRising: number
  tiedFalling: number
  /**
   * The lowest index at which nothing stood, asked for after the walk began, and by how much that moment's list has moved:
   * `place` is where the floor's last item stands, `isSighted` whether it was seen since.
   */
  ceiling: { index: number; received: number; place: number; isSighted: boolean } | null
  /** What the end of the list rests on, once it is proven. */
  ended: Basis[] | null
  /** What all joined windows rest on. */
  basis: Basis[]
}

export const BEGINNING: State = {
  floor: null,
  bracket: null,
  owed: null,
  count: null,
  runGoesOn: null,
  reachesBeyond: false,
  largest: 0,
  uneven: false,
  tiedRising: 0,
  tiedFalling: 0,
  ceiling: null,
  ended: null,
  basis: [],
}

/** What the walk speaks of: tasks between two moments of a list in created order. */
export interface Range {
  order: 'created_desc' | 'created_asc'
  /** What stands at its beginning, and at its end, is on the far side of these, however far createdAt is out of order. */
  from: number | null
  to: number | null
}

/** Equal createdAt in the order of ids so often, and never the other way, are not so by chance. */
export interface Settings {
  orderedTies: number
  /** No list is so long. */
  farthest: number
  /** Null for the whole list. */
  range: Range | null
}

export const SETTINGS: Settings = { orderedTies: 20, farthest: 2 ** 40, range: null }

type Condition = (state: State, fact: Fact, settings: Settings) => boolean

function tiesAreOrdered({ tiedRising, tiedFalling }: State, settings: Settings): boolean {
  return Math.min(tiedRising, tiedFalling) === 0 && tiedRising + tiedFalling >= settings.orderedTies
}

/** The answer begins with the list, or shows an anchor that no tie can have carried past an item: docs/proof.md, "shown". */
function isShown(state: State, fact: Fact, settings: Settings): boolean {
  if (fact.skip === 0 || fact.anchor === 'shown') return true
  return fact.anchor === 'tied' && tiesAreOrdered(state, settings)
}

/** A claim of something that was never read says nothing. */
function saysSomething({ floor, bracket, ceiling }: State, { kind }: Fact, claim: Claim, range: Range | null): boolean {
  if (claim === 'look') return true
  if (claim === 'behind' || claim === 'place') return floor !== null
  if (claim === 'from') return kind === 'items' && floor === null && typeof range?.from === 'number'
  if (claim === 'reached') return floor !== null && typeof range?.to === 'number'
  if (claim === 'passed') return floor !== null && ceiling !== null
  return (
    kind === 'items' &&
    ((claim !== 'again' && claim !== 'stands') || (bracket !== null && bracket.last.kind !== 'failed'))
  )
}

function isBefore(moment: number, { order, from }: Range): boolean {
  return from !== null && (order === 'created_desc' ? moment >= from : moment < from)
}

function isBehind({ oldest, newest }: Floor, { order, to }: Range): boolean {
  if (to === null || oldest === null || newest === null) return false
  return order === 'created_desc' ? oldest < to : newest >= to
}

/** A refusal may be about the window, and not about the list. */
function reachesBeyondRefusal({ bracket }: State, fact: Fact): boolean {
  return bracket?.last.kind !== 'refused' || fact.skip + fact.asked > bracket.reach
}

/** Positions that were passed brought nothing, or could not be read, afterwards either. */
function isAsItWas({ bracket }: State): boolean {
  return bracket === null || bracket.gaps.every(({ skip }) => bracket.confirmed.includes(skip))
}

/** By claim: the names of its conditions, in the order in which they are asked for. */
export const RULES: Record<Claim, Record<string, Condition>> = {
  look: {},
  join: {
    'join: begins with the list or shows an anchor': (_, fact) => fact.skip === 0 || fact.anchor !== 'none',
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
    'behind: begins with another createdAt': (state, fact, settings) =>
      fact.kind !== 'items' || fact.first !== state.floor?.moment || tiesAreOrdered(state, settings),
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
  place: {
    'place: begins with the last item': ({ floor }, { firstId }) => firstId !== null && firstId === floor?.id,
  },
  stands: {
    'stands: asked for after what was read behind': ({ bracket }, fact) => fact.sent >= (bracket?.received ?? 0),
    'stands: begins with the last item': ({ floor }, { firstId }) => firstId !== null && firstId === floor?.id,
    'stands: where it stood': ({ bracket }, { skip }) => skip === bracket?.index,
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
    'passed: asked for after it was empty': ({ floor, ceiling }) => (floor?.sent ?? 0) >= (ceiling?.received ?? 0),
  },
  repeated: {
    'repeated: lies behind the end of any list': (_, fact, { farthest }) => fact.skip >= farthest,
    'repeated: shows an anchor': isShown,
  },
  reached: {
    'reached: shows an item behind the range': ({ floor }, _, { range }) =>
      floor !== null && range !== null && isBehind(floor, range),
  },
}

const CONDITIONS = Object.fromEntries(
  Object.entries(RULES).map(([claim, conditions]) => [claim, Object.entries(conditions)]),
) as Record<Claim, [name: string, Condition][]>

/** Only for the proof of the proof: a condition that is switched off, or what stands in for the measures. */
export interface Trial {
  without?: string
  settings?: Settings
}

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
  const settings = trial.settings ?? SETTINGS
  // Said of the windows that have joined, not of this answer.
  if (claim === 'passed') return ended(before, ['grows-at-its-ends'])
  if (claim === 'reached') return ended(before, ['created-order'])
  const told = noted(before, fact, trial)
  if (claim === 'join') return joined(told, fact, settings)
  if (claim === 'from')
    return { ...told, floor: floorOf(fact, told.largest), basis: union(told.basis, ['created-order']) }
  if (claim === 'behind') return { ...told, bracket: bracketWith(told, fact) }
  if (claim === 'place') return placed(told, fact)
  if (claim === 'again') return closed(told, fact, settings, [])
  if (claim === 'stands') return closed(told, fact, settings, ['ties-keep-places'])
  if (claim === 'look') return confirmed(told, fact)
  const last = joined(told, fact, settings)
  return ended(fact.runStart === null ? last : { ...last, ...PAID }, [CLAIMED_BY[claim]])
}

const CLAIMED_BY = { room: 'even-cuts', repeated: 'last-window-again' } as const

/** An answer at the beginning of the list that brought nothing: nothing has stayed. */
export function afterEmpty(state: State, fact: Fact): State {
  return fact.skip === 0 && fact.kind === 'nothing' ? ended(state, ['nothing-hidden-behind']) : state
}

function ended(state: State, basis: Basis[]): State {
  return { ...state, bracket: null, ended: basis }
}

/** How the answer stands to what has joined. */
export function seamOf(state: State, fact: Fact, settings: Settings): 'shown' | 'tied' | 'none' {
  return isShown(state, fact, settings) ? 'shown' : fact.anchor === 'none' ? 'none' : 'tied'
}

/** No run is owed any more. */
const PAID = { owed: null, count: null, runGoesOn: null } as const

/** Whether `fact` completes the count of the run that was owed: all ids of it seen since it was measured have been met. */
export function isCounted(state: State, fact: Fact, trial: Trial = {}): boolean {
  return state.owed !== null && noted(state, fact, trial).owed === null
}

function floorOf(fact: Fact, largest: number): Floor {
  const { skip, count, last, lastId: id, trail, oldest, newest, sent, received, asked } = fact
  const run = trail < count || skip === 0 ? skip + count - trail : -1
  return {
    index: skip + count - 1,
    id,
    moment: last,
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
    ...(isTied ? owing(state, fact) : fact.runStart !== null && fact.runEnd !== null ? PAID : {}),
    bracket: null,
    floor: floorOf(fact, state.largest),
    ceiling: ceilingBehind(state, fact),
    // By a few the list may have grown meanwhile.
    uneven: state.uneven || 2 * (fact.count - fact.metPrefix) > (state.floor?.short ?? Number.POSITIVE_INFINITY),
    basis: byIds ? union(state.basis, ['ids-order-ties']) : state.basis,
  }
}

function bracketWith({ bracket, floor, largest }: State, fact: Fact): Bracket {
  const { skip, asked, kind, count, received } = fact
  const { index } = floor as Floor
  const gaps = bracket === null ? [] : [...bracket.gaps, bracket.last]
  // Where answers are cut, one without items tells of no more positions than another held items.
  const width = kind === 'items' ? count : Math.min(asked, Math.max(1, largest))
  const reach = Math.max(bracket?.reach ?? index, skip + width - 1)
  // It begins with another createdAt than the floor has, so its first run begins with it.
  const end = kind === 'items' ? { ...floorOf(fact, largest), run: skip + count - fact.trail } : null
  return {
    index: bracket?.index ?? index,
    reach,
    received,
    last: { skip, asked, kind },
    floor: end,
    gaps,
    confirmed: [],
  }
}

/** The floor stands where it stood: what was read behind it has joined, or it is the last of the list. */
function closed(state: State, fact: Fact, settings: Settings, also: Basis[]): State {
  const { floor, gaps } = state.bracket as Bracket
  const more: Basis[] = ['held', ...also]
  if (gaps.some(({ kind }) => kind !== 'failed')) more.push('even-cuts')
  if (tiesAreOrdered(state, settings)) more.push('ids-order-ties')
  // It stands behind the one that was seen again just now.
  const { ceiling: earlier } = state
  const isSeen = earlier !== null && fact.floorAt !== null && fact.sent >= earlier.received
  const ceiling = floor === null ? state.ceiling : isSeen ? { ...earlier, place: floor.index } : null
  const held = { ...state, bracket: null, floor: floor ?? state.floor, ceiling, basis: union(state.basis, more) }
  return floor === null ? ended(held, ['held', 'nothing-hidden-behind']) : held
}

/** The last item stands here, or further down where hidden items are left out. */
function placed(state: State, fact: Fact): State {
  const floor: Floor = { ...(state.floor as Floor), index: fact.skip, sent: fact.sent, received: fact.received }
  return { ...state, bracket: null, floor, basis: union(state.basis, ['ties-keep-places']) }
}

/** A position that brought nothing, or could not be read, is still so. */
function confirmed(state: State, fact: Fact): State {
  const { bracket } = state
  const gap = bracket?.gaps.find(({ skip }) => skip === fact.skip)
  if (bracket === null || gap === undefined || fact.sent < bracket.received) return state
  if (fact.kind !== gap.kind || fact.asked < gap.asked || (fact.kind === 'failed' && fact.asked > 1)) return state
  return { ...state, bracket: { ...bracket, confirmed: [...bracket.confirmed, fact.skip] } }
}

/** What every answer tells, whatever is claimed of it. */
function noted(before: State, fact: Fact, trial: Trial): State {
  const state = {
    ...before,
    largest: Math.max(before.largest, fact.count),
    tiedRising: before.tiedRising + fact.tiedRising,
    tiedFalling: before.tiedFalling + fact.tiedFalling,
  }
  state.ceiling = ceilingAfter(before, fact)
  return state.owed === null ? state : counted(state, fact, trial)
}

/** What was empty lies further down by as much as the floor's last item does. */
function ceilingAfter({ ceiling, floor }: State, { kind, skip, sent, received, floorAt }: Fact): State['ceiling'] {
  if (kind === 'nothing' && floor !== null && (ceiling === null || skip < ceiling.index))
    return sent < floor.received ? ceiling : { index: skip, received, place: floor.index, isSighted: false }
  if (ceiling === null || floorAt === null || sent < ceiling.received) return ceiling
  const shift = floorAt - ceiling.place
  // Before it was seen again, what was deleted may have been so before the moment of which this tells.
  const index = ceiling.index + (ceiling.isSighted ? shift : Math.max(0, shift))
  return { ...ceiling, index, place: floorAt, isSighted: true }
}

/** The next floor is known by the one before, in the same answer; where that is not shown, so is nothing. */
function ceilingBehind({ ceiling }: State, fact: Fact): State['ceiling'] {
  if (ceiling === null || fact.floorAt === null || fact.sent < ceiling.received) return null
  return { ...ceiling, place: fact.skip + fact.count - 1 }
}

/** A run is owed from now on, if it was not: where it ends may have been shown at once. */
function owing(state: State, fact: Fact): Pick<State, 'owed' | 'count' | 'runGoesOn'> {
  if (state.owed !== null) return state
  const { runEnd: end, runGoesOn, received } = fact
  const count = end === null ? null : { end, start: null, received, ids: 0 }
  return { owed: { moment: fact.first }, count, runGoesOn }
}

/** Where the run ends, then where it begins and where it ends again, and all its ids seen since then: see "counted". */
function counted(before: State, fact: Fact, { without }: Trial): State {
  const { sent, received, kind, skip, runStart } = fact
  const isEnd = kind === 'nothing' || (kind === 'refused' && before.reachesBeyond)
  const runEnd = isEnd && skip === before.runGoesOn ? skip : fact.runEnd
  const reachesBeyond = fact.asked > fact.count
  const state = fact.runGoesOn === null ? before : { ...before, runGoesOn: fact.runGoesOn, reachesBeyond }
  const earlier = state.count
  const count = earlier === null ? null : { ...earlier, ids: earlier.ids + fact.fresh }
  const isLater = earlier !== null && (sent >= earlier.received || without === 'counted: read one after another')
  if (count !== null && isLater && count.start === null && runStart !== null)
    return { ...state, count: { ...count, start: runStart, received } }
  if (runEnd === null) return { ...state, count }
  const isSame = count?.end === runEnd || (count !== null && without === 'counted: ends where it ended')
  if (!isSame) return { ...state, count: { end: runEnd, start: null, received, ids: 0 } }
  if (count.start === null || !isLater) return { ...state, count }
  const isWhole = count.ids >= runEnd - count.start || without === 'counted: as many ids as it is long'
  return isWhole ? { ...state, ...PAID, basis: union(state.basis, ['held']) } : { ...state, count }
}

function union(some: Basis[], more: Basis[]): Basis[] {
  return [...new Set([...some, ...more])]
}
