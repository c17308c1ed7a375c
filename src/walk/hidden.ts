// Pages that are filtered after paging, so that an answer may be empty in the middle of the list: where to look for items
// behind what seems to be the end, and how to cross a stretch of hidden items by the indexes of those around it.
import type { ChainState } from './chain.ts'
import { type EndJudgement, type EndQuestion, MORE, readProbe } from './end-judgement.ts'
import { isUneven } from './paging.ts'
import { glanceAt, isNothing, lookAt, probeAt, type Reader } from './reader.ts'
import { Search } from './search.ts'
import type { ItemsWindow } from './source.ts'

/** How many windows behind the end are looked at. */
export const FAR = 10
/**
 * So many positions are read past one after another, for an empty answer may have been cut before its first item. Behind more of them
 * the walk goes on in pages, and is partial.
 */
const MOST_HIDDEN = 250

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

/** So many items side by side that no answer can hold are looked past; more where answers are cut by size. */
const MOST_BLOCKED = 2

/**
 * Answers may stop before items that they cannot hold: then others stand a few positions further. One that is refused is passed by
 * `passUnreadable`.
 */
export function placesNear(reader: Reader, { cut, page, hasRoom, moving }: EndQuestion, index: number): number[] {
  // Where the list moves, what comes in would be taken for what stands behind them.
  if (hasRoom === true || moving || reader.kernel.state.pending.some(({ kind }) => kind === 'refused')) return []
  const places: number[] = []
  for (let far = 1; far < page && (far <= MOST_BLOCKED || isUneven(cut)); far *= 2) places.push(index + 1 + far)
  return places
}

export async function lookBeyond(
  reader: Reader,
  question: EndQuestion,
  index: number,
  tied: boolean,
): Promise<EndJudgement> {
  for (const place of [...placesNear(reader, question, index), ...placesBeyond(reader, question, index)]) {
    const judged = readProbe(question, await glanceAt(reader, place))
    // In a list that moves the last item may stand near by now.
    if (judged === 'nothing' || (judged !== MORE && place <= index + question.page)) continue
    if (judged === 'met' || judged === 'elsewhere') return { kind: 'moved' }
    const crossed = await crossGap(reader, question, index, place)
    if (crossed.kind !== 'gap' || crossed.window.skip > index + 1) return crossed
    // Something came in directly behind.
    reader.drop(crossed.window)
    return { kind: 'moved' }
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
  let found: ItemsWindow | null = null
  const near = index + MOST_HIDDEN
  for (let place = index + 1; place <= until && found === null; place += place < near ? 1 : page) {
    const window = await probeAt(reader, place)
    if (window.kind === 'failed') return { kind: 'moved' }
    if (window.kind === 'items' && window.ids.length > 0) found = window
    else reader.drop(window)
  }
  if (found?.skip !== index + 1) reader.kernel.filter()
  // What was passed has to be as it was.
  for (let place = Math.min(near, found?.skip ?? 0) - 1; place > index; place -= 1) await lookAt(reader, place)
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
  const places = [inside + 2, ...placesBeyond(reader, { cut: 'filtered', page }, inside)]
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
