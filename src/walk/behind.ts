// What stands directly behind the last item, told by places: where no overlap shows it, at positions that bring nothing or cannot be
// read, and at the end of the list (docs/proof.md, "place" and "end"). One way for all of them: read on behind that item until an answer
// brings something, or nothing is seen further on; then look once more at what was passed, from the last position to the first, and
// at the item itself. What that shows the kernel says.
import { TRIES } from './attempts.ts'
import { endIfSpent, goesFar, isNews, looksFurther, type Passed, placesFurther, seenFurther } from './further.ts'
import { measureGrowth, showEnd } from './growing.ts'
import { endsWith, type LastItem, lastItem, placeIn, suspectFilter } from './last-item.ts'
import type { OngoingWalk, Steps, WalkEnding } from './ongoing-walk.ts'
import {
  glanceAt,
  lookAt,
  probeAt,
  probeSize,
  type Reader,
  type Reading,
  readWindow,
  seeAgain,
  UNREADABLE_IN_A_ROW,
} from './reader.ts'
import { ofRepeats } from './repeats.ts'
import { firstBeyond } from './search.ts'
import type { ItemsWindow, WalkStep, WindowAnswer } from './source.ts'
import { payAtEnd } from './ties.ts'

/** More positions in a row are not passed one by one. */
const MOST_PASSED = 200

/** A window to be taken in; `follows`: it begins directly behind the last item, without showing it. */
export interface Found {
  kind: 'window'
  window: ItemsWindow
  follows: boolean
}

/** Null where the walk reads on as ever: more lies behind. */
export type Onward = WalkEnding | Found | null

/**
 * `byPlace`: no overlap shows more, so the window that follows joins by its place. `first`: what was read directly behind the last item
 * just now, where it is so. `moved` where that was not to be found out, as the list moves.
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
    // What was foreseen is stale from here on, but for what measures growth.
    if (!isDirect || place !== null) reader.source.prefetch([])
    if (window === null || window === 'moved') return window ?? (yield* endBehind(ongoing, last, passed))
    if (!isDirect) return yield* joinByPlace(ongoing, last, passed, window)
    const isNew = isNews(window, last.id)
    // Further down once more: it had been sought where it was just seen.
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
    // Where the list grows it is asked for again, after there was nothing further on.
    if (isNext && byPlace) continue
    if (isNew) return null
    // It stands further down than an answer said: the list has moved, answers leave items out, or ties have changed places.
    if (place !== null && last.runStart === last.index)
      ongoing.chain = { ...ongoing.chain, shifts: ongoing.chain.shifts + 1 }
    last = place === null ? null : { ...last, index: place, runStart: last.runStart + place - last.index }
  }
  return 'moved'
}

/** Reads on behind `last`: what brings something first, null where nothing is seen there. `passed` are the positions before that. */
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
    // What was foreseen is older than what was passed.
    if (passed.length > 0) reader.source.prefetch([])
    const reading =
      passed.length === 0 && given !== null
        ? given
        : await readWindow(reader, next, { fresh: true, whole: true, ...(passed.length > 0 && { maxRetries: 1 }) })
    if (reading.kind === 'items') return passed.length > 0 ? wholeRun(reader, reading) : reading
    if (reading.kind === 'unreadable' && reading.skip !== next) return 'moved'
    const answer = reading.kind === 'unreadable' ? reading.answer : reading.refusal
    if (isFew && answer === null) {
      // So few may be hidden there: asked for as many as answers hold.
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
    // Behind more the walk goes on, and is partial.
    if (until > limit) return readUnproven(reader, until)
  }
}

/** Between two positions, of which the second one brings something: where answers begin to do so. */
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

/** The window behind what was passed joins, once that and the last item were seen again. */
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
  if (ended !== null) {
    reader.drop(window)
    return ended
  }
  if (!(await isStillPassed(reader, last, passed))) {
    reader.drop(window)
    return 'moved'
  }
  if (leavesOut) kernel.filter()
  const again = await seeLast(reader, last)
  // Where that shows no more than before, the walk goes on, and is partial.
  const isHere = last.id === null || placeIn(last, again) === last.index
  if (!kernel.joins(window.handle) && !(isHere && (passed.length > 0 || ongoing.isUnpaid || kernel.spoiled !== null))) {
    reader.drop(window)
    return 'moved'
  }
  yield* setAside(last, passed)
  // Something had been seen further down: it is not the end that moves. Else one that grows as it is read would be read on and on.
  if (kernel.state.empty === null || reader.furthest >= window.skip + window.ids.length) ongoing.end.passedBy()
  const notBelow = passed.some((answer) => answer !== null) ? window.skip : chain.notBelow
  ongoing.chain = { ...chain, notBelow, filtered: chain.filtered || leavesOut }
  return { kind: 'window', window, follows: passed.length === 0 }
}

/** Nothing was seen behind what was passed: the list ends there, if that and the last item stand as they did. */
async function* endBehind(ongoing: OngoingWalk, last: LastItem, passed: Passed[]): Steps<Onward | 'moved'> {
  const { reader, kernel } = ongoing
  const end = passed.at(-1)
  if (end?.kind === 'failed') return { kind: 'stop', reason: 'unreadable-from' }
  // Behind what is refused there is nothing, and nothing shows that it is the end.
  if (end?.kind === 'refused' && passed.length > 1) return { kind: 'stop', reason: 'skip-limit' }
  const before = passed.slice(0, -1)
  const isFree = before.every((answer) => answer === null)
  if (!(await isStillPassed(reader, last, before))) return 'moved'
  const again = await seeLast(reader, last, isFree ? probeSize(reader) : 1)
  if (again.kind === 'refused' && !kernel.hasEnded) return { kind: 'stop', reason: 'skip-limit' }
  if (!endsWith(last, again)) return 'moved'
  yield* setAside(last, before)
  // What brought nothing there is no part of the list: something stood further on for a moment.
  const unread = before.findLastIndex((answer) => answer !== null) + 1
  return yield* claimEnd(ongoing, last, { unread })
}

/** It looks like the end of the list, with so many positions behind `last` that cannot be read; whether it is, the kernel says. */
async function* claimEnd(
  ongoing: OngoingWalk,
  last: LastItem,
  { unread = 0, repeats = false }: { unread?: number; repeats?: boolean },
): Steps<WalkEnding | 'moved'> {
  const { kernel } = ongoing
  // One answer that shows the whole run at the end, else it is counted.
  yield* showEnd(ongoing, last)
  yield* payAtEnd(ongoing, repeats ? last.index + 1 : null)
  if (kernel.missing() === 'the end of the list was shown' && !ongoing.end.missed()) return 'moved'
  // The last item stood there a moment ago, whatever was read again since.
  return ongoing.endsAt((repeats ? last.index : Math.max(last.index, ongoing.chain.end - 1)) + unread)
}

/** Whether what was passed behind `index` still brings nothing, or cannot be read, looked at from the last position to the first. */
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

/** Positions that cannot be read are set aside. */
function* setAside({ id, index }: LastItem, passed: readonly Passed[]): Generator<WalkStep, void> {
  for (const [at, answer] of passed.entries()) {
    if (answer === null) continue
    const identity = `${at} behind ${id ?? 'nothing'}`
    yield { kind: 'unreadable', skip: index + 1 + at, identity, message: answer.message }
  }
}

/** What will be asked for if the list ends here, in any order. The last item will not: it has to be seen after that. */
function foresee(ongoing: OngoingWalk, { index }: LastItem): void {
  const { reader, end } = ongoing
  const isStill = !end.hasMoved && end.foreseen < TRIES && reader.kernel.state.empty === null
  if (!isStill || !looksFurther(ongoing, index + 1)) return
  end.foreseen += 1
  const further = placesFurther(ongoing, index + 1).map((skip) => ({ skip, take: probeSize(reader) }))
  reader.source.prefetch([{ skip: index + 1, take: reader.take }, ...further])
}

/** `window`, or a larger one from the same place, so that a run of equal createdAt that it begins with ends in it. */
async function wholeRun(reader: Reader, window: ItemsWindow): Promise<ItemsWindow> {
  const { skip, asked, ids, moments } = window
  if (ids.length < asked || asked >= reader.window || moments.some((moment) => moment !== moments[0])) return window
  reader.take = Math.min(reader.window, 2 * asked)
  const larger = await readWindow(reader, skip, { fresh: true, whole: true })
  if (larger.kind !== 'items') return window
  reader.drop(window)
  return larger.ids.length > ids.length ? wholeRun(reader, larger) : larger
}

/** The kernel has its proof of the end, whatever it was read for: the walk is over once it was looked for further on, too. */
export async function endWhereShown(ongoing: OngoingWalk): Promise<WalkEnding | null> {
  const { chain, kernel, reader } = ongoing
  if (chain.last === null || !kernel.hasEnded || kernel.state.floor?.id !== chain.last.id) return null
  const last = { ...chain.last, index: chain.end - 1, runStart: chain.end - 1 }
  // Where single positions are empty and larger windows fail, something is hidden in front of what cannot be read.
  if ((await reader.look(last.index, probeSize(reader))).kind !== 'items') return endIfSpent(ongoing)
  if ((await seenFurther(ongoing, last, [null])) !== null) return endIfSpent(ongoing)
  return ongoing.endsAt(chain.end - 1)
}
