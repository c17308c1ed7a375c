// The end of the list and how it is proven (design.md 6.1, "The end"). An empty answer alone is a missing anchor, a short
// answer may be a cap: only the last item seen again, with nothing behind it, is an end.
import { type EndJudgement, type EndQuestion, MORE, readProbe } from './end-judgement.ts'
import { FAR, lookBeyond, placesBeyond, placesNear } from './hidden.ts'
import { followLast } from './last-item.ts'
import { isUneven } from './paging.ts'
import { glanceAt, lookAt, prefetch, type Reader, seeAgain } from './reader.ts'
import { Search } from './search.ts'
import type { ItemsWindow, WindowAnswer } from './source.ts'

/** Looks for an index behind the end of a growing list. Where all show items, the end is not near. */
const HORIZON_TRIES = 4
/** Answers with the last item that are compared in a drifting list. At every second one it may just have grown. */
const DRIFTING_LOOKS = 5
/** Looks at where the last item stands by now; more where answers are short in the middle of a list. */
const FEW_STEPS = 4
const MOST_STEPS = 40

export async function judgeEnd(reader: Reader, question: EndQuestion): Promise<EndJudgement> {
  // The places further on may be asked for at once, in any order. The last item may not: it has to be seen again after it is
  // known that nothing follows, for a deletion in between could hide an item that does. Where the end moved before, mostly
  // only the place directly behind is asked for, so nothing is prefetched.
  if (question.beyond && !question.moving && question.looked === null)
    prefetch(reader, [
      question.index + 1,
      ...placesNear(reader, question, question.index),
      ...placesBeyond(reader, question, question.index),
    ])
  let judged = await judge(reader, question)
  if (judged.kind === 'more' && judged.behind !== undefined) judged = await judgeGrowth(reader, question, judged.behind)
  reader.source.prefetch([])
  return judged
}

/** Few items directly behind the chain, which the list may have grown by: how far it goes now, and whether no more follows. */
async function judgeGrowth(reader: Reader, question: EndQuestion, behind: ItemsWindow): Promise<EndJudgement> {
  if (behind.ids.length >= reader.largest) return MORE
  if (question.beyond && question.looked === null) {
    for (const place of placesBeyond(reader, question, question.index)) {
      if (readProbe(question, await glanceAt(reader, place)) !== 'nothing') return MORE
    }
  }
  await seekHorizon(reader, behind)
  return { kind: 'more', looked: true }
}

/**
 * Behind the answer that showed items behind the chain: an index at which there is nothing. The list has grown by as much
 * as that answer holds; by the next one it may have grown by as much again.
 */
async function seekHorizon(reader: Reader, behind: ItemsWindow): Promise<void> {
  let end = behind.skip + behind.ids.length
  let growth = behind.ids.length
  const isKnown = (): boolean => (reader.kernel.horizon?.index ?? Infinity) <= end + growth
  for (let tries = 0; tries < HORIZON_TRIES && !isKnown(); tries += 1) {
    const answer = await lookAt(reader, end + growth)
    if (answer.kind !== 'items') return
    if (answer.ids.length > 0) end = answer.skip + answer.ids.length
    growth *= 2
  }
}

async function judge(reader: Reader, question: EndQuestion): Promise<EndJudgement> {
  const place = await locateLast(reader, question)
  if (typeof place !== 'number') return place
  // At the full size: a service that refuses windows reaching beyond some index is not at its end.
  const again = await seeAgain(reader, place, question.runStart, Math.max(1, reader.served))
  if (again.kind === 'refused') return { kind: 'unprovable', reason: 'skip-limit' }
  const at = place - again.skip
  if (again.kind !== 'items' || again.ids.length <= at) return { kind: 'moved' }
  const same = again.ids[at] === question.lastId
  const tied = !same && question.lastMoment !== null && again.moments[at] === question.lastMoment && again.met[at] === 1
  if (!same && !tied) return { kind: 'moved' }
  if (again.ids.length > at + 1) return tied ? { kind: 'moved' } : { kind: 'more', behind: again }
  // Answers of one item never show two items together, so no seam can be verified.
  const isSingle = (place > 0 && reader.largest === 1) || (reader.served === 1 && reader.window > 1)
  if (question.beyond && isSingle && reader.unreadable < 0) return { kind: 'unprovable', reason: 'page-of-one' }
  // An item that has changed its place may have done so within its tie run.
  const counted = tied || (place !== question.index && question.cut !== 'filtered')
  if (!question.beyond || hasLooked(question, place)) return { kind: 'proven', index: place, tied: counted }
  return lookBeyond(reader, question, place, counted)
}

/** What was looked for further on was looked for behind this place too, near enough. */
export function hasLooked({ looked, page, cut }: EndQuestion, place: number): boolean {
  return looked !== null && cut !== 'filtered' && Math.abs(place - looked) < page
}

/** The index whose answer is the last that holds anything, by galloping and bisecting; usually one request. */
async function locateLast(reader: Reader, question: EndQuestion): Promise<number | EndJudgement> {
  const search = new Search(question.index + 1, { near: question.index + 1 })
  const steps = isUneven(question.cut) ? MOST_STEPS : FEW_STEPS
  for (let step = 1; !search.isClosed; step += 1) {
    const { place, far } = search
    const answer = await lookAt(reader, place)
    const judged = readProbe(question, answer)
    if (judged === 'nothing') {
      search.tooFar()
      continue
    }
    const isKnown = judged === 'met' || judged === 'elsewhere'
    // What a walk has not met that began further down may be the last window again, of which it knows the end alone.
    const mayRepeat = step === 1 && (isKnown || (question.isPart && judged === MORE))
    const fixed = mayRepeat ? await repeatsOrWraps(reader, question, place) : null
    if (fixed !== null) return fixed
    if (!isKnown)
      return judged === MORE && step === 1 && answer.kind === 'items' ? { kind: 'more', behind: answer } : judged
    // One of the last item's tie run, in another order this time: the list goes on, in the same run.
    const tied = answer.kind === 'items' && question.lastMoment !== null && answer.moments[0] === question.lastMoment
    if ((judged === 'elsewhere' && !tied) || (far === null && step > steps)) return { kind: 'moved' }
    // Behind the last item as this answer shows it: where something was inserted in front, that is the end.
    const last = answer.kind === 'items' ? answer.ids.lastIndexOf(question.lastId) : 0
    search.tooNear(Math.max(0, last) + 1)
    // The search gave up its upper bound: the list moves while it is looked at.
    if (far !== null && search.far === null) return { kind: 'moved' }
  }
  return (search.near as number) - 1
}

/**
 * The end of a list whose items change their places between any two requests. One answer that holds the last item and
 * reaches to the end of the list shows at one moment everything that lies behind, unless the answer was cut. Two answers of
 * different length, both shorter than others were, are not cut by count; and where no answer of this walk was cut by bytes,
 * these are not either. The later of them is the end of the chain, with what it holds behind the last item.
 */
export async function judgeDriftingEnd(reader: Reader, question: EndQuestion): Promise<EndJudgement> {
  if (isUneven(question.cut)) return { kind: 'moved' }
  const lengths = new Set<number>()
  const behind = new Set<string>()
  let place = question.index
  let end = { index: question.index, at: reader.requests }
  let judged: EndJudgement = { kind: 'moved' }
  for (let look = 1; look <= DRIFTING_LOOKS; look += 1) {
    const window = await followLast(reader, question.lastId, place, Math.max(2, Math.floor(reader.largest / 2 ** look)))
    if (window === null) return judged
    place = window.skip + window.ids.lastIndexOf(question.lastId)
    const earlier = end
    end = { index: window.skip + window.ids.length - 1, at: reader.requests }
    if (window.ids.length < reader.largest) lengths.add(window.ids.length)
    // What was seen behind an earlier answer is part of this one, unless it does not fit beside the others.
    if (lengths.size >= 2 && window.ids.length < reader.largest && behind.isSubsetOf(new Set(window.ids))) {
      const perRequest = (end.index - earlier.index) / (end.at - earlier.at)
      // A large item shows only in an answer that begins with it: where it stands now, if the list goes on as it did.
      const answer = await glanceAt(reader, end.index + 1 + Math.round(perRequest))
      if (readProbe(question, answer) !== MORE) return judgeUncut(reader, question, window)
      if (answer.kind === 'items') for (const id of answer.ids) behind.add(id)
      judged = MORE
    }
    reader.drop(window)
  }
  return judged
}

async function judgeUncut(reader: Reader, question: EndQuestion, window: ItemsWindow): Promise<EndJudgement> {
  const index = window.skip + window.ids.length - 1
  if (question.beyond && !hasLooked(question, index)) {
    const far = await lookBeyond(reader, { ...question, hasRoom: true }, index, true)
    if (far.kind !== 'proven') {
      reader.drop(window)
      return far
    }
  }
  return { kind: 'proven', index, tied: window.moments[0] === window.moments.at(-1), window }
}

/**
 * Items where there should be none. Either the list moved back (something was inserted in front), or the service gives
 * its last window again (single answers far behind show the last item), or it ignores skip or wraps around (the first
 * item is there and at 0 as well).
 */
async function repeatsOrWraps(reader: Reader, question: EndQuestion, place: number): Promise<EndJudgement | null> {
  const one = (skip: number): Promise<WindowAnswer> => reader.look(skip, 1, { once: true })
  const behind = await one(place + FAR * reader.window)
  if (behind.kind !== 'items' || behind.ids.length === 0) return null
  if (onlyLast(behind, question.lastId)) {
    // At its place, further down, and less far: docs/proof.md, "repeated".
    await one(question.index)
    await one(place + 1)
  }
  const near = await one(place)
  if (onlyLast(behind, question.lastId) && onlyLast(near, question.lastId)) {
    if (reader.largest < 2) return { kind: 'unprovable', reason: 'page-of-one' }
    return settleRepeat(reader, question)
  }
  if (behind.met.includes(0)) return { kind: 'more' }
  // The last window again, but its tie run in another order: which of them is the last cannot be told.
  const ofLastRun = (answer: WindowAnswer): boolean =>
    answer.kind === 'items' && answer.moments[0] === question.lastMoment && answer.ids.length === 1
  if (question.lastMoment !== null && ofLastRun(behind) && ofLastRun(near))
    return { kind: 'unprovable', reason: 'ties' }
  const next = await one(place + 1)
  const ignored = near.kind === 'items' && next.kind === 'items' && near.ids[0] === next.ids[0]
  if (ignored) return { kind: 'unprovable', reason: 'skip-ignored' }
  // A list that begins again shows what stands at its top; one that has grown by many windows meanwhile does not.
  const top = await lookAt(reader, 0)
  const id = near.kind === 'items' ? near.ids[0] : undefined
  if (id !== undefined && top.kind === 'items' && !top.ids.includes(id)) return { kind: 'moved' }
  return { kind: 'unprovable', reason: 'wraps' }
}

function onlyLast(answer: WindowAnswer, lastId: string): boolean {
  return answer.kind === 'items' && answer.ids.length === 1 && answer.ids[0] === lastId
}

/** A service that repeats its last window behind the end: the last item answers wherever one is asked for alone. */
async function settleRepeat(reader: Reader, question: EndQuestion): Promise<EndJudgement> {
  const window = await reader.look(question.index, reader.window)
  if (window.kind !== 'items' || window.ids.at(-1) !== question.lastId) return { kind: 'moved' }
  if (window.met.includes(0)) return { kind: 'more' }
  // The window's own skip may have been beyond the end already: the last item's place is the first that shows it alone.
  const search = Search.between(Math.max(0, question.index - reader.largest + 1), question.index)
  while (!search.isClosed) {
    if (onlyLast(await reader.look(search.place, 1), question.lastId)) search.tooFar()
    else search.tooNear()
  }
  const high = search.far as number
  // Where the last window is the first one too, a service that ignores skip looks the same, but for this: at the place of
  // the last item there is nothing else.
  const start = await reader.look(0, reader.window)
  if (start.kind !== 'items') return { kind: 'moved' }
  if (start.ids.includes(question.lastId)) {
    const alone = await reader.look(high, reader.window)
    if (!onlyLast(alone, question.lastId)) return { kind: 'unprovable', reason: 'skip-ignored' }
  }
  return { kind: 'proven', index: high, tied: false, repeats: true }
}
