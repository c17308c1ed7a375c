// Pages that are filtered after paging, so that an answer may be empty in the middle of the list: where to look for items
// behind what seems to be the end, and how to cross a stretch of hidden items by the indexes of those around it.
import type { ChainState } from './chain.ts'
import { type EndJudgement, type EndQuestion, readProbe } from './end-judgement.ts'
import { isUneven } from './paging.ts'
import { glanceAt, isNothing, probeAt, type Reader } from './reader.ts'
import { Search } from './search.ts'
import type { ItemsWindow } from './source.ts'

/** How many windows behind the end are looked at. */
export const FAR = 10

/**
 * Indexes behind `index` to look at: one window and ten windows further, and every window in between where the length of
 * answers says little. Where an answer reaches less far than a window, also at distances that double.
 */
export function placesBeyond(
  reader: Reader,
  { cut, page }: Pick<EndQuestion, 'cut' | 'page'>,
  index: number,
): number[] {
  const farthest = FAR * reader.window
  const distances = new Set<number>()
  for (let step = 1; step <= (isUneven(cut) ? FAR : 1); step += 1) distances.add(step * page)
  if (page < reader.window) for (let far = page; far < farthest; far *= 2) distances.add(far)
  distances.add(reader.window).add(farthest)
  return [...distances].sort((one, other) => one - other).map((distance) => index + 1 + distance)
}

export async function lookBeyond(
  reader: Reader,
  question: EndQuestion,
  index: number,
  tied: boolean,
): Promise<EndJudgement> {
  for (const place of placesBeyond(reader, question, index)) {
    const judged = readProbe(question, await glanceAt(reader, place))
    if (judged === 'nothing') continue
    if (judged === 'met' || judged === 'elsewhere') return { kind: 'moved' }
    return crossGap(reader, question, index, place)
  }
  return { kind: 'proven', index, tied }
}

/**
 * Reads on behind a stretch without visible items, answer by answer up to `until`; the place of the last item, before and
 * after, is the anchor.
 */
async function crossGap(
  reader: Reader,
  { lastId, page }: Pick<EndQuestion, 'lastId' | 'page'>,
  index: number,
  until: number,
): Promise<EndJudgement> {
  reader.kernel.filter()
  let found: ItemsWindow | null = null
  for (let place = index + 1; place <= until && found === null; place += page) {
    const window = await probeAt(reader, place)
    if (window.kind === 'failed') return { kind: 'moved' }
    if (window.kind === 'items' && window.ids.length > 0) found = window
    else reader.drop(window)
  }
  const again = await reader.look(index, 1)
  const holds = again.kind === 'items' && again.ids[0] === lastId
  if (holds) return found === null ? { kind: 'proven', index, tied: false } : { kind: 'gap', window: found }
  if (found !== null) reader.drop(found)
  return { kind: 'moved' }
}

/**
 * For a list whose pages are filtered: finds the place of the chain's last item among the hidden ones, and reads on
 * directly behind it.
 */
export async function crossHidden(reader: Reader, chain: ChainState): Promise<EndJudgement> {
  const lastId = chain.last?.id as string
  const { skip, asked } = chain.lastSeen
  const search = Search.between(skip + 1, skip + Math.max(1, asked))
  while (!search.isClosed) {
    const answer = await glanceAt(reader, search.place)
    if (answer.kind === 'failed') return { kind: 'moved' }
    if (answer.kind === 'items' && answer.ids.includes(lastId)) search.tooNear()
    else search.tooFar()
  }
  const inside = (search.near as number) - 1
  const there = await reader.look(inside, 1)
  if (there.kind !== 'items' || there.ids[0] !== lastId) return { kind: 'moved' }
  const page = chain.cap > 0 ? chain.cap : reader.window
  const places = placesBeyond(reader, { cut: 'filtered', page }, inside)
  let until = inside + 1
  for (const place of places) {
    const answer = await glanceAt(reader, place)
    if (answer.kind === 'failed') return { kind: 'moved' }
    if (isNothing(answer)) continue
    until = place
    break
  }
  return crossGap(reader, { lastId, page }, inside, until)
}
