// How many items the list holds, found by galloping and bisecting in whole windows and proven by its last item. At most
// some forty requests; it needs no walk of the list, and does not replace the walk's proof (walk/behind.ts).

import { Search } from '../search.ts'
import type { Pager, PastEnd, Seen, Start } from './paging.ts'

export interface Total {
  /** Null where the end cannot be proven. */
  total: number | null
  /** Id of the last item, where the end is proven. */
  lastId: string | null
  /** At least so many items are there. */
  atLeast: number
  why: string
}

const MOST_STEPS = 60
/** Windows read at the very end: a list that stands still needs two or three. */
const MOST_NEAR = 5

/** `hint` is where the end was last known to be; null where it is not. */
export async function findTotal(pager: Pager, start: Start, past: PastEnd, hint: number | null): Promise<Total> {
  const known = start.ids.length
  const untold = (why: string): Total => ({ total: null, lastId: null, atLeast: known, why })
  if (past.kind === 'skip-ignored') return untold('skip is ignored, so nothing behind the first window can be seen')
  if (past.kind === 'wraps') return untold('the list starts again behind its end')
  if (past.kind === 'unknown') return untold(`what lies past the end cannot be told: ${past.why}`)
  if (past.kind === 'repeats') return countRepeating(pager, start, past.lastId as string)
  if (known === 0) return confirmEmpty(pager, start)
  const first = hint !== null && hint > known ? hint - 1 : known
  const end = {
    search: new Search(first, { near: known, stride: start.take }),
    lastId: start.ids.at(-1) as string,
  }
  const stuck = await close(pager, start, end)
  const low = end.search.near ?? known
  return stuck === null ? confirm(pager, start, { low, lastId: end.lastId }) : { ...untold(stuck), atLeast: low }
}

/** Brings the search's bounds together; `lastId`: the item before them. Returns why that is not possible, or null. */
async function close(pager: Pager, start: Start, end: { search: Search; lastId: string }): Promise<string | null> {
  const { search } = end
  let full = start.ids.length
  let nearReads = 0
  // Where whole windows fail, single items still tell.
  let single = false
  for (let step = 0; !search.isClosed; step += 1) {
    if (step === MOST_STEPS) return 'its end was not found within a bounded number of requests'
    const { near, far } = search
    if (!single && near !== null && far !== null && far - near <= full) search.place = near
    const { place } = search
    if (place === near && far !== null) nearReads += 1
    if (nearReads > MOST_NEAR) return `the list moved while its end was looked for, near index ${near}`
    const { seen, isSingle } = await look(pager, place, single ? 1 : start.take)
    single ||= isSingle
    if (seen.kind === 'failed') return `the item at index ${place} cannot be read: ${seen.message}`
    if (seen.kind !== 'items' || seen.ids.length === 0) {
      search.tooFar()
      continue
    }
    search.tooNear(seen.ids.length)
    end.lastId = seen.ids.at(-1) as string
    full = Math.max(full, seen.ids.length)
  }
  return null
}

/** One window, or one item where a window is not answered. */
async function look(pager: Pager, place: number, take: number): Promise<{ seen: Seen; isSingle: boolean }> {
  const seen = await pager.read(place, take)
  if (seen.kind === 'items' || take === 1) return { seen, isSingle: take === 1 }
  const one = await pager.read(place, 1)
  return { seen: one, isSingle: one.kind === 'items' || seen.kind === 'failed' }
}

/** The end is proven by its last item: alone in a window that asked for more, with nothing behind it. */
async function confirm(pager: Pager, start: Start, { low, lastId }: { low: number; lastId: string }): Promise<Total> {
  const untold = (why: string): Total => ({ total: null, lastId: null, atLeast: low, why })
  const again = await pager.read(low - 1, Math.max(2, start.take))
  if (again.kind !== 'items') {
    return untold(
      `a window that reaches beyond index ${low - 1} is not answered (${again.message}), though items may lie there`,
    )
  }
  if (again.ids.length === 1 && again.ids[0] === lastId) {
    // A service that gives one item at a time proves nothing: whatever is asked for, the answer holds one.
    if (start.take > 1 && start.ids.length < 2 && low > 1) {
      return untold(`answers hold one item at a time; nothing was found behind index ${low - 1}`)
    }
    return {
      total: low,
      lastId,
      atLeast: low,
      why: `the item at index ${low - 1} was seen twice with nothing behind it`,
    }
  }
  return untold(`the list moved while its end was looked at, near index ${low - 1}`)
}

async function confirmEmpty(pager: Pager, start: Start): Promise<Total> {
  const again = await pager.read(0, start.take)
  if (again.kind === 'items' && again.ids.length === 0) {
    return { total: 0, lastId: null, atLeast: 0, why: 'the list was empty twice' }
  }
  return { total: null, lastId: null, atLeast: 0, why: 'the list was empty once and then not' }
}

/** Past the end every item asked for alone is the last one: the first place that shows it is its own. */
async function countRepeating(pager: Pager, start: Start, lastId: string): Promise<Total> {
  const search = new Search(start.ids.length - 1, { near: 0, stride: Math.max(1, start.ids.length) })
  for (let step = 0; !search.isClosed && step < MOST_STEPS; step += 1) {
    const one = await pager.read(search.place, 1)
    if (one.kind !== 'items') break
    if (one.ids[0] === lastId) search.tooFar()
    else search.tooNear()
  }
  const high = search.isClosed ? search.far : null
  if (high === null)
    return { total: null, lastId: null, atLeast: search.near ?? 0, why: 'the place of the last item was not found' }
  const why = `index ${high} is the first that shows the item which every place past the end shows`
  return { total: high + 1, lastId, atLeast: high + 1, why }
}
