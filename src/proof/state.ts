// What the kernel knows of a walk, as plain data, and the words for it: docs/proof.md.
import type { Moment } from '../task.ts'
import type { ConditionName, MissingLink } from './conditions.ts'
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

/**
 * The window that joined last: all that stayed and stood at or before its last item when it was read was met, but for
 * ties of that item, where the window shows nothing but those and joined by its place (docs/proof.md, "Ties alone").
 */
export interface Floor {
  /** The index of its last item, as it was seen last. */
  index: number
  id: string | null
  moment: Moment
  /** The index of its last item in the window that joined. */
  joinedAt: number
  /** Except for this run, until it is paid: its ties may stand in front of the floor's last item. */
  but: RunMember | null
  /** When its last item, asked for alone at `joinedAt`, was received; null where it was not. */
  aloneAt: number | null
  /** Where that was given further down afterwards, asked for alone as well, and when; null where it was not. */
  again: { skip: number; received: number } | null
  /** The index at which the last item's run begins; -1 where the window does not show it. */
  run: number
  /** The index at which the window begins, if it lies directly behind what cannot be read; else null. */
  apart: number | null
  /** The oldest and the newest createdAt in the window. */
  oldest: Moment
  newest: Moment
  /** When its window was asked for, and when its last item was first seen at `index`. */
  sent: number
  received: number
  /** How many items the window held, if more were asked for (the list's end, or a cut); else null. */
  short: number | null
}

/**
 * Where, by one answer, an unmet task that stayed can be: at index `low` or later, but for ties of a run (`but`). The
 * answer speaks of the positions `from` up to, and not including, `to`.
 */
export interface Sight extends Pick<Fact, 'kind' | 'first' | 'sent' | 'received'> {
  from: number
  to: number
  low: number
  but: RunMember | null
  /** What that rests on. */
  rests: Basis[]
}

/** What stood behind a run, and behind what cannot be read there; and where. `id` is null where nothing did. */
export interface Behind {
  index: number
  id: string | null
  moment: Moment
}

/** The count of the owed run: where it ended, later where it began, and how many different ids were seen since. */
interface Count {
  end: number
  behind: Behind
  start: number | null
  /** What the looks at the sides of the run rest on. */
  rests: Basis[]
  /** The run's end was seen again where it was, with as many ids as the run is long. */
  isClosed: boolean
  /** The run's member is among the ids. */
  hasMember: boolean
  /** When the run's end was first seen, and when the last answer came that counts. */
  since: number
  received: number
  ids: number
}

export interface Edge {
  index: number
  /** How many positions directly behind it cannot be read. */
  unread: number
  received: number
  /** The index that answers reached so far: a window that ends there or before is not refused for reaching too far. */
  reach: number
}

/** An index at which nothing stood, asked for after the floor was read; in the list of the floor's window. */
export interface EmptyIndex {
  index: number
  received: number
}

/** Plain data of bounded size: kept with the walk, so that another process can go on. */
export interface State {
  floor: Floor | null
  /** Sights behind the floor that have not joined, those of the lowest positions first. */
  pending: readonly Sight[]
  /** A run of which tasks that stayed may not have been met. */
  owed: RunMember | null
  count: Count | null
  /** The run that was owed last was shown as a whole by one answer, and not counted. */
  isShown: boolean
  /** While a run is owed: where the last answer ends that ends with another item, and where the last within the run. */
  ahead: Edge | null
  within: Edge | null
  /** Number of items in the largest answer, of which no more count than were asked for. */
  largest: number
  /** An answer was shorter than asked, though more stood behind it. */
  isCut: boolean
  /** An answer held more than was asked for: what fails for one position may be readable there. */
  givesMore: boolean
  /** The fewest items that a believed empty answer was asked for; null where there is none. */
  narrowest: number | null
  /** Answers were cut, and not at a fixed number of items. */
  uneven: boolean
  /** Neighbours of equal createdAt were seen whose ids rise, and such whose ids fall. */
  tiesRise: boolean
  tiesFall: boolean
  /** How many items were met that were seen directly behind one of equal createdAt; each counts once. */
  tiedMet: number
  /** The last answer, if it brought nothing: it is believed once it comes again. */
  doubted: Pick<Fact, 'skip' | 'asked' | 'kind' | 'sent'> | null
  /** The lowest index at which nothing stood, once a window had joined. */
  empty: EmptyIndex | null
  /** The list was seen to move while a run was counted, this one or an earlier one. */
  drifts: boolean
  /** The walk has found that answers leave items out: an index says only that an item stands there or further down. */
  isFiltered: boolean
  /** What the end of the list rests on, once it is proven. */
  ended: Basis[] | null
  /** What all joined windows rest on. */
  basis: Basis[]
  /** Why the walk will not be complete any more; null where it may be. */
  spoiled: MissingLink | null
  /** Something was taken in behind the end that was shown: the walk is spoiled where that is forgotten. */
  isStray: boolean
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
  givesMore: false,
  uneven: false,
  tiesRise: false,
  tiesFall: false,
  tiedMet: 0,
  doubted: null,
  empty: null,
  drifts: false,
  isFiltered: false,
  ended: null,
  basis: [],
  spoiled: null,
  isStray: false,
}

/** What the walk speaks of: the tasks between two moments of a list in created order. */
export interface WalkRange {
  order: 'created_desc' | 'created_asc'
  /** Beyond `from` an item stands before the range, beyond `to` behind it, however far createdAt is out of order. */
  from: number | null
  to: number | null
}

/** How it is judged; only the tests of the rules switch a condition off. */
export interface Trial {
  without?: ConditionName
  /** So many neighbours of equal createdAt in one order of their ids, and none in the other, are taken for no chance. */
  orderedTies: number
  /** Null for the whole list. */
  range: WalkRange | null
}

export const NO_TRIAL: Trial = { orderedTies: 20, range: null }

/** Whether a condition holds, or the small worlds have switched it off. */
export function holds({ without }: Trial, name: ConditionName, value: boolean): boolean {
  return value || name === without
}

/** The index behind all that an answer speaks of: where answers are cut, it spans no more than the largest one. */
export function reachOf({ isCut, largest }: State, { skip, asked }: Pick<Fact, 'skip' | 'asked'>): number {
  return skip + (isCut ? Math.min(asked, Math.max(1, largest)) : asked)
}

/** Whether what stands at the position cannot be read. */
export function isUnread(kind: Fact['kind']): boolean {
  return kind === 'failed' || kind === 'refused'
}

export function tiesAreOrdered({ tiesRise, tiesFall, tiedMet }: State, { orderedTies }: Trial): boolean {
  return tiesRise !== tiesFall && tiedMet >= orderedTies
}

export function ended(state: State, basis: Basis[]): State {
  return { ...state, pending: [], ended: basis }
}

export function union(some: readonly Basis[], more: readonly Basis[]): Basis[] {
  return [...new Set([...some, ...more])]
}
