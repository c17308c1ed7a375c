// The index of a moment in a list in created order: galloping and bisecting in whole windows, of which a few items are
// asked for and kept (design.md 6.3, "Searching"). An estimate that the walk after it verifies by what its first window
// shows.
import type { Moment } from '../task.ts'
import { Search } from './search.ts'
import type { ItemsWindow, WalkStep, WindowSource } from './source.ts'

interface Sought {
  order: 'created_desc' | 'created_asc'
  /** Only what stands here or behind is searched. */
  start: number
  /** Epoch ms. */
  moment: number
  window: number
  /** Items in the list, where known. */
  total: number | null
}

/** So many items of a window are enough. */
const LOOKED_AT = 20
/** Enough to gallop to 2^24 windows and back. */
const MOST_READS = 56

type Side = 'before' | 'here' | 'behind'

/** Yields the windows it reads; returns the index of a window that lies just before the first item past `moment`. */
export async function* seekMoment(
  source: Pick<WindowSource, 'read' | 'drop'>,
  sought: Sought,
): AsyncGenerator<WalkStep, number> {
  const { start, window, total } = sought
  const search = new Search(start, { near: start, far: total, stride: window })
  let shown = ''
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const { place } = search
    const low = search.near ?? start
    const answer = await source.read(place, Math.min(window, LOOKED_AT), { fresh: true })
    if (answer.kind === 'failed') return low
    // The service gives the same items for a place further down: nothing lies there.
    const repeated = answer.kind === 'items' && place > low && answer.ids.join('\n') === shown
    if (answer.kind === 'items') shown = answer.ids.join('\n')
    const side = answer.kind === 'items' && !repeated ? sideOf(answer, sought) : 'behind'
    if (answer.kind === 'items') {
      if (answer.ids.length > 0) yield { kind: 'keep', window: answer }
      else source.drop(answer)
    }
    if (side === 'here') return place
    if (side === 'before') search.tooNear(Math.max(1, answer.kind === 'items' ? answer.ids.length : 1))
    else search.tooFar()
    const { near, far } = search
    if (far !== null && far - (near ?? start) <= window) return near ?? start
  }
  return search.near ?? start
}

/** Where the window lies: wholly before the sought place, across it, or wholly behind (an empty one is behind). */
function sideOf(window: ItemsWindow, { order, start, moment }: Sought): Side {
  const known = window.moments.filter((at): at is number => at !== null)
  if (known.length === 0) return window.ids.length === 0 ? 'behind' : 'before'
  const past = (at: Moment): boolean => (order === 'created_desc' ? (at as number) < moment : (at as number) >= moment)
  if (past(known[0] as number)) return window.skip === start ? 'here' : 'behind'
  return past(known.at(-1) as number) ? 'here' : 'before'
}
