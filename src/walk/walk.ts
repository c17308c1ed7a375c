// The walk, a chain of windows joined by verified seams, reading by reading: which windows join, and where the next one
// lies. The only place that knows skip; decides, never writes. Rules and their reasons: design.md 6.1.
import { type ChainState, extendChain, overlapOf } from './chain.ts'
import { Course, type Ended, lastOf, type Steps } from './course.ts'
import { onGap, onNothing, onUnreadable } from './detours.ts'
import { askForEnd, passHorizon } from './ending.ts'
import { firstItemTwice, hasMoved, isScrambled } from './guards.ts'
import { closeLap } from './lap.ts'
import { orderShown } from './order.ts'
import { capacityOf } from './pace.ts'
import { type Reading, readWindow } from './reader.ts'
import type { Walk, WalkRequest } from './request.ts'
import type { ItemsWindow, WindowSource } from './source.ts'
import { acceptTied, markCounted, payOwed } from './ties.ts'

/** Answers in a row that may bring nothing new, beside one for every window of the list so far. */
const FRUITLESS = 200
/** In windows: steps over what has been met do not grow beyond this. */
const LARGEST_STEP = 1024
/** Answers in no order at all that end a walk, and answers without anything new that end what follows it. */
const SCRAMBLED = 2
/** Laps in all: each has less to read than the one before, unless the list moves faster than it is read. */
const MOST_LAPS = 4
/** Seams in a row at which the last item stood further down, and answers in a row that have to be the same. */
const SUSPICIOUS_SHIFTS = 3

/** Walks `source` to the end of `request`; each step is to be carried out before the next one is asked for. */
export async function* walk(source: WindowSource, request: WalkRequest): Walk {
  const course = new Course(source, request)
  guessAhead(course)
  for (;;) {
    const { maxRequests } = course.request.settings
    if (course.reader.requests >= maxRequests) return course.result('request-limit')
    if (course.fruitless > FRUITLESS + course.met / Math.max(1, course.reader.largest))
      return course.result('no-progress')
    const reading = await readWindow(course.reader, course.skip, { fresh: course.fresh })
    yield* markCounted(course)
    course.fresh = false
    const ended = yield* goOn(course, reading)
    if (ended?.kind === 'stop') {
      course.isStopped = true
      if (ended.reason === null && course.kernel.owed !== undefined) yield* payOwed(course)
      yield* markCounted(course)
      if (ended.reason === 'no-order') yield* sweep(course)
      else if (ended.reason === null && request.lap === 'unless-one-answer' && course.front === null)
        yield* closingLap(course)
      return course.result(ended.reason)
    }
    if (ended?.kind === 'list-end') break
  }
  if (course.kernel.owed !== undefined && !course.isUnpaid) yield* payOwed(course)
  yield* markCounted(course)
  yield* closingLap(course)
  return course.result(null)
}

/** A walk to the end of the list has use for what follows its first window: how many items answers hold is a guess. */
function guessAhead({ request, chain, source, skip }: Course): void {
  const { window, overlap } = request.settings
  const isWhole = request.reached === undefined && request.start === 0
  if (isWhole && chain.last === null) source.expect(skip, window - overlapOf(window, overlap), window)
}

function goOn(course: Course, reading: Reading): Steps<Ended | null> {
  if (reading.kind === 'unreadable') return onUnreadable(course, reading)
  return reading.kind === 'nothing' ? onNothing(course) : onWindow(course, reading)
}

async function* onWindow(course: Course, window: ItemsWindow): Steps<Ended | null> {
  const { chain, request } = course
  const beginning = chain.last === null
  if (beginning && window.skip > 0 && request.accepts !== undefined && !(await request.accepts(window))) {
    yield { kind: 'keep', window }
    course.fruitless += 1
    course.lookOn('before', window.ids.length)
    return null
  }
  const seam = beginning ? 'shown' : course.kernel.seam(window.handle)
  if (seam === 'none' && !course.pageOfOne) {
    course.reader.drop(window)
    onGap(course, window)
    return null
  }
  if (seam === 'tied' && window.met.includes(0) && !acceptTied(course, window)) return null
  return yield* join(course, window)
}

/** Takes the window in, looks at what it tells of the service, and asks for the end where it looks like one. */
async function* join(course: Course, window: ItemsWindow): Steps<Ended | null> {
  const earlier = course.chain
  const beginning = earlier.last === null
  course.back = 1
  course.chain = extendChain(earlier, window)
  const { newlyMet } = yield course.step(window)
  course.met += newlyMet
  course.fruitless = newlyMet > 0 ? 0 : course.fruitless + 1
  if (newlyMet > 0) {
    course.windows += 1
    course.stuck = 0
  }
  if (isScrambled(earlier, window)) course.scrambled += 1
  if (course.scrambled >= SCRAMBLED) return { kind: 'stop', reason: 'no-order' }
  if (course.hasLeftOwed(window.moments.at(-1))) yield* payOwed(course)
  if (newlyMet > 0 && !course.chain.filtered && (await hasMoved(course.reader, earlier, window))) {
    course.chain = { ...course.chain, order: { ...course.chain.order, unstable: true } }
  }
  await suspectFilter(course, window)
  course.request.joined?.(window)
  if ((await course.request.reached?.(window, course.chain.order)) === true) {
    if (beginning && window.skip === 0) course.front = window.ids
    return { kind: 'stop', reason: null }
  }
  const twice = await firstItemTwice(course.reader, course.firstWindow, earlier, window)
  if (twice !== null) return { kind: 'stop', reason: twice }

  const passed = await passHorizon(course)
  if (passed === 'passed') return { kind: 'list-end' }
  const last = lastOf(window)
  course.shown = last
  // A service that moves skip back answers with a full window whose last item has been the last before.
  const same = newlyMet === 0 && earlier.last?.id === last.id && window.skip > earlier.lastSeen.skip
  const capped = window.ids.length === course.chain.cap
  const short = same || (window.ids.length < window.asked && !capped)
  // Not yet at the chain's last item again: it may only be out of this answer's reach, or deleted after some more tries.
  const behind = last.id !== course.chain.last?.id && course.fruitless <= 3 * course.request.settings.overlap + 10
  if (
    passed === null &&
    short &&
    !behind &&
    (newlyMet === 0 || beginning || window.ids.length <= course.reader.largest / 2)
  ) {
    const ended = yield* askForEnd(course, window, newlyMet === 0)
    if (ended !== null) return ended
  }
  advance(course, window, earlier)
  return null
}

/** Where the next window begins, and what is worth reading ahead. */
function advance(course: Course, window: ItemsWindow, earlier: ChainState): void {
  const { chain, request, reader } = course
  if (course.pageOfOne) {
    course.skip = chain.end
    return
  }
  course.skip = course.forward()
  // Where pages are filtered, what an answer holds says little about how far it reached: half a window is the overlap.
  if (chain.filtered) course.skip = Math.max(course.skip, window.skip + Math.floor(window.asked / 2))
  if (chain.last !== null && chain.last.id === earlier.last?.id) {
    // Nothing behind the chain's last item: thousands may have been inserted in front, so go forward in growing steps.
    course.skip += (course.ahead - 1) * Math.max(1, window.ids.length - request.settings.overlap)
    course.ahead = Math.min(course.ahead * 2, LARGEST_STEP)
  } else course.ahead = 1
  if (course.skip <= window.skip && chain.end > window.skip) course.skip = window.skip + 1
  // Near the end there is nothing to read ahead.
  if (reader.take !== reader.window || reader.kernel.state.ceiling !== null) return
  const stride = Math.max(1, capacityOf(chain, reader) - (chain.end - course.forward()))
  course.source.expect(course.skip, stride, reader.take)
}

/** Nothing can be proven any more: every further page is read once for its items, by its place. */
async function* sweep(course: Course): Steps<void> {
  const { reader, request } = course
  for (let fruitless = 0; fruitless < SCRAMBLED && reader.requests < request.settings.maxRequests; ) {
    const reading = await readWindow(reader, course.skip)
    if (reading.kind !== 'items') return
    course.chain = extendChain(course.chain, reading)
    const { newlyMet } = yield course.step(reading)
    fruitless = newlyMet > 0 ? 0 : fruitless + 1
    course.skip = reading.skip + reading.ids.length
    course.source.expect(course.skip, reader.largest, reader.take)
  }
}

async function* closingLap(course: Course): Steps<void> {
  course.inLap = true
  const { request, reader } = course
  if (course.firstWindow === null || request.lap === 'never' || course.total === 0) return
  if (request.lap === 'beyond-one-window' && (course.total ?? 0) <= course.firstWindow.ids.length) return
  if (orderShown(course.chain.order, request.settings.settleMs).order === 'created_asc') return
  // In a list in which things move, what moved while a lap took several answers may have passed it by: it is read again,
  // until one answer shows all that moved since the lap before (sync/steps/front.ts).
  const moves = request.lap === 'unless-one-answer' || request.known?.order === 'updated_desc'
  let goal = course.firstWindow
  for (let laps = 0; laps < MOST_LAPS; laps += 1) {
    const most = 20 + 4 * Math.ceil((course.total ?? 0) / Math.max(1, reader.largest))
    const bound = Math.min(request.settings.maxRequests - reader.requests, most)
    const chain = { ...course.chain, order: { ...course.chain.order } }
    const lap = yield* closeLap(reader, chain, goal, request.settings.overlap, bound, (again) => course.step(again))
    course.chain = chain
    if (lap.kind === 'open') {
      course.doubts.push(lap.reason)
      return
    }
    if (lap.first === null) return
    if (lap.isWhole) course.front = lap.first.ids
    if (lap.isWhole || !moves) return
    goal = { ids: lap.first.ids, moments: lap.first.moments }
  }
}

/**
 * The last item keeps standing further down than answers said: the list drifts, or pages are filtered after paging. It
 * does not drift where the same question brings the same answer again and again.
 */
async function suspectFilter(course: Course, window: ItemsWindow): Promise<void> {
  const { chain, reader } = course
  if (
    chain.filtered ||
    chain.shifts < SUSPICIOUS_SHIFTS ||
    window.ids.length === window.asked ||
    window.ids.length === chain.cap
  )
    return
  course.chain = { ...chain, shifts: 0 }
  for (let time = 0; time < SUSPICIOUS_SHIFTS; time += 1) {
    const again = await reader.read(window.skip, window.asked, { fresh: true })
    reader.drop(again)
    if (again.kind !== 'items' || again.ids.join('\n') !== window.ids.join('\n')) return
  }
  course.chain = { ...course.chain, filtered: true }
  course.kernel.filter()
}
