// What all neighbouring pairs of a walk show of the list's order (design.md 6.2). Pure.
import type { Moment, Order } from '../task.ts'

/** Everything seen so far; plain data, kept in the walk's state. */
export interface OrderEvidence {
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

export function noEvidence(): OrderEvidence {
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
export function observe(evidence: OrderEvidence, ids: string[], moments: Moment[], from: number): void {
  for (let index = from; index < ids.length; index += 1) {
    const id = ids[index] as string
    const moment = moments[index] as Moment
    if (evidence.previousId !== null && id !== evidence.previousId) {
      evidence.idPairs += 1
      if (id > evidence.previousId) evidence.idRose = true
      else evidence.idFell = true
    }
    // Within a run of equal createdAt a neighbour that was not seen says as little as one that was.
    const isTied = moment !== null && moment === evidence.previousMoment
    evidence.previousId = id
    evidence.previousMoment = moment
    if (moment === null) continue
    if (evidence.values.length < 3 && !evidence.values.includes(moment)) evidence.values.push(moment)
    if (evidence.previous !== null) {
      evidence.pairs += 1
      if (moment > evidence.previous) evidence.rising += 1
      else if (moment < evidence.previous) evidence.falling += 1
    } else if (isTied) evidence.pairs += 1
    if (evidence.lowest !== null) evidence.inversionDesc = Math.max(evidence.inversionDesc, moment - evidence.lowest)
    if (evidence.highest !== null) evidence.inversionAsc = Math.max(evidence.inversionAsc, evidence.highest - moment)
    evidence.previous = moment
    if (evidence.lowest === null || moment < evidence.lowest) evidence.lowest = moment
    if (evidence.highest === null || moment > evidence.highest) evidence.highest = moment
    addSample(evidence, moment)
  }
}

/**
 * Notes what one answer shows by itself, items met before included: whatever comes and goes between two answers, within
 * one of them the order holds.
 */
export function observeWithin(evidence: OrderEvidence, ids: string[], moments: Moment[]): void {
  const shown = noEvidence()
  observe(shown, ids, moments, 0)
  contradictWith(evidence, shown)
}

/** Adds only what of `other` contradicts an order: it tells of items that have been observed before. */
export function contradictWith(evidence: OrderEvidence, other: OrderEvidence): void {
  evidence.inversionDesc = Math.max(evidence.inversionDesc, other.inversionDesc)
  evidence.inversionAsc = Math.max(evidence.inversionAsc, other.inversionAsc)
  evidence.idRose ||= other.idRose
  evidence.idFell ||= other.idFell
  evidence.unstable ||= other.unstable
}

const SAMPLE = 64

function addSample(evidence: OrderEvidence, moment: number): void {
  if (evidence.seen % evidence.every === 0) evidence.sample = [...evidence.sample, moment]
  evidence.seen += 1
  if (evidence.sample.length < SAMPLE) return
  evidence.sample = evidence.sample.filter((_, index) => index % 2 === 0)
  evidence.every *= 2
}

/** The distance between the 10th and the 90th percentile: a few tasks dated far away say nothing of the others. */
function spreadOf(sample: number[]): number {
  const sorted = sample.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return at(0.9) - at(0.1)
}

/** The list is read from the front again: its first item says nothing of those observed before. */
export function breakStretch(evidence: OrderEvidence): void {
  missNeighbour(evidence)
  evidence.previousMoment = null
  evidence.lowest = null
  evidence.highest = null
}

/** The next item observed stands further down, but is no neighbour of the last one, which was deleted. */
export function missNeighbour(evidence: OrderEvidence): void {
  evidence.previous = null
  evidence.previousId = null
}

interface OrderShown {
  /** Null where there is too little to tell: fewer than three distinct values, and no contradiction of every order. */
  order: Order | null
  /** The largest inversion of createdAt within that order, ms; 0 for orders by id. */
  inversionMs: number
}

/** The order that the evidence shows. Inversions of createdAt up to `settleMs` still count as created order. */
export function orderShown(evidence: OrderEvidence, settleMs: number): OrderShown {
  if (evidence.unstable) return { order: 'none', inversionMs: 0 }
  const { idRose, idFell, idPairs } = evidence
  const idOrder = !idFell ? 'id_asc' : !idRose ? 'id_desc' : null
  if (evidence.values.length >= 3 && evidence.rising + evidence.falling > 0) {
    // Most neighbours were never seen side by side: what the others show is chance.
    if (2 * evidence.pairs < evidence.seen - 1) return { order: 'none', inversionMs: 0 }
    // Where everything was created within the tolerance, any sequence would do: that shows no order.
    const spread = spreadOf(evidence.sample)
    const tolerated = (inversion: number): boolean =>
      inversion === 0 || (inversion <= settleMs && spread > 2 * settleMs)
    const desc = tolerated(evidence.inversionDesc) && evidence.falling > evidence.rising
    const asc = tolerated(evidence.inversionAsc) && evidence.rising > evidence.falling
    // An order without any inversion is believed before one that needs tolerance; ids before a tolerated createdAt.
    if (desc && evidence.inversionDesc === 0) return { order: 'created_desc', inversionMs: 0 }
    if (asc && evidence.inversionAsc === 0) return { order: 'created_asc', inversionMs: 0 }
    if (idOrder !== null && idPairs >= 2) return { order: idOrder, inversionMs: 0 }
    if (desc) return { order: 'created_desc', inversionMs: evidence.inversionDesc }
    if (asc) return { order: 'created_asc', inversionMs: evidence.inversionAsc }
    return { order: 'none', inversionMs: 0 }
  }
  if (idOrder !== null && idPairs >= 2) return { order: idOrder, inversionMs: 0 }
  // Two values of createdAt that go back and forth, and ids that do, are in no order either.
  if (idOrder === null && Math.min(evidence.inversionDesc, evidence.inversionAsc) > 0)
    return { order: 'none', inversionMs: 0 }
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
export function contradicts(evidence: OrderEvidence, known: KnownOrder, settleMs: number): boolean {
  if (!isCreatedOrder(known.order)) return false
  const { order } = orderShown(evidence, settleMs)
  if (order !== null && order !== 'none' && order !== known.order) return true
  const inversion = known.order === 'created_desc' ? evidence.inversionDesc : evidence.inversionAsc
  return evidence.unstable || inversion > Math.max(settleMs, known.inversionMs)
}

/**
 * The order of a list, where an earlier one may be known. What was proven once stands until something contradicts it: a
 * list whose tasks were all created within the tolerance shows no order of its own, and has not lost the one it had.
 */
export function orderKept(evidence: OrderEvidence, known: KnownOrder | undefined, settleMs: number): OrderShown {
  const shown = orderShown(evidence, settleMs)
  if (known === undefined || (shown.order !== null && shown.order !== 'none')) return shown
  if (!isCreatedOrder(known.order) || contradicts(evidence, known, settleMs)) return shown
  const seen = known.order === 'created_desc' ? evidence.inversionDesc : evidence.inversionAsc
  return { order: known.order, inversionMs: seen }
}

/** Whether a list in this order has the newest task at one end and the oldest at the other. */
export function isCreatedOrder(order: Order | null): order is 'created_desc' | 'created_asc' {
  return order === 'created_desc' || order === 'created_asc'
}
