// Which named assumption of docs/proof.md a world has broken, where a task that stayed is missing after a complete walk: the
// walk's evidence is judged anew, line by line, beside the list as it really stood at each of its answers.
import { Judge, type Line } from '../../src/proof/judge.ts'
import type { Basis, State } from '../../src/proof/state.ts'

/** An answer of the list, and all that was listed when it was made. */
export interface Listing {
  skip: number
  asked: number
  /** Items that it showed, and the id of the last one. */
  count: number
  lastId: string | null
  /** Ids at their indexes, those that no answer shows included. */
  listed: readonly string[]
  /** It showed what stood there; false where it was refused, or held nothing by mistake. */
  isTrue: boolean
}

/** What a world may break: what a claim rests on, or that an answer is a stretch of the list (docs/proof.md, "Stretch"), on which each does. */
export type Broken = Basis | 'stretch'

/**
 * `lines`: the evidence of a walk; `viewed`: numbers of the answers that the walk was given, in that order; `listings`: those of the
 * service, by their numbers. Null where the world broke nothing by which `missed` could have been missed.
 */
export function brokenFor(
  missed: { id: string; createdAt: number },
  lines: Iterable<Line>,
  viewed: readonly number[],
  listings: ReadonlyMap<number, Listing>,
): Broken | null {
  /** The service's number of each answer of the walk, by the number that it has there. */
  const answers = new Map<number, number>()
  const broken = new Set<Broken>()
  let judge: Judge | null = null
  let next = 0
  let latest = 0
  for (const line of lines) {
    if (judge === null) {
      judge = new Judge(line.op === 'begun' ? line.range : null)
      continue
    }
    if (line.op === 'complete') break
    const before = judge.state
    judge.hear(line)
    if (line.op === 'told') {
      const { kind, skip, asked, count, lastId, received } = line.fact
      // What a killed process was given and did not write down is passed over; a refusal is no window that was viewed.
      const at = viewed.findIndex((answer, index) => {
        const it = listings.get(answer)
        return index >= next && it?.skip === skip && it.asked === asked && it.count === count && it.lastId === lastId
      })
      if (at >= 0 && (kind === 'items' || kind === 'nothing')) {
        latest = viewed[at] as number
        next = at + 1
      }
      answers.set(received, latest)
    }
    const between = (since: number): Listing[] => {
      // Nothing had joined: from the first answer on.
      const first = since === 0 ? 0 : (answers.get(since) ?? Infinity)
      return [...listings].filter(([answer]) => answer >= first && answer <= latest).map(([, listing]) => listing)
    }
    const basis = brokenBy(missed, before, judge.state, between)
    if (basis !== null) broken.add(basis)
  }
  const rests = ['stretch' as const, ...(judge?.state.basis ?? []), ...(judge?.state.ended ?? [])]
  return rests.find((basis) => broken.has(basis)) ?? null
}

/** What the verdict of a walk with this evidence rests on. */
export function restsOf(lines: Iterable<Line>): Basis[] {
  let judge: Judge | null = null
  for (const line of lines) {
    if (line.op === 'complete') break
    if (judge === null) judge = new Judge(line.op === 'begun' ? line.range : null)
    else judge.hear(line)
  }
  return [...(judge?.state.basis ?? []), ...(judge?.state.ended ?? [])]
}

/** What was broken since, if anything. `between`: the listings from an answer of the walk up to now. */
function brokenBy(
  { id, createdAt }: { id: string; createdAt: number },
  before: State,
  after: State,
  between: (since: number) => Listing[],
): Broken | null {
  const { floor, pending, count, empty, owed } = before
  // It stood behind the floor, later before what an answer spoke of, and that was taken to be behind all that was met.
  const wasPlaced = pending.some((one) =>
    after.pending.every(({ received, low }) => received !== one.received || low > one.low),
  )
  const isPlaced = wasPlaced && (after.ended !== null || after.pending.length > 0)
  const isEnd = before.ended === null && after.ended !== null
  // The answers that show the floor, before and now.
  const shown = between(floor?.received ?? 0)
  const marks = isPlaced || isEnd ? [shown.at(0), shown.at(-1)] : []
  if (marks.some((listing) => listing !== undefined && isShifted(listing, id))) return 'stretch'
  if (floor !== null && isPlaced) {
    const [first, ...since] = between(floor.received).map(({ listed }) => listed.indexOf(id))
    if ((first ?? -1) > floor.index && since.some((index) => index >= 0 && index <= floor.index)) return 'held'
  }
  const isPaid = owed?.moment === createdAt && after.owed === null
  if (isPaid && count !== null && isChurned(between(count.since), count.end)) return 'held'
  if (!isEnd || after.ended === null) return null
  if (after.ended.includes('grows-at-its-ends') && empty !== null && isChurned(between(empty.received), empty.index))
    return 'held'
  const isOverlooked = ({ skip, asked, count: shown, listed, isTrue }: Listing): boolean =>
    isTrue && shown === 0 && asked >= after.largest && listed.indexOf(id) >= skip
  if (between(floor?.received ?? 0).some(isOverlooked)) return 'nothing-hidden-behind'
  const isCutBefore = ({ skip, asked, count: shown, listed, isTrue }: Listing): boolean =>
    isTrue && shown > 0 && shown < asked && listed.indexOf(id) >= skip + shown
  if (after.ended.includes('even-cuts') && shown.slice(-1).some(isCutBefore)) return 'even-cuts'
  const isLast =
    between(floor?.received ?? 0)
      .at(-1)
      ?.listed.at(-1) === floor?.id
  return after.ended.includes('last-window-again') && !isLast ? 'last-window-again' : null
}

/** The answer began further up than at `skip`: by the index of its last item, `id` stands before that, and it stands behind it. */
function isShifted({ skip, count, lastId, listed, isTrue }: Listing, id: string): boolean {
  const last = lastId === null ? -1 : listed.lastIndexOf(lastId)
  const at = listed.indexOf(id)
  return isTrue && last >= 0 && at > last && at < skip + count
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
