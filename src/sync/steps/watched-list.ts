// The list as a head or tail walk reads it, watched for runs of neighbours (neighbours.ts): every answer is compared
// with what the mirror held before anything of it is taken in.
import { keepLatest } from '../../bounded.ts'
import type { OrderEvidence } from '../../walk/order.ts'
import type { ItemsWindow } from '../../walk/source.ts'
import type { Run } from '../context.ts'
import type { ParsedList } from '../writer/writing.ts'
import {
  byPlace,
  type Candidate,
  holdsNeighbours,
  inOrder,
  type NeighbourRules,
  neighboursKept,
  neighboursWanted,
} from './neighbours.ts'
import type { WalkTask } from './walking.ts'

interface WatchedList extends Required<Pick<WalkTask, 'begun' | 'onParsed'>> {
  /** Whether the windows so far, in list order, hold a run older than the frontier. Passes over items met before. */
  found(window: ItemsWindow, shown: OrderEvidence): Promise<boolean>
  /** Whether this window alone holds one. */
  holds(window: ItemsWindow): Promise<boolean>
}

/** What the mirror held of a task before the walk. */
type Known = Pick<Candidate, 'seq' | 'isAsBefore'>

/** So many compared tasks are kept, the last ones: far more than a walk still asks about. */
const MOST_COMPARED = 50_000
/** So many windows are looked at one by one; then only those at a power of two: places far down take long to find. */
const EAGER = 16

/** `frontier`, epoch ms: only tasks created before it, less the inversions, belong to a run. */
export function watchList(run: Run, order: NeighbourRules['order'], frontier: number): WatchedList {
  const { writer, config } = run
  const { overlap, settleMs } = config.sync
  const inversionMs = run.facts.inversion_ms ?? 0
  const rules: NeighbourRules = { order, inversionMs, wanted: neighboursWanted(overlap) }
  const before = new Map<string, Known | null>()
  let stretch: Candidate[] = []
  let windows = 0
  let certain = Number.MAX_SAFE_INTEGER

  async function compare({ handle, ids }: ParsedList): Promise<void> {
    const { seqs, isAsBefore } = await writer.knownState(handle)
    for (const [index, id] of ids.entries()) {
      // What was seen first counts: later, this walk may have taken the task in.
      if (before.has(id)) continue
      const seq = seqs[index] as number
      before.set(id, seq === 0 || seq > certain ? null : { seq, isAsBefore: isAsBefore[index] === 1 })
    }
    keepLatest(before, MOST_COMPARED)
  }

  /** Stretches of known tasks older than `bound`, the last one still open. Anything else in between ends a stretch. */
  function stretchesOf({ ids, moments, met }: ItemsWindow, bound: number, open: Candidate[]): Candidate[][] {
    const stretches = [open]
    for (const [index, moment] of moments.entries()) {
      const id = ids[index] as string
      // An item without createdAt, or not to be taken in, says nothing.
      if (met[index] === 1 || moment === null || id.startsWith('\u0000')) continue
      const known = before.get(id) ?? null
      if (known === null || moment >= bound) stretches.push([])
      else stretches.at(-1)?.push({ id, moment, ...known })
    }
    return stretches
  }

  async function anyRun(stretches: Candidate[][], bound: number): Promise<boolean> {
    const long = stretches.flatMap((some) => inOrder(some, rules)).filter(({ length }) => length >= rules.wanted)
    const sorted = byPlace(long.flat())
    if (sorted.length === 0) return false
    const places = await writer.placesOf(sorted.map(({ seq }) => seq))
    const placeOf = new Map(sorted.map(({ seq }, index) => [seq, places[index] as number]))
    const first = await writer.newestSeq(bound)
    return long.some((some) => holdsNeighbours(some, placeOf, rules, first))
  }

  return {
    async begun(walkId) {
      certain = await writer.certainSeq(walkId)
    },

    onParsed: compare,

    async found(window, shown) {
      const seen = Math.min(settleMs, order === 'created_desc' ? shown.inversionDesc : shown.inversionAsc)
      const bound = frontier - Math.max(inversionMs, seen)
      const stretches = stretchesOf(window, bound, stretch)
      stretch = (stretches.at(-1) as Candidate[]).slice(-neighboursKept(rules) - config.sync.window)
      windows += 1
      if (windows > EAGER && !Number.isInteger(Math.log2(windows))) return false
      return anyRun(stretches, bound)
    },

    holds: (window) => anyRun(stretchesOf(window, frontier - inversionMs, []), frontier - inversionMs),
  }
}
