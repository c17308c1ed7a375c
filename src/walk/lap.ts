// The closing lap (design.md 6.1): after a full walk the head of the list is read again, joined by seams, until items of
// the walk's own first window come as they came then. What moved to the front while the walk was further down is met here.

import type { Moment } from '../task.ts'
import type { ChainState } from './chain.ts'
import { overlapOf } from './chain.ts'
import { contradictWith, noEvidence, observe } from './order.ts'
import { type Reader, readWindow } from './reader.ts'
import type { ItemsWindow, StepResult, WalkStep, WindowAnswer } from './source.ts'

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
 * `commit` makes the step that takes a window in without
 * moving the chain; what the lap shows against an order is added to `chain.order`.
 */
export async function* closeLap(
  reader: Reader,
  chain: ChainState,
  firstWindow: FirstWindow,
  configuredOverlap: number,
  maxWindows: number,
  commit: (window: ItemsWindow) => WalkStep,
): AsyncGenerator<WalkStep, LapResult, StepResult> {
  const places = runsOf(firstWindow)
  // One answer shows most: what the end of the list made smaller is tried again at the size of the beginning.
  reader.take = Math.max(reader.take, firstWindow.ids.length)
  // One item is no neighbourhood, however small the overlap.
  const wanted = Math.min(Math.max(configuredOverlap, LEAST_RUN), firstWindow.ids.length)
  let previous: ItemsWindow | null = null
  let run = 0
  let lastPlace = -2
  let skip = 0
  let back = 1
  let jumps = 0
  let stranger: { moment: Moment } | null = null
  let furthest = -1
  let jumped = false
  let same = 0
  const shown = noEvidence()
  let first: ItemsWindow | null = null
  for (let windows = 0; windows < maxWindows; windows += 1) {
    let window: Awaited<ReturnType<typeof readWindow>> = await readWindow(reader, skip, { fresh: true })
    let jump: number | null = null
    if (window.kind === 'unreadable') {
      // Set aside by the walk already: read up to it, and go on behind it.
      jump = window.skip + 1
      const upTo: WindowAnswer = await reader.read(skip, window.skip - skip, { fresh: true })
      if (window.skip === skip || upTo.kind !== 'items' || jumps++ > MOST_JUMPS)
        return { kind: 'open', reason: 'lap-unreadable' }
      window = upTo
    }
    if (window.kind === 'nothing') {
      // Nothing at 0, or the list ended before the old neighbours were found again.
      if (skip === 0 || previous === null || skip >= previous.skip + previous.ids.length)
        return { kind: 'closed', first, isWhole: false }
      skip = Math.max(0, skip - back)
      back *= 2
      continue
    }
    // The last window again, behind the end: there is no more to see. Where as much was inserted in front as lies between
    // the two, they are the same as well, but not further down.
    if (previous !== null && window.skip > previous.skip && isSame(previous, window)) {
      const far = await reader.look(window.skip + FAR * reader.window, window.asked)
      if (far.kind === 'items' && isSame(previous, far)) {
        reader.drop(window)
        return { kind: 'closed', first, isWhole: false }
      }
      // A service that rounds skip down answers so for ever.
      same += 1
      if (same > MOST_SAME) {
        reader.drop(window)
        return { kind: 'open', reason: 'lap-too-long' }
      }
    }
    const joinedAt: number = jumped ? 0 : joins(previous, window)
    jumped = false
    if (joinedAt < 0) {
      reader.drop(window)
      skip = Math.max(0, skip - back * Math.max(1, window.ids.length - configuredOverlap))
      back *= 2
      continue
    }
    back = 1
    first ??= window
    observe(shown, window.ids, window.moments, joinedAt)
    contradictWith(chain.order, shown)
    for (let index = joinedAt; index < window.ids.length; index += 1) {
      const place: number | undefined = places.get(window.ids[index] as string)
      const moment = window.moments[index] as Moment
      // The first window's items came before everything else that was met, but for what came in since, newer than they are:
      // one that comes behind has changed places.
      if (place === undefined && window.met[index] === 1 && !isNewer(moment, chain.newestInFirst))
        stranger ??= { moment }
      else if (place !== undefined && stranger !== null && stranger.moment !== moment) chain.order.unstable = true
      if (place !== undefined && place < furthest) chain.order.unstable = true
      furthest = Math.max(furthest, place ?? -1)
      run = place === undefined ? 0 : place === lastPlace || place === lastPlace + 1 ? run + 1 : 1
      lastPlace = place ?? -2
      if (run >= wanted) break
    }
    yield commit(window)
    if (run >= wanted) return { kind: 'closed', first, isWhole: first === window && window.skip === 0 }
    const end: number = window.skip + window.ids.length
    const capacity: number = window.asked < reader.window ? window.asked : window.ids.length
    const reachesBack = previous !== null && end <= previous.skip + previous.ids.length
    previous = window
    if (jump !== null) {
      skip = jump
      jumped = true
      continue
    }
    skip = reachesBack ? end : Math.max(end - overlapOf(capacity, configuredOverlap), window.skip + 1)
  }
  return { kind: 'open', reason: 'lap-too-long' }
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
