// Where a head walk may end and a tail walk may begin: not at any task that the mirror knows, but at a run of
// neighbours, tasks that follow one another in the list as the mirror holds them by createdAt. A list that is really
// ordered by something else (the last update, say) brings known tasks to the front as well, but not with all their
// neighbours, or not as they were (design.md 6.3).
import { keepLatest } from '../../bounded.ts'
import type { OrderSeen } from '../../walk/order.ts'
import type { ItemsWindow } from '../../walk/source.ts'
import type { Run } from '../context.ts'
import type { Watcher } from './walking.ts'

/** A task that the mirror held before this walk, at its place in the list. */
export interface Candidate {
  id: string
  seq: number
  /** Its createdAt, epoch ms. */
  moment: number
  /** The list shows it in the form in which it showed it last. */
  isAsBefore: boolean
}

export interface NeighbourRules {
  order: 'created_desc' | 'created_asc'
  /** The largest inversion of createdAt known to be in the list, ms. */
  inversionMs: number
  /** How many neighbours are wanted that the list shows as it showed them before. */
  wanted: number
}

/** One or two neighbours may stand side by side by chance, however small the overlap. */
const LEAST = 3
/**
 * So many times as many neighbours are enough where the list shows them in another form every time, if the first known
 * task is among them: other tasks may have been written to in the order of the list.
 */
const CHANGED = 10

export function neighboursWanted(overlap: number): number {
  return Math.max(overlap, LEAST)
}

/** So many neighbours may be looked at together: no more of the items before need be kept. */
export function neighboursKept({ wanted }: NeighbourRules): number {
  return wanted * CHANGED
}

/**
 * Cuts a stretch of tasks, each directly behind the one before in the list, where one goes back by more than the known
 * inversions: no list in that order has both sides of the cut where they stand.
 */
export function inOrder(listed: Candidate[], { order, inversionMs }: NeighbourRules): Candidate[][] {
  const stretches: Candidate[][] = []
  let furthest = 0
  for (const candidate of listed) {
    const progress = order === 'created_desc' ? -candidate.moment : candidate.moment
    if (stretches.length === 0 || progress < furthest - inversionMs) {
      stretches.push([])
      furthest = progress
    }
    furthest = Math.max(furthest, progress)
    stretches.at(-1)?.push(candidate)
  }
  return stretches
}

/**
 * Whether `stretch`, in list order, holds enough neighbours, and the mirror has no task between the first and the last
 * of them that the stretch does not show. A task deleted since leaves such a gap as well; then neighbours have to be
 * found before or behind it. `first`: the newest task that may belong to a run, by its seq; null where there is none.
 */
export function holdsNeighbours(
  stretch: Candidate[],
  placeOf: ReadonlyMap<number, number>,
  rules: NeighbourRules,
  first: number | null,
): boolean {
  const places = stretch.map(({ seq }) => placeOf.get(seq) ?? Number.NaN)
  const gapless = gaplessness(places)
  const many = neighboursKept(rules)
  const firstAt = stretch.findIndex(({ seq }) => seq === first)
  let asBefore = 0
  for (let at = 0; at < stretch.length; at += 1) {
    asBefore = stretch[at]?.isAsBefore === true ? asBefore + 1 : 0
    if (asBefore >= rules.wanted && gapless(at + 1 - rules.wanted, at + 1)) return true
    const from = at + 1 - many
    if (from >= 0 && from <= firstAt && firstAt <= at && gapless(from, at + 1)) return true
  }
  return false
}

/** Tells of a part of `places` whether all places between its lowest and its highest are among `places`. */
function gaplessness(places: number[]): (from: number, to: number) => boolean {
  const sorted = [...places].sort((a, b) => a - b)
  // Between two places in the same block, every place is among them.
  const blocks = new Map<number, number>()
  let block = 0
  sorted.forEach((place, index) => {
    if (index > 0 && place - (sorted[index - 1] as number) > 1) block += 1
    blocks.set(place, block)
  })
  return (from, to) => new Set(places.slice(from, to).map((place) => blocks.get(place))).size === 1
}

interface WatchedNeighbours extends Watcher {
  /** Whether the windows so far, in list order, hold a run older than the frontier. Passes over items met before. */
  found(window: ItemsWindow, shown: OrderSeen): Promise<boolean>
  /** Whether this window alone holds one. */
  holds(window: ItemsWindow): Promise<boolean>
}

/** What the mirror held of a task before the walk. */
type Known = Pick<Candidate, 'seq' | 'isAsBefore'>

/** So many compared tasks are kept, the last ones: far more than a walk still asks about. */
const MOST_COMPARED = 50_000
/**
 * So many windows with known tasks are looked at one by one; then only those at a power of two: places far down take
 * long to find.
 */
const EAGER = 16

/**
 * The list as a head or tail walk reads it, watched for runs of neighbours: every answer is compared with what the
 * mirror held before anything of it is taken in. `frontier`, epoch ms: only tasks created before it, less the
 * inversions, belong to a run.
 */
export function watchNeighbours(run: Run, order: NeighbourRules['order'], frontier: number): WatchedNeighbours {
  const { writer, config } = run
  const { overlap, settleMs } = config.sync
  const inversionMs = run.facts.inversion_ms ?? 0
  const rules: NeighbourRules = { order, inversionMs, wanted: neighboursWanted(overlap) }
  const before = new Map<string, Known | null>()
  let stretch: Candidate[] = []
  let looks = 0
  let certain = Number.MAX_SAFE_INTEGER

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

  function longEnough(stretches: Candidate[][]): Candidate[][] {
    return stretches.flatMap((some) => inOrder(some, rules)).filter(({ length }) => length >= rules.wanted)
  }

  async function anyRun(long: Candidate[][], bound: number): Promise<boolean> {
    const seqs = long.flat().map(({ seq }) => seq)
    const places = await writer.placesOf(seqs)
    const placeOf = new Map(seqs.map((seq, index) => [seq, places[index] as number]))
    const first = await writer.newestSeq(bound)
    return long.some((some) => holdsNeighbours(some, placeOf, rules, first))
  }

  return {
    async begun({ walkId }) {
      certain = await writer.certainSeq(walkId)
    },

    async onParsed({ handle, ids }) {
      const { seqs, isAsBefore } = await writer.knownState(handle)
      for (const [index, id] of ids.entries()) {
        // What was seen first counts: later, this walk may have taken the task in.
        if (before.has(id)) continue
        const seq = seqs[index] as number
        before.set(id, seq === 0 || seq > certain ? null : { seq, isAsBefore: isAsBefore[index] === 1 })
      }
      keepLatest(before, MOST_COMPARED)
    },

    async found(window, shown) {
      const seen = Math.min(settleMs, order === 'created_desc' ? shown.inversionDesc : shown.inversionAsc)
      const bound = frontier - Math.max(inversionMs, seen)
      const stretches = stretchesOf(window, bound, stretch)
      stretch = (stretches.at(-1) as Candidate[]).slice(-neighboursKept(rules) - config.sync.window)
      const long = longEnough(stretches)
      if (long.length === 0) return false
      looks += 1
      if (looks > EAGER && !Number.isInteger(Math.log2(looks))) return false
      return anyRun(long, bound)
    },

    async holds(window) {
      const bound = frontier - inversionMs
      const long = longEnough(stretchesOf(window, bound, []))
      return long.length > 0 && anyRun(long, bound)
    },
  }
}
