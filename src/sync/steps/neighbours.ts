// Where a head walk may end and a tail walk may begin: not at any task that the mirror knows, but at a run of
// neighbours, tasks that follow one another in the list as the mirror holds them by createdAt. A list that is really
// ordered by something else (the last update, say) brings known tasks to the front as well, but not with all their
// neighbours, or not as they were (design.md 6.3). Pure.

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

/** The candidates in the mirror's order of places: newest first, those of equal createdAt by descending id. */
export function byPlace(candidates: Candidate[]): Candidate[] {
  return [...candidates].sort((a, b) => b.moment - a.moment || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id)))
}
