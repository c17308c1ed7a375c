// A walk at what looks like the end of the list: asks whether it is (end.ts), goes on by place where answers are cut,
// and proves the tie run before it.
import type { Moment } from '../task.ts'
import { extendChain } from './chain.ts'
import { hasLooked, judgeDriftingEnd, judgeEnd } from './end.ts'
import type { EndJudgement } from './end-judgement.ts'
import { joinByPlace } from './guards.ts'
import { lookBeyond } from './hidden.ts'
import { followLast } from './last-item.ts'
import type { Patience } from './moving-end.ts'
import { lastOf, type OngoingWalk, type Steps, type WalkEnding } from './ongoing-walk.ts'
import { lookAt } from './reader.ts'
import type { ItemsWindow } from './source.ts'
import { payOwed } from './ties.ts'

/** Null where the walk goes on: more lies behind, or the list has moved. */
export async function* askForEnd(
  ongoing: OngoingWalk,
  window: ItemsWindow,
  fruitless: boolean,
): Steps<WalkEnding | null> {
  const ended = yield* lookAtEnd(ongoing, window, fruitless)
  // One item at a time: that ends with a reason of its own.
  if (ongoing.reader.largest < 2) return ended
  return ended ?? stopIfSpent(ongoing.end.spent(ongoing.reader.requests, ongoing.windows))
}

async function* lookAtEnd(ongoing: OngoingWalk, window: ItemsWindow, fruitless: boolean): Steps<WalkEnding | null> {
  const last = lastOf(window)
  const index = window.skip + window.ids.length - 1
  const question = ongoing.endQuestion(last, index)
  let judged = await judgeEnd(ongoing.reader, question)
  if (judged.kind === 'moved') judged = await judgeDriftingEnd(ongoing.reader, question)
  if (judged.kind === 'proven') {
    const ended = yield* acceptEnd(ongoing, judged, last)
    if (ended !== null) return ended
    judged = { kind: 'moved' }
  }
  if (judged.kind === 'unprovable') return { kind: 'stop', reason: judged.reason }
  if (judged.kind === 'gap') return yield* goOnBehind(ongoing, judged.window)
  if (judged.kind === 'moved') {
    ongoing.fresh = true
    ongoing.end.hasMoved = true
    return null
  }
  if (ongoing.chain.filtered) return null
  if (ongoing.request.beyond) ongoing.doubtPageOfOne(window)
  if (judged.looked === true) ongoing.end.looked = index
  if (fruitless && !ongoing.pageOfOne) {
    const joined = yield* joinBehind(ongoing, last.id, index)
    if (joined === 'passed') return { kind: 'list-end' }
    ongoing.fresh ||= joined === 'moved'
    ongoing.end.hasMoved ||= joined === 'moved'
  }
  if (ongoing.kernel.horizon !== null) ongoing.fresh = true
  return null
}

/**
 * `passed`: everything has been met that was listed at a moment of this walk (docs/proof.md, "passed"), and it was looked for further on,
 * too. `more`: but something lies directly behind, which has to be met first. Null: neither is known.
 */
export async function passHorizon(ongoing: OngoingWalk): Promise<'passed' | 'more' | null> {
  const { chain, request, reader, end, kernel } = ongoing
  if (chain.filtered || ongoing.pageOfOne || ongoing.kernel.owed !== undefined) return null
  if ((request.beyond && end.looked === null) || !kernel.hasPassed || reader.pending.some((id) => reader.unmet.has(id)))
    return null
  if (!reader.isLookedBehind && (await showsMore(ongoing))) return 'more'
  ongoing.total = chain.end
  return 'passed'
}

/** The kernel has its proof of the end, whatever it was read for: the walk is over once it was looked for further on, too. */
export async function* endWhereShown(ongoing: OngoingWalk): Steps<WalkEnding | null> {
  const { chain, kernel, reader, request } = ongoing
  if (chain.last === null || !kernel.hasEnded || kernel.state.floor?.id !== chain.last.id) return null
  const index = chain.end - 1
  const question = ongoing.endQuestion(chain.last, index)
  const stop = (): WalkEnding | null => stopIfSpent(ongoing.end.spent(reader.requests, ongoing.windows))
  // Where single positions are empty and larger windows fail, something is hidden in front of what cannot be read.
  const isAnswered = (await reader.look(index, Math.max(1, reader.served))).kind === 'items'
  if (!isAnswered) return stop()
  if (request.beyond && !hasLooked(question, index)) {
    const judged = await lookBeyond(reader, question, index, false)
    if (judged.kind === 'gap') return yield* goOnBehind(ongoing, judged.window)
    if (judged.kind !== 'proven') return stop()
  }
  ongoing.total = chain.end
  return { kind: 'list-end' }
}

/** Behind a stretch of hidden items. */
async function* goOnBehind(ongoing: OngoingWalk, window: ItemsWindow): Steps<null> {
  ongoing.chain = { ...extendChain(ongoing.chain, window), filtered: true }
  yield* ongoing.takeIn(window)
  return null
}

/** Whether there is more directly behind the chain, by an answer that begins where the next item would stand by now. */
async function showsMore(ongoing: OngoingWalk): Promise<boolean> {
  const { chain, reader } = ongoing
  const answer = await lookAt(reader, chain.end + Math.max(0, Math.round(reader.growth)))
  reader.isLookedBehind = true
  // To be met as well, then it fits beside others.
  if (answer.kind === 'items') reader.pending.push(...answer.ids)
  ongoing.fresh = true
  return answer.kind === 'failed' || (answer.kind === 'items' && answer.met.includes(0))
}

export function stopIfSpent(patience: Patience): WalkEnding | null {
  return patience === 'go-on' ? null : { kind: 'stop', reason: 'end-keeps-moving' }
}

/** How often an answer that shows the end of the list, with the run that it ends with as a whole, is looked for. */
const TRIES_WHOLE = 3

/** One answer that shows the whole run at the end of the list: an item before it, all of it, nothing behind it. */
async function* showEnd(ongoing: OngoingWalk, index: number, last: { id: string; moment: Moment }): Steps<void> {
  const { reader, kernel } = ongoing
  let place = index
  // Where it has moved far the answer that holds it may be a full one, which shows no end; from there it is near.
  for (let tries = 0; tries < TRIES_WHOLE && kernel.missing() !== null; tries += 1) {
    const answer = await followLast(reader, last.id, place, Math.floor(Math.max(reader.largest, 2) / 2))
    if (answer === null) return
    if (kernel.seam(answer.handle) !== 'shown') {
      reader.drop(answer)
      return
    }
    ongoing.chain = extendChain(ongoing.chain, answer)
    yield* ongoing.takeIn(answer)
    place = answer.skip + answer.ids.lastIndexOf(last.id)
  }
}

/** It looks like the end; the tie run before it has to be proven as well. Null where it was not proven: it is looked at anew. */
export async function* acceptEnd(
  ongoing: OngoingWalk,
  end: EndJudgement & { kind: 'proven' },
  lastMet: { id: string; moment: Moment },
): Steps<WalkEnding | null> {
  if (end.window !== undefined) {
    ongoing.chain = extendChain(ongoing.chain, end.window)
    yield* ongoing.takeIn(end.window)
  }
  const last = end.window === undefined ? lastMet : lastOf(end.window)
  const { kernel } = ongoing
  if (end.tied) yield* showEnd(ongoing, end.index, last)
  // Among items that are left out no run can be counted.
  if (kernel.missing() !== null && !ongoing.chain.filtered) kernel.owe()
  if (kernel.owed !== undefined) yield* payOwed(ongoing, end.repeats === true ? end.index + 1 : null)
  ongoing.total = end.index + 1
  const { chain, firstWindow } = ongoing
  // What the walk began with, and not what it met last, stands at the end: it has moved.
  const moved = last.moment !== chain.last?.moment && firstWindow?.ids.includes(last.id) === true
  ongoing.chain = { ...chain, last, order: { ...chain.order, unstable: chain.order.unstable || moved } }
  // What the walk takes for the end is no proof, and it may have moved meanwhile.
  const isMissed = kernel.missing() === 'the end of the list was shown'
  if (!isMissed || ongoing.end.missed() === 'give-up') return { kind: 'list-end' }
  if (ongoing.request.beyond) ongoing.end.looked = end.index
  return null
}

/**
 * The overlap leaves no room for the next item: answers are cut by bytes, and it is a large one. Then its place is the
 * anchor; a place says nothing about ties, so the run before it is counted.
 */
async function* joinBehind(ongoing: OngoingWalk, lastId: string, index: number): Steps<'joined' | 'passed' | 'moved'> {
  let window =
    lastId === ongoing.chain.last?.id
      ? await joinByPlace(ongoing.reader, lastId, index, ongoing.endQuestion(ongoing.chain.last, index).runStart)
      : null
  if (window === null) return 'moved'
  while (window !== null) {
    ongoing.chain = extendChain(ongoing.chain, window, true)
    ongoing.end.passedBy()
    yield* ongoing.takeIn(window)
    if (ongoing.hasLeftOwed(window)) yield* payOwed(ongoing)
    if ((await passHorizon(ongoing)) === 'passed') return 'passed'
    // Cut to one item again: the next one would not fit beside it either.
    const last = lastOf(window)
    const { runStart } = ongoing.endQuestion(last, window.skip)
    window = window.ids.length === 1 ? await joinByPlace(ongoing.reader, last.id, window.skip, runStart) : null
  }
  return 'joined'
}
