// How open tasks are asked for: by id, side by side, or by windows of the list where they are denser, or each
// neighbourhood in its own way; whichever is cheapest by what this service has shown (design.md 6.3). Pure.
//
// Rule. What one run spends on open tasks stays within a budget: a small account's whole list, a share of a large
// one's. So it is never dearer than a full walk, which would meet them all. Tasks beyond the budget stay due; later
// runs ask for them first, because the most overdue come first.

import type { Window } from '../../service/service.ts'

/** What requests cost with this service, as its answers have shown. */
export interface RequestCosts {
  /** From sending a look-up by id to its answer, ms. */
  requestMs: number
  /** What every listed item adds to that, ms. */
  itemMs: number
  /** Mean size of a listed item and of an answer by id, bytes. */
  itemBytes: number
  detailBytes: number
  /** Requests under way at once. */
  concurrency: number
  requestsPerSecond: number | null
  /** The most items that one window may hold. */
  capacity: number
  /** Items in the list. */
  total: number
}

interface Cost {
  ms: number
  bytes: number
}

/** A span of the list that is read whole, by one window or several. Indexes as in `places`, without the margin. */
interface ListSpan {
  from: number
  to: number
  /** Indexes in `places` of the tasks in it, in list order. */
  members: number[]
}

export interface OpenPlan {
  /** Indexes in `places`, in their order: the most overdue first. */
  byId: number[]
  spans: ListSpan[]
  cost: Cost
}

/** What a byte costs: as long as at 10 MB/s. */
const BYTE_MS = 1e-4
/** The share of a full walk's cost that open tasks may take in one run; set against estimates, so well below half. */
const SHARE = { ms: 0.3, bytes: 0.15 }
/** Up to this cost, they may take as much as a full walk. */
const SMALL: Cost = { ms: 5_000, bytes: 16 * 1024 * 1024 }
/** The price of a byte is searched between these powers of two, up and down, in so many steps. */
const LARGEST_POWER = 16
const SEARCH_STEPS = 8

/** At most so many tasks; those not begun by `until`, epoch ms, are left. */
export interface OpenLimit {
  most: number
  until: number
}

export const NO_LIMIT: OpenLimit = { most: Number.MAX_SAFE_INTEGER, until: Number.POSITIVE_INFINITY }
/**
 * Before a full walk goes on: how many open tasks are asked for, and which share of a limited time they may take, so
 * that neither keeps the other waiting for ever.
 */
const BEFORE_A_WALK = { most: 50, share: 0.3 }

/** The limit before a full walk that goes on; `ms` and `perSecond` limit the run (null: not). `now`: epoch ms. */
export function limitBeforeAWalk(ms: number | null, perSecond: number | null, now: number): OpenLimit {
  const { most, share } = BEFORE_A_WALK
  if (ms === null) return { ...NO_LIMIT, most }
  // Look-ups that wait for their turn count as asked for.
  const inTime = Math.floor(((share * ms) / 1000) * (perSecond ?? Number.POSITIVE_INFINITY))
  return { most: Math.min(most, Math.max(1, inTime)), until: now + share * ms }
}

/** Gaps between places beyond this are never worth reading: an estimate of a place need not be exact there. */
export function widestGap({ capacity }: Pick<RequestCosts, 'capacity'>): number {
  return 2 * capacity
}

/** Items read on either side of a span, in case the list has moved. */
export function marginOf(capacity: number, overlap: number): number {
  return Math.min(overlap * 5, Math.floor(capacity / 4))
}

/** Estimated low: without the second look at the head of the list. */
function fullWalkCost({ total, ...costs }: RequestCosts): Cost {
  const read = costOf({ byId: 0, windows: Math.ceil(total / costs.capacity), items: total }, { total, ...costs })
  // The first window, the end, the last item again: each waits for the one before.
  return { ms: read.ms + 3 * costs.requestMs, bytes: read.bytes }
}

export function budgetOf(costs: RequestCosts): Cost {
  const full = fullWalkCost(costs)
  const limit = (what: keyof Cost) => Math.max(SHARE[what] * full[what], Math.min(full[what], SMALL[what]))
  return { ms: limit('ms'), bytes: limit('bytes') }
}

/** What so many requests cost, those under way at once counted together. */
export function costOf(asked: { byId: number; windows: number; items: number }, costs: RequestCosts): Cost {
  const { byId, windows, items } = asked
  const requests = byId + windows
  return {
    ms: Math.max((requests * costs.requestMs + items * costs.itemMs) / costs.concurrency, requests * apartMs(costs)),
    bytes: byId * costs.detailBytes + items * costs.itemBytes,
  }
}

/** Time that one small request takes while as many as allowed are under way. */
function slotMs(costs: RequestCosts): number {
  return Math.max(costs.requestMs / costs.concurrency, apartMs(costs))
}

function apartMs({ requestsPerSecond }: RequestCosts): number {
  return requestsPerSecond === null ? 0 : 1000 / requestsPerSecond
}

/**
 * The cheapest way to ask for as many tasks as the budget allows. `places`: where in the list each of them stands, the
 * most overdue first; null where the list does not show it whole or its place is not known, so that it can only be
 * asked for by id. Places may be off by a constant, and by anything beyond `widestGap`.
 */
export function planOpenTasks(places: readonly (number | null)[], costs: RequestCosts, margin: number): OpenPlan {
  const budget = budgetOf(costs)
  let best: Division | null = null
  let [fits, tooMany] = [0, places.length + 1]
  // Tries all of them first, then as many as fit, to within a fiftieth.
  for (let count = places.length; tooMany - fits > Math.max(1, fits / 50); count = Math.floor((fits + tooMany) / 2)) {
    const listed = inListOrder(places, count)
    const division = withinBudget((byteMs) => divide(listed, costs, margin, byteMs), budget)
    if (division === null) tooMany = count
    else [fits, best] = [count, division]
  }
  return best === null ? { byId: [], spans: [], cost: { ms: 0, bytes: 0 } } : planOf(best)
}

/** The first so many tasks: those with a place, in list order, and those without. */
interface PlacedTasks {
  /** Indexes into the places that were given. */
  indexes: Uint32Array
  places: Float64Array
  unlisted: number[]
}

function inListOrder(given: readonly (number | null)[], count: number): PlacedTasks {
  const unlisted: number[] = []
  const listed: number[] = []
  for (let index = 0; index < count; index += 1) (given[index] === null ? unlisted : listed).push(index)
  const indexes = Uint32Array.from(listed).sort((a, b) => (given[a] as number) - (given[b] as number))
  return { indexes, places: Float64Array.from(indexes, (index) => given[index] as number), unlisted }
}

/** Which of `listed` are read in spans. A span is its first and its last task; they come from the back of the list. */
interface Division {
  listed: PlacedTasks
  spans: { first: number; last: number }[]
  cost: Cost
}

/** The division at the usual price of a byte where it fits the budget, else at the price nearest to it that does. */
function withinBudget(divideAt: (byteMs: number) => Division, budget: Cost): Division | null {
  let [low, power, high] = [-LARGEST_POWER, 0, LARGEST_POWER]
  for (let step = 0; step < SEARCH_STEPS; step += 1) {
    const division = divideAt(BYTE_MS * 2 ** power)
    const isSlow = division.cost.ms > budget.ms
    const isHeavy = division.cost.bytes > budget.bytes
    if (!isSlow && !isHeavy) return division
    if (isSlow && isHeavy) return null
    if (isSlow) high = power
    else low = power
    power = (low + high) / 2
  }
  return null
}

/**
 * The cheapest of all ways to divide `listed` into spans and look-ups, where a byte costs `byteMs`: goes from task to
 * task with the cheapest way so far, and the cheapest one that ends inside a span. The windows that a long span takes
 * are counted as a share of each of its items.
 */
function divide(listed: PlacedTasks, costs: RequestCosts, margin: number, byteMs: number): Division {
  const { places, unlisted } = listed
  const slot = slotMs(costs)
  const idPrice = slot + costs.detailBytes * byteMs
  const itemPrice = costs.itemMs / costs.concurrency + costs.itemBytes * byteMs + slot / costs.capacity
  const beginPrice = slot + (2 * margin + 1) * itemPrice
  /** 1 where the cheapest way with the task in a span goes on with the span of the task before. */
  const goesOn = new Uint8Array(places.length)
  /** 1 where the cheapest way up to the task has it in a span. */
  const isRead = new Uint8Array(places.length)
  let inside = Number.POSITIVE_INFINITY
  let best = 0
  for (let at = 0; at < places.length; at += 1) {
    const going = inside + ((places[at] as number) - (places[at - 1] ?? 0)) * itemPrice
    const beginning = best + beginPrice
    if (going <= beginning) goesOn[at] = 1
    inside = Math.min(going, beginning)
    const asked = best + idPrice
    if (inside <= asked) isRead[at] = 1
    best = Math.min(inside, asked)
  }
  const spans: Division['spans'] = []
  const asked = { byId: unlisted.length, windows: 0, items: 0 }
  for (let last = places.length - 1; last >= 0; ) {
    let first = last
    if (isRead[last] === 1) {
      while (goesOn[first] === 1) first -= 1
      const length = (places[last] as number) - (places[first] as number) + 1 + 2 * margin
      asked.windows += Math.ceil(length / costs.capacity)
      asked.items += Math.min(length, costs.total)
      spans.push({ first, last })
    } else asked.byId += 1
    last = first - 1
  }
  return { listed, spans, cost: costOf(asked, costs) }
}

function planOf({ listed, spans, cost }: Division): OpenPlan {
  const { indexes, places } = listed
  const byId = [...listed.unlisted]
  const read: ListSpan[] = []
  let next = 0
  for (const { first, last } of spans.toReversed()) {
    byId.push(...indexes.subarray(next, first))
    const members = [...indexes.subarray(first, last + 1)]
    read.push({ from: places[first] as number, to: places[last] as number, members })
    next = last + 1
  }
  byId.push(...indexes.subarray(next))
  return { byId: byId.sort((a, b) => a - b), spans: read, cost }
}

interface WantedWindow extends Window {
  /** How many tasks it is read for. */
  members: number
}

/**
 * The windows that read `spans` with `margin` items on either side. `starts`: the index in the list of the first task
 * of each.
 */
export function wantedWindows(
  spans: readonly ListSpan[],
  starts: readonly number[],
  { capacity, margin }: { capacity: number; margin: number },
): WantedWindow[] {
  return spans.flatMap(({ from, to, members }, nth) => {
    const windows = windowsOver((starts[nth] as number) - margin, to - from + 1 + 2 * margin, capacity)
    return windows.map((window) => ({ ...window, members: members.length / windows.length }))
  })
}

/** The windows that read `length` items from `start` on, which may lie in front of the list. */
export function windowsOver(start: number, length: number, capacity: number): Window[] {
  const skip = Math.max(0, start)
  const rest = start + length - skip
  const count = Math.ceil(rest / capacity)
  const take = Math.ceil(rest / count)
  return Array.from({ length: count }, (_, nth) => ({
    skip: skip + nth * take,
    take: Math.min(take, rest - nth * take),
  }))
}
