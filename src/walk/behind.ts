// What stands directly behind the last item, told by places: where no overlap shows it, at positions that bring nothing
// or cannot be read, and at the end of the list (docs/proof.md, "place" and "end"). All are treated alike: read on
// behind that item until an answer brings something, or nothing is seen further on; then look once more at what was
// passed, from the last position to the first, and at the item itself. The kernel says what that shows.

import {
  endIfSpent,
  goesFar,
  isNews,
  looksFurther,
  type Passed,
  placesFurther,
  seenFurther,
  UNREADABLE_IN_A_ROW,
} from './further.ts'
import { measureGrowth, showEnd } from './growing.ts'
import { endsWith, type LastItem, lastItem, placeIn, suspectFilter } from './last-item.ts'
import { TRIES } from './moving-end.ts'
import type { OngoingWalk, Steps, WalkEnding } from './ongoing-walk.ts'
import { type Reading, readWindow } from './read-window.ts'
import { glanceAt, lookAt, probeAt, probeSize, type Reader, seeAgain } from './reader.ts'
import { ofRepeats } from './repeats.ts'
import { firstBeyond } from './search.ts'
import type { ItemsWindow, WalkStep, WindowAnswer } from './source.ts'
import { payAtEnd } from './ties.ts'

/** No more positions in a row than this are passed one by one. */
const MOST_PASSED = 200

/** A window to be taken in; `follows`: it begins directly behind the last item, without showing it. */
export interface Found {
  kind: 'window'
  window: ItemsWindow
  follows: boolean
}

/** Null where the walk reads on as before: more lies behind. */
export type Onward = WalkEnding | Found | null

/**
 * Goes on behind the last item. `byPlace`: no overlap shows more, so the next window joins by its place. `first`: what
 * was just read directly behind the last item, if it was. Returns `moved` where the list moves too much to tell.
 */
export async function* goOnBehind(
  ongoing: OngoingWalk,
  { first = null, byPlace }: { first?: Reading | null; byPlace: boolean },
): Steps<Onward | 'moved'> {
  const { reader, kernel } = ongoing
  let last = await lastItem(ongoing)
  if (last === null && first?.kind === 'items') reader.drop(first)
  for (let moves = 0; last !== null && moves < TRIES; moves += 1) {
    if (moves === 0 && !byPlace) foresee(ongoing, last)
    const passed: Passed[] = []
    const window = await readBehind(ongoing, last, passed, moves === 0 ? first : null)
    const isDirect = window !== null && window !== 'moved' && passed.length === 0
    const place = isDirect ? placeIn(last, window) : null
    // What was prefetched is stale from here on, unless it is for measuring growth.
    if (!isDirect || place !== null) reader.source.prefetch([])
    if (window === null || window === 'moved') return window ?? (yield* endBehind(ongoing, last, passed))
    if (!isDirect) return yield* joinByPlace(ongoing, last, passed, window)
    const isNew = isNews(window, last.id)
    // The last item stands further down once more, though it was sought where it had just been seen.
    if (moves > 0 && place !== null) await suspectFilter(ongoing, window, ongoing.chain)
    if (isNew && place !== null && kernel.joins(window.handle)) return { kind: 'window', window, follows: false }
    const repeats = moves > 0 ? null : await ofRepeats(ongoing, last, window)
    if (repeats !== null) {
      reader.source.prefetch([])
      reader.drop(window)
      if (repeats.kind !== 'last') return repeats
      return yield* claimEnd(ongoing, { ...last, index: repeats.index }, { repeats: true })
    }
    const isNext = isNew && place === null
    const grows = isNext && kernel.state.empty === null && (await measureGrowth(ongoing, last, window))
    if (isNew && !byPlace && !grows) await goesFar(ongoing, window.skip)
    reader.source.prefetch([])
    if (isNext && byPlace && !grows) return yield* joinByPlace(ongoing, last, passed, window)
    reader.drop(window)
    // In a list that grows the window is asked for again, after an index was seen at which nothing stood.
    if (isNext && byPlace) continue
    if (isNew) return null
    // The last item stands further down than an answer said: the list moved, hides items, or ties changed places.
    if (place !== null && last.runStart === last.index)
      ongoing.chain = { ...ongoing.chain, shifts: ongoing.chain.shifts + 1 }
    last = place === null ? null : { ...last, index: place, runStart: last.runStart + place - last.index }
  }
  return 'moved'
}

/** Reads on behind `last`: the first window with items, or null; adds the positions before it to `passed`. */
async function readBehind(
  ongoing: OngoingWalk,
  last: LastItem,
  passed: Passed[],
  given: Reading | null,
): Promise<ItemsWindow | null | 'moved'> {
  const { reader } = ongoing
  let until = last.index + 1
  for (let next = until; ; next += 1) {
    const isFew = reader.take < reader.largest
    // What was prefetched is older than the answers about the passed positions.
    if (passed.length > 0) reader.source.prefetch([])
    const reading =
      passed.length === 0 && given !== null
        ? given
        : await readWindow(reader, next, { fresh: true, whole: true, ...(passed.length > 0 && { maxRetries: 1 }) })
    if (reading.kind === 'items') return passed.length > 0 ? wholeRun(reader, reading) : reading
    if (reading.kind === 'unreadable' && reading.skip !== next) return 'moved'
    const answer = reading.kind === 'unreadable' ? reading.answer : reading.refusal
    if (isFew && answer === null) {
      // So few items may all be hidden: asks for as many as answers hold.
      const more = await probeAt(reader, next)
      if (more.kind === 'items' && more.ids.length > 0) return more
      reader.drop(more)
      if (more.kind === 'failed' && passed.length >= UNREADABLE_IN_A_ROW) return 'moved'
    }
    passed.push(answer)
    if (next < until) continue
    const further = await seenFurther(ongoing, last, passed)
    if (typeof further !== 'number') return further
    const limit = last.index + MOST_PASSED + 1
    until = further <= limit ? further : await firstAnswered(reader, next + 1, further, passed)
    // Behind more positions than that the walk goes on, and is partial.
    if (until > limit) return readUnproven(reader, until)
  }
}

/** The first position between `from` and `to` that brings something; `to` does. */
function firstAnswered(reader: Reader, from: number, to: number, passed: readonly Passed[]): Promise<number> {
  const isFailing = passed.at(-1)?.kind === 'failed'
  return firstBeyond(from, to, async (place) => {
    const answer = isFailing
      ? await reader.look(place, 1, { once: true, maxRetries: 1 })
      : await glanceAt(reader, place)
    return answer.kind === 'items' && (isFailing || answer.ids.length > 0)
  })
}

async function readUnproven(reader: Reader, place: number): Promise<ItemsWindow | 'moved'> {
  const reading = await readWindow(reader, place, { fresh: true })
  return reading.kind === 'items' ? reading : 'moved'
}

/** Joins the window behind the passed positions, once these and the last item have been seen again. */
async function* joinByPlace(
  ongoing: OngoingWalk,
  last: LastItem,
  passed: readonly Passed[],
  window: ItemsWindow,
): Steps<Found | WalkEnding | 'moved'> {
  const { reader, kernel, chain } = ongoing
  const leavesOut = passed.includes(null)
  // A list that grows faster than it is read may look like one with hidden items for ever.
  const ended = leavesOut ? await endIfSpent(ongoing) : null
  if (ended !== null || !(await isStillPassed(reader, last, passed))) {
    reader.drop(window)
    return ended ?? 'moved'
  }
  if (leavesOut) kernel.filter()
  const again = await seeLast(reader, last)
  // If the last item stands where it stood and the window still does not join, the walk goes on, and is partial.
  const isHere = last.id === null || placeIn(last, again) === last.index
  const goesOnAnyway = isHere && (passed.length > 0 || ongoing.isUnpaid || kernel.state.spoiled !== null)
  if (!goesOnAnyway && !kernel.joins(window.handle)) {
    reader.drop(window)
    return 'moved'
  }
  yield* setAside(last, passed)
  // If more was seen further down, the end does not move. A list that grows as it is read would be read on for ever.
  if (kernel.state.empty === null || reader.furthest >= window.skip + window.ids.length) ongoing.end.passedBy()
  const notBelow = passed.some((answer) => answer !== null) ? window.skip : chain.notBelow
  ongoing.chain = { ...chain, notBelow }
  return { kind: 'window', window, follows: passed.length === 0 }
}

/** Nothing was seen behind the passed positions: the list ends there, if these and the last item stand as they did. */
async function* endBehind(ongoing: OngoingWalk, last: LastItem, passed: Passed[]): Steps<Onward | 'moved'> {
  const { reader, kernel } = ongoing
  const end = passed.at(-1)
  if (end?.kind === 'failed') return { kind: 'stop', reason: 'unreadable-from' }
  // Nothing is given behind what is refused, and nothing shows that the list ends there.
  if (end?.kind === 'refused' && passed.length > 1) return { kind: 'stop', reason: 'skip-limit' }
  const before = passed.slice(0, -1)
  const isFree = before.every((answer) => answer === null)
  if (!(await isStillPassed(reader, last, before))) return 'moved'
  const again = await seeLast(reader, last, isFree ? probeSize(reader) : 1)
  if (again.kind === 'refused' && !kernel.hasEnded) return { kind: 'stop', reason: 'skip-limit' }
  if (!endsWith(last, again)) return 'moved'
  yield* setAside(last, before)
  // Positions behind `unread` that brought nothing are no part of the list: for a moment something stood further on.
  const unread = before.findLastIndex((answer) => answer !== null) + 1
  return yield* claimEnd(ongoing, last, { unread })
}

/** The list seems to end with `last` and `unread` positions behind it that cannot be read: the kernel has to say so. */
async function* claimEnd(
  ongoing: OngoingWalk,
  last: LastItem,
  { unread = 0, repeats = false }: { unread?: number; repeats?: boolean },
): Steps<WalkEnding | 'moved'> {
  const { kernel } = ongoing
  // One answer may show the whole run at the end; else the run is counted.
  yield* showEnd(ongoing, last)
  yield* payAtEnd(ongoing, repeats ? last.index + 1 : null)
  if (kernel.missing() === 'the end of the list was shown' && !ongoing.end.missed()) return 'moved'
  // The last item stood there a moment ago, whatever has been read again since.
  return ongoing.endsAt((repeats ? last.index : Math.max(last.index, ongoing.chain.end - 1)) + unread)
}

/** Whether the passed positions still bring nothing, or cannot be read; looks from the last one to the first. */
async function isStillPassed(reader: Reader, { index }: LastItem, passed: readonly Passed[]): Promise<boolean> {
  for (let at = passed.length - 1; at >= 0; at -= 1) {
    const place = index + 1 + at
    const again = passed[at] === null ? await lookAt(reader, place) : await reader.look(place, 1, { maxRetries: 1 })
    if (again.kind === 'items' && again.ids.length > 0) return false
  }
  return true
}

function seeLast(reader: Reader, { id, index, runStart }: LastItem, take = 1): Promise<WindowAnswer> {
  return id === null ? reader.look(0, 1, { maxRetries: 1 }) : seeAgain(reader, index, runStart, take)
}

/** Sets aside the positions that cannot be read. */
function* setAside({ id, index }: LastItem, passed: readonly Passed[]): Generator<WalkStep, void> {
  for (const [at, answer] of passed.entries()) {
    if (answer === null) continue
    const identity = `${at} behind ${id ?? 'nothing'}`
    yield { kind: 'unreadable', skip: index + 1 + at, identity, message: answer.message }
  }
}

/** Prefetches what is needed if the list ends here, in any order; not the last item, which must be seen after that. */
function foresee(ongoing: OngoingWalk, { index }: LastItem): void {
  const { reader, end } = ongoing
  const isStill = !end.hasMoved && end.foreseen < TRIES && reader.kernel.state.empty === null
  if (!isStill || !looksFurther(ongoing, index + 1)) return
  end.foreseen += 1
  const further = placesFurther(ongoing, index + 1).map((skip) => ({ skip, take: probeSize(reader) }))
  reader.source.prefetch([{ skip: index + 1, take: reader.take }, ...further])
}

/** `window`, or a larger one from its place: a run of equal createdAt that it begins with is to end in it. */
async function wholeRun(reader: Reader, window: ItemsWindow): Promise<ItemsWindow> {
  const { skip, asked, ids, moments } = window
  if (ids.length < asked || asked >= reader.window || moments.some((moment) => moment !== moments[0])) return window
  reader.take = Math.min(reader.window, 2 * asked)
  const larger = await readWindow(reader, skip, { fresh: true, whole: true })
  if (larger.kind !== 'items') return window
  reader.drop(window)
  return larger.ids.length > ids.length ? wholeRun(reader, larger) : larger
}

/** Ends the walk once the kernel has its proof of the end, from whatever was read, and nothing is seen further on. */
export async function endWhereShown(ongoing: OngoingWalk): Promise<WalkEnding | null> {
  const { chain, kernel, reader } = ongoing
  if (chain.last === null || !kernel.hasEnded || kernel.state.floor?.id !== chain.last.id) return null
  const last = { ...chain.last, index: chain.end - 1, runStart: chain.end - 1 }
  // If single positions are empty and larger windows fail, something is hidden in front of what cannot be read.
  if ((await reader.look(last.index, probeSize(reader))).kind !== 'items') return endIfSpent(ongoing)
  if ((await seenFurther(ongoing, last, [null])) !== null) return endIfSpent(ongoing)
  return ongoing.endsAt(chain.end - 1)
}
