// Lists that grow or move while their end is read: what has been met once the walk passes an index at which nothing
// stood a moment ago (docs/proof.md, "passed"), and an end that one answer shows with room for more ("room").

import { isNews, looksFurther, placesFurther, seenFurther } from './further.ts'
import { followLast, type LastItem, lastItem } from './last-item.ts'
import { TRIES } from './moving-end.ts'
import { lastOf, type OngoingWalk, type Steps, type WalkEnding } from './ongoing-walk.ts'
import { glanceAt, isNothing, lookAt, type Reader } from './reader.ts'
import type { ItemsWindow } from './source.ts'
import { markCounted, payAtEnd } from './ties.ts'

/** The list may have grown by the few items `behind`: looks for an index where nothing stands. Whether one is known. */
export async function measureGrowth(ongoing: OngoingWalk, last: LastItem, behind: ItemsWindow): Promise<boolean> {
  const { reader, end } = ongoing
  if (behind.ids.length >= Math.min(reader.largest, behind.asked)) return false
  if (end.looked === null && looksFurther(ongoing, last.index)) {
    for (const place of placesFurther(ongoing, last.index + 1, { near: false }))
      if (!isNothing(await glanceAt(reader, place))) return false
  }
  end.looked = last.index
  await seekEmptyIndex(reader, behind)
  return reader.kernel.state.empty !== null
}

/**
 * Looks for an index at which nothing stands, behind the answer that showed items behind the chain. The list has grown
 * by as much as that answer holds; by the next answer it may have grown by as much again.
 */
async function seekEmptyIndex(reader: Reader, behind: ItemsWindow): Promise<void> {
  let end = behind.skip + behind.ids.length
  let growth = behind.ids.length
  const isKnown = (): boolean => (reader.kernel.state.empty?.index ?? Infinity) <= end + growth
  for (let tries = 0; tries < TRIES && !isKnown(); tries += 1) {
    const answer = await lookAt(reader, end + growth)
    if (answer.kind !== 'items') return
    if (answer.ids.length > 0) end = answer.skip + answer.ids.length
    growth *= 2
  }
}

/**
 * `passed`: all that was listed at one moment of this walk has been met (docs/proof.md, "passed"), and the walk has
 * looked further on, too. `more`: but something lies directly behind, to be met first. Null: neither is known.
 */
export async function passEmptyIndex(ongoing: OngoingWalk): Promise<'passed' | 'more' | null> {
  const { request, reader, end, kernel } = ongoing
  if ((request.beyond && end.looked === null) || !kernel.hasPassed || reader.pending.some((id) => reader.unmet.has(id)))
    return null
  return !reader.isLookedBehind && (await showsMore(ongoing)) ? 'more' : 'passed'
}

/** Whether there is more directly behind the chain, by an answer that begins where the next item would stand by now. */
async function showsMore(ongoing: OngoingWalk): Promise<boolean> {
  const { chain, reader } = ongoing
  const answer = await lookAt(reader, chain.end + Math.max(0, Math.round(reader.growth)))
  reader.isLookedBehind = true
  // These are to be met as well, which shows that they fit into an answer beside others.
  if (answer.kind === 'items') reader.pending.push(...answer.ids)
  ongoing.fresh = true
  return answer.kind === 'failed' || (answer.kind === 'items' && answer.met.includes(0))
}

/**
 * The end of a list that moves with every request: one answer that holds the last item and reaches to the end shows at
 * one moment everything that lies behind, unless it was cut. Two such answers of different length, both shorter than
 * others, were not cut by count; and where no answer of this walk was cut by size, these were not either.
 */
export async function* endInMotion(ongoing: OngoingWalk): Steps<WalkEnding | null> {
  const { reader } = ongoing
  if (reader.kernel.state.uneven) return null
  const lengths = new Set<number>()
  const behind = new Set<string>()
  const last = await lastItem(ongoing)
  if (last?.id == null) return null
  let { index: place } = last
  let end = { index: place, at: reader.requests }
  for (let look = 1; look <= TRIES + 1; look += 1) {
    const window = await followLast(reader, last.id, place, Math.max(1, Math.floor(reader.largest / (look + 1))))
    if (window === null) return null
    place = window.skip + window.ids.lastIndexOf(last.id)
    const earlier = end
    end = { index: window.skip + window.ids.length - 1, at: reader.requests }
    if (window.ids.length < reader.largest) lengths.add(window.ids.length)
    // What was seen behind an earlier answer is part of this one, unless it does not fit beside the others.
    const isLast = lengths.size >= 2 && behind.isSubsetOf(new Set(window.ids))
    // A large item shows only in an answer that begins with it: where it stands now, if the list moves on as it did.
    const perRequest = (end.index - earlier.index) / (end.at - earlier.at)
    const further = isLast ? await glanceAt(reader, end.index + 1 + Math.round(perRequest)) : null
    if (further?.kind === 'items' && isNews(further, last.id)) for (const id of further.ids) behind.add(id)
    else if (further !== null && further.kind !== 'failed') return yield* endWith(ongoing, window)
    reader.drop(window)
  }
  return null
}

/** Takes `window` in, if it joins; returns the walk's ending where the list ends with it. */
async function* endWith(ongoing: OngoingWalk, window: ItemsWindow): Steps<WalkEnding | null> {
  const { kernel, reader } = ongoing
  if (!kernel.joins(window.handle)) {
    reader.drop(window)
    return null
  }
  yield* ongoing.takeIn(window)
  yield* payAtEnd(ongoing)
  if (kernel.missing() === 'the end of the list was shown') return null
  const index = window.skip + window.ids.length - 1
  const isAll = (await seenFurther(ongoing, { ...lastOf(window), index, runStart: index }, [null])) === null
  return isAll ? ongoing.endsAt(index) : null
}

/** Takes in one answer that shows the whole run at the list's end: an item before it, all of it, nothing behind it. */
export async function* showEnd(ongoing: OngoingWalk, { id, index }: LastItem): Steps<void> {
  const { reader, kernel } = ongoing
  // If the item has moved far, a full answer may hold it, which shows no end; from there the item is near.
  for (let tries = 0, place = index; tries < TRIES; tries += 1) {
    yield* markCounted(ongoing)
    if (kernel.missing() === null) return
    const answer = await followLast(reader, id ?? '', place, Math.floor(Math.max(reader.largest, 2) / 2))
    if (answer === null) return
    if (kernel.seam(answer.handle) !== 'shown') {
      reader.drop(answer)
      return
    }
    yield* ongoing.takeIn(answer)
    const at = answer.skip + answer.ids.lastIndexOf(id ?? '')
    if (at === place) return
    place = at
  }
}
