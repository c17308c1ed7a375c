// What all neighbouring pairs of a walk show of the list's order (design.md 6.2). Pure.
import type { Moment, Order } from '../task.ts'

/** Everything seen so far; plain data, kept in the walk's state. */
export interface OrderSeen {
  pairs: number
  rising: number
  falling: number
  /** How far createdAt ever went back up in a falling list, ms: item minus the lowest before it. */
  inversionDesc: number
  /** How far createdAt ever went back down in a rising list, ms. */
  inversionAsc: number
  lowest: Moment
  highest: Moment
  previous: Moment
  /** Every `every`th createdAt seen, at most SAMPLE of them. */
  sample: number[]
  every: number
  seen: number
  /** Distinct values of createdAt seen, counted up to 3. */
  values: number[]
  /** How many neighbours had their ids compared. */
  idPairs: number
  /** Whether ids ever rose, or fell, between these neighbours or within one answer, items met before included. */
  idRose: boolean
  idFell: boolean
  previousId: string | null
  /** createdAt of the item before; null where that item has none. */
  previousMoment: Moment
  /** Two items changed places between two reads of the same walk: nothing orders this list for good. */
  unstable: boolean
}

export function noOrderSeen(): OrderSeen {
  return {
    pairs: 0,
    rising: 0,
    falling: 0,
    inversionDesc: 0,
    inversionAsc: 0,
    lowest: null,
    highest: null,
    previous: null,
    sample: [],
    every: 1,
    seen: 0,
    values: [],
    idPairs: 0,
    idRose: false,
    idFell: false,
    previousId: null,
    previousMoment: null,
    unstable: false,
  }
}

/**
 * Adds neighbours in list order, from `from` on. Items without an integer createdAt are skipped for createdAt.
 * The item before `from` should be one already observed, so that pairs run across windows.
 */
export function observe(orderSeen: OrderSeen, ids: string[], moments: Moment[], from: number): void {
  for (let index = from; index < ids.length; index += 1) {
    const id = ids[index] as string
    const moment = moments[index] as Moment
    if (orderSeen.previousId !== null && id !== orderSeen.previousId) {
      orderSeen.idPairs += 1
      if (id > orderSeen.previousId) orderSeen.idRose = true
      else orderSeen.idFell = true
    }
    // Within a run of equal createdAt a neighbour that was not seen says as little as one that was.
    const isTied = moment !== null && moment === orderSeen.previousMoment
    orderSeen.previousId = id
    orderSeen.previousMoment = moment
    if (moment === null) continue
    if (orderSeen.values.length < 3 && !orderSeen.values.includes(moment)) orderSeen.values.push(moment)
    if (orderSeen.previous !== null) {
      orderSeen.pairs += 1
      if (moment > orderSeen.previous) orderSeen.rising += 1
      else if (moment < orderSeen.previous) orderSeen.falling += 1
    } else if (isTied) orderSeen.pairs += 1
    orderSeen.previous = moment
    orderSeen.lowest = Math.min(orderSeen.lowest ?? moment, moment)
    orderSeen.highest = Math.max(orderSeen.highest ?? moment, moment)
    orderSeen.inversionDesc = Math.max(orderSeen.inversionDesc, moment - orderSeen.lowest)
    orderSeen.inversionAsc = Math.max(orderSeen.inversionAsc, orderSeen.highest - moment)
    addSample(orderSeen, moment)
  }
}

/**
 * Notes what one answer shows by itself, items met before included: whatever comes and goes between two answers, within
 * one of them the order holds.
 */
export function observeWithin(orderSeen: OrderSeen, ids: string[], moments: Moment[]): void {
  const shown = noOrderSeen()
  observe(shown, ids, moments, 0)
  contradictWith(orderSeen, shown)
}

/** Adds only what of `other` contradicts an order: it tells of items that have been observed before. */
export function contradictWith(orderSeen: OrderSeen, other: OrderSeen): void {
  orderSeen.inversionDesc = Math.max(orderSeen.inversionDesc, other.inversionDesc)
  orderSeen.inversionAsc = Math.max(orderSeen.inversionAsc, other.inversionAsc)
  orderSeen.idRose ||= other.idRose
  orderSeen.idFell ||= other.idFell
  orderSeen.unstable ||= other.unstable
}

const SAMPLE = 64

function addSample(orderSeen: OrderSeen, moment: number): void {
  if (orderSeen.seen % orderSeen.every === 0) orderSeen.sample = [...orderSeen.sample, moment]
  orderSeen.seen += 1
  if (orderSeen.sample.length < SAMPLE) return
  orderSeen.sample = orderSeen.sample.filter((_, index) => index % 2 === 0)
  orderSeen.every *= 2
}

/** The distance between the 10th and the 90th percentile: a few tasks dated far away say nothing of the others. */
function spreadOf(sample: number[]): number {
  const sorted = sample.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return at(0.9) - at(0.1)
}

/** The list is read from the front again: its first item says nothing of those observed before. */
export function breakStretch(orderSeen: OrderSeen): void {
  missNeighbour(orderSeen)
  orderSeen.previousMoment = null
  orderSeen.lowest = null
  orderSeen.highest = null
}

/** The next item observed stands further down, but is no neighbour of the last one, which was deleted. */
export function missNeighbour(orderSeen: OrderSeen): void {
  orderSeen.previous = null
  orderSeen.previousId = null
}

interface OrderShown {
  /** Null where there is too little to tell: fewer than three distinct values, and no contradiction of every order. */
  order: Order | null
  /** The largest inversion of createdAt within that order, ms; 0 for orders by id. */
  inversionMs: number
}

const NO_ORDER: OrderShown = { order: 'none', inversionMs: 0 }

/** The order that this shows. Inversions of createdAt up to `settleMs` still count as created order. */
export function orderShown(orderSeen: OrderSeen, settleMs: number): OrderShown {
  if (orderSeen.unstable) return NO_ORDER
  const { rising, falling, idRose, idFell } = orderSeen
  const idOrder = !idFell ? 'id_asc' : !idRose ? 'id_desc' : null
  const byIds: OrderShown | null =
    idOrder !== null && orderSeen.idPairs >= 2 ? { order: idOrder, inversionMs: 0 } : null
  if (orderSeen.values.length >= 3 && rising + falling > 0) {
    // Most neighbours were never seen side by side: what the others show is chance.
    if (2 * orderSeen.pairs < orderSeen.seen - 1) return NO_ORDER
    if (rising === falling) return byIds ?? NO_ORDER
    const order = falling > rising ? 'created_desc' : 'created_asc'
    const byCreated = { order, inversionMs: inversionIn(orderSeen, order) } as const
    // An order without any inversion is believed before one that needs tolerance; ids before a tolerated createdAt.
    if (byCreated.inversionMs === 0) return byCreated
    // Where everything was created within the tolerance, any sequence would do: that shows no order.
    const isTolerated = byCreated.inversionMs <= settleMs && spreadOf(orderSeen.sample) > 2 * settleMs
    return byIds ?? (isTolerated ? byCreated : NO_ORDER)
  }
  if (byIds !== null) return byIds
  // Two values of createdAt that go back and forth, and ids that do, are in no order either.
  if (idOrder === null && Math.min(orderSeen.inversionDesc, orderSeen.inversionAsc) > 0) return NO_ORDER
  // Too little; or ties of one or two createdAt whose ids are in no order, in a list that createdAt may well order.
  return { order: null, inversionMs: 0 }
}

/** An order that an earlier complete walk has stored, with the largest inversion of createdAt seen in it, ms. */
export interface KnownOrder {
  order: Order
  inversionMs: number
}

/**
 * Whether what was seen cannot be a list in the known order, few as the values may be: a step back that is larger than
 * any that is tolerated or was seen before, two items that changed places, or another order without exception. Too
 * little to tell is no contradiction.
 */
export function contradicts(orderSeen: OrderSeen, known: KnownOrder, settleMs: number): boolean {
  if (!isCreatedOrder(known.order)) return false
  const { order } = orderShown(orderSeen, settleMs)
  if (order !== null && order !== 'none' && order !== known.order) return true
  return orderSeen.unstable || inversionIn(orderSeen, known.order) > Math.max(settleMs, known.inversionMs)
}

/**
 * The order of a list, where an earlier one may be known. What was proven once stands until something contradicts it: a
 * list whose tasks were all created within the tolerance shows no order of its own, and has not lost the one it had.
 */
export function orderKept(orderSeen: OrderSeen, known: KnownOrder | undefined, settleMs: number): OrderShown {
  const shown = orderShown(orderSeen, settleMs)
  if (known === undefined || (shown.order !== null && shown.order !== 'none')) return shown
  if (!isCreatedOrder(known.order) || contradicts(orderSeen, known, settleMs)) return shown
  return { order: known.order, inversionMs: inversionIn(orderSeen, known.order) }
}

function inversionIn({ inversionDesc, inversionAsc }: OrderSeen, order: 'created_desc' | 'created_asc'): number {
  return order === 'created_desc' ? inversionDesc : inversionAsc
}

/** Whether a list in this order has the newest task at one end and the oldest at the other. */
export function isCreatedOrder(order: Order | null): order is 'created_desc' | 'created_asc' {
  return order === 'created_desc' || order === 'created_asc'
}
