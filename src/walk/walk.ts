// The walk, a chain of windows joined by verified seams, reading by reading: which windows join, and where the next one
// lies. The only place that knows skip; decides, never writes. Rules and their reasons: design.md 6.1.

import { endWhereShown, type Found, goOnBehind, type Onward } from './behind.ts'
import { type ChainState, overlapOf } from './chain.ts'
import { onGap, onNothing, onUnreadable } from './detours.ts'
import { endIfSpent, readAgain, seekNothing } from './further.ts'
import { endInMotion, passEmptyIndex } from './growing.ts'
import { hasMoved, isScrambled } from './guards.ts'
import { type FirstWindow, HeadAgain, LapSource } from './lap.ts'
import { leavesOut, suspectFilter } from './last-item.ts'
import { inVain, TRIES } from './moving-end.ts'
import { lastOf, OngoingWalk, type Steps, type WalkEnding } from './ongoing-walk.ts'
import { isCreatedOrder, orderKept } from './order.ts'
import { readWindow } from './read-window.ts'
import { firstItemTwice } from './repeats.ts'
import type { Walk, WalkRequest } from './request.ts'
import type { ItemsWindow, WindowSource } from './source.ts'
import { acceptTied, markCounted, payOwed } from './ties.ts'

// A list may have no end, so every way to go on is bounded: by `inVain` (moving-end.ts) where answers bring nothing
// new, by `requestsLeft` (ongoing-walk.ts, counts items) where they always do, and by `maxRequests` in all.

/** For these reasons a walk ends partial with the rest of the list unread: that is swept. */
const SWEPT = ['no-order', 'end-keeps-moving', 'no-progress']
/** Steps forward over items that have been met double up to this many windows. */
const LARGEST_STEP = 1024
/** This many answers in no order at all end a walk. */
const SCRAMBLED = 2
/** Most requests of a closing lap, and how many more for every window that the list takes. */
const LAP_REQUESTS = 40
const LAP_REQUESTS_PER_WINDOW = 5

/** Walks `source` to the end of `request`; each step is to be carried out before the next one is asked for. */
export async function* walk(source: WindowSource, request: WalkRequest): Walk {
  const ongoing = new OngoingWalk(source, request)
  guessAhead(ongoing)
  const ending = yield* readToEnd(ongoing)
  const isListEnd = ending.kind === 'list-end'
  const reason = ending.kind === 'stop' ? ending.reason : null
  if (reason === null && ongoing.kernel.owed !== undefined && !ongoing.isUnpaid) yield* payOwed(ongoing)
  yield* markCounted(ongoing)
  if (reason !== null && SWEPT.includes(reason)) yield* sweep(ongoing)
  const isFrontMoving = reason === null && request.lap === 'unless-one-answer' && ongoing.front === null
  const doubt = isListEnd || isFrontMoving ? yield* closingLap(ongoing) : null
  return ongoing.result(reason ?? doubt, isListEnd || request.range !== undefined)
}

/** Reads window after window until the walk is over. */
async function* readToEnd(ongoing: OngoingWalk): Steps<WalkEnding> {
  let found: Found | null = null
  for (;;) {
    const spent = whatIsSpent(ongoing)
    if (spent !== null) {
      if (found !== null) ongoing.reader.drop(found.window)
      return { kind: 'stop', reason: spent }
    }
    const onward: Onward = found === null ? yield* readOn(ongoing) : yield* join(ongoing, found)
    found = onward?.kind === 'window' ? onward : null
    if (onward?.kind === 'window') continue
    const ended = onward ?? (await endWhereShown(ongoing))
    if (ended !== null) return ended
  }
}

function whatIsSpent({ fruitless, windows, reader, request, requestsLeft }: OngoingWalk): string | null {
  if (reader.requests >= request.settings.maxRequests) return 'request-limit'
  return requestsLeft < 0 || fruitless > inVain(windows) ? 'no-progress' : null
}

/** A walk to the list's end needs its second window: asks for it at once, guessing how much the first one holds. */
function guessAhead({ request, chain, reader, skip }: OngoingWalk): void {
  const { window, overlap } = request.settings
  const isWhole = request.reached === undefined && request.start === 0
  if (isWhole && chain.last === null) reader.source.readAhead(skip, window - overlapOf(window, overlap), window)
}

async function* readOn(ongoing: OngoingWalk): Steps<Onward> {
  const { skip, fresh } = ongoing
  const reading = await readWindow(ongoing.reader, skip, { fresh, once: ongoing.isLooking() && skip > 0 })
  yield* markCounted(ongoing)
  ongoing.fresh = false
  if (reading.kind === 'unreadable') return yield* onUnreadable(ongoing, reading)
  return reading.kind === 'nothing' ? yield* onNothing(ongoing, reading) : yield* onWindow(ongoing, reading)
}

async function* onWindow(ongoing: OngoingWalk, window: ItemsWindow): Steps<Onward> {
  const { chain, request, reader, kernel } = ongoing
  const beginning = chain.last === null
  if (beginning && window.skip > 0 && (await request.accepts?.(window)) === false) {
    yield { kind: 'keep', window }
    ongoing.fruitless += 1
    ongoing.lookOn('before', window.ids.length)
    return null
  }
  const isDirect = !beginning && window.skip === chain.end && window.met[0] === 0
  if (isDirect && (kernel.state.spoiled === null || reader.largest < 2 || reader.take < 2)) {
    if ((ongoing.isFiltered || ongoing.reachAhead > 2) && ongoing.forward() < chain.end) {
      // A step forward has led to the end of the chain, past where an overlap can be shown.
      reader.drop(window)
      return readAgain(ongoing)
    }
    // No overlap was possible: the window may join by its place.
    const onward = yield* goOnBehind(ongoing, { first: window, byPlace: true })
    return onward === 'moved' ? await readAgain(ongoing) : onward
  }
  if (!beginning && window.met.includes(0) && !mayJoin(ongoing, window)) return null
  return yield* join(ongoing, { kind: 'window', window, follows: false })
}

/** Whether a window with something new is to be taken in; else it is dropped, and the next one's place is known. */
function mayJoin(ongoing: OngoingWalk, window: ItemsWindow): boolean {
  const { kernel, reader } = ongoing
  const seam = kernel.seam(window.handle)
  if (seam === 'tied' && !acceptTied(ongoing, window)) return false
  if (kernel.joins(window.handle)) return true
  if (seam !== 'none') {
    // Where ties come in another order at every read, another answer may show more. Else the walk goes on, partial.
    if (kernel.state.spoiled !== null || ongoing.unjoined >= TRIES) return true
    ongoing.unjoined += 1
  } else if (ongoing.isFiltered && !ongoing.isLooking())
    ongoing.leap = Math.floor(Math.min(ongoing.leap, window.asked / 2) / 2)
  reader.drop(window)
  onGap(ongoing, window)
  return false
}

/** Takes the window in, looks at what it tells of the service, and asks for the end where it looks like one. */
async function* join(ongoing: OngoingWalk, { window, follows }: Found): Steps<Onward> {
  const earlier = ongoing.chain
  const beginning = earlier.last === null
  const isFarthest = ongoing.reader.last?.id === earlier.last?.id && window.skip >= ongoing.forward()
  const newlyMet = yield* ongoing.takeIn(window, follows)
  if (isScrambled(earlier, window)) ongoing.scrambled += 1
  if (ongoing.scrambled >= SCRAMBLED) return { kind: 'stop', reason: 'no-order' }
  if (ongoing.hasLeftOwed(window)) yield* payOwed(ongoing)
  if (newlyMet > 0 && !ongoing.isFiltered && (await hasMoved(ongoing.reader, earlier, window))) {
    ongoing.chain = { ...ongoing.chain, order: { ...ongoing.chain.order, unstable: true } }
  }
  await suspectFilter(ongoing, window, earlier)
  ongoing.request.joined?.(window, ongoing.chain.order)
  if ((await ongoing.request.reached?.(window, ongoing.chain.order)) === true) {
    if (beginning && window.skip === 0) ongoing.front = window.ids
    return { kind: 'stop', reason: null }
  }
  const twice = beginning ? null : await firstItemTwice(ongoing, window)
  if (twice !== null) return twice

  const passed = await passEmptyIndex(ongoing)
  if (passed === 'passed') return ongoing.endsAt(ongoing.chain.end - 1)
  const seems = passed === null ? looksLast(ongoing, window, earlier, { isFarthest, follows }) : null
  if (seems !== null) {
    const onward = yield* askForEnd(ongoing, seems === 'no-overlap')
    if (onward !== null) return onward
  }
  advance(ongoing, window, earlier)
  return null
}

/**
 * Why the list may end with the window just taken in: it is `short`, or no overlap shows more; null where it goes on.
 * `isFarthest`: the one before ended with the chain's last item, too, and this one began as low as an overlap allows.
 */
function looksLast(
  ongoing: OngoingWalk,
  window: ItemsWindow,
  earlier: ChainState,
  { isFarthest, follows }: { isFarthest: boolean; follows: boolean },
): 'short' | 'no-overlap' | null {
  const { chain, reader, end, fruitless, request } = ongoing
  const count = window.ids.length
  const isFirst = earlier.last === null
  // The answer does not reach the chain's last item, which may lie behind it; after more tries it counts as deleted.
  if (lastOf(window).id !== chain.last?.id && fruitless <= 3 * request.settings.overlap + 10) return null
  // A full answer shows what lies behind only from far enough down: if one of two servers lags, it began further up.
  const isSpent = chain.last?.id === earlier.last?.id && (isFarthest || count < Math.min(window.asked, ongoing.page))
  // One item alone leaves no room for an overlap.
  if (isSpent || (count === 1 && window.asked > 1 && (follows || isFirst))) return 'no-overlap'
  const goesOn = count === chain.cap || window.skip + count <= end.farTo
  const isSmall = isFirst || count <= reader.largest / 2
  return count < window.asked && !goesOn && isSmall ? 'short' : null
}

/** Returns null where the walk goes on: more lies behind, or the list has moved. */
async function* askForEnd(ongoing: OngoingWalk, byPlace: boolean): Steps<Onward> {
  const onward = yield* goOnBehind(ongoing, { byPlace: byPlace && !ongoing.isFiltered })
  const ended = onward === 'moved' ? yield* endInMotion(ongoing) : onward
  if (ended !== null) return ended
  ongoing.fresh ||= onward === 'moved' || ongoing.kernel.state.empty !== null
  ongoing.end.hasMoved ||= onward === 'moved'
  return ongoing.reader.largest < 2 ? null : endIfSpent(ongoing)
}

/** Sets where the next window begins, and reads ahead what is worth it. */
function advance(ongoing: OngoingWalk, window: ItemsWindow, earlier: ChainState): void {
  const { chain, request, reader } = ongoing
  ongoing.skip = ongoing.forward()
  // Where pages are filtered, the length of an answer says little about its reach: half a window is the overlap.
  if (ongoing.isFiltered)
    ongoing.skip = Math.max(ongoing.skip, window.skip + Math.min(ongoing.leap, Math.floor(window.asked / 2)))
  if (chain.last?.id === earlier.last?.id) {
    // The window showed nothing behind the last item: thousands may have come in front, so go on in growing steps.
    ongoing.skip += (ongoing.reachAhead - 1) * Math.max(1, window.ids.length - request.settings.overlap)
    ongoing.reachAhead = Math.min(ongoing.reachAhead * 2, LARGEST_STEP)
  } else {
    ongoing.reachAhead = 1
    ongoing.tiedTries = 0
  }
  if (ongoing.skip <= window.skip && chain.end > window.skip) ongoing.skip = window.skip + 1
  // Near the end there is nothing to read ahead.
  if (reader.take !== reader.window || reader.kernel.state.empty !== null) return
  const stride = ongoing.capacity - (chain.end - ongoing.forward())
  reader.source.readAhead(ongoing.skip, stride, reader.take)
}

/**
 * The walk proves nothing any more, but items can still be taken in: reads the rest of the list once, by its indexes,
 * past positions that bring nothing, and no further than to where nothing stands.
 */
async function* sweep(ongoing: OngoingWalk): Steps<void> {
  const { reader, request, chain } = ongoing
  if (request.reached !== undefined || request.range !== undefined) return
  const most = Math.min(request.settings.maxRequests, 2 * reader.requests + inVain(ongoing.windows))
  let skip = Math.min(ongoing.skip, chain.end)
  await seekNothing(reader, skip)
  for (let fruitless = 0, gap = 1; reader.requests < most && skip < reader.emptyFrom; ) {
    const reading = await readWindow(reader, skip)
    let newlyMet = 0
    if (reading.kind === 'items') {
      newlyMet = yield* ongoing.takeIn(reading)
      skip = reading.skip + reading.ids.length
      gap = 1
      reader.source.readAhead(skip, reading.ids.length, reader.take)
    } else {
      skip = (reading.kind === 'nothing' ? skip : reading.skip) + gap
      gap *= 2
    }
    fruitless = newlyMet > 0 || Number.isFinite(reader.emptyFrom) ? 0 : fruitless + 1
    if (fruitless === TRIES) return
  }
}

/** Returns why it is in doubt whether all that moved meanwhile was met; null where it is not in doubt. */
async function* closingLap(ongoing: OngoingWalk): Steps<Lap['doubt']> {
  const { request, reader } = ongoing
  if (ongoing.firstWindow === null || request.lap === 'never' || request.lap === 'is-one' || ongoing.total === 0)
    return null
  if (request.lap === 'beyond-one-window' && (ongoing.total ?? 0) <= ongoing.firstWindow.ids.length) return null
  // In a list in which things move, what moved while a lap took several answers may have passed it by: the lap is run
  // again, until one answer shows all that moved since the lap before (sync/steps/front.ts).
  const moves = request.lap === 'unless-one-answer' || request.known?.order === 'updated_desc'
  const total = ongoing.total ?? 0
  const isCounted = () => !ongoing.isCountable || request.isCounted?.(total) !== false
  let goal = ongoing.firstWindow
  for (let laps = 0; laps < TRIES; laps += 1) {
    const windows = Math.ceil(total / reader.largest)
    const most = LAP_REQUESTS + LAP_REQUESTS_PER_WINDOW * windows + ongoing.requestsBefore
    const lap = yield* runLap(ongoing, { goal, moves }, Math.min(ongoing.requestsLeft, most))
    if (lap.doubt !== null || lap.first === null) return lap.doubt
    if (lap.isWhole) ongoing.front = lap.first.ids
    // The server that answered may lag, and not show what another one had in front when that showed the end.
    if ((lap.isWhole || !moves) && isCounted()) return null
    if (moves) goal = lap.first
  }
  if (!isCounted() && (await leavesOut(ongoing, total))) ongoing.kernel.filter()
  return null
}

/** `first`: the answer that showed the head of the list; `isWhole`: it was the only one that the lap needed. */
interface Lap {
  doubt: 'lap-unreadable' | 'lap-too-long' | null
  first: ItemsWindow | null
  isWhole: boolean
}

/** Reads the head of the list again, by a walk of its own, until it is seen as in `goal`, or to the list's end. */
async function* runLap(
  ongoing: OngoingWalk,
  { goal, moves }: { goal: FirstWindow; moves: boolean },
  maxRequests: number,
): Steps<Lap> {
  const { reader, request, chain } = ongoing
  const { overlap, settleMs } = request.settings
  const order = { ...chain.order }
  const isStill = !moves && isCreatedOrder(orderKept(order, request.known, settleMs).order)
  const head = new HeadAgain(goal, { overlap, isStill }, order, chain.newestInFirst)
  const source = new LapSource(reader)
  // The end of the list may have made windows smaller, but a large answer shows most: tries the first one's size again.
  const window = Math.max(reader.take, goal.ids.length)
  const lap = walk(source, {
    settings: { window, overlap, settleMs, maxRequests },
    start: 0,
    beyond: false,
    lap: 'is-one',
    reached: (again) => head.look(latest as ItemsWindow, again.met.lastIndexOf(1) + 1),
  })
  let first: ItemsWindow | null = null
  let latest: ItemsWindow | null = null
  for (;;) {
    const { done, value } = await lap.next()
    if (done === true) {
      ongoing.chain = { ...ongoing.chain, order }
      // No proof rests on a lap, so its ties need not be counted.
      const isOver = head.isSeen || value.reason === null || value.reason.startsWith('ties')
      const doubt = isOver ? null : value.reason === 'unreadable-from' ? 'lap-unreadable' : 'lap-too-long'
      return { doubt, first, isWhole: head.isSeen && latest === first }
    }
    if (value.kind === 'mark') source.mark(value.ids)
    else if (value.kind === 'take') {
      latest = source.release(value.window)
      first ??= latest
      source.mark(latest.ids)
      yield ongoing.step(latest)
    }
  }
}
