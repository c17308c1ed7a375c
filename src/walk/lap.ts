// The closing lap (design.md 6.1): after a full walk the head of the list is read again, joined by seams, until items of
// the walk's own first window come as they came then. What moved to the front while the walk was further down is met here.

import type { Moment } from '../task.ts'
import type { ChainState } from './chain.ts'
import { overlapOf } from './chain.ts'
import { contradictWith, noEvidence, observe } from './order.ts'
import { type Reader, readWindow } from './reader.ts'
import type { ItemsWindow, StepResult, WalkStep } from './source.ts'

/** A walk's first window, in list order. */
export interface FirstWindow {
  ids: string[]
  moments: Moment[]
}

const LEAST_RUN = 3
/** Answers that may be the same as the one before by chance. */
const MOST_SAME = 5
/** In windows: no list is longer by that than it was a moment ago. */
const FAR = 10
/** Unreadable positions that one lap passes. */
const MOST_JUMPS = 10

/** `first`: the answer that showed the head of the list; `isWhole`: no other was needed. */
export type LapResult =
  | { kind: 'closed'; first: ItemsWindow | null; isWhole: boolean }
  | { kind: 'open'; reason: 'lap-unreadable' | 'lap-too-long' }

/** Items of the first window by the number of their tie run there: among equal createdAt no order is an old order. */
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

/**
 * What the windows of a lap show: how far items of the walk's own first window come as they came then, and what of it
 * contradicts an order.
 */
class HeadAgain {
  /** Items of the first window, one after another as they came then, that were shown last. */
  run = 0
  readonly #places: Map<string, number>
  readonly #chain: ChainState
  readonly #shown = noEvidence()
  #lastPlace = -2
  #furthest = -1
  /** Was met, and is not of the first window. */
  #stranger: { moment: Moment } | null = null

  /** What it shows against an order is added to `chain.order`. */
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
      // The first window's items came before everything else that was met, but for what came in since, newer than they are:
      // one that comes behind has changed places.
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
  /** The next window begins behind a position that cannot be read, and shows nothing of the one before. */
  hasJumped = false
  jumps = 0
  #back = 1
  #same = 0

  /** Nothing joins here: where it last did, and before that, further and further. */
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

  /** Nothing comes further down than the last window, which comes again. */
  async isBehindTheEnd(reader: Reader, window: ItemsWindow): Promise<boolean> {
    if (!this.#repeats(window)) return false
    // Where as much was inserted in front as lies between the two, they are the same as well, but not further down.
    const far = await reader.look(window.skip + FAR * reader.window, window.asked)
    this.#same += 1
    return far.kind === 'items' && isSame(this.previous as ItemsWindow, far)
  }

  /** A service that rounds skip down answers so for ever. */
  get isStuck(): boolean {
    return this.#same > MOST_SAME
  }

  #repeats(window: ItemsWindow): boolean {
    return this.previous !== null && window.skip > this.previous.skip && isSame(this.previous, window)
  }
}

/** `commit` makes the step that takes a window in without moving the chain. */
export async function* closeLap(
  reader: Reader,
  chain: ChainState,
  { firstWindow, overlap, maxWindows }: { firstWindow: FirstWindow; overlap: number; maxWindows: number },
  commit: (window: ItemsWindow) => WalkStep,
): AsyncGenerator<WalkStep, LapResult, StepResult> {
  const head = new HeadAgain(firstWindow, chain)
  const place = new LapPlace()
  // One answer shows most: what the end of the list made smaller is tried again at the size of the beginning.
  reader.take = Math.max(reader.take, firstWindow.ids.length)
  // One item is no neighbourhood, however small the overlap.
  const wanted = Math.min(Math.max(overlap, LEAST_RUN), firstWindow.ids.length)
  let first: ItemsWindow | null = null
  for (let windows = 0; windows < maxWindows; windows += 1) {
    const { window, unreadable } = await readUpTo(reader, place.skip)
    if (window === null || (unreadable !== null && place.jumps++ > MOST_JUMPS))
      return { kind: 'open', reason: 'lap-unreadable' }
    if (window === 'nothing') {
      const { previous, skip } = place
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

/** A window at `skip`, or up to the position behind it that cannot be read; null where there is none before that. */
async function readUpTo(
  reader: Reader,
  skip: number,
): Promise<{ window: ItemsWindow | 'nothing' | null; unreadable: number | null }> {
  const reading = await readWindow(reader, skip, { fresh: true })
  if (reading.kind === 'items') return { window: reading, unreadable: null }
  if (reading.kind === 'nothing') return { window: 'nothing', unreadable: null }
  // Set aside by the walk already.
  const upTo = reading.skip === skip ? null : await reader.read(skip, reading.skip - skip, { fresh: true })
  return { window: upTo?.kind === 'items' ? upTo : null, unreadable: reading.skip }
}

/** Such an item that was met further down shows by that alone that the list is not newest first. */
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
