// Which named assumption of docs/proof.md a world has broken, where a task that stayed is missing after a complete walk: the
// walk's evidence is judged anew, line by line, beside the list as it really stood at each of its answers.
import { Judge, type Line } from '../../src/proof/judge.ts'
import type { Basis, State } from '../../src/proof/state.ts'

/** An answer of the list, and all that was listed when it was made. */
export interface Listing {
  /** Number of the answer. */
  answer: number
  skip: number
  asked: number
  /** Ids that it showed. */
  shown: readonly string[]
  listed: readonly string[]
  /** How many the list ran over, hidden ones included; 0 where it was refused, or held nothing by mistake. */
  length: number
}

/**
 * `lines`: the evidence of a walk; `viewed`: numbers of the answers that the walk was given, in that order; `missed`: an id. Null
 * where it rests on nothing that this world broke.
 */
export function brokenFor(
  missed: string,
  lines: Iterable<Line>,
  viewed: readonly number[],
  listings: ReadonlyMap<number, Listing>,
): Basis | null {
  /** The answer of the service that each answer of the walk was, by its number in the walk. */
  const answers = new Map<number, number>()
  let judge: Judge | null = null
  let next = 0
  let latest = 0
  for (const line of lines) {
    if (judge === null) {
      judge = new Judge(line.op === 'begun' ? line.range : null)
      continue
    }
    if (line.op === 'complete') return null
    const before = judge.state
    judge.hear(line)
    if (line.op === 'told') {
      const { skip, asked, count, lastId, received } = line.fact
      // What a killed process was given and did not write down is passed over.
      const at = viewed.findIndex((answer, index) => {
        const listing = listings.get(answer)
        const isSame = listing?.skip === skip && listing.asked === asked && listing.shown.length === count
        return index >= next && isSame && (listing.shown.at(-1) ?? null) === lastId
      })
      if (at >= 0) {
        latest = viewed[at] as number
        next = at + 1
      }
      answers.set(received, latest)
    }
    const between = (since: number): Listing[] => {
      const first = answers.get(since) ?? 0
      return [...listings.values()].filter(({ answer }) => answer >= first && answer <= latest)
    }
    const broken = brokenBy(missed, before, judge.state, between)
    if (broken !== null) return broken
  }
  return null
}

/** `between`: the listings from an answer of the walk up to now. */
function brokenBy(missed: string, before: State, after: State, between: (since: number) => Listing[]): Basis | null {
  const { floor, bracket, count, empty } = before
  // It stood behind the floor, and where something was read behind that it did not.
  if (floor !== null && bracket !== null && after.bracket === null) {
    const hasCome = ({ listed }: Listing): boolean => {
      const index = listed.indexOf(missed)
      return index >= 0 && index <= bracket.index
    }
    if (between(floor.received).some(hasCome)) return 'held'
  }
  if (before.owed !== null && after.owed === null && count !== null && isChurned(between(count.since), count.end))
    return 'held'
  if (before.ended !== null || after.ended === null) return null
  if (after.ended.includes('grows-at-its-ends') && empty !== null && isChurned(between(empty.received), empty.index))
    return 'held'
  // Nothing came of a place at which something stands.
  const isHidden = ({ shown, skip, length }: Listing): boolean => shown.length === 0 && skip < length
  if (after.ended.includes('nothing-hidden-behind') && between(floor?.received ?? 0).some(isHidden))
    return 'nothing-hidden-behind'
  const isLast = between(0).at(-1)?.listed.at(-1) === floor?.id
  return after.ended.includes('last-window-again') && !isLast ? 'last-window-again' : null
}

/** Up to this index something went and something came. */
function isChurned(listings: readonly Listing[], index: number): boolean {
  let hasGone = false
  let hasCome = false
  for (const [at, { listed }] of listings.entries()) {
    const earlier = listings[at - 1]?.listed ?? listed
    hasGone ||= earlier.slice(0, index + 1).some((id) => !listed.includes(id))
    hasCome ||= listed.slice(0, index + 1).some((id) => !earlier.includes(id))
  }
  return hasGone && hasCome
}
