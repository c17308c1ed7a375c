// Readings that do not join the chain: what cannot be read, answers without items, windows that show nothing of what was
// met (design.md 6.1, "Seams" and "Guards").
import { type ChainState, extendChain } from './chain.ts'
import type { Course, Ended, Steps } from './course.ts'
import { judgeEnd } from './end.ts'
import type { EndJudgement } from './end-judgement.ts'
import { acceptEnd, conclude } from './ending.ts'
import { isListEmpty, passUnreadable } from './guards.ts'
import { crossHidden } from './hidden.ts'
import type { Reading } from './reader.ts'
import type { ItemsWindow } from './source.ts'

/** How often an unreadable position may turn out to have moved. */
const TRIES = 12

export async function* onUnreadable(course: Course, reading: Reading & { kind: 'unreadable' }): Steps<Ended | null> {
  const moved = (): Ended | null => {
    course.stuck += 1
    course.retry(course.forward())
    return course.stuck > TRIES ? { kind: 'stop', reason: 'unreadable-from' } : null
  }
  if (course.chain.last !== null && reading.skip < course.chain.end - 1) {
    // Within the overlap, so it was met before: the next windows begin behind it.
    course.chain = { ...course.chain, floor: reading.skip + 1 }
    return moved()
  }
  if (reading.answer.kind === 'refused' && course.chain.last !== null) {
    // A refusal may mean that the list ends before it.
    const { last, end } = course.chain
    const judged = await judgeEnd(course.reader, course.endQuestion(last, end - 1))
    if (judged.kind === 'proven') return yield* acceptEnd(course, judged, last)
    if (judged.kind === 'unprovable') return { kind: 'stop', reason: judged.reason }
  }
  const passed = yield* passUnreadable(course.reader, course.chain, reading.skip, reading.answer)
  if (passed.kind === 'too-many') return { kind: 'stop', reason: 'unreadable-from' }
  if (passed.kind === 'limit') return { kind: 'stop', reason: 'skip-limit' }
  if (passed.kind === 'moved') return moved()
  if (passed.kind === 'end') {
    course.total = passed.total
    return { kind: 'list-end' }
  }
  course.chain = { ...extendChain(course.chain, passed.window), floor: passed.window.skip }
  yield course.step(passed.window)
  course.skip = course.forward()
  return null
}

export async function* onNothing(course: Course): Steps<Ended | null> {
  const { chain, request, reader } = course
  course.fruitless += 1
  if (course.skip === 0) {
    if (await isListEmpty(reader)) {
      course.total = 0
      return { kind: 'list-end' }
    }
    course.retry(0)
    return null
  }
  if (chain.last === null && request.accepts === undefined) {
    // A walk that should begin in the middle of a list that has become shorter.
    course.retry(0)
    return null
  }
  if (chain.last !== null && chain.filtered) {
    const before = reader.requests
    const crossed = yield* onHidden(course, await crossHidden(reader, chain), before)
    if (crossed !== 'moved') return crossed
  } else if (chain.last !== null && (course.pageOfOne || (course.skip >= chain.end && !course.isLooking()))) {
    const last = course.shown ?? chain.last
    const judged = await judgeEnd(reader, course.endQuestion(last, chain.end - 1))
    if (judged.kind === 'proven') return yield* acceptEnd(course, judged, last)
    if (judged.kind === 'unprovable') return { kind: 'stop', reason: judged.reason }
  }
  course.lookOn('before', chain.returned)
  return null
}

/** Behind a stretch of hidden items. */
async function* onHidden(course: Course, crossed: EndJudgement, before: number): Steps<Ended | null | 'moved'> {
  if (crossed.kind === 'proven') {
    course.total = crossed.index + 1
    return { kind: 'list-end' }
  }
  if (crossed.kind === 'gap' && !crossed.window.met.includes(0)) {
    course.reader.drop(crossed.window)
    return conclude(course.end.spent(course.reader.requests - before, course.windows)) ?? 'moved'
  }
  if (crossed.kind === 'gap') {
    course.chain = extendChain(course.chain, crossed.window)
    yield course.step(crossed.window)
    course.skip = crossed.window.skip + Math.floor(crossed.window.asked / 2)
    course.fruitless = 0
    return null
  }
  return conclude(course.end.spent(course.reader.requests - before, course.windows)) ?? 'moved'
}

export function onGap(course: Course, window: ItemsWindow): void {
  course.fruitless += 1
  if (course.doubtPageOfOne(window)) course.retry(course.chain.end)
  else course.lookOn(isNew(course.chain, window) ? 'behind' : 'before', window.ids.length)
}

/** Newest first, and all of it newer than everything in the first window: it came in since, and pushed the others down. */
function isNew({ order, newestInFirst }: ChainState, { moments }: ItemsWindow): boolean {
  if (newestInFirst === null || order.rising >= order.falling) return false
  return moments.every((moment) => moment !== null && moment >= newestInFirst)
}
