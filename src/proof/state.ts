// What the kernel knows of a walk, as plain data, and the words for it: docs/proof.md.
import type { Moment } from '../task.ts'
import type { ConditionName } from './conditions.ts'
import type { Fact, RunMember } from './facts.ts'

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
  | 'ties-side-by-side'
  | 'unread-apart'

/** The end of the last window that joined: everything that stayed and stood at `index` or before when it was read has been met. */
export interface Floor {
  index: number
  id: string | null
  moment: Moment
  /** Its index in the window that joined. */
  joinedAt: number
  /** But for this run: its ties may have moved past it since. */
  but: RunMember | null
  /** When its last item was received alone, asked for at `joinedAt`; null where it was not. */
  aloneAt: number | null
  /** Where the run of that createdAt begins in it; -1 where the window does not show it. */
  run: number
  /** Where the window begins, if it does so directly behind what cannot be read; else null. */
  apart: number | null
  /** The oldest and the newest createdAt in the window. */
  oldest: Moment
  newest: Moment
  /** When its window was asked for, and when it was seen at `index` first. */
  sent: number
  received: number
  /** How many items the window held, where more were asked for: the list's end, or a cut. */
  short: number | null
}

/**
 * Where, by one answer, an unmet task that stayed can be: at index `low` or later, except ties of a run (`but`). The answer
 * speaks of the positions `from` up to, and not including, `to`.
 */
export interface Sight extends Pick<Fact, 'kind' | 'first' | 'sent' | 'received'> {
  from: number
  to: number
  low: number
  but: RunMember | null
  /** What that rests on. */
  rests: Basis[]
  /** When the answer was asked for that showed the floor's last item where it joined, by which this one is placed; -1 where none did. */
  heldAt: number
}

/** What stood directly behind a run; `id` is null where only its createdAt was kept. */
export interface Behind {
  id: string | null
  moment: Moment
}

/** The count of the owed run: where it ended, where it began later, and how many different ids were seen since its end. */
interface Count {
  end: number
  /** What stood there; null where nothing did. */
  behind: Behind | null
  /** Nothing stood there. */
  isOver: boolean
  start: number | null
  /** What the looks at its sides rest on. */
  rests: Basis[]
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
  /** Answers reached so far: a window that ends there or before is not refused for reaching too far. */
  reach: number
}

/**
 * An index at which nothing stood, asked for after the floor was read. `place`: where the floor's last item stood in the list in
 * which the index counts; null where that was not seen.
 */
export interface EmptyIndex {
  index: number
  received: number
  place: number | null
}

/** Plain data of bounded size: kept with the walk, so that another process can go on. */
export interface State {
  floor: Floor | null
  /** Answers about positions behind the floor that have not joined, those of the lowest positions first. */
  pending: readonly Sight[]
  /** A run of which some that stayed may not have been met. */
  owed: RunMember | null
  count: Count | null
  /** The run that was owed last was shown as a whole, and not counted. */
  isShown: boolean
  /** Where the answer ends that was read last, while a run is owed, of those that end with another item, and with one of it. */
  ahead: Edge | null
  within: Edge | null
  /** The largest answer. */
  largest: number
  /** An answer was shorter than asked, and more stood behind it. */
  isCut: boolean
  /** The fewest items that an empty answer was asked for, of those that are believed; null where none is. */
  narrowest: number | null
  /** Answers were cut, and not by count. */
  uneven: boolean
  tiedRising: number
  tiedFalling: number
  /** The last answer, where it brought nothing: that is believed once it comes again. */
  doubted: Pick<Fact, 'skip' | 'asked' | 'kind' | 'sent'> | null
  /** The lowest index at which nothing stood. */
  empty: EmptyIndex | null
  /** Where the last item, asked for alone, was given further down than it stands; `wasPlaced`: after it was given at its place. */
  repeat: { id: string; skip: number; place: number; received: number; wasPlaced: boolean } | null
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
  pending: [],
  owed: null,
  count: null,
  isShown: false,
  ahead: null,
  within: null,
  largest: 0,
  narrowest: null,
  isCut: false,
  uneven: false,
  tiedRising: 0,
  tiedFalling: 0,
  doubted: null,
  empty: null,
  repeat: null,
  drifts: false,
  isFiltered: false,
  ended: null,
  basis: [],
}

/** What the walk speaks of: tasks between two moments of a list in created order. */
export interface WalkRange {
  order: 'created_desc' | 'created_asc'
  /** What stands at its beginning, and at its end, is on the far side of these, however far createdAt is out of order. */
  from: number | null
  to: number | null
}

/** What is judged, and only for the tests of the rules a condition that is switched off. */
export interface Trial {
  without?: ConditionName
  /** Equal createdAt in the order of ids so often, and never the other way, are not so by chance. */
  orderedTies: number
  /** Null for the whole list. */
  range: WalkRange | null
}

export const NO_TRIAL: Trial = { orderedTies: 20, range: null }

/** Whether a condition holds, or is switched off by the small worlds. */
export function holds({ without }: Trial, name: ConditionName, value: boolean): boolean {
  return value || name === without
}

/** The index behind all that an answer speaks of: where answers are cut, it spans no more than the largest. */
export function reachOf({ isCut, largest }: State, { skip, asked }: Pick<Fact, 'skip' | 'asked'>): number {
  return skip + (isCut ? Math.min(asked, Math.max(1, largest)) : asked)
}

/** What stands there cannot be read. */
export function isUnread(kind: Fact['kind']): boolean {
  return kind === 'failed' || kind === 'refused'
}

export function tiesAreOrdered({ tiedRising, tiedFalling }: State, { orderedTies }: Trial): boolean {
  return Math.min(tiedRising, tiedFalling) === 0 && tiedRising + tiedFalling >= orderedTies
}

export function ended(state: State, basis: Basis[]): State {
  return { ...state, pending: [], ended: basis }
}

export function union(some: readonly Basis[], more: readonly Basis[]): Basis[] {
  return [...new Set([...some, ...more])]
}
