// Services that bring items where nothing stands: their last window again and again, the same window whatever `skip`
// says, or the list from its beginning.

import { FAR, isNews } from './further.ts'
import type { LastItem } from './last-item.ts'
import { TRIES } from './moving-end.ts'
import type { OngoingWalk, WalkEnding } from './ongoing-walk.ts'
import { lookAt, lookShort, probeSize, type Reader } from './reader.ts'
import { firstBeyond } from './search.ts'
import type { ItemsWindow, WindowAnswer } from './source.ts'

const stop = (reason: string): WalkEnding => ({ kind: 'stop', reason })

/**
 * The walk's first item shows up behind the chain: something moved, or the service ignores skip or wraps around. It is
 * the service if the item stands at index 0 at the same time.
 */
export async function firstItemTwice(
  { reader, firstWindow: first }: OngoingWalk,
  window: ItemsWindow,
): Promise<WalkEnding | null> {
  const firstId = first?.ids[0]
  if (first === null || firstId === undefined || window.skip === 0) return null
  const at = window.ids.indexOf(firstId)
  if (at < 0) return null
  // An answer shorter than the first one shows that skip is honoured.
  if (at === 0 && window.ids.length < Math.min(first.ids.length, window.asked)) return null
  // If the list begins again there, the items it began with follow, those of equal createdAt in any order.
  const beginning = new Set(first.ids)
  if (window.ids.slice(at, at + first.ids.length).some((id) => !beginning.has(id))) return null
  // Both indexes are asked for in turn, so that items inserted in front between two requests do not look the same.
  for (let turn = 0; turn <= 2 * TRIES; turn += 1) {
    const answer = await reader.look(turn % 2 === 0 ? 0 : window.skip + at, 1)
    if (answer.kind !== 'items' || answer.ids[0] === undefined) return null
    if (answer.ids[0] !== firstId) return at === 0 && (await isRounded(reader, window)) ? stop('skip-ignored') : null
  }
  return stop(at === 0 ? 'skip-ignored' : 'wraps')
}

/**
 * Whether skip counts whole pages: in turn, the window begins as it did, and another item, always the same, stands
 * there alone; so often that two items of equal createdAt do not do so by chance.
 */
async function isRounded(reader: Reader, { skip, asked, ids }: ItemsWindow): Promise<boolean> {
  const alone = new Set<string>()
  for (let time = 0; time < 2 * TRIES; time += 1) {
    const one = await reader.look(skip, 1)
    const again = await reader.look(skip, asked)
    const id = one.kind === 'items' ? one.ids[0] : undefined
    if (id === undefined || again.kind !== 'items' || again.ids[0] !== ids[0]) return false
    alone.add(id)
  }
  return alone.size === 1 && !alone.has(ids[0] as string)
}

/**
 * Items where there should be none. Either the list moved back (something was inserted in front), or the service gives
 * its last window again (single answers far behind show the last item, which is at `index`), or it ignores skip or
 * wraps around (the first item is there and at 0 as well). Null where it is none of these.
 */
export async function ofRepeats(
  ongoing: OngoingWalk,
  last: LastItem,
  window: ItemsWindow,
): Promise<WalkEnding | { kind: 'last'; index: number } | null> {
  const { reader, request } = ongoing
  // A walk that began further down knows only the end of the last window: what it has not met may be that window again.
  if (last.id === null || (isNews(window, last.id) && request.start === 0)) return null
  const place = last.index + 1
  const one = (skip: number): Promise<WindowAnswer> => reader.look(skip, 1, { once: true })
  const isLast = (answer: WindowAnswer): boolean =>
    answer.kind === 'items' && answer.ids.length === 1 && answer.ids[0] === last.id
  const far = await one(place + FAR * reader.window)
  if (far.kind !== 'items' || far.ids.length === 0) return firstItemTwice(ongoing, window)
  if (isLast(far)) {
    // The last item at its place, further down, and less far down: docs/proof.md, "repeated".
    await one(last.index)
    await one(place + 1)
  }
  const near = await one(place)
  if (isLast(far) && isLast(near)) return reader.largest < 2 ? stop('page-of-one') : settleRepeat(ongoing, last, isLast)
  if (far.met.includes(0)) return null
  const next = await one(place + 1)
  if (near.kind === 'items' && next.kind === 'items' && near.ids[0] === next.ids[0]) return stop('skip-ignored')
  // A list that begins again shows the items at its top; one that has grown by many windows meanwhile does not.
  const top = await lookAt(reader, 0)
  const id = near.kind === 'items' ? near.ids[0] : undefined
  return id !== undefined && top.kind === 'items' && !top.ids.includes(id) ? null : stop('wraps')
}

/** A service that repeats its last window behind the end: the last item answers wherever one is asked for alone. */
async function settleRepeat(
  { reader }: OngoingWalk,
  { id, index }: LastItem,
  isLast: (answer: WindowAnswer) => boolean,
): Promise<WalkEnding | { kind: 'last'; index: number } | null> {
  const window = await reader.look(index, probeSize(reader))
  if (window.kind !== 'items' || window.ids.at(-1) !== id || window.met.includes(0)) return null
  // The window's own skip may lie beyond the end already: the first index that shows the last item alone is its place.
  const earliest = Math.max(0, index - reader.largest + 1)
  const place = await firstBeyond(earliest, index, async (at) => isLast(await reader.look(at, 1)))
  // Where the last window is the first one too, a service that ignores skip looks the same, but for this: an answer
  // that begins at the last item's place holds nothing else.
  const start = await lookShort(reader, 0, probeSize(reader))
  if (start.kind !== 'items') return null
  if (start.ids.includes(id ?? '') && !isLast(await lookAt(reader, place))) return stop('skip-ignored')
  return { kind: 'last', index: place }
}
