// A walk at what looks like the end of the list: asks whether it is (end.ts), goes on by place where answers are cut,
// and proves the tie run before it.
import type { Moment } from '../task.ts'
import { extendChain } from './chain.ts'
import { type Course, type Ended, lastOf, type Steps } from './course.ts'
import { judgeDriftingEnd, judgeEnd } from './end.ts'
import type { EndJudgement } from './end-judgement.ts'
import { joinByPlace } from './guards.ts'
import { followLast } from './last-item.ts'
import type { Patience } from './moving-end.ts'
import { probe } from './reader.ts'
import type { ItemsWindow } from './source.ts'
import { payOwed } from './ties.ts'

/** Null where the walk goes on: more lies behind, or the list has moved. */
export async function* askForEnd(course: Course, window: ItemsWindow, fruitless: boolean): Steps<Ended | null> {
  const before = course.reader.requests
  const ended = yield* lookAtEnd(course, window, fruitless)
  // One item at a time: that ends with a reason of its own.
  if (course.reader.largest < 2) return ended
  return ended ?? conclude(course.end.spent(course.reader.requests - before, course.windows))
}

async function* lookAtEnd(course: Course, window: ItemsWindow, fruitless: boolean): Steps<Ended | null> {
  const last = lastOf(window)
  const index = window.skip + window.ids.length - 1
  const question = course.endQuestion(last, index)
  let judged = await judgeEnd(course.reader, question)
  if (judged.kind === 'moved') judged = await judgeDriftingEnd(course.reader, question)
  if (judged.kind === 'proven') return yield* acceptEnd(course, judged, last)
  if (judged.kind === 'unprovable') return { kind: 'stop', reason: judged.reason }
  if (judged.kind === 'gap') {
    course.chain = { ...extendChain(course.chain, judged.window), filtered: true }
    yield course.step(judged.window)
    return null
  }
  if (judged.kind === 'moved') {
    course.fresh = true
    course.end.hasMoved = true
    return null
  }
  if (course.chain.filtered) return null
  if (course.request.beyond) course.doubtPageOfOne(window)
  if (judged.looked === true) course.end.looked = index
  // What stands behind has come since the end was shown.
  if (judged.looked === true && course.kernel.hasEnded) {
    course.total = course.chain.end
    return { kind: 'list-end' }
  }
  if (fruitless && !course.pageOfOne) {
    const joined = yield* joinBehind(course, last.id, index)
    if (joined === 'passed') return { kind: 'list-end' }
    course.fresh ||= joined === 'moved'
    course.end.hasMoved ||= joined === 'moved'
  }
  if (course.kernel.state.ceiling !== null) course.fresh = true
  return null
}

/**
 * `passed`: everything has been met that was listed at a moment of this walk (docs/proof.md, "passed"), and it was looked for further on,
 * too. `more`: but something lies directly behind, which has to be met first. Null: neither is known.
 */
export async function passHorizon(course: Course): Promise<'passed' | 'more' | null> {
  const { chain, request, reader, end, kernel } = course
  if (chain.filtered || course.pageOfOne || course.kernel.owed !== undefined) return null
  if ((request.beyond && end.looked === null) || !kernel.hasPassed || reader.pending.some((id) => reader.unmet.has(id)))
    return null
  if (!reader.isLookedBehind && (await showsMore(course))) return 'more'
  course.total = chain.end
  return 'passed'
}

/** Whether there is more directly behind the chain, by an answer that begins where the next item would stand by now. */
async function showsMore(course: Course): Promise<boolean> {
  const { chain, reader } = course
  const answer = await probe(reader, chain.end + Math.max(0, Math.round(reader.growth)))
  reader.drop(answer)
  reader.isLookedBehind = true
  // To be met as well, then it fits beside others.
  if (answer.kind === 'items') reader.pending.push(...answer.ids)
  course.fresh = true
  return answer.kind === 'failed' || (answer.kind === 'items' && answer.met.includes(0))
}

export function conclude(patience: Patience): Ended | null {
  return patience === 'go-on' ? null : { kind: 'stop', reason: 'end-keeps-moving' }
}

/** How often an answer that shows the end of the list, with the run that it ends with as a whole, is looked for. */
const TRIES_WHOLE = 3

/** One answer that shows the whole run at the end of the list: an item before it, all of it, nothing behind it. */
async function* showEnd(course: Course, index: number, last: { id: string; moment: Moment }): Steps<void> {
  const { reader, kernel } = course
  let place = index
  // Where it has moved far the answer that holds it may be a full one, which shows no end; from there it is near.
  for (let tries = 0; tries < TRIES_WHOLE && kernel.missing() !== null; tries += 1) {
    const answer = await followLast(reader, last.id, place, Math.floor(Math.max(reader.largest, 2) / 2))
    if (answer === null) return
    if (kernel.seam(answer.handle) !== 'shown') {
      reader.drop(answer)
      return
    }
    course.chain = extendChain(course.chain, answer)
    yield course.step(answer)
    place = answer.skip + answer.ids.lastIndexOf(last.id)
  }
}

/** The end is proven; the tie run before it has to be as well. */
export async function* acceptEnd(
  course: Course,
  end: EndJudgement & { kind: 'proven' },
  lastMet: { id: string; moment: Moment },
): Steps<Ended> {
  if (end.window !== undefined) {
    course.chain = extendChain(course.chain, end.window)
    yield course.step(end.window)
  }
  const last = end.window === undefined ? lastMet : lastOf(end.window)
  const { kernel } = course
  if (end.tied) yield* showEnd(course, end.index, last)
  if (kernel.missing() !== null) kernel.owe()
  if (kernel.owed !== undefined) yield* payOwed(course, end.repeats === true ? end.index + 1 : null)
  course.total = end.index + 1
  const { chain, firstWindow } = course
  // What the walk began with, and not what it met last, stands at the end: it has moved.
  const moved = last.moment !== chain.last?.moment && firstWindow?.ids.includes(last.id) === true
  course.chain = { ...chain, last, order: { ...chain.order, unstable: chain.order.unstable || moved } }
  return { kind: 'list-end' }
}

/**
 * The overlap leaves no room for the next item: answers are cut by bytes, and it is a large one. Then its place is the
 * anchor; a place says nothing about ties, so the run before it is counted.
 */
async function* joinBehind(course: Course, lastId: string, index: number): Steps<'joined' | 'passed' | 'moved'> {
  let window =
    lastId === course.chain.last?.id
      ? await joinByPlace(course.reader, lastId, index, course.endQuestion(course.chain.last, index).runStart)
      : null
  if (window === null) return 'moved'
  while (window !== null) {
    course.chain = extendChain(course.chain, window, true)
    course.end.passedBy()
    course.fruitless = 0
    yield course.step(window)
    if (course.hasLeftOwed(window.moments.at(-1))) yield* payOwed(course)
    if ((await passHorizon(course)) === 'passed') return 'passed'
    // Cut to one item again: the next one would not fit beside it either.
    const { id } = lastOf(window)
    window = window.ids.length === 1 ? await joinByPlace(course.reader, id, window.skip, window.skip) : null
  }
  return 'joined'
}
