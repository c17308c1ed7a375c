// The walk: a chain of windows joined by verified seams. The only place that knows skip; decides, never writes.
// Rules and their reasons: design.md 6.1.
import type { Moment, Order, Verdict } from '../task.ts'
import { type ChainState, extendChain, judgeSeam, newChain, overlapOf } from './chain.ts'
import { crossHidden, type EndQuestion, findHorizon, judgeEnd } from './end.ts'
import { closeLap, type FirstWindow } from './lap.ts'
import { orderShown } from './order.ts'
import { makeReader, probe, type Reader, readWindow } from './reader.ts'
import type { ItemsWindow, StepResult, WalkStep, WindowSource } from './source.ts'
import { type CountedRun, isRunWhole, proveRun } from './ties.ts'

export interface WalkSettings {
  /** Items asked for in one window. */
  window: number
  /** Items two neighbouring windows share, where answers are long enough. */
  overlap: number
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
  accepts?: (window: ItemsWindow) => boolean
  /** Ends the walk as proven once true; called with every window that has joined. */
  reached?: (window: ItemsWindow) => boolean
  /** Whether the end is also looked for one window and ten windows further: full walks. */
  beyond: boolean
  /** Whether a closing lap is run once the end is proven. */
  lap: 'never' | 'unless-oldest-first'
  /** Tasks created at or after this moment do not count in the digest of the sequence. */
  digestCutoff?: number | null
  /** A walk that was cut off: its last state and its first window. */
  resume?: { state: WalkState; firstWindow: FirstWindow | null }
}

/** What is kept in `walks.state`. */
export interface WalkState {
  chain: ChainState
  counting: CountedRun | null
  take: number
  largest: number
  /** Reasons why the verdict can only be `partial`. */
  doubts: string[]
}

export interface WalkResult {
  verdict: Verdict
  /** The first reason why it is partial; null for `complete`. */
  reason: string | null
  order: Order | null
  inversionMs: number
  /** Number of items in the list; null where the end was not proven. */
  total: number | null
  lastId: string | null
  pageCap: number | null
  filtered: boolean
  newestInFirst: Moment
  firstServiceDate: number | null
  firstStartedAt: number | null
  /** Digest of the ids in the order they were met, tasks created at or after `digestCutoff` left out. */
  digest: string
  digestCutoff: number | null
  /** The highest createdAt seen, epoch ms. */
  newest: Moment
  drift: number
}

/** Answers in a row that may bring nothing new before the walk gives up, and looks at an end that keeps moving. */
const FRUITLESS = 200
const END_TRIES = 12
const UNREADABLE_IN_A_ROW = 3

export type Walk = AsyncGenerator<WalkStep, WalkResult, StepResult>

export async function* walk(source: WindowSource, request: WalkRequest): Walk {
  const { settings } = request
  const reader = makeReader(source, settings.window)
  const resumed = request.resume?.state
  let chain = resumed?.chain ?? newChain(request.digestCutoff ?? null)
  let counting = resumed?.counting ?? null
  const doubts = [...(resumed?.doubts ?? [])]
  let firstWindow = request.resume?.firstWindow ?? null
  if (resumed !== undefined) {
    reader.take = resumed.take
    reader.largest = resumed.largest
  }
  let total: number | null = null

  const state = (): WalkState => ({ chain, counting, take: reader.take, largest: reader.largest, doubts })
  const step = (window: ItemsWindow, first = false): WalkStep => ({
    kind: 'take',
    window,
    state: state(),
    nextSkip: chain.end,
    drift: chain.drift,
    ...(first ? { firstWindow: { ids: window.ids, moments: window.moments } } : {}),
  })
  const result = (reason: string | null): WalkResult => finish(chain, settings, doubts, reason, total)

  /** The end is proven; the tie run before it has to be as well. */
  async function* acceptEnd(
    end: { index: number; tied: boolean },
    moment: Moment,
  ): AsyncGenerator<WalkStep, void, StepResult> {
    const doubted = end.tied && !(await isRunWhole(reader, end.index, moment))
    const run = counting ?? (doubted ? chain.tie : null)
    counting = null
    total = end.index + 1
    if (run !== null && !(yield* proveRun(reader, run, end.index + 1, (again) => step(again)))) doubts.push('ties')
  }

  let skip = resumed === undefined ? request.start : nextSkip(chain, counting, reader, settings)
  let back = 1
  let ahead = 1
  let fruitless = 0
  let endTries = 0
  let horizon = 0
  let unstuck = 0
  let pageOfOne = doubts.includes('page-of-one')
  let mustRead: { fresh: boolean } | undefined

  for (;;) {
    if (reader.requests >= settings.maxRequests) return result('request-limit')
    if (fruitless > FRUITLESS + chain.end / Math.max(1, reader.largest)) return result('no-progress')
    const reading = await readWindow(reader, skip, mustRead)
    mustRead = undefined

    if (reading.kind === 'unreadable' && chain.last !== null && reading.skip < chain.end - 1) {
      // Within the overlap, so it was met before: the next windows begin behind it.
      unstuck += 1
      if (unstuck > END_TRIES) return result('unreadable-from')
      chain = { ...chain, floor: reading.skip + 1 }
      skip = nextSkip(chain, counting, reader, settings)
      mustRead = { fresh: true }
      continue
    }
    if (reading.kind === 'unreadable') {
      const passed = yield* passUnreadable(reader, chain, reading.skip, reading.answer.message)
      if (passed.kind === 'too-many') return result('unreadable-from')
      if (passed.kind === 'moved') {
        unstuck += 1
        if (unstuck > END_TRIES) return result('unreadable-from')
        skip = nextSkip(chain, counting, reader, settings)
        mustRead = { fresh: true }
        continue
      }
      if (passed.kind === 'end') {
        if (reading.answer.kind === 'refused') return result('skip-limit')
        total = passed.total
        break
      }
      chain = { ...extendChain(chain, passed.window), floor: passed.window.skip }
      yield step(passed.window, firstWindow === null)
      firstWindow ??= { ids: passed.window.ids, moments: passed.window.moments }
      skip = nextSkip(chain, counting, reader, settings)
      continue
    }

    if (reading.kind === 'nothing') {
      if (skip === 0) {
        const empty = await judgeEmpty(reader)
        if (empty === 'proven') {
          total = 0
          break
        }
        fruitless += 1
        mustRead = { fresh: true }
        continue
      }
      if (chain.last === null && request.accepts === undefined) {
        // A walk that should begin in the middle of a list that has become shorter.
        skip = 0
        continue
      }
      if (chain.last !== null && !chain.filtered && (pageOfOne || skip >= chain.end)) {
        const judged = await judgeEnd(reader, endQuestion(chain, request, chain.last, chain.end - 1))
        if (judged.kind === 'proven') {
          yield* acceptEnd(judged, chain.last.moment)
          break
        }
        if (judged.kind === 'unprovable') return result(judged.reason)
      }
      fruitless += 1
      if (chain.filtered && chain.last !== null) {
        const crossed = await crossHidden(reader, chain)
        if (crossed.kind === 'proven') {
          total = crossed.index + 1
          break
        }
        if (crossed.kind === 'gap') {
          chain = extendChain(chain, crossed.window)
          yield step(crossed.window)
          skip = crossed.window.skip + Math.floor(crossed.window.asked / 2)
          fruitless = 0
          continue
        }
        endTries += 1
        if (endTries > END_TRIES) return result('end-keeps-moving')
      }
      skip = stepBack(skip, chain.returned, back, settings)
      back *= 2
      mustRead = { fresh: true }
      continue
    }

    const window = reading
    const beginning = chain.last === null
    if (beginning && window.skip > 0 && request.accepts !== undefined && !request.accepts(window)) {
      yield { kind: 'keep', window }
      fruitless += 1
      skip = stepBack(skip, window.ids.length, back, settings)
      back *= 2
      continue
    }
    const seam = judgeSeam(chain, window)
    if (seam.kind === 'gap' && !pageOfOne) {
      reader.drop(window)
      fruitless += 1
      ahead = 1
      if (window.asked > 1 && window.ids.length === 1 && reader.largest === 1) {
        pageOfOne = true
        doubts.push('page-of-one')
        skip = chain.end
        mustRead = { fresh: true }
        continue
      }
      skip = stepBack(skip, window.ids.length, back, settings)
      back *= 2
      mustRead = { fresh: true }
      continue
    }
    // An anchor outside the run: the run was read from before its start, so it needs no counting.
    if (seam.kind === 'joined') counting = null
    // Directly behind an unreadable position, where the place is the anchor, there is no run to count.
    const behindFloor = chain.floor > 0 && chain.tie?.start === chain.floor
    if (seam.kind === 'tied' && counting === null && chain.tie !== null && !behindFloor) {
      // The overlap shows only the tie run: reach back to before it, and count the run where that is too far. Where pages
      // are filtered there is no counting by index.
      const reach = chain.end - chain.tie.start + back
      const wanted = Math.max(chain.floor, chain.end - reach)
      if (chain.filtered) doubts.push('ties')
      else if (wanted < skip && reach < capacityOf(chain, reader)) {
        reader.drop(window)
        fruitless += 1
        skip = wanted
        back *= 2
        mustRead = { fresh: true }
        continue
      }
      if (!chain.filtered) counting = { ...chain.tie }
    }
    back = 1

    const earlier = chain
    chain = extendChain(chain, window)
    const behindRun = counting === null ? -1 : countRun(counting, window)
    const committed = yield step(window, beginning)
    firstWindow ??= { ids: window.ids, moments: window.moments }
    fruitless = committed.newlyMet > 0 ? 0 : fruitless + 1
    if (counting !== null && behindRun >= 0) {
      const proven = yield* proveRun(reader, counting, behindRun, (again) => step(again))
      if (!proven) doubts.push('ties')
      counting = null
    }
    if (request.reached?.(window) === true) return result(null)

    const twice = await firstItemTwice(reader, firstWindow.ids[0], earlier, window)
    if (twice !== null) return result(twice)

    const last = { id: window.ids.at(-1) as string, moment: window.moments.at(-1) as Moment }
    const fruitlessEnd = committed.newlyMet === 0
    // A service that moves skip back answers with a full window whose last item has been the last before.
    const same = fruitlessEnd && earlier.last?.id === last.id && window.skip > earlier.lastSeen.skip
    const short = same || (window.ids.length < window.asked && (chain.cap === 0 || window.ids.length < chain.cap))
    if (short && (fruitlessEnd || beginning || window.ids.length <= reader.largest / 2)) {
      const judged = await judgeEnd(reader, endQuestion(chain, request, last, window.skip + window.ids.length - 1))
      if (judged.kind === 'proven') {
        yield* acceptEnd(judged, last.moment)
        chain = { ...chain, last }
        break
      }
      if (judged.kind === 'unprovable') return result(judged.reason)
      if (judged.kind === 'gap') {
        chain = { ...extendChain(chain, judged.window), filtered: true }
        yield step(judged.window)
      } else if (judged.kind === 'moved' || (fruitlessEnd && !chain.filtered)) {
        endTries += 1
        if (endTries > END_TRIES) return result('end-keeps-moving')
        mustRead = { fresh: true }
      }
      if (judged.kind === 'more' && !beginning && chain.end >= horizon) {
        if (horizon > 0) endTries += 1
        if (endTries > END_TRIES) return result('end-keeps-moving')
        horizon = await findHorizon(reader, chain.end)
      }
      if (judged.kind === 'more' && !chain.filtered) {
        if (window.ids.length === 1 && reader.largest === 1 && !pageOfOne) {
          pageOfOne = true
          doubts.push('page-of-one')
        }
        const joined = fruitlessEnd && !pageOfOne ? await joinByPlace(reader, chain) : null
        if (joined !== null) {
          // The overlap leaves no room for the next item: answers are cut by bytes, and it is a large one. A place says
          // nothing about ties, so the run before it is counted.
          const run = counting ?? chain.tie
          chain = extendChain(chain, joined)
          if (run !== null && joined.moments[0] === run.moment) counting = { ...(chain.tie as CountedRun) }
          else if (run !== null) {
            counting = null
            if (!(yield* proveRun(reader, run, joined.skip, (again) => step(again)))) doubts.push('ties')
          }
          yield step(joined)
        }
      }
    }
    if (pageOfOne) {
      skip = chain.end
      continue
    }
    skip = nextSkip(chain, counting, reader, settings)
    // Where pages are filtered, what an answer holds says little about how far it reached: half a window is the overlap.
    if (chain.filtered) skip = Math.max(skip, window.skip + Math.floor(window.asked / 2))
    if (chain.last !== null && chain.last.id === earlier.last?.id && !window.ids.includes(chain.last.id)) {
      // Wholly behind the chain's last item: thousands may have been inserted in front, so go forward in growing steps.
      skip += (ahead - 1) * Math.max(1, window.ids.length - settings.overlap)
      ahead *= 2
    } else ahead = 1
    if (skip <= window.skip && chain.end > window.skip) skip = window.skip + 1
    expectNext(source, chain, reader, settings, skip)
  }

  if (firstWindow !== null && request.lap === 'unless-oldest-first' && total !== 0) {
    const shown = orderShown(chain.order, settings.settleMs).order
    if (shown !== 'created_asc') {
      const lapChain = { ...chain, order: { ...chain.order } }
      const bound = Math.min(
        settings.maxRequests - reader.requests,
        20 + 2 * Math.ceil((total ?? 0) / Math.max(1, reader.largest)),
      )
      const lap = yield* closeLap(reader, lapChain, firstWindow, settings.overlap, bound, (again) => step(again))
      chain = lapChain
      if (lap.kind === 'open') doubts.push(lap.reason)
    }
  }
  return result(null)
}

function endQuestion(
  chain: ChainState,
  request: WalkRequest,
  last: { id: string; moment: Moment },
  index: number,
): EndQuestion {
  return {
    lastId: last.id,
    lastMoment: last.moment,
    index,
    beyond: request.beyond,
    wide: chain.filtered || chain.capLow < chain.cap,
    filtered: chain.filtered,
  }
}

/** The next window by its place alone: the chain's last item stands directly before it, also after it was read. */
async function joinByPlace(reader: Reader, chain: ChainState): Promise<ItemsWindow | null> {
  if (chain.end === 0) return null
  const window = await reader.read(chain.end, reader.take, { fresh: true })
  const before = await reader.read(chain.end - 1, 1, { fresh: true })
  reader.drop(before)
  const holds = before.kind === 'items' && before.ids[0] === chain.last?.id
  if (holds && window.kind === 'items' && window.ids.length > 0) return window
  reader.drop(window)
  return null
}

/** How many items the next answer can be expected to hold. */
function capacityOf(chain: ChainState, reader: Reader): number {
  if (reader.take < reader.window) return reader.take
  return chain.returned > 0 && chain.returned <= chain.cap
    ? chain.cap
    : Math.min(reader.take, Math.max(chain.returned, reader.largest))
}

/** Where the next window begins: before the chain's end, and before its tie run where that fits. */
function nextSkip(chain: ChainState, counting: CountedRun | null, reader: Reader, settings: WalkSettings): number {
  const capacity = capacityOf(chain, reader)
  const overlap = overlapOf(Math.min(capacity, Math.max(chain.returned, 2)), settings.overlap)
  const plain = Math.max(chain.floor, chain.end - overlap)
  if (counting !== null || chain.tie === null) return plain
  const reach = chain.end - chain.tie.start + Math.max(1, Math.floor(overlap / 2))
  if (reach <= overlap || reach >= capacity) return plain
  return Math.max(chain.floor, chain.end - reach)
}

function stepBack(skip: number, returned: number, back: number, settings: WalkSettings): number {
  const stride = Math.max(1, returned - overlapOf(returned, settings.overlap))
  return Math.max(0, skip - stride * back)
}

/** Adds what `window` brought of the counted run; the index behind the run where the window shows it, else -1. */
function countRun(run: CountedRun, window: ItemsWindow): number {
  let index = window.moments.indexOf(run.moment)
  if (index < 0) return -1
  for (; index < window.ids.length && window.moments[index] === run.moment; index += 1) {
    if (window.met[index] === 0) run.met += 1
  }
  return index < window.ids.length ? window.skip + index : -1
}

/**
 * The walk's first item shows up behind the chain: something moved, or the service ignores skip or wraps around. It does
 * where the item is at 0 at the same time.
 */
async function firstItemTwice(
  reader: Reader,
  firstId: string | undefined,
  earlier: ChainState,
  window: ItemsWindow,
): Promise<'skip-ignored' | 'wraps' | null> {
  if (earlier.last === null || firstId === undefined || window.skip === 0) return null
  const at = window.ids.indexOf(firstId)
  if (at < 0) return null
  // Three in a row, so that items inserted in front between two requests do not look the same.
  for (const place of [0, window.skip + at, 0]) {
    const answer = await reader.read(place, 1, { fresh: true })
    reader.drop(answer)
    if (answer.kind !== 'items' || answer.ids[0] !== firstId) return null
  }
  return at === 0 ? 'skip-ignored' : 'wraps'
}

function expectNext(
  source: WindowSource,
  chain: ChainState,
  reader: Reader,
  settings: WalkSettings,
  skip: number,
): void {
  if (reader.take !== reader.window) return
  const capacity = capacityOf(chain, reader)
  source.expect(skip, Math.max(1, capacity - overlapOf(capacity, settings.overlap)), reader.take)
}

/** An empty list is two empty answers at 0 and nothing beyond; it never means that everything was deleted. */
async function judgeEmpty(reader: Reader): Promise<'proven' | 'moved'> {
  for (const place of [0, reader.window, 10 * reader.window]) {
    const answer = await probe(reader, place)
    reader.drop(answer)
    if (answer.kind === 'failed' || (answer.kind === 'items' && answer.ids.length > 0)) return 'moved'
    if (answer.kind === 'refused' && place === 0) return 'moved'
  }
  return 'proven'
}

type Passed =
  | { kind: 'window'; window: ItemsWindow }
  | { kind: 'end'; total: number }
  | { kind: 'moved' }
  | { kind: 'too-many' }

/**
 * Sets the position aside and goes on behind it. There is no overlap across it: the chain's last item, still directly
 * before it after the next window was read, is the anchor.
 */
async function* passUnreadable(
  reader: Reader,
  chain: ChainState,
  position: number,
  message: string,
): AsyncGenerator<WalkStep, Passed, StepResult> {
  if (chain.last === null || position !== chain.end) return { kind: 'moved' }
  const anchor = chain.last.id
  let next = position + 1
  let found: ItemsWindow | null = null
  for (;;) {
    const reading = await readWindow(reader, next, { fresh: true })
    if (reading.kind === 'items') {
      found = reading
      break
    }
    if (reading.kind === 'nothing') break
    if (reading.skip !== next) return { kind: 'moved' }
    next += 1
    if (next - position > UNREADABLE_IN_A_ROW) return { kind: 'too-many' }
  }
  const before = await reader.read(position - 1, 1, { fresh: true })
  reader.drop(before)
  if (before.kind !== 'items' || before.ids[0] !== anchor) {
    if (found !== null) reader.drop(found)
    return { kind: 'moved' }
  }
  for (let index = position; index < next; index += 1) {
    yield { kind: 'unreadable', skip: index, identity: `${index - position} behind ${anchor}`, message }
  }
  if (found === null) return { kind: 'end', total: next }
  return { kind: 'window', window: found }
}

function finish(
  chain: ChainState,
  settings: WalkSettings,
  doubts: string[],
  reason: string | null,
  total: number | null,
): WalkResult {
  const shown = orderShown(chain.order, settings.settleMs)
  const why = reason ?? doubts[0] ?? null
  return {
    verdict: why === null ? 'complete' : 'partial',
    reason: why,
    order: shown.order,
    inversionMs: shown.inversionMs,
    total: why === null ? total : null,
    lastId: chain.last?.id ?? null,
    pageCap: chain.cap > 0 ? chain.cap : null,
    filtered: chain.filtered,
    newestInFirst: chain.newestInFirst,
    firstServiceDate: chain.firstServiceDate,
    firstStartedAt: chain.firstStartedAt,
    digest: `${chain.digest[0]}:${chain.digest[1]}`,
    digestCutoff: chain.digestCutoff,
    newest: chain.order.highest,
    drift: chain.drift,
  }
}
