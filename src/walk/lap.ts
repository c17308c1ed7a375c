// The closing lap (design.md 6.1): after a full walk the head of the list is read again, by a walk with marks of its
// own, until items of the walk's first window follow one another as they did then. The lap meets what moved to the
// front while the walk was further down.
import { keepLatest } from '../bounded.ts'
import type { Moment } from '../task.ts'
import { contradictWith, noOrderSeen, type OrderSeen, observe } from './order.ts'
import type { Reader } from './reader.ts'
import type { ItemsWindow, ReadOptions, WindowAnswer, WindowSource } from './source.ts'

/** A walk's first window, in list order. */
export interface FirstWindow {
  ids: string[]
  moments: Moment[]
}

const LEAST_IN_A_ROW = 3
/** So many ids are known to have been met in a lap: the last ones. */
const MOST_MET = 20_000

/** For each id of the first window the number of its tie run: items of one run may come in any order. */
function runsOf(firstWindow: FirstWindow): Map<string, number> {
  let run = -1
  let before: Moment = null
  return new Map(
    firstWindow.ids.map((id, index) => {
      const moment = firstWindow.moments[index] as Moment
      if (index === 0 || moment === null || moment !== before) run += 1
      before = moment
      return [id, run]
    }),
  )
}

/** Compares the windows of a lap with the walk's first window: how many items follow one another as they did then. */
export class HeadAgain {
  readonly #wanted: number
  readonly #runs: ReadonlyMap<string, number>
  readonly #order: OrderSeen
  readonly #newestInFirst: Moment
  /** Nothing moves in this list: what is missing between two items was deleted. */
  readonly #isStill: boolean
  /** How many items, up to the one looked at last, came one after another as they did in the first window. */
  #inARow = 0
  readonly #shown = noOrderSeen()
  #lastRun = -2
  #furthestRun = -1
  /** The first item seen that the walk had met, but not in its first window. */
  #stranger: { moment: Moment } | null = null

  /**
   * `overlap` items in a row are enough; in a list that `createdAt` orders, so is half of a small window: some of that
   * may be deleted. `order`: what contradicts an order is noted there. `newestInFirst`: of the walk's first window.
   */
  constructor(
    firstWindow: FirstWindow,
    { overlap, isStill }: { overlap: number; isStill: boolean },
    order: OrderSeen,
    newestInFirst: Moment,
  ) {
    this.#isStill = isStill
    // A single item that comes again may have moved; several in a row have not.
    const count = firstWindow.ids.length
    const enough = isStill ? Math.min(overlap, Math.floor(count / 2)) : overlap
    this.#wanted = Math.min(Math.max(LEAST_IN_A_ROW, enough), count)
    this.#runs = runsOf(firstWindow)
    this.#order = order
    this.#newestInFirst = newestInFirst
  }

  get isSeen(): boolean {
    return this.#inARow >= this.#wanted
  }

  /** Looks at `window` from the item at `from` on, until enough items came in a row. Returns whether they did. */
  look({ ids, moments, met }: ItemsWindow, from: number): boolean {
    const order = this.#order
    observe(this.#shown, ids, moments, from)
    contradictWith(order, this.#shown)
    for (let index = from; index < ids.length && !this.isSeen; index += 1) {
      const run = this.#runs.get(ids[index] as string)
      const moment = moments[index] as Moment
      // In the walk the first window came before everything else. One of its items that stands behind another item that
      // was met has changed places, unless that other one is newer and came in since.
      if (run === undefined && met[index] === 1 && !isNewer(moment, this.#newestInFirst)) this.#stranger ??= { moment }
      else if (run !== undefined && this.#stranger !== null && this.#stranger.moment !== moment) order.unstable = true
      if (run !== undefined && run < this.#furthestRun) order.unstable = true
      this.#furthestRun = Math.max(this.#furthestRun, run ?? -1)
      this.#inARow = run === undefined ? 0 : this.#isNext(run) ? this.#inARow + 1 : 1
      this.#lastRun = run ?? -2
    }
    return this.isSeen
  }

  #isNext(run: number): boolean {
    const last = this.#lastRun
    return this.#isStill ? last >= 0 && run >= last : run === last || run === last + 1
  }
}

/** The list as a lap of a walk reads it: asked for now, and with nothing met before the lap. */
export class LapSource implements WindowSource {
  readonly #reader: Reader
  readonly #met = new Set<string>()
  /** Windows as the walk sees them, by their handles, until they are taken in or dropped. */
  readonly #windows = new Map<number, ItemsWindow>()

  constructor(reader: Reader) {
    this.#reader = reader
  }

  async read(skip: number, take: number, options?: ReadOptions): Promise<WindowAnswer> {
    this.#reader.requests += 1
    const answer = await this.#reader.source.read(skip, take, { ...options, fresh: true })
    if (answer.kind !== 'items') return answer
    this.#windows.set(answer.handle, answer)
    return { ...answer, met: Uint8Array.from(answer.ids, (id) => (this.#met.has(id) ? 1 : 0)) }
  }

  /** The window as the walk sees it, to be taken in or dropped. */
  release({ handle }: ItemsWindow): ItemsWindow {
    const window = this.#windows.get(handle) as ItemsWindow
    this.#windows.delete(handle)
    return window
  }

  /** The ids are met in this lap from now on. */
  mark(ids: readonly string[]): void {
    for (const id of ids) this.#met.add(id)
    keepLatest(this.#met, MOST_MET)
  }

  drop(window: ItemsWindow): void {
    this.#reader.drop(this.release(window))
  }

  readAhead(): void {}

  prefetch(): void {}
}

/** Whether it is at least as new as the newest item of the walk's first window. */
function isNewer(moment: Moment, newestInFirst: Moment): boolean {
  return moment !== null && newestInFirst !== null && moment >= newestInFirst
}
