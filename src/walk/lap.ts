// The closing lap (design.md 6.1): after a full walk the head of the list is read again, window by window, until items of the
// walk's first window follow one another as they did then. It meets what moved to the front while the walk was further down.

import type { Moment } from '../task.ts'
import type { ChainState } from './chain.ts'
import { overlapOf } from './chain.ts'
import { contradictWith, noEvidence, observe } from './order.ts'
import { type Reader, readUpTo } from './reader.ts'
import type { ItemsWindow, StepResult, WalkStep } from './source.ts'

/** A walk's first window, in list order. */
export interface FirstWindow {
  ids: string[]
  moments: Moment[]
}

const LEAST_RUN = 3
/** So many answers may equal the one before by chance. */
const MOST_SAME = 5
/** In windows. No list grows by so much between two answers. */
const FAR = 10
/** Unreadable positions that one lap passes. */
const MOST_JUMPS = 10

/** `first`: the answer that showed the head of the list; `isWhole`: it was the only one that the lap needed. */
export type LapResult =
  | { kind: 'closed'; first: ItemsWindow | null; isWhole: boolean }
  | { kind: 'open'; reason: 'lap-unreadable' | 'lap-too-long' }

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
class HeadAgain {
  /** How many items of the first window, up to the one looked at last, came one after another as they did then. */
  run = 0
  readonly #places: Map<string, number>
  readonly #chain: ChainState
  readonly #shown = noEvidence()
  #lastPlace = -2
  #furthest = -1
  /** The first item seen that the walk had met, but not in its first window. */
  #stranger: { moment: Moment } | null = null

  /** What contradicts an order is noted in `chain.order`. */
  constructor(firstWindow: FirstWindow, chain: ChainState) {
    this.#places = runsOf(firstWindow)
    this.#chain = chain
  }

  /** Looks at `window` from the item at `from` on, until `wanted` items have come in a row. */
  look({ ids, moments, met }: ItemsWindow, from: number, wanted: number): void {
    const { order, newestInFirst } = this.#chain
    observe(this.#shown, ids, moments, from)
    contradictWith(order, this.#shown)
    for (let index = from; index < ids.length && this.run < wanted; index += 1) {
      const place = this.#places.get(ids[index] as string)
      const moment = moments[index] as Moment
      // In the walk the first window came before everything else. One of its items that stands behind another item that was
      // met has changed places, unless that other one is newer and came in since.
      if (place === undefined && met[index] === 1 && !isNewer(moment, newestInFirst)) this.#stranger ??= { moment }
      else if (place !== undefined && this.#stranger !== null && this.#stranger.moment !== moment) order.unstable = true
      if (place !== undefined && place < this.#furthest) order.unstable = true
      this.#furthest = Math.max(this.#furthest, place ?? -1)
      const goesOn = place === this.#lastPlace || place === this.#lastPlace + 1
      this.run = place === undefined ? 0 : goesOn ? this.run + 1 : 1
      this.#lastPlace = place ?? -2
    }
  }
}

/** Where a lap stands in the list. */
class LapPlace {
  skip = 0
  /** The window that joined last; `null` before the first one. */
  previous: ItemsWindow | null = null
  /** The next window begins behind a position that cannot be read, so it shows nothing of the window before. */
  hasJumped = false
  jumps = 0
  #back = 1
  #same = 0

  /** The window did not join: the next one lies further in front, by twice as much each time. */
  stepBack(stride: number): void {
    this.skip = Math.max(0, this.skip - this.#back * stride)
    this.#back *= 2
  }

  /** Index of the first item behind what `window` shares with the one before; -1 where it shares nothing. */
  joinedAt(window: ItemsWindow): number {
    return this.hasJumped ? 0 : joins(this.previous, window)
  }

  /** `window` has joined; the next one lies behind it, or behind `unreadable`. */
  goOn(window: ItemsWindow, unreadable: number | null, overlap: number): void {
    const { previous } = this
    const end = window.skip + window.ids.length
    const reachesBack = previous !== null && end <= previous.skip + previous.ids.length
    this.#back = 1
    this.previous = window
    this.hasJumped = unreadable !== null
    if (unreadable !== null) this.skip = unreadable + 1
    else this.skip = reachesBack ? end : Math.max(end - overlap, window.skip + 1)
  }

  /** The service gives its last window again, whatever lies behind is asked for. */
  async isBehindTheEnd(reader: Reader, window: ItemsWindow): Promise<boolean> {
    if (!this.#repeats(window)) return false
    // Two windows are also the same where exactly as much was inserted in front as lies between them; then one far behind
    // them is another.
    const far = await reader.look(window.skip + FAR * reader.window, window.asked)
    this.#same += 1
    return far.kind === 'items' && isSame(this.previous as ItemsWindow, far)
  }

  /** The same window came too often: a service that rounds skip down never gives another one. */
  get isStuck(): boolean {
    return this.#same > MOST_SAME
  }

  #repeats(window: ItemsWindow): boolean {
    return this.previous !== null && window.skip > this.previous.skip && isSame(this.previous, window)
  }
}

/**
 * Reads the head of the list again. `commit` makes the step that takes a window in without moving the chain.
 */
export async function* closeLap(
  reader: Reader,
  chain: ChainState,
  { firstWindow, overlap, maxWindows }: { firstWindow: FirstWindow; overlap: number; maxWindows: number },
  commit: (window: ItemsWindow) => WalkStep,
): AsyncGenerator<WalkStep, LapResult, StepResult> {
  const head = new HeadAgain(firstWindow, chain)
  const place = new LapPlace()
  // The end of the list may have made windows smaller. A large answer shows most, so the size of the first one is tried again.
  reader.take = Math.max(reader.take, firstWindow.ids.length)
  // A single item that comes again may have moved; several in a row have not.
  const wanted = Math.min(Math.max(overlap, LEAST_RUN), firstWindow.ids.length)
  let first: ItemsWindow | null = null
  for (let windows = 0; windows < maxWindows; windows += 1) {
    const { window, unreadable } = await readUpTo(reader, place.skip)
    if (window === null || (unreadable !== null && place.jumps++ > MOST_JUMPS))
      return { kind: 'open', reason: 'lap-unreadable' }
    if (window === 'nothing') {
      const { previous, skip } = place
      // That a list of which tasks were met is empty may be a mistake: the next answer says.
      if (previous === null && windows === 0) continue
      // Nothing at 0, or the list ended before the old neighbours were found again.
      if (previous === null || skip === 0 || skip >= previous.skip + previous.ids.length)
        return { kind: 'closed', first, isWhole: false }
      place.stepBack(1)
      continue
    }
    const isOver = await place.isBehindTheEnd(reader, window)
    const from = place.joinedAt(window)
    if (isOver || place.isStuck || from < 0) reader.drop(window)
    if (isOver) return { kind: 'closed', first, isWhole: false }
    if (place.isStuck) break
    if (from < 0) {
      place.stepBack(Math.max(1, window.ids.length - overlap))
      continue
    }
    first ??= window
    head.look(window, from, wanted)
    yield commit(window)
    if (head.run >= wanted) return { kind: 'closed', first, isWhole: first === window && window.skip === 0 }
    const capacity = window.asked < reader.window ? window.asked : window.ids.length
    place.goOn(window, unreadable, overlapOf(capacity, overlap))
  }
  return { kind: 'open', reason: 'lap-too-long' }
}

/** At least as new as the newest item of the walk's first window. */
function isNewer(moment: Moment, newestInFirst: Moment): boolean {
  return moment !== null && newestInFirst !== null && moment >= newestInFirst
}

function isSame(one: ItemsWindow, other: ItemsWindow): boolean {
  return one.ids.join('\n') === other.ids.join('\n')
}

/** Index of the first item behind what `window` shares with the lap's window before it; -1 where it shares nothing. */
function joins(previous: ItemsWindow | null, window: ItemsWindow): number {
  if (previous === null || window.skip === 0) return 0
  const known = new Set(previous.ids)
  const lastId = previous.ids.at(-1) as string
  const lastAt = window.ids.lastIndexOf(lastId)
  if (lastAt >= 0) return lastAt + 1
  let shared = -1
  for (let index = 0; index < window.ids.length; index += 1) if (known.has(window.ids[index] as string)) shared = index
  return shared < 0 ? -1 : shared + 1
}
