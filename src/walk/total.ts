// How many items the list holds, found by galloping and bisecting in whole windows and proven by its last item. At most
// some forty requests; a walk of the list is not needed, and its proof (walk/end) is not replaced.
import { FAR, type Pager, type PastEnd, type Seen, type Start } from './paging.ts'

export interface Total {
  /** Null where the end cannot be proven. */
  total: number | null
  /** Id of the last item, where the end is proven. */
  lastId: string | null
  /** Items that are there at least. */
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
  const search = { low: known, lastId: start.ids.at(-1) as string, high: FAR }
  const stuck = await close(pager, start, search, hint)
  return stuck === null ? confirm(pager, start, search) : { ...untold(stuck), atLeast: search.low }
}

interface Search {
  /** Every index below it is taken; `lastId` is the item before it. */
  low: number
  lastId: string
  /** Nothing is there. */
  high: number
}

/** Brings `low` and `high` together; returns why that is not possible, or null. */
async function close(pager: Pager, start: Start, search: Search, hint: number | null): Promise<string | null> {
  let stride = start.take
  let full = start.ids.length
  let nearReads = 0
  // Where whole windows fail, single items still tell.
  let single = false
  let next: number | null = hint !== null && hint > search.low ? hint - 1 : search.low
  for (let step = 0; search.low < search.high; step += 1) {
    if (step === MOST_STEPS) return 'its end was not found within a bounded number of requests'
    const isNear = !single && search.high - search.low <= full
    const place: number = next ?? (isNear ? search.low : Math.floor((search.low + search.high) / 2))
    next = null
    if (place === search.low && search.high !== FAR) nearReads += 1
    if (nearReads > MOST_NEAR) return `the list moved while its end was looked for, near index ${search.low}`
    const { seen, isSingle } = await look(pager, place, single ? 1 : start.take)
    single ||= isSingle
    if (seen.kind === 'failed') return `the item at index ${place} cannot be read: ${seen.message}`
    if (seen.kind !== 'items' || seen.ids.length === 0) {
      search.high = place
      continue
    }
    search.low = place + seen.ids.length
    search.lastId = seen.ids.at(-1) as string
    full = Math.max(full, seen.ids.length)
    if (search.high !== FAR) continue
    next = search.low + stride
    stride *= 2
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
async function confirm(pager: Pager, start: Start, { low, lastId }: Search): Promise<Total> {
  const untold = (why: string): Total => ({ total: null, lastId: null, atLeast: low, why })
  const again = await pager.read(low - 1, Math.max(2, start.take))
  if (again.kind !== 'items') {
    return untold(
      `a window that reaches beyond index ${low - 1} is not answered (${again.message}), though items may lie there`,
    )
  }
  if (again.ids.length === 1 && again.ids[0] === lastId) {
    // One item at a time proves nothing: whatever is asked for, the answer holds one.
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

/** Past the end every single item asked for is the last one: the first place that shows it is its own. */
async function countRepeating(pager: Pager, start: Start, lastId: string): Promise<Total> {
  let low = -1
  let high = FAR
  let stride = Math.max(1, start.ids.length)
  let place = start.ids.length - 1
  for (let step = 0; high - low > 1 && step < MOST_STEPS; step += 1) {
    const one = await pager.read(place, 1)
    if (one.kind !== 'items') break
    if (one.ids[0] === lastId) high = place
    else low = place
    place = high === FAR ? low + stride : Math.floor((low + high) / 2)
    stride *= 2
  }
  if (high - low > 1)
    return { total: null, lastId: null, atLeast: low + 1, why: 'the place of the last item was not found' }
  const why = `index ${high} is the first that shows the item which every place past the end shows`
  return { total: high + 1, lastId, atLeast: high + 1, why }
}
