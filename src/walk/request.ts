// What a walk is asked for, what it keeps so that another process can go on, and what it proves.
import type { Line } from '../proof/judge.ts'
import type { Saved } from '../proof/kernel.ts'
import type { WalkRange } from '../proof/state.ts'
import type { Moment, Order, Verdict } from '../task.ts'
import type { ChainState } from './chain.ts'
import type { FirstWindow } from './lap.ts'
import type { KnownOrder, OrderSeen } from './order.ts'
import type { ItemsWindow, WalkStep } from './source.ts'

export interface WalkSettings {
  /** Items asked for in one window; may change from answer to answer. */
  readonly window: number
  /** Items two neighbouring windows share, where answers are long enough. */
  readonly overlap: number
  /** Inversions of createdAt up to this still count as created order, ms. */
  settleMs: number
  /** No walk makes more requests than this. */
  maxRequests: number
}

export interface WalkRequest {
  settings: WalkSettings
  /** Where the first window lies. */
  start: number
  /** For a walk that does not begin at 0: whether its first window lies early enough in the list. */
  accepts?: (window: ItemsWindow) => boolean | Promise<boolean>
  /** What the walk speaks of; the whole list where absent. */
  range?: WalkRange
  /** Ends the walk as proven once true. Called with every window that has joined, and with the order as seen so far. */
  reached?: (window: ItemsWindow, shown: OrderSeen) => boolean | Promise<boolean>
  /** Called with every window that has joined the chain, and with the order as seen so far. */
  joined?: (window: ItemsWindow, shown: OrderSeen) => void
  /** Whether the walk also looks one window and ten windows behind the end: all but tail walks and laps do. */
  beyond: boolean
  /**
   * Whether a closing lap is run once the end is proven. `beyond-one-window`: not for a list that the first window
   * held. `unless-one-answer`: also where `reached` ends the walk, unless with its first answer. `is-one`: this walk is
   * a closing lap; no proof rests on it, so no run is counted.
   */
  lap: 'never' | 'is-one' | 'always' | 'beyond-one-window' | 'unless-one-answer'
  /** Whether as many were met as a list of `total` holds; until they are, the closing lap is run again. */
  isCounted?: (total: number) => boolean
  /** The order that a complete walk has stored: it stands until this walk sees something that contradicts it. */
  known?: KnownOrder
  /** Ties do not stand in the order of their ids, as an earlier walk has seen. */
  tiesUnordered?: boolean
  /** A walk that was cut off: its last state and its first window. */
  resume?: { state: WalkState; firstWindow: FirstWindow | null }
}

/** What is kept in `walks.state`: plain data. */
export interface WalkState {
  chain: ChainState
  /** The index at which the run begins that the kernel says is owed. */
  owedFrom: number
  /** Number of items met, up to the window before. */
  met: number
  kernel: Saved
  take: number
  served: number
}

export interface WalkResult {
  verdict: Verdict
  /** The first reason why it is partial; null for `complete`. */
  reason: string | null
  order: Order | null
  inversionMs: number
  /** What the walk saw cannot be a list in the order that was known before. */
  contradicted: boolean
  /** Number of items in the list, when its end was proven; null where the end was not proven. */
  total: number | null
  lastId: string | null
  /** The most items that an answer held, where some were cut; null where none was. */
  pageCap: number | null
  filtered: boolean
  /** Whether indexes tell how many tasks there are. */
  countable: boolean
  newestInFirst: Moment
  firstServiceDate: number | null
  firstStartedAt: number | null
  /**
   * The ids of the one answer from index 0 that, in the end, showed everything that had come or moved to the front
   * since the walk began; null where that took more than one answer.
   */
  front: string[] | null
  /** The highest createdAt seen, epoch ms. */
  newest: Moment
  drift: number
  /** What the kernel was told since the last step; if the verdict is `complete`, the end of its proof. */
  evidence: Line[]
}

export type Walk = AsyncGenerator<WalkStep, WalkResult>
