// Whether something stands further on than what brings nothing: services leave items out, stop before what no answer
// can hold, or refuse and fail. Looks at a few places; no proof rests on those that are empty. And when a walk gives
// up.
import type { LastItem } from './last-item.ts'
import type { OngoingWalk, WalkEnding } from './ongoing-walk.ts'
import { glanceAt, isNothing, type Reader, seeAgain } from './reader.ts'
import type { ItemsWindow, NoWindow } from './source.ts'

/** How many windows behind the end the walk looks. */
export const FAR = 10
/** Most items side by side, too large for any answer, that are looked past; more where answers are cut by size. */
const MOST_BLOCKED = 2
/** So many positions in a row that cannot be read say nothing of the service. */
export const UNREADABLE_IN_A_ROW = 3
/** No list is that long. */
const FARTHEST = 2 ** 31

/** A position that brings nothing (null), or cannot be read. */
export type Passed = NoWindow | null

/** Whether to look further on than `place`, where nothing stands: once for each end that seems to be one. */
export function looksFurther({ request, end, chain, page, isFiltered }: OngoingWalk, place: number): boolean {
  const isAgain = end.looked !== null && Math.abs(place - end.looked) < page
  return (request.beyond && (isFiltered || !isAgain)) || chain.last === null
}

/**
 * The places behind `place` to look at: the next ones, one window and ten windows further, and every window in between
 * where the length of answers says little. Where an answer reaches less far than a window, also distances that double.
 */
export function placesFurther(
  { reader, page, end, chain, isUneven }: OngoingWalk,
  place: number,
  { near = true } = {},
): number[] {
  const farthest = FAR * reader.window
  const distances = new Set<number>()
  // Not where the list moves: an item that came in would be taken for one that stands behind them.
  const isNear = near && !end.hasMoved
  for (let far = 1; isNear && far < page && (far <= MOST_BLOCKED || isUneven); far *= 2) distances.add(far)
  for (let step = 1; step <= (isUneven ? FAR : 1); step += 1) distances.add(step * page)
  const reach = chain.last === null ? 1 : page
  if (reach < reader.window) for (let far = reach; far < farthest; far *= 2) distances.add(far)
  distances.add(reader.window).add(farthest)
  return [...distances].sort((one, other) => one - other).map((distance) => place + distance)
}

/** The next place behind the `passed` positions at which something stands; null where none is seen: the list ends. */
export async function seenFurther(
  ongoing: OngoingWalk,
  last: LastItem,
  passed: readonly Passed[],
): Promise<number | null | 'moved'> {
  const { reader, end } = ongoing
  const place = last.index + passed.length
  const kind = passed.at(-1)?.kind
  let isEnd = kind === undefined
  if (passed.length === 1 && kind === 'refused' && last.id !== null) {
    // At the list's end a window that reaches beyond it is not refused; nor is the last item, unless it has moved.
    isEnd = (await seeAgain(reader, last.index, last.runStart, Math.max(2, reader.served))).kind !== 'refused'
    if (!isEnd && (await seeAgain(reader, last.index, last.runStart)).kind === 'refused') return 'moved'
  }
  // More than a few positions are passed only where the service goes on behind them.
  if (!isEnd)
    return passed.length <= UNREADABLE_IN_A_ROW ? place + 1 : seekGiven(reader, place + 1, kind as NoWindow['kind'])
  if (!looksFurther(ongoing, place)) return null
  for (const further of placesFurther(ongoing, place, { near: kind !== 'refused' })) {
    const answer = await glanceAt(reader, further)
    if (isNothing(answer)) continue
    // What fails is no end: something stands there.
    if (answer.kind !== 'items') return further <= place + MOST_BLOCKED ? further : 'moved'
    if (isNews(answer, last.id)) return further
    // In a list that moves, the last item may itself stand near the place by now.
    if (further > last.index + ongoing.page) return 'moved'
  }
  end.looked = place
  return null
}

/**
 * Whether the list goes on behind `place` for as much as an answer may hold: up to there its end is not looked for. Not
 * beyond an index at which nothing stood (a list may grow for ever), nor if last items are shown at every index.
 */
export async function goesFar({ reader, page, end }: OngoingWalk, place: number): Promise<boolean> {
  if (place <= end.farTo) return true
  if (place >= reader.emptyFrom) return false
  const half = Math.ceil(page / 2)
  const shown: string[] = []
  for (const further of [place + half, place + 2 * half]) {
    const answer = await reader.look(further, half, { once: true })
    if (answer.kind !== 'items' || answer.ids.length < 2 || answer.met.includes(1)) return false
    if (answer.ids.some((id) => shown.includes(id))) return false
    shown.push(...answer.ids)
  }
  end.farTo = place + 2 * half
  return true
}

/** How the walk ends once its requests for an end, or for an unreadable item, are used up; in mid-list it gets more. */
export async function endIfSpent(ongoing: OngoingWalk): Promise<WalkEnding | null> {
  const { end, reader, windows, chain } = ongoing
  if (!end.isSpent(reader.requests, windows)) return null
  if (await goesFar(ongoing, chain.end)) end.defer(windows)
  return end.isSpent(reader.requests, windows) ? { kind: 'stop', reason: 'end-keeps-moving' } : null
}

/** Reads on as before, in vain so far; returns how the walk ends if it gives up. */
export function readAgain(ongoing: OngoingWalk): Promise<WalkEnding | null> {
  ongoing.retry(ongoing.forward())
  return endIfSpent(ongoing)
}

/** Where the service gives something again behind `from`; after a failure, even an empty answer shows that. */
async function seekGiven(reader: Reader, from: number, kind: NoWindow['kind']): Promise<number | null> {
  const farthest = 2 * FAR * reader.window
  for (let distance = 0; ; distance = Math.min(2 * distance + 1, farthest)) {
    const answer = await reader.look(from + distance, 1, { once: true, maxRetries: 1 })
    if (answer.kind === 'items' && (kind === 'failed' || answer.ids.length > 0)) return from + distance
    if (distance === farthest) return null
  }
}

/** Looks for an index at which nothing stands, unless the service gives the same items further and further down. */
export async function seekNothing(reader: Reader, from: number): Promise<void> {
  let before = ''
  for (let distance = reader.window; !Number.isFinite(reader.emptyFrom) && distance < FARTHEST; distance *= 2) {
    const answer = await glanceAt(reader, from + distance)
    const shown = answer.kind === 'items' ? answer.ids.join() : ''
    if (shown !== '' && shown === before) return
    before = shown
  }
}

/** Whether the answer shows items that have not been met, other than in front of the last item. */
export function isNews({ ids, met }: ItemsWindow, lastId: string | null): boolean {
  return met.includes(0, ids.lastIndexOf(lastId ?? '') + 1)
}
