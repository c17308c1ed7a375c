// The chain of a walk: the windows that have joined, and what another one changes (design.md 6.1, "Seams"). Pure.
import type { Moment } from '../task.ts'
import { breakStretch, missNeighbour, noOrderSeen, type OrderSeen, observe, observeWithin } from './order.ts'
import { type Paging, pagingAfter, UNPAGED } from './paging.ts'
import type { ItemsWindow, WindowAnswer } from './source.ts'

/** The run of equal createdAt at the end of the chain. */
export interface TieRun {
  moment: Moment
  /** Index of its first item, as last read. */
  start: number
}

/** Plain data: kept in `walks.state`, so that another process can go on. */
export interface ChainState extends Paging {
  /** Index behind the last item of the last window that joined. */
  end: number
  last: { id: string; moment: Moment } | null
  tie: TieRun | null
  /** The last items of one answer, in its order: the next window should show them again. */
  tail: string[]
  /** How many items the last answer held. */
  returned: number
  drift: number
  order: OrderSeen
  /** Where the window lay that last showed the chain's last item, and how much it asked for. */
  lastSeen: { skip: number; asked: number }
  /** Windows must not begin before this index: an item in front of it cannot be read. */
  notBelow: number
  /** The newest createdAt of the first window; the service's date, and this machine's when it was asked for. */
  newestInFirst: Moment
  firstServiceDate: number | null
  firstStartedAt: number | null
}

export function newChain(): ChainState {
  return {
    ...UNPAGED,
    end: 0,
    last: null,
    tie: null,
    tail: [],
    returned: 0,
    drift: 0,
    order: noOrderSeen(),
    lastSeen: { skip: 0, asked: 0 },
    notBelow: 0,
    newestInFirst: null,
    firstServiceDate: null,
    firstStartedAt: null,
  }
}

const TAIL = 64

/** How many items two neighbouring windows share: at least 1 if an answer can hold 2, at least 2 if it can hold 3. */
export function overlapOf(returned: number, configured: number): number {
  if (returned < 2) return 0
  return Math.max(returned >= 3 ? Math.min(2, configured) : 1, Math.min(configured, Math.floor(returned / 2)))
}

/**
 * Lays `window`, which has joined, onto the chain. Returns a new state and leaves the old one as it was. `follows`: the
 * window is known to begin directly behind the chain's last item, without showing it.
 */
export function extendChain(before: ChainState, window: ItemsWindow, follows = false): ChainState {
  const chain: ChainState = { ...before, order: { ...before.order } }
  const { ids, moments, met, skip } = window
  const count = ids.length
  chain.returned = count
  const paged = { endsFurther: skip + count > before.end, shift: follows ? null : runShift(before, window) }
  Object.assign(chain, pagingAfter(before, window, paged))
  const first = before.last === null
  observeWithin(chain.order, ids, moments)
  chain.drift += seamDrift(before, window)
  if (tailAgain(before, window).reversed > 0) chain.order.unstable = true

  const lastAt = before.last === null ? -1 : ids.lastIndexOf(before.last.id)
  const reachesLast = first || lastAt >= 0 || met[count - 1] === 0
  if (!reachesLast) {
    // The window ends before the chain's last item: the walk goes on from the window's end.
    return standingAt(chain, skip + count)
  }
  // Pairs are neighbours within one answer, or across a seam that shows the item observed last.
  let from = lastAt + 1
  if (lastAt < 0 && !first && !follows) {
    // The window goes on behind its last item that had been met; if it has none, the list is read from the front again.
    from = met.lastIndexOf(1) + 1
    if (from === 0) breakStretch(chain.order)
    else missNeighbour(chain.order)
  }
  observe(chain.order, ids, moments, from)

  chain.end = skip + count
  chain.lastSeen = { skip, asked: window.asked }
  chain.last = { id: ids[count - 1] as string, moment: moments[count - 1] as Moment }
  chain.tail = ids.slice(-TAIL)
  chain.tie = tieRunAfter(before, window)
  if (first) {
    chain.firstServiceDate = window.serviceDate
    chain.firstStartedAt = window.startedAt
    chain.newestInFirst = chain.order.highest
  }
  return chain
}

/** The chain, with its end where `window` shows its last item by now. Returns a new state. */
export function seenAgain(chain: ChainState, { skip, ids }: ItemsWindow): ChainState {
  const at = chain.last === null ? -1 : ids.lastIndexOf(chain.last.id)
  return at < 0 ? chain : standingAt(chain, skip + at + 1)
}

function standingAt(chain: ChainState, end: number): ChainState {
  const tie = chain.tie === null ? null : { ...chain.tie, start: chain.tie.start + end - chain.end }
  return { ...chain, end, tie }
}

/** How much further down the run of the chain's last item begins than was read before; null where that is not shown. */
function runShift(chain: ChainState, window: ItemsWindow): number | null {
  const start = runStartIn(window, chain)
  return chain.tie === null || start === null ? null : start - chain.tie.start
}

/** The index of the first item of the chain's last run; null where the answer does not show it. */
export function runStartIn(answer: WindowAnswer, { tie, end }: ChainState): number | null {
  const at = tie !== null && answer.kind === 'items' ? answer.moments.indexOf(tie.moment) : -1
  // A run at the very start of an answer may have begun before it, unless the run has but one item.
  return at < 0 || (at === 0 && tie?.start !== end - 1) ? null : answer.skip + at
}

/** The run of equal createdAt that ends the window, with what the chain knew of it before. */
function tieRunAfter(chain: ChainState, window: ItemsWindow): TieRun {
  const { moments, skip } = window
  const moment = moments.at(-1) as Moment
  let start = moments.length - 1
  while (start > 0 && moments[start - 1] === moment) start -= 1
  // Where the window shows an item before the run, the run's place is read afresh; else an older reading stands.
  return start === 0 && chain.tie?.moment === moment ? chain.tie : { moment, start: skip + start }
}

/**
 * How many neighbours are missing or extra at the seam: items that the chain ended with and that the window should show
 * again but does not, and items not met before that it shows in front of the chain's last one.
 */
function seamDrift(chain: ChainState, window: ItemsWindow): number {
  if (chain.last === null || window.skip === 0 || window.skip >= chain.end) return 0
  const expected = chain.tail.slice(-Math.min(chain.end - window.skip, chain.tail.length))
  const missing = expected.filter((id) => !window.ids.includes(id)).length
  const lastAt = window.ids.lastIndexOf(chain.last.id)
  let extra = 0
  for (let index = 0; index < lastAt; index += 1) if (window.met[index] === 0) extra += 1
  return missing + extra
}

/**
 * How many items of the chain's tail come back in `window`, and how many of them behind another that stood behind them,
 * those of equal createdAt aside.
 */
export function tailAgain({ tail }: ChainState, { ids, moments }: ItemsWindow): { again: number; reversed: number } {
  const places = new Map(tail.map((id, index) => [id, index]))
  let again = 0
  let reversed = 0
  let before: { place: number; moment: Moment } | undefined
  ids.forEach((id, index) => {
    const place = places.get(id)
    if (place === undefined) return
    const moment = moments[index] as Moment
    again += 1
    if (before !== undefined && place < before.place && moment !== before.moment) reversed += 1
    before = { place, moment }
  })
  return { again, reversed }
}
