// The state of a walk that is under way, what of it is saved for another process to go on from, and the walk's result.
// Where the walk goes is decided by walk.ts, behind.ts, further.ts, moving-end.ts, growing.ts, detours.ts and ties.ts.
import type { MissingLink } from '../proof/conditions.ts'
import { Kernel } from '../proof/kernel.ts'
import { NO_TRIAL, tiesAreOrdered } from '../proof/state.ts'
import type { Moment } from '../task.ts'
import { type ChainState, extendChain, newChain, overlapOf, seenAgain } from './chain.ts'
import type { FirstWindow } from './lap.ts'
import { MovingEnd } from './moving-end.ts'
import { contradicts, observeWithin, orderKept } from './order.ts'
import { cutOf } from './paging.ts'
import { Reader } from './reader.ts'
import type { WalkRequest, WalkResult, WalkState } from './request.ts'
import { Search } from './search.ts'
import { type ItemsWindow, newIds, type WalkStep, type WindowSource } from './source.ts'

/** How a reading may end the walk: at the proven end of the list, or at once, with the reason why it is partial. */
export type WalkEnding = { kind: 'list-end' } | { kind: 'stop'; reason: string | null }
export type Steps<T> = AsyncGenerator<WalkStep, T>

/** Most requests of a walk, and how many more for each item met: a list that always changes always brings news. */
const REQUESTS = 1000
const REQUESTS_PER_ITEM = 20

export class OngoingWalk {
  readonly request: WalkRequest
  readonly reader: Reader
  readonly kernel: Kernel
  chain: ChainState
  /** The index at which the run begins that the kernel says is owed. */
  owedFrom: number
  firstWindow: FirstWindow | null
  /** Requests that this process made before it took in the first window: a closing lap may need as many for that. */
  requestsBefore = 0
  total: number | null = null
  /** Where the next window begins. */
  skip: number
  /** The search for the end of the chain, while windows show nothing of it. */
  private search: Search | null = null
  /** How far to step forward over what has been met, in windows. Doubled each time. */
  reachAhead = 1
  /** Where pages are filtered: how far apart windows may begin. Halved where one shows nothing of the chain's end. */
  leap = Number.POSITIVE_INFINITY
  /** The last index that brought something, where a later one before the chain's end did not; null where all did. */
  givesUntil: number | null = null
  /** Answers in a row that brought nothing new. */
  fruitless = 0
  /** Number of items met. */
  met: number
  /** How often a window behind the last item was read anew because of its ties, each time from twice as far back. */
  tiedTries = 0
  /** Windows that showed ties alone, and were dropped because they did not join. */
  unjoined = 0
  /** See `WalkResult`. */
  front: string[] | null = null
  /** Windows that brought something new in this process. */
  windows = 0
  readonly end = new MovingEnd()
  /** Number of answers in which items met before stood in no order at all. */
  scrambled = 0
  /** The next window must be asked for now, not taken from what was read ahead. */
  fresh = false
  /** The run that is owed could not be counted. */
  isUnpaid = false
  /** What the last reading of an owed run showed (null: it moved meanwhile), and how many in a row have shown that. */
  owedRead: { shown: string | null; same: number } = { shown: null, same: 0 }

  constructor(source: WindowSource, request: WalkRequest) {
    const resumed = request.resume?.state
    this.request = request
    this.kernel = new Kernel(request.range ?? null, resumed?.kernel ?? null)
    if (request.tiesUnordered === true) this.kernel.unorder()
    this.reader = new Reader(source, request.settings, this.kernel, request.range)
    this.chain = { ...newChain(), ...resumed?.chain }
    this.owedFrom = resumed?.owedFrom ?? 0
    this.met = resumed?.met ?? 0
    this.firstWindow = request.resume?.firstWindow ?? null
    if (resumed !== undefined) Object.assign(this.reader, { take: resumed.take, served: resumed.served })
    const { last, end } = this.chain
    this.reader.last = last === null ? null : { ...last, index: end - 1 }
    this.skip = resumed === undefined ? request.start : this.forward()
  }

  /** How many items the next answer can be expected to hold. */
  get capacity(): number {
    const { chain, reader } = this
    if (reader.take < reader.window) return reader.take
    if (chain.returned > 0 && chain.returned <= chain.cap) return chain.cap
    return Math.min(reader.take, reader.largest)
  }

  /** Where to go on: by the overlap before the chain's end, and before its tie run where that fits. */
  forward(): number {
    const { chain, capacity, kernel, request } = this
    const overlap = overlapOf(Math.min(capacity, Math.max(chain.returned, 2)), request.settings.overlap)
    const plain = Math.max(chain.notBelow, chain.end - overlap)
    if (kernel.owed !== undefined || chain.tie === null || tiesAreOrdered(kernel.state, NO_TRIAL)) return plain
    const reach = chain.end - chain.tie.start + Math.max(1, Math.floor(overlap / 2))
    return reach <= overlap || reach >= capacity ? plain : Math.max(chain.notBelow, chain.end - reach)
  }

  /** Whether the walk has passed the owed run: the window that joined last shows something else behind it. */
  hasLeftOwed({ moments }: ItemsWindow): boolean {
    const { owed } = this.kernel
    return owed !== undefined && moments.findLastIndex((moment) => moment !== owed) > moments.indexOf(owed)
  }

  /** Notes what an answer that joins nothing shows of the order by itself: that counts, too. */
  seeOrder({ ids, moments }: ItemsWindow): void {
    const order = { ...this.chain.order }
    observeWithin(order, ids, moments)
    this.chain = { ...this.chain, order }
  }

  retry(skip: number): void {
    this.skip = skip
    this.fresh = true
  }

  /** Searches for the chain's end: an answer of `returned` items at `skip` did not show it, and it lies `where`. */
  lookOn(where: 'behind' | 'before', returned: number): void {
    const stride = Math.max(1, returned - overlapOf(returned, this.request.settings.overlap))
    // A search whose next place the walk did not read is over.
    const search = this.search?.place === this.skip ? this.search : new Search(this.skip, { stride })
    if (where === 'behind') search.tooNear(stride)
    else search.tooFar()
    this.search = search
    this.reachAhead = 1
    this.retry(search.place)
  }

  /** Whether the next window's place is a guess: an empty answer there does not show the end. */
  isLooking(): boolean {
    return this.reader.largest > 1 && (this.reachAhead > 1 || this.search?.place === this.skip)
  }

  /**
   * Requests that the walk may still make: by items and not by windows, as behind light tasks there may be heavy ones,
   * one to an answer; and not by indexes, as a service that repeats its last window has items everywhere.
   */
  get requestsLeft(): number {
    const { met, request, reader } = this
    return Math.min(request.settings.maxRequests, REQUESTS + REQUESTS_PER_ITEM * met) - reader.requests
  }

  /** How far one answer reaches: where answers were cut, as many items as the largest one held; else the window. */
  get page(): number {
    return this.chain.cap > 0 ? this.reader.largest : this.reader.window
  }

  /** Answers leave items out: an index says only that an item stands there or further down. */
  get isFiltered(): boolean {
    return this.kernel.state.isFiltered
  }

  /** Whether the number of items in an answer says little of how far it reaches. */
  get isUneven(): boolean {
    return this.isFiltered || cutOf(this.chain) === 'bytes'
  }

  /**
   * Whether indexes tell how many tasks there are. Where answers differ in how much they hold though more is there,
   * some may leave items out.
   */
  get isCountable(): boolean {
    const { cap } = this.chain
    return !this.isUneven && (cap === 0 || this.reader.largest <= cap)
  }

  /** The walk is over: the list ends with the item at `index`. */
  endsAt(index: number): WalkEnding {
    this.total = index + 1
    return { kind: 'list-end' }
  }

  /** At the end of the list: whether an item older than the walk, seen in an answer not taken in, was never met. */
  private hasPassedOver(): boolean {
    const began = this.chain.firstServiceDate ?? this.chain.firstStartedAt
    if (this.total === null) return false
    return this.reader.unmet.values().some((moment) => moment === null || began === null || moment < began)
  }

  /** How many items of equal createdAt stand directly before the chain's last one. */
  tiesBefore(): number {
    const { end, tie } = this.chain
    return tie === null ? 0 : Math.max(0, end - 1 - tie.start)
  }

  /** Tells the kernel that `window` is taken in. It joins by what the chain shows now: change the chain afterwards. */
  take(window: ItemsWindow): void {
    const { owed } = this.kernel
    this.kernel.take(window.handle)
    // The owed run is the one that the chain ends with: this is where that begins by now.
    if (owed === undefined && this.kernel.owed !== undefined)
      this.owedFrom = Math.max(0, seenAgain(this.chain, window).end - 1 - this.tiesBefore())
    // The reader follows the window's last item: the chain's may be deleted by now.
    this.reader.last = { ...lastOf(window), index: window.skip + window.ids.length - 1 }
  }

  /**
   * Takes `window` in, lays it onto the chain (`follows`: see `extendChain`), and returns how many of its items are met
   * for the first time.
   */
  *takeIn(window: ItemsWindow, follows = false): Generator<WalkStep, number> {
    this.take(window)
    this.chain = extendChain(this.chain, window, follows)
    const newlyMet = newIds(window).size
    yield this.step(window)
    this.met += newlyMet
    this.fruitless = newlyMet > 0 ? 0 : this.fruitless + 1
    if (newlyMet > 0) this.windows += 1
    return newlyMet
  }

  step(window: ItemsWindow): WalkStep {
    for (const id of window.ids) this.reader.unmet.delete(id)
    const { chain, owedFrom, met, reader } = this
    const state: WalkState = {
      chain,
      owedFrom,
      met,
      take: reader.take,
      served: reader.served,
      kernel: this.kernel.save(),
    }
    const evidence = this.kernel.takeEvidence()
    const step: WalkStep = { kind: 'take', window, state, evidence, nextSkip: chain.end, drift: chain.drift }
    if (this.firstWindow !== null) return step
    this.firstWindow = { ids: window.ids, moments: window.moments }
    this.requestsBefore = reader.requests
    return { ...step, firstWindow: this.firstWindow }
  }

  /** `isWhole`: the walk claims the whole list or its range, and not only what it has read. */
  result(stopped: string | null, isWhole: boolean): WalkResult {
    const { chain } = this
    const { known, settings } = this.request
    const shown = orderKept(chain.order, known, settings.settleMs)
    const missing = this.kernel.missing(isWhole)
    const reason = stopped ?? (missing === null ? null : (REASON_OF[missing] ?? 'not-joined'))
    if (reason === null) this.kernel.conclude(isWhole)
    // In a list with an order no item that was seen can have been passed over: where one was, there is no order.
    const passedOver = this.hasPassedOver()
    const { order, inversionMs } = passedOver ? { order: 'none' as const, inversionMs: 0 } : shown
    return {
      verdict: reason === null ? 'complete' : 'partial',
      reason,
      order,
      inversionMs,
      contradicted: known !== undefined && (passedOver || contradicts(chain.order, known, settings.settleMs)),
      total: reason === null ? this.total : null,
      lastId: chain.last?.id ?? null,
      pageCap: chain.cap > 0 ? this.reader.largest : null,
      filtered: this.isFiltered,
      countable: this.isCountable,
      newestInFirst: chain.newestInFirst,
      firstServiceDate: chain.firstServiceDate,
      firstStartedAt: chain.firstStartedAt,
      front: this.front,
      newest: chain.order.highest,
      drift: chain.drift,
      evidence: this.kernel.takeEvidence(),
    }
  }
}

/** The stable words for what the kernel says is missing; for all others `not-joined`. */
const REASON_OF: Partial<Record<MissingLink, string>> = {
  'join: no other run is owed': 'ties',
  'the run of equal createdAt that is owed has been counted': 'ties',
  'every run that was counted was marked': 'ties',
  'ties stand in the order of their ids': 'ties-unordered',
  'the end of the list was shown': 'end-not-shown',
  'room: no cut by size was seen': 'end-not-shown',
}

export function lastOf(window: ItemsWindow): { id: string; moment: Moment } {
  return { id: window.ids.at(-1) as string, moment: window.moments.at(-1) as Moment }
}
