// How many items the list holds, found by galloping and bisecting in whole windows and proven by its last item. At most
// some forty requests; it needs no walk of the list, and does not replace the walk's proof (walk/behind.ts).

import { Search } from '../search.ts'
import type { Pager, PastEnd, Start } from './paging.ts'

export interface Total {
  /** Null where the end cannot be proven. */
  total: number | null
  /** Id of the last item, where the end is proven. */
  lastId: string | null
  /** At least so many items are there. */
  atLeast: number
  why: string
}

/** A list that stands still needs fewer: twenty steps out and as many back are a million windows. */
const MOST_LOOKS = 40
/** Of these, at the very end: a list that stands still needs two or three, or more where answers are cut by size. */
const MOST_NEAR = 10

const untold = (atLeast: number, why: string): Total => ({ total: null, lastId: null, atLeast, why })

/** `hint` is where the end was last known to be; null where it is not. */
export async function findTotal(pager: Pager, start: Start, past: PastEnd, hint: number | null): Promise<Total> {
  const known = start.ids.length
  if (past.kind === 'skip-ignored')
    return untold(known, 'skip is ignored, so nothing behind the first window can be seen')
  // Such an answer may begin again within itself.
  if (past.kind === 'wraps') return untold(new Set(start.ids).size, 'the list starts again behind its end')
  if (past.kind === 'unknown') return untold(known, `what lies past the end cannot be told: ${past.why}`)
  if (past.kind === 'repeats') return countRepeating(pager, start, past.lastId as string)
  if (known === 0) return confirmEmpty(pager, start)
  const search = new Search(hint !== null && hint > known ? hint - 1 : known, { near: known, stride: start.take })
  return countToEnd(pager, start, search)
}

/** Brings the bounds of the search together. */
async function countToEnd(pager: Pager, start: Start, search: Search): Promise<Total> {
  let lastId = start.ids.at(-1) as string
  let full = start.ids.length
  let { take } = start
  let nearLooks = 0
  for (let looks = 0; !search.isClosed; looks += 1) {
    const low = search.near ?? start.ids.length
    if (looks === MOST_LOOKS) return untold(low, `its end was not found by ${MOST_LOOKS} looks, near index ${low}`)
    if (take > 1 && search.near !== null && search.far !== null && search.far - low <= full) {
      if (nearLooks++ === MOST_NEAR)
        return untold(low, `the list moved while its end was looked for, near index ${low}`)
      search.place = low
    }
    const { place } = search
    let seen = await pager.read(place, take)
    if (seen.kind !== 'items' && take > 1) {
      const isFailing = seen.kind === 'failed'
      seen = await pager.read(place, 1)
      // Where whole windows fail, single items still tell.
      if (isFailing || seen.kind === 'items') take = 1
    }
    if (seen.kind === 'failed') return untold(low, `the item at index ${place} cannot be read: ${seen.message}`)
    if (seen.kind === 'items' && seen.ids.length > 0) {
      search.tooNear(seen.ids.length)
      lastId = seen.ids.at(-1) as string
      full = Math.max(full, seen.ids.length)
    } else search.tooFar()
  }
  return confirm(pager, start, { low: search.near as number, lastId })
}

/** The end is proven by its last item: alone in a window that asked for more, with nothing behind it. */
async function confirm(pager: Pager, start: Start, { low, lastId }: { low: number; lastId: string }): Promise<Total> {
  const again = await pager.read(low - 1, Math.max(2, start.take))
  if (again.kind !== 'items') {
    const why = `a window that reaches beyond index ${low - 1} is not answered (${again.message})`
    return untold(low, `${why}, though items may lie there`)
  }
  if (again.ids.length !== 1 || again.ids[0] !== lastId)
    return untold(low, `the list moved while its end was looked at, near index ${low - 1}`)
  // A service that gives one item at a time proves nothing: whatever is asked for, the answer holds one.
  if (start.take > 1 && start.ids.length < 2 && low > 1)
    return untold(low, `answers hold one item at a time; nothing was found behind index ${low - 1}`)
  const why = `the item at index ${low - 1} was seen twice with nothing behind it`
  return { total: low, lastId, atLeast: low, why }
}

async function confirmEmpty(pager: Pager, start: Start): Promise<Total> {
  const again = await pager.read(0, start.take)
  const isEmpty = again.kind === 'items' && again.ids.length === 0
  if (!isEmpty) return untold(0, 'the list was empty once and then not')
  return { total: 0, lastId: null, atLeast: 0, why: 'the list was empty twice' }
}

/** Past the end every item asked for alone is the last one: the first place that shows it is its own. */
async function countRepeating(pager: Pager, start: Start, lastId: string): Promise<Total> {
  const search = new Search(start.ids.length - 1, { near: 0, stride: Math.max(1, start.ids.length) })
  for (let looks = 0; !search.isClosed; looks += 1) {
    const one = looks < 2 * MOST_LOOKS ? await pager.read(search.place, 1) : null
    if (one?.kind !== 'items') return untold(search.near ?? 0, 'the place of the last item was not found')
    if (one.ids[0] === lastId) search.tooFar()
    else search.tooNear()
  }
  const index = search.far as number
  const why = `index ${index} is the first that shows the item which every place past the end shows`
  return { total: index + 1, lastId, atLeast: index + 1, why }
}
