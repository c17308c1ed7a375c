// The rules of proof: what a walk may claim of a list, step by step, and on what each claim rests. Every rule is a table of
// conditions, named as in docs/proof.md, which proves them; a test switches each off in turn. Pure, plain data in and out.
import type { Moment } from '../task.ts'
import type { Fact, Known, Owed, Run } from './facts.ts'

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
  /** Its index in the window that joined. */
  joinedAt: number
  /** Its index was seen by itself: ties may stand before it that have not been met. */
  isPlaced: boolean
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
  /** The last answer begins with the floor's createdAt. */
  isWithinRun: boolean
  /** Positions before it that brought nothing or could not be read, and those that did so again afterwards. */
  gaps: Gap[]
  confirmed: number[]
}

/** The count of the owed run: where it ended, where it began later, and how many different ids were seen since its end. */
export interface Count {
  end: number
  /** Nothing stood there. */
  isOver: boolean
  start: number | null
  /** Its end was seen again, where it was, with as many ids as it is long. */
  isClosed: boolean
  /** The run's member is among them. */
  hasMember: boolean
  /** When its end was seen first, and when its end or start was seen last. */
  since: number
  received: number
  ids: number
}

export interface Edge {
  index: number
  /** Positions directly behind it that cannot be read. */
  unread: number
  sent: number
  received: number
  /** It ends with an item of the run. */
  isRun: boolean
  reachesBeyond: boolean
}

/** Plain data of bounded size: kept with the walk, so that another process can go on. */
export interface State {
  floor: Floor | null
  /** An item that a window which joined shows before one of another createdAt: everything of its run has been met. */
  passed: Run | null
  bracket: Bracket | null
  /** A run of which some that stayed may not have been met. */
  owed: Run | null
  count: Count | null
  /**
   * Where the answer ends that was read last while a run is owed. `reachesBeyond`: it asked for more than there was, so
   * what lies behind is not refused for being too far.
   */
  edge: Edge | null
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
  /** Where the last item was alone, further down than it stands. */
  repeat: { id: string; skip: number; place: number; received: number } | null
  /** The list was seen to move while a run was counted. */
  drifts: boolean
  /** The walk has found that answers leave items out: an index says only that an item stands there or further down. */
  isFiltered: boolean
  /** What the end of the list rests on, once it is proven. */
  ended: Basis[] | null
  /** What all joined windows rest on. */
  basis: Basis[]
}

export const BEGINNING: State = {
  floor: null,
  passed: null,
  bracket: null,
  owed: null,
  count: null,
  edge: null,
  largest: 0,
  uneven: false,
  tiedRising: 0,
  tiedFalling: 0,
  ceiling: null,
  repeat: null,
  drifts: false,
  isFiltered: false,
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
  /** Null for the whole list. */
  range: Range | null
}

export const SETTINGS: Settings = { orderedTies: 20, range: null }

type Condition = (state: State, fact: Fact, settings: Settings) => boolean

function tiesAreOrdered({ tiedRising, tiedFalling }: State, settings: Settings): boolean {
  return Math.min(tiedRising, tiedFalling) === 0 && tiedRising + tiedFalling >= settings.orderedTies
}

/** The answer begins with the list, or shows an anchor that no tie can have carried past an item: docs/proof.md, "shown". */
function isShown(state: State, fact: Fact, settings: Settings): boolean {
  if (fact.skip === 0 || fact.anchor === 'shown' || fact.showsPassed) return true
  return fact.anchor === 'tied' && tiesAreOrdered(state, settings)
}

/** A claim of something that was never read says nothing. */
function saysSomething({ floor, bracket, ceiling }: State, { kind }: Fact, claim: Claim, range: Range | null): boolean {
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

function isBefore(moment: number, { order, from }: Range): boolean {
  return from !== null && (order === 'created_desc' ? moment >= from : moment < from)
}

function isBehind({ oldest, newest }: Floor, { order, to }: Range): boolean {
  if (to === null || oldest === null || newest === null) return false
  return order === 'created_desc' ? oldest < to : newest >= to
}

/** One run is owed at a time. */
function mayOwe(state: State, settings: Settings): boolean {
  return state.owed === null || state.owed.moment === state.floor?.moment || tiesAreOrdered(state, settings)
}

function isLastAlone({ floor }: State, { kind, asked, firstId }: Fact): boolean {
  return kind === 'items' && asked === 1 && firstId !== null && firstId === floor?.id
}

/** Shorter than asked for, and not because answers are cut. */
function hasRoom({ largest, uneven }: State, { count, asked }: Fact): boolean {
  return count < asked && count < largest && !uneven
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
    'passed: asked for after it was empty': ({ floor, ceiling }) => (floor?.sent ?? 0) >= (ceiling?.received ?? 0),
  },
  repeated: {
    'repeated: the last item, asked for alone': (state, fact) => isLastAlone(state, fact),
    'repeated: as further down before': ({ repeat }, { skip, firstId }) =>
      repeat !== null && repeat.id === firstId && skip < repeat.skip,
    'repeated: behind its place': ({ repeat }, { skip }) => repeat !== null && skip > repeat.place,
    'repeated: read one after another': ({ repeat }, { sent }) => repeat !== null && sent >= repeat.received,
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
  // Said of the windows that have joined, not of this answer.
  if (claim === 'passed') return ended(before, ['grows-at-its-ends'])
  if (claim === 'reached') return ended(before, ['created-order'])
  return claimed(noted(before, fact, trial), fact, claim, trial)
}

/** The same, of a fact that was told before: only what the claim itself adds. */
export function claimed(told: State, fact: Fact, claim: Claim, trial: Trial = {}): State {
  const settings = trial.settings ?? SETTINGS
  if (claim === 'passed') return ended(told, ['grows-at-its-ends'])
  if (claim === 'reached') return ended(told, ['created-order'])
  if (claim === 'join') return joined(told, fact, settings)
  if (claim === 'from')
    return { ...told, floor: floorOf(fact, told.largest), basis: union(told.basis, ['created-order']) }
  if (claim === 'behind') return { ...told, bracket: bracketWith(told, fact) }
  if (claim === 'again' || claim === 'stands') return closed(told, fact, settings, claim)
  if (claim === 'look') return confirmed({ ...told, floor: floorSeen(told, fact) }, fact)
  if (claim === 'repeated') return ended(told, ['held', 'last-window-again', 'ties-keep-places'])
  const last = joined(told, fact, settings)
  return ended(fact.runStart === null || !fact.hasMember ? last : { ...last, ...PAID }, ['even-cuts'])
}

/** An answer at the beginning of the list that brought nothing: nothing has stayed. */
export function afterEmpty(state: State, fact: Fact): State {
  return fact.skip === 0 && fact.kind === 'nothing' ? ended(state, ['nothing-hidden-behind']) : state
}

function ended(state: State, basis: Basis[]): State {
  return { ...state, bracket: null, ended: basis }
}

/** How the answer stands to what has joined. */
export type Seam = 'shown' | 'tied' | 'none'

export function seamOf(state: State, fact: Fact, settings: Settings): Seam {
  return isShown(state, fact, settings) ? 'shown' : fact.anchor === 'none' ? 'none' : 'tied'
}

/** No run is owed any more. */
const PAID = { owed: null, count: null, edge: null } as const

/** Whether `fact` pays the run that is owed, with the ids that were counted so far and its own; else whether its ids count. */
export function countsFor(state: State, fact: Fact, trial: Trial = {}): 'paid' | 'counts' | null {
  if (state.owed === null) return null
  const { owed, count } = noted(state, fact, trial)
  if (owed === null) return 'paid'
  return fact.fresh > 0 && count !== null && count.ids > 0 && count.since === state.count?.since ? 'counts' : null
}

/** What `factOf` has to know of ids. */
export function knownOf(state: State, seen: ReadonlySet<string>): Known {
  return { owed: owedOf(state), seen, floorId: state.floor?.id ?? null, passed: state.passed }
}

/** The run that is owed, and where it is counted. */
export function owedOf({ owed, count }: State): Owed | null {
  return owed === null ? null : { ...owed, from: count?.start ?? null, to: count?.end ?? null }
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
    // By a few the list may have grown meanwhile.
    uneven: state.uneven || 2 * behindFloor(fact) > (state.floor?.short ?? Number.POSITIVE_INFINITY),
    basis: byIds ? union(state.basis, ['ids-order-ties']) : state.basis,
  }
}

/** Items behind the floor's last one; where the answer does not show that, behind those that it begins with and were met. */
function behindFloor({ skip, count, metPrefix, floorAt }: Fact): number {
  return floorAt === null ? count - metPrefix : skip + count - 1 - floorAt
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
  // The same answer has completed the count of a run with which the list ends.
  if (state.bracket === null) return state
  const { floor, gaps, isWithinRun } = state.bracket
  const more: Basis[] = ['held']
  if (gaps.some(({ kind }) => kind !== 'failed')) more.push('even-cuts')
  if (tiesAreOrdered(state, settings)) more.push('ids-order-ties')
  // It stands behind the one that was seen again just now.
  const { ceiling: earlier } = state
  const isSeen = earlier !== null && fact.floorAt !== null && fact.sent >= earlier.received
  const ceiling = floor === null ? state.ceiling : isSeen ? { ...earlier, place: floor.index } : null
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
    ceiling,
    basis: union(state.basis, more),
  }
  return floor === null ? ended(held, ['held', 'nothing-hidden-behind']) : held
}

/** Of the floor's run some may have changed places with its last item; what was read behind may show where it ends. */
function owingFloor({ floor, bracket }: State): Pick<State, 'owed' | 'count' | 'edge'> {
  const { index, gaps, last, isWithinRun, received } = bracket as Bracket
  const isEnd = !isWithinRun && gaps.length === 0 && last.skip === index + 1
  return {
    owed: { moment: floor?.moment ?? null, member: floor?.id ?? '' },
    count: isEnd ? { ...UNCOUNTED, end: index + 1, isOver: last.kind !== 'items', since: received, received } : null,
    edge: null,
  }
}

/** The floor's last item stands there by now, or further down where hidden items are left out. */
function floorSeen({ floor }: State, { floorAt, sent, received }: Fact): Floor | null {
  if (floor === null || floorAt === null || sent < floor.received || floorAt === floor.index) return floor
  return { ...floor, index: floorAt, isPlaced: true, sent, received }
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
  const { floor } = before
  if (floor !== null && isLastAlone(before, fact) && fact.skip > floor.index)
    state.repeat = { id: fact.firstId as string, skip: fact.skip, place: floor.joinedAt, received: fact.received }
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

/** A run is owed from now on. */
export function owing({ moment, id }: Floor): Pick<State, 'owed' | 'count' | 'edge'> {
  return { owed: { moment, member: id ?? '' }, count: null, edge: null }
}

/** A run is owed from now on, if it was not: where it ends may have been shown at once. */
function owingTied(state: State, fact: Fact): Pick<State, 'owed' | 'count' | 'edge'> {
  if (state.owed !== null) return state
  const { runEnd: end, runGoesOn, sent, received, asked, count: length } = fact
  const count = end === null ? null : { ...UNCOUNTED, end, isOver: false, since: received, received }
  const edge =
    runGoesOn === null
      ? null
      : { index: runGoesOn, unread: 0, sent, received, isRun: true, reachesBeyond: asked > length }
  return { owed: { moment: fact.first, member: fact.anchorId ?? '' }, count, edge }
}

/**
 * Where the run ends, then where it begins and where it ends again, and all its ids seen since then: see "counted". One
 * answer may show a side of it, or two: what the first ends with and the second, asked for afterwards, begins with.
 */
function counted(before: State, fact: Fact, { without }: Trial): State {
  const unless = (name: string, holds: boolean): boolean => holds || without === `counted: ${name}`
  if (fact.isWhole && unless('shows one that was met', fact.hasMember)) return { ...before, ...PAID }
  const { sent, received, fresh, hasMember } = fact
  const { start, end, isOver, hasRoomBehind } = sidesShown(before, fact)
  const earlier = before.count
  const state = { ...before, edge: edgeAfter(before, fact, earlier?.since ?? null) }
  const begun = end === null ? null : { ...UNCOUNTED, end, isOver, since: received, received }
  if (earlier === null) return { ...state, count: begun }
  if (!unless('read one after another', sent >= earlier.since)) return { ...state, count: earlier }
  const hasMoved = !unless('ends where it ended', end === null || end === earlier.end)
  const beginsElsewhere = start !== null && earlier.start !== null && start !== earlier.start
  if (hasMoved || beginsElsewhere) return { ...state, drifts: true, count: begun }
  const isLater = unless('read one after another', sent >= earlier.received)
  const from = earlier.start ?? (isLater ? start : null)
  // What is seen before it is known where the run begins may stand elsewhere.
  if (from === null) return { ...state, count: earlier }
  const count = { ...earlier, ids: earlier.ids + fresh, hasMember: earlier.hasMember || hasMember }
  if (!isLater) return { ...state, count }
  if (earlier.start === null) return { ...state, count: { ...count, start, received } }
  const isEnough =
    unless('as many ids as it is long', count.ids >= count.end - from) &&
    unless('shows one that was met', count.hasMember)
  const closed =
    end !== null && isEnough ? { ...count, received, isClosed: true, isOver: count.isOver && isOver } : count
  // In a list that was seen to move, where it begins is seen once more.
  if (!closed.isClosed || (state.drifts && (start === null || !count.isClosed))) return { ...state, count: closed }
  const basis: Basis[] = ['held', ...(hasRoomBehind ? ['even-cuts' as const] : [])]
  const paid = { ...state, ...PAID, basis: union(state.basis, basis) }
  // Nothing stands behind the run, and what stands before it has been met.
  return closed.isOver && state.floor?.moment === state.owed?.moment
    ? ended(paid, ['held', 'nothing-hidden-behind'])
    : paid
}

const UNCOUNTED = { start: null, isClosed: false, hasMember: false, ids: 0 } as const

/** Where the owed run begins, and the index behind it, as far as this answer and the one before it show that. */
function sidesShown(before: State, fact: Fact) {
  const { sent, kind, skip, count, first, runGoesOn, runStart, runEnd } = fact
  const { edge, owed, ended: end } = before
  const isOver = kind === 'nothing' || (kind === 'refused' && edge?.reachesBeyond === true)
  const isOther = kind === 'items' && first !== owed?.moment
  const isNext = edge !== null && skip === edge.index + edge.unread && sent >= edge.received
  // The list ends somewhere, and it ends where an answer has room for more.
  const hasRoomBehind = end !== null && runGoesOn !== null && hasRoom(before, fact)
  const behindEdge = isNext && edge.isRun && (isOver || isOther) ? edge.index : runEnd
  const isSince = (edge?.sent ?? 0) >= (before.count?.since ?? 0)
  return {
    start: isNext && isSince && !edge.isRun && count > 0 && !isOther ? skip : runStart,
    end: hasRoomBehind ? runGoesOn : behindEdge,
    isOver,
    hasRoomBehind,
  }
}

/** Where the last answer ends; positions behind it that cannot be read are passed. */
function edgeAfter({ edge, owed }: State, fact: Fact, since: number | null): Edge | null {
  const { sent, received, kind, skip, count, asked } = fact
  const isNext = edge !== null && skip === edge.index + edge.unread && sent >= edge.received
  const isRun = fact.runGoesOn !== null
  // One that was asked for before the count began shows what may be gone.
  if (since !== null && sent < since) return edge
  if (kind === 'failed' && asked === 1 && isNext) return { ...edge, unread: edge.unread + 1, received }
  // A single item is a question of its own, not a stretch that the walk reads on from.
  if (!isRun && (kind !== 'items' || asked === 1 || fact.last === owed?.moment)) return edge
  const index = skip + count
  const reachesBeyond = asked > count || (edge?.index === index && edge.reachesBeyond)
  return { index, unread: 0, sent, received, isRun, reachesBeyond }
}

export function union(some: Basis[], more: Basis[]): Basis[] {
  return [...new Set([...some, ...more])]
}
