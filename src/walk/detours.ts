// Readings that do not join the chain: positions that cannot be read, answers without items, windows without an anchor
// (design.md 6.1, "Seams" and "Guards").
import type { Moment } from '../task.ts'
import { type ChainState, extendChain } from './chain.ts'
import { judgeEnd } from './end.ts'
import type { EndJudgement } from './end-judgement.ts'
import { acceptEnd, stopIfSpent } from './ending.ts'
import { isListEmpty, passUnreadable } from './guards.ts'
import { crossHidden } from './hidden.ts'
import type { OngoingWalk, Steps, WalkEnding } from './ongoing-walk.ts'
import type { Reading } from './reader.ts'
import type { ItemsWindow, NoWindow, StepResult, WalkStep } from './source.ts'

/** How often an unreadable position may turn out to have moved. */
const TRIES = 12

export async function* onUnreadable(
  ongoing: OngoingWalk,
  reading: Reading & { kind: 'unreadable' },
): Steps<WalkEnding | null> {
  if (ongoing.chain.last !== null && reading.skip < ongoing.chain.end - 1) {
    // Within the overlap, so it was met before: the next windows begin behind it.
    ongoing.chain = { ...ongoing.chain, notBelow: reading.skip + 1 }
    return startAgain(ongoing)
  }
  if (reading.answer.kind === 'refused' && ongoing.chain.last !== null) {
    const { last, end } = ongoing.chain
    const judged = await judgeEnd(ongoing.reader, ongoing.endQuestion(last, end - 1))
    if (isEnd(judged)) return yield* endOrPass(ongoing, judged, last, reading)
  }
  const { reader, chain } = ongoing
  const passed = yield* passUnreadable(reader, chain, reading.skip, reading.answer)
  if (passed.kind === 'window') return yield* goOnFrom(ongoing, passed.window)
  if (passed.kind === 'too-many') return { kind: 'stop', reason: 'unreadable-from' }
  if (passed.kind === 'limit') return { kind: 'stop', reason: 'skip-limit' }
  if (passed.kind === 'moved') return startAgain(ongoing)
  ongoing.total = passed.total
  return { kind: 'list-end' }
}

type Ended = EndJudgement & { kind: 'proven' | 'unprovable' }

function isEnd(judged: EndJudgement): judged is Ended {
  return judged.kind === 'proven' || judged.kind === 'unprovable'
}

/** The list looks like ending here. A refusal may say so, or be about the item itself: then others stand behind it. */
async function* endOrPass(
  ongoing: OngoingWalk,
  judged: Ended,
  last: { id: string; moment: Moment },
  refused: { skip: number; answer: NoWindow } | null,
): Steps<WalkEnding | null> {
  const { reader, chain, kernel } = ongoing
  const isShown = judged.kind === 'proven' && kernel.missing() !== 'the end of the list was shown'
  if (refused !== null && !isShown) {
    const passed = yield* passUnreadable(reader, chain, refused.skip, refused.answer)
    if (passed.kind === 'window') return yield* goOnFrom(ongoing, passed.window)
  }
  if (judged.kind === 'unprovable') return { kind: 'stop', reason: judged.reason }
  return yield* acceptEnd(ongoing, judged, last)
}

/** The window was read behind positions that cannot be read. */
function* goOnFrom(ongoing: OngoingWalk, window: ItemsWindow): Generator<WalkStep, null, StepResult> {
  ongoing.chain = { ...extendChain(ongoing.chain, window), notBelow: window.skip }
  yield* ongoing.takeIn(window)
  ongoing.skip = ongoing.forward()
  return null
}

/** The list has moved around a position that could not be read: its window is read anew, a bounded number of times. */
function startAgain(ongoing: OngoingWalk): WalkEnding | null {
  ongoing.stuck += 1
  ongoing.retry(ongoing.forward())
  return ongoing.stuck > TRIES ? { kind: 'stop', reason: 'unreadable-from' } : null
}

export async function* onNothing(
  ongoing: OngoingWalk,
  { refusal }: Reading & { kind: 'nothing' },
): Steps<WalkEnding | null> {
  const { chain, request, reader, skip } = ongoing
  ongoing.fruitless += 1
  if (ongoing.skip === 0) {
    if (await isListEmpty(reader)) {
      ongoing.total = 0
      return { kind: 'list-end' }
    }
    ongoing.retry(0)
    return null
  }
  if (chain.last === null && request.accepts === undefined) {
    // The walk was to begin in the middle, and the list has become shorter than that.
    ongoing.retry(0)
    return null
  }
  if (chain.last !== null && chain.filtered) {
    const crossed = yield* onHidden(ongoing, await crossHidden(reader, chain))
    if (crossed !== 'moved') return crossed
  } else if (chain.last !== null && (ongoing.pageOfOne || (ongoing.skip >= chain.end && !ongoing.isLooking()))) {
    const last = ongoing.shown ?? chain.last
    const judged = await judgeEnd(reader, ongoing.endQuestion(last, chain.end - 1))
    if (isEnd(judged))
      return yield* endOrPass(ongoing, judged, last, refusal === null ? null : { skip, answer: refusal })
  }
  ongoing.lookOn('before', chain.returned)
  return stopIfSpent(ongoing.end.spent(reader.requests, ongoing.windows))
}

/** Behind a stretch of hidden items. */
async function* onHidden(ongoing: OngoingWalk, crossed: EndJudgement): Steps<WalkEnding | null | 'moved'> {
  if (crossed.kind === 'proven') {
    ongoing.total = crossed.index + 1
    return { kind: 'list-end' }
  }
  if (crossed.kind === 'gap' && !crossed.window.met.includes(0)) {
    ongoing.reader.drop(crossed.window)
    return stopIfSpent(ongoing.end.spent(ongoing.reader.requests, ongoing.windows)) ?? 'moved'
  }
  if (crossed.kind === 'gap') {
    ongoing.chain = extendChain(ongoing.chain, crossed.window)
    yield* ongoing.takeIn(crossed.window)
    ongoing.skip = crossed.window.skip + Math.floor(crossed.window.asked / 2)
    return null
  }
  return stopIfSpent(ongoing.end.spent(ongoing.reader.requests, ongoing.windows)) ?? 'moved'
}

export function onGap(ongoing: OngoingWalk, window: ItemsWindow): void {
  ongoing.fruitless += 1
  if (ongoing.doubtPageOfOne(window)) ongoing.retry(ongoing.chain.end)
  else ongoing.lookOn(isNew(ongoing.chain, window) ? 'behind' : 'before', window.ids.length)
}

/** Whether the window holds only items that came in since: newest first, and all as new as the newest of the first window. */
function isNew({ order, newestInFirst }: ChainState, { moments }: ItemsWindow): boolean {
  if (newestInFirst === null || order.rising >= order.falling) return false
  return moments.every((moment) => moment !== null && moment >= newestInFirst)
}
