// The item that a walk met last, in a list that moves: where an answer shows it, and how it is found again. The chain
// has it where the last joined window showed it (`chain.last`, at `chain.end - 1`). The reader follows it through all
// later answers (`reader.last`), and `LastItem` is that, with its run, at one moment. The kernel has the last item of
// what is proven (`state.floor`): another one once the walk has taken in what did not join.
import type { Moment } from '../task.ts'
import { type ChainState, runStartIn } from './chain.ts'
import type { OngoingWalk } from './ongoing-walk.ts'
import { mayBeFiltered } from './paging.ts'
import { glanceAt, isNothing, lookShort, probeAt, type Reader } from './reader.ts'
import { firstBeyond, Search } from './search.ts'
import type { ItemsWindow, WindowAnswer } from './source.ts'

/** Through at most so many answers the last item is followed. */
const MOST_HOPS = 16

/** The item met last, where it stood last. Before the walk has met anything, `id` is null and the index is -1. */
export interface LastItem {
  id: string | null
  moment: Moment
  index: number
  /** Where its run of equal createdAt begins. */
  runStart: number
}

/** The chain's last item, at the index where an answer showed it last; null where it is not found. */
export async function lastItem(ongoing: OngoingWalk): Promise<LastItem | null> {
  const { reader, chain } = ongoing
  const { last } = reader
  if (last === null) return { id: null, moment: null, index: -1, runStart: 0 }
  const index = ongoing.isFiltered ? await placeAmongHidden(reader, last.id, chain.lastSeen) : last.index
  if (index === null) return null
  const isRun = chain.tie?.moment === last.moment && !ongoing.isFiltered
  return { ...last, index, runStart: Math.max(0, index - (isRun ? ongoing.tiesBefore() : 0)) }
}

/** Where items are left out, the last index from which an answer shows the item: a short one before the unreadable. */
async function placeAmongHidden(
  reader: Reader,
  id: string,
  { skip, asked }: { skip: number; asked: number },
): Promise<number | null> {
  const end = skip + asked
  let isFailing = false
  const behind = await firstBeyond(skip + 1, end, async (place) => {
    if (isFailing) return true
    let answer = await glanceAt(reader, place)
    if (answer.kind === 'failed') answer = await lookShort(reader, place, end - place)
    isFailing = answer.kind === 'failed'
    return answer.kind !== 'items' || !answer.ids.includes(id)
  })
  return isFailing ? null : behind - 1
}

/** The index at which the answer shows the last item, or another of its run that was met; null where it shows none. */
export function placeIn({ id, moment, index }: LastItem, answer: WindowAnswer): number | null {
  if (answer.kind !== 'items') return null
  const at = answer.ids.lastIndexOf(id ?? '')
  if (at >= 0) return answer.skip + at
  // Ties may come in another order: the last of the met items that the answer begins with counts.
  let met = 0
  while (met < answer.ids.length && answer.met[met] === 1) met += 1
  const isTied = met > 0 && moment !== null && answer.moments[met - 1] === moment
  return isTied ? Math.max(index, answer.skip + met - 1) : null
}

/** Whether the answer ends, where the last item stood, with that item or with another of its run that was met. */
export function endsWith({ id, moment, index }: LastItem, answer: WindowAnswer): boolean {
  if (answer.kind !== 'items' || answer.skip + answer.ids.length - 1 !== index) return false
  return answer.ids.at(-1) === id || (moment !== null && answer.moments.at(-1) === moment && answer.met.at(-1) === 1)
}

/**
 * An answer that holds the last item, to be taken in or dropped; null where it is not found. The search begins about
 * `reach` before `index`, where the item stood: it may have moved by many windows meanwhile.
 */
export async function followLast(
  reader: Reader,
  lastId: string,
  index: number,
  reach: number,
): Promise<ItemsWindow | null> {
  const search = new Search(Math.max(0, index - reach), { stride: Math.max(1, Math.floor(reader.largest / 2)) })
  for (let hops = 0; hops < MOST_HOPS; hops += 1) {
    const answer = await probeAt(reader, search.place, { once: true })
    if (answer.kind === 'items' && answer.ids.includes(lastId)) return answer
    reader.drop(answer)
    if (isNothing(answer)) {
      if (!search.tooFar()) return null
      continue
    }
    if (answer.kind !== 'items' || answer.met.includes(0)) return null
    search.tooNear(answer.ids.length)
  }
  return null
}

/**
 * Items keep standing further down than answers said: the list drifts, or pages are filtered after paging. They are
 * filtered if the chain's last run stands further down in `window`, read twice, than in the older answer read between.
 */
export async function suspectFilter(ongoing: OngoingWalk, window: ItemsWindow, earlier: ChainState): Promise<void> {
  const { chain, reader } = ongoing
  const start = runStartIn(window, earlier)
  if (start === null || ongoing.isFiltered || !mayBeFiltered(chain, window)) return
  ongoing.chain = { ...chain, shifts: 0 }
  const { lastSeen } = earlier
  const seen = runStartIn(await reader.look(lastSeen.skip, lastSeen.asked), earlier)
  if (seen === null || seen >= start) return
  const again = runStartIn(await reader.look(window.skip, window.asked), earlier)
  if (again === null || seen >= again) return
  ongoing.kernel.filter()
}

/**
 * Whether answers leave items out, by the last ones: from two neighbouring places, or from one that shows nothing by
 * itself, they end with the last item and hold fewer than stand there. A cap can do that to one of two answers only.
 */
export async function leavesOut({ reader, chain, page }: OngoingWalk, total: number): Promise<boolean> {
  if (chain.last === null) return false
  const last = { ...chain.last, index: total - 1, runStart: total - 1 }
  const from = Math.max(0, total - page)
  const isShort = async (skip: number) => {
    const answer = await reader.look(skip, page, { once: true })
    if (answer.kind !== 'items' || answer.met.includes(0)) return false
    return answer.ids.at(-1) === last.id && answer.ids.length < total - skip
  }
  if (!(await isShort(from)) || !endsWith(last, await reader.look(last.index, 1))) return false
  return (await isShort(from + 1)) || isNothing(await reader.look(from, 1))
}
