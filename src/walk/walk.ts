// The walk, a chain of windows joined by verified seams, reading by reading: joins windows to the chain, steps back over gaps, passes what cannot be read,
// asks for the end. The only place that knows skip; decides, never writes. Rules and their reasons: design.md 6.1.
import type { Moment } from '../task.ts'
import { type ChainState, extendChain, judgeSeam, newChain } from './chain.ts'
import { crossHidden, type EndJudgement, type EndQuestion, judgeDriftingEnd, judgeEnd } from './end.ts'
import { firstItemTwice, isListEmpty, joinByPlace, passUnreadable, showsRunBehind } from './guards.ts'
import { closeLap, type FirstWindow } from './lap.ts'
import { MovingEnd, type Patience } from './moving-end.ts'
import { contradicts, orderShown } from './order.ts'
import { capacityOf, nextSkip, stepBack } from './pace.ts'
import { makeReader, type Reader, type Reading, readWindow } from './reader.ts'
import type { Walk, WalkRequest, WalkResult, WalkState } from './request.ts'
import type { ItemsWindow, StepResult, WalkStep, WindowSource } from './source.ts'
import { type CountedRun, countRun, isRunWhole, proveRun } from './ties.ts'

/** How a reading may end the walk: at the proven end of the list, or at once, with the reason why it is partial. */
type Ended = { kind: 'list-end' } | { kind: 'stop'; reason: string | null }
type Steps<T> = AsyncGenerator<WalkStep, T, StepResult>

/** Answers in a row that may bring nothing new, beside one for every window of the list so far. */
const FRUITLESS = 200
/** How often an unreadable position may turn out to have moved. */
const TRIES = 12
const SINGLES = 20
/** In windows: steps over what has been met do not grow beyond this. */
const LARGEST_STEP = 1024
/** Seams in a row at which the last item stood further down, and answers in a row that have to be the same. */
const SUSPICIOUS_SHIFTS = 3
/** How often a window is read anew from before its tie run, before that is counted. */
const TIED_TRIES = 2

/** Walks `source` to the end of `request`; each step is to be carried out before the next one is asked for. */
export function walk(source: WindowSource, request: WalkRequest): Walk {
  return new Walker(source, request).run()
}

class Walker {
  private readonly source: WindowSource
  private readonly request: WalkRequest
  private readonly reader: Reader
  private chain: ChainState
  private counting: CountedRun | null
  private firstWindow: FirstWindow | null
  private readonly doubts: string[]
  private total: number | null = null
  private until: number | null = null
  /** The last item of the last window that joined: the chain's last one may be deleted by now. */
  private shown: { id: string; moment: Moment } | null = null
  private skip: number
  /** How far to step back at the next gap, and ahead over what has been met: doubled each time. */
  private back = 1
  private ahead = 1
  private fruitless = 0
  /** Items met in this process. */
  private met = 0
  /** The chain's last item when a window was read anew because of its ties, and how often that was. */
  private tiedAt: string | null = null
  private tiedTries = 0
  private readonly end: MovingEnd
  private stuck = 0
  private pageOfOne: boolean
  /** Answers of one item where more were asked for and were there. */
  private singles = 0
  /** Nothing read ahead will do for the next window. */
  private fresh = false

  constructor(source: WindowSource, request: WalkRequest) {
    this.source = source
    this.request = request
    this.reader = makeReader(source, request.settings.window)
    this.end = new MovingEnd(this.reader, request)
    const resumed = request.resume?.state
    this.chain = resumed?.chain ?? newChain(request.digestCutoff ?? null)
    this.counting = resumed?.counting ?? null
    this.firstWindow = request.resume?.firstWindow ?? null
    this.doubts = [...(resumed?.doubts ?? [])]
    this.pageOfOne = this.doubts.includes('page-of-one')
    if (resumed !== undefined)
      Object.assign(this.reader, { take: resumed.take, largest: resumed.largest, served: resumed.served })
    this.skip = resumed === undefined ? request.start : this.forward()
  }

  async *run(): Walk {
    for (;;) {
      const { maxRequests } = this.request.settings
      if (this.reader.requests >= maxRequests) return this.result('request-limit')
      if (this.fruitless > FRUITLESS + this.met / Math.max(1, this.reader.largest)) return this.result('no-progress')
      yield* this.proveRunLeft()
      const reading = await readWindow(this.reader, this.skip, { fresh: this.fresh })
      this.fresh = false
      const ended = yield* this.goOn(reading)
      if (ended?.kind === 'stop') return this.result(ended.reason)
      if (ended?.kind === 'list-end') break
    }
    yield* this.closingLap()
    return this.result(null)
  }

  private goOn(reading: Reading): Steps<Ended | null> {
    if (reading.kind === 'unreadable') return this.onUnreadable(reading)
    return reading.kind === 'nothing' ? this.onNothing() : this.onWindow(reading)
  }

  // Readings

  private async *onUnreadable(reading: Reading & { kind: 'unreadable' }): Steps<Ended | null> {
    const moved = (): Ended | null => {
      this.stuck += 1
      this.retry(this.forward())
      return this.stuck > TRIES ? { kind: 'stop', reason: 'unreadable-from' } : null
    }
    if (this.chain.last !== null && reading.skip < this.chain.end - 1) {
      // Within the overlap, so it was met before: the next windows begin behind it.
      this.chain = { ...this.chain, floor: reading.skip + 1 }
      return moved()
    }
    if (reading.answer.kind === 'refused' && this.chain.last !== null) {
      // A refusal may mean that the list ends before it.
      const { last, end } = this.chain
      const judged = await judgeEnd(this.reader, this.endQuestion(last, end - 1))
      if (judged.kind === 'proven') return yield* this.acceptEnd(judged, last)
      if (judged.kind === 'unprovable') return { kind: 'stop', reason: judged.reason }
    }
    const passed = yield* passUnreadable(this.reader, this.chain, reading.skip, reading.answer)
    if (passed.kind === 'too-many') return { kind: 'stop', reason: 'unreadable-from' }
    if (passed.kind === 'limit') return { kind: 'stop', reason: 'skip-limit' }
    if (passed.kind === 'moved') return moved()
    if (passed.kind === 'end') {
      this.total = passed.total
      return { kind: 'list-end' }
    }
    this.chain = { ...extendChain(this.chain, passed.window), floor: passed.window.skip }
    yield this.step(passed.window)
    this.skip = this.forward()
    return null
  }

  private async *onNothing(): Steps<Ended | null> {
    const { chain, request, reader } = this
    this.fruitless += 1
    if (this.skip === 0) {
      if (await isListEmpty(reader)) {
        this.total = 0
        return { kind: 'list-end' }
      }
      this.retry(0)
      return null
    }
    if (chain.last === null && request.accepts === undefined) {
      // A walk that should begin in the middle of a list that has become shorter.
      this.retry(0)
      return null
    }
    if (chain.last !== null && chain.filtered) {
      const crossed = yield* this.onHidden(await crossHidden(reader, chain))
      if (crossed !== 'moved') return crossed
    } else if (chain.last !== null && (this.pageOfOne || this.skip >= chain.end)) {
      const last = this.shown ?? chain.last
      const judged = await judgeEnd(reader, this.endQuestion(last, chain.end - 1))
      if (judged.kind === 'proven') return yield* this.acceptEnd(judged, last)
      if (judged.kind === 'unprovable') return { kind: 'stop', reason: judged.reason }
    }
    this.retry(stepBack(this.skip, chain.returned, this.back, request.settings.overlap))
    this.back *= 2
    return null
  }

  /** Behind a stretch of hidden items. */
  private async *onHidden(crossed: EndJudgement): Steps<Ended | null | 'moved'> {
    if (crossed.kind === 'proven') {
      this.total = crossed.index + 1
      return { kind: 'list-end' }
    }
    if (crossed.kind === 'gap' && !crossed.window.met.includes(0)) {
      this.reader.drop(crossed.window)
      return this.conclude(this.end.moved()) ?? 'moved'
    }
    if (crossed.kind === 'gap') {
      this.chain = extendChain(this.chain, crossed.window)
      yield this.step(crossed.window)
      this.skip = crossed.window.skip + Math.floor(crossed.window.asked / 2)
      this.fruitless = 0
      return null
    }
    return this.conclude(this.end.moved()) ?? 'moved'
  }

  private async *onWindow(window: ItemsWindow): Steps<Ended | null> {
    const { chain, request } = this
    const beginning = chain.last === null
    if (beginning && window.skip > 0 && request.accepts !== undefined && !(await request.accepts(window))) {
      yield { kind: 'keep', window }
      this.stepBackFrom(window)
      return null
    }
    const seam = judgeSeam(chain, window)
    if (seam.kind === 'gap' && !this.pageOfOne) {
      this.reader.drop(window)
      this.onGap(window)
      return null
    }
    // An anchor outside the run: the run was read from before its start, so it needs no counting.
    if (seam.kind === 'joined') this.counting = null
    if (seam.kind === 'tied' && this.counting === null && !(await this.acceptTied(window))) return null
    return yield* this.join(window)
  }

  private onGap(window: ItemsWindow): void {
    this.ahead = 1
    if (this.doubtPageOfOne(window)) {
      this.fruitless += 1
      this.retry(this.chain.end)
    } else this.stepBackFrom(window)
  }

  /**
   * The overlap shows only the tie run of the chain's last item: reach back to before it, and count the run where that is
   * too far. False where the window is dropped and read anew from further back.
   */
  private async acceptTied(window: ItemsWindow): Promise<boolean> {
    const { chain, reader } = this
    if (this.pageOfOne || chain.tie === null) return true
    if (chain.floor > 0 && chain.tie.start === chain.floor) {
      // Directly behind an unreadable position there is no item before the run to count it from.
      if (!(await showsRunBehind(reader, chain, window))) this.doubts.push('ties')
      return true
    }
    if (chain.filtered) {
      // No counting by index among hidden items.
      this.doubts.push('ties')
      return true
    }
    const lastId = chain.last?.id ?? null
    this.tiedTries = this.tiedAt === lastId ? this.tiedTries + 1 : 0
    this.tiedAt = lastId
    const reach = chain.end - chain.tie.start + this.back
    const wanted = Math.max(chain.floor, chain.end - reach)
    if (this.tiedTries < TIED_TRIES && wanted < this.skip && reach < capacityOf(chain, reader)) {
      reader.drop(window)
      this.fruitless += 1
      this.retry(wanted)
      this.back *= 2
      return false
    }
    this.counting = runOf(chain)
    return true
  }

  // Joining

  private async *join(window: ItemsWindow): Steps<Ended | null> {
    const earlier = this.chain
    const beginning = earlier.last === null
    this.back = 1
    this.chain = extendChain(earlier, window)
    const behindRun = this.counting === null ? null : countRun(this.counting, window)
    const { newlyMet } = yield this.step(window)
    this.met += newlyMet
    this.fruitless = newlyMet > 0 ? 0 : this.fruitless + 1
    if (newlyMet > 0) {
      this.end.progressed()
      this.stuck = 0
    }
    if (behindRun !== null) yield* this.proveCounted(behindRun)
    await this.suspectFilter(window)
    if ((await this.request.reached?.(window, this.chain.order)) === true) return { kind: 'stop', reason: null }
    const twice = await firstItemTwice(this.reader, this.firstWindow, earlier, window)
    if (twice !== null) return { kind: 'stop', reason: twice }

    const last = lastOf(window)
    this.shown = last
    // A service that moves skip back answers with a full window whose last item has been the last before.
    const same = newlyMet === 0 && earlier.last?.id === last.id && window.skip > earlier.lastSeen.skip
    const capped = newlyMet > 0 && window.ids.length === this.chain.cap
    const short = same || (window.ids.length < window.asked && !capped)
    // Not yet at the chain's last item again: it may only be out of this answer's reach, or deleted after some more tries.
    const behind = last.id !== this.chain.last?.id && this.fruitless <= 3 * this.request.settings.overlap + 10
    if (short && !behind && (newlyMet === 0 || beginning || window.ids.length <= this.reader.largest / 2)) {
      const ended = yield* this.askForEnd(window, newlyMet === 0, beginning)
      if (ended !== null) return ended
    }
    this.advance(window, earlier)
    return null
  }

  private advance(window: ItemsWindow, earlier: ChainState): void {
    const { chain, request, reader } = this
    if (this.pageOfOne) {
      this.skip = chain.end
      return
    }
    this.skip = this.forward()
    // Where pages are filtered, what an answer holds says little about how far it reached: half a window is the overlap.
    if (chain.filtered) this.skip = Math.max(this.skip, window.skip + Math.floor(window.asked / 2))
    if (chain.last !== null && chain.last.id === earlier.last?.id && !window.ids.includes(chain.last.id)) {
      // Wholly behind the chain's last item: thousands may have been inserted in front, so go forward in growing steps.
      this.skip += (this.ahead - 1) * Math.max(1, window.ids.length - request.settings.overlap)
      this.ahead = Math.min(this.ahead * 2, LARGEST_STEP)
    } else this.ahead = 1
    if (this.skip <= window.skip && chain.end > window.skip) this.skip = window.skip + 1
    if (reader.take !== reader.window) return
    const stride = Math.max(1, capacityOf(chain, reader) - (chain.end - this.forward()))
    this.source.expect(this.skip, stride, reader.take)
  }

  // The end

  private async *askForEnd(window: ItemsWindow, fruitless: boolean, beginning: boolean): Steps<Ended | null> {
    const last = lastOf(window)
    const index = window.skip + window.ids.length - 1
    const question = this.endQuestion(last, index)
    let judged = await judgeEnd(this.reader, question)
    if (judged.kind === 'moved' && this.end.isDrifting) judged = await judgeDriftingEnd(this.reader, question)
    if (judged.kind === 'proven') return yield* this.acceptEnd(judged, last)
    if (judged.kind === 'unprovable') return { kind: 'stop', reason: judged.reason }
    if (judged.kind === 'gap') {
      this.chain = { ...extendChain(this.chain, judged.window), filtered: true }
      yield this.step(judged.window)
      return null
    }
    if (judged.kind === 'moved') {
      this.fresh = true
      return this.conclude(this.end.moved())
    }
    if (this.chain.filtered) return null
    if (this.request.beyond) this.doubtPageOfOne(window)
    if (fruitless && !this.pageOfOne && !(yield* this.joinBehind(last.id, index))) {
      this.fresh = true
      return this.conclude(this.end.moved())
    }
    return beginning ? null : this.conclude(await this.end.more(this.chain))
  }

  private conclude(patience: Patience): Ended | null {
    if (patience.kind === 'go-on') return null
    if (patience.kind === 'give-up') return { kind: 'stop', reason: 'end-keeps-moving' }
    this.until = patience.moment
    this.total = this.chain.end
    return { kind: 'stop', reason: null }
  }

  /** The end is proven; the tie run before it has to be as well. */
  private async *acceptEnd(end: EndJudgement & { kind: 'proven' }, last: { id: string; moment: Moment }): Steps<Ended> {
    const doubted = end.tied && !(await isRunWhole(this.reader, end.index, last.moment))
    this.counting ??= doubted ? runOf(this.chain) : null
    if (this.counting !== null) yield* this.proveCounted(end.index + 1, end.repeats === true ? end.index + 1 : null)
    this.total = end.index + 1
    this.chain = { ...this.chain, last }
    return { kind: 'list-end' }
  }

  /**
   * The overlap leaves no room for the next item: answers are cut by bytes, and it is a large one. Then its place is the
   * anchor; a place says nothing about ties, so the run before it is counted.
   */
  private async *joinBehind(lastId: string, index: number): Steps<boolean> {
    let window = lastId === this.chain.last?.id ? await joinByPlace(this.reader, lastId, index) : null
    if (window === null) return false
    while (window !== null) {
      this.counting ??= runOf(this.chain)
      const behindRun = this.counting === null ? null : countRun(this.counting, window)
      this.chain = extendChain(this.chain, window, true)
      this.end.passedBy()
      this.fruitless = 0
      yield this.step(window)
      if (behindRun !== null) yield* this.proveCounted(behindRun)
      // Cut to one item again: the next one would not fit beside it either.
      const { id } = lastOf(window)
      window = window.ids.length === 1 ? await joinByPlace(this.reader, id, window.skip) : null
    }
    return true
  }

  // Tie runs

  private async *proveCounted(behind: number | null, limit: number | null = null): Steps<void> {
    // Kept in the state until it is proven: the walk may be cut off meanwhile.
    const proven = yield* proveRun(this.reader, this.counting as CountedRun, behind, limit)
    if (!proven) this.doubts.push('ties')
    this.counting = null
  }

  /** A run that the chain has left before it was proven: the walk was cut off in between. */
  private async *proveRunLeft(): Steps<void> {
    if (this.counting !== null && this.chain.last?.moment !== this.counting.moment) yield* this.proveCounted(null)
  }

  // Small things

  private async *closingLap(): Steps<void> {
    const { request, reader } = this
    if (this.firstWindow === null || request.lap === 'never' || this.total === 0) return
    if (request.lap === 'beyond-one-window' && (this.total ?? 0) <= this.firstWindow.ids.length) return
    if (orderShown(this.chain.order, request.settings.settleMs).order === 'created_asc') return
    const most = 20 + 2 * Math.ceil((this.total ?? 0) / Math.max(1, reader.largest))
    const bound = Math.min(request.settings.maxRequests - reader.requests, most)
    const chain = { ...this.chain, order: { ...this.chain.order } }
    const lap = yield* closeLap(reader, chain, this.firstWindow, request.settings.overlap, bound, (again) =>
      this.step(again),
    )
    this.chain = chain
    if (lap.kind === 'open') this.doubts.push(lap.reason)
  }

  /**
   * The last item keeps standing further down than answers said: the list drifts, or pages are filtered after paging. It
   * does not drift where the same question brings the same answer again and again.
   */
  private async suspectFilter(window: ItemsWindow): Promise<void> {
    const { chain, reader } = this
    if (
      chain.filtered ||
      chain.shifts < SUSPICIOUS_SHIFTS ||
      window.ids.length === window.asked ||
      window.ids.length === chain.cap
    )
      return
    this.chain = { ...chain, shifts: 0 }
    for (let time = 0; time < SUSPICIOUS_SHIFTS; time += 1) {
      const again = await reader.read(window.skip, window.asked, { fresh: true })
      reader.drop(again)
      if (again.kind !== 'items' || again.ids.join('\n') !== window.ids.join('\n')) return
    }
    this.chain = { ...this.chain, filtered: true }
  }

  /** A service that never gives two items at once, after so many answers that large items are no explanation. */
  private doubtPageOfOne(window: ItemsWindow): boolean {
    if (this.pageOfOne || window.asked === 1 || window.ids.length > 1 || this.reader.largest > 1) return this.pageOfOne
    this.singles += 1
    if (this.singles < SINGLES) return false
    this.doubts.push('page-of-one')
    this.pageOfOne = true
    return true
  }

  private forward(): number {
    return nextSkip(this.chain, this.counting, this.reader, this.request.settings.overlap)
  }

  private stepBackFrom(window: ItemsWindow): void {
    this.fruitless += 1
    this.retry(stepBack(this.skip, window.ids.length, this.back, this.request.settings.overlap))
    this.back *= 2
  }

  private retry(skip: number): void {
    this.skip = skip
    this.fresh = true
  }

  private endQuestion(last: { id: string; moment: Moment }, index: number): EndQuestion {
    const { filtered, capLow, cap } = this.chain
    const { beyond } = this.request
    return { lastId: last.id, lastMoment: last.moment, index, beyond, filtered, cut: capLow < cap }
  }

  private step(window: ItemsWindow): WalkStep {
    const { chain, counting, reader, doubts } = this
    const state: WalkState = {
      chain,
      counting,
      take: reader.take,
      largest: reader.largest,
      served: reader.served,
      doubts: [...doubts],
    }
    const step: WalkStep = { kind: 'take', window, state, nextSkip: chain.end, drift: chain.drift }
    if (this.firstWindow !== null) return step
    this.firstWindow = { ids: window.ids, moments: window.moments }
    return { ...step, firstWindow: this.firstWindow }
  }

  private result(stopped: string | null): WalkResult {
    const { chain } = this
    const { known, settings } = this.request
    const { order, inversionMs } = orderShown(chain.order, settings.settleMs)
    const reason = stopped ?? this.doubts[0] ?? null
    return {
      verdict: reason === null ? 'complete' : 'partial',
      reason,
      order,
      inversionMs,
      contradicted: known !== undefined && contradicts(chain.order, known.order, settings.settleMs),
      total: reason === null ? this.total : null,
      until: this.until,
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
}

/** The tie run at the end of the chain, to be counted. */
function runOf({ tie, last }: ChainState): CountedRun | null {
  return tie === null || last === null ? null : { ...tie, member: last.id }
}

function lastOf(window: ItemsWindow): { id: string; moment: Moment } {
  return { id: window.ids.at(-1) as string, moment: window.moments.at(-1) as Moment }
}
