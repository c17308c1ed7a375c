// What the kernel keeps of one answer: a few words, however many items it held. Which items were met it is told by the
// writer's marks. Pure; docs/proof.md says what follows from it.
import type { Moment } from '../task.ts'

/** One answer of the list as the strategy received it. `sent` and `received` are readings of one clock that only grows. */
export interface Answer {
  skip: number
  asked: number
  sent: number
  received: number
  /** `items` may be empty; a refusal or a failure brought none. */
  kind: 'items' | 'refused' | 'failed'
  ids: readonly string[]
  moments: readonly Moment[]
  /** 1 where the walk had met the item before this answer. */
  met: ArrayLike<number>
}

/** Plain data, of one size whatever the answer held: a line of the certificate. */
export interface Fact {
  skip: number
  asked: number
  sent: number
  received: number
  kind: 'items' | 'nothing' | 'refused' | 'failed'
  /** Items in the answer. */
  count: number
  /** Items it begins with that had been met, one after another. */
  metPrefix: number
  /**
   * Whether the last item in it that had been met, its anchor, has an item of another createdAt before it in this answer
   * (`shown`) or none (`tied`).
   */
  anchor: 'none' | 'tied' | 'shown'
  firstId: string | null
  lastId: string | null
  /** createdAt of the first and of the last item. */
  first: Moment
  last: Moment
  /** The oldest and the newest createdAt in it. */
  oldest: Moment
  newest: Moment
  /** Items at the end that share the last one's createdAt. */
  trail: number
  /** The index of the item that the windows which have joined end with; null where the answer does not show it. */
  floorAt: number | null
  /** Neighbours of equal createdAt whose ids rise, and fall. */
  tiedRising: number
  tiedFalling: number
  /**
   * Of the run that is owed, else of the first item's: the index of its first item where that is shown, the index behind its
   * last one where another item is, and the index behind the answer where it ends in the run.
   */
  runStart: number | null
  runEnd: number | null
  runGoesOn: number | null
  /** Ids of that run which no answer has shown since it was measured. */
  fresh: number
}

/** `owed`: the createdAt of the run that is owed, and its ids seen so far; null where none is. */
export function factOf(
  answer: Answer,
  owed: { moment: Moment; seen: ReadonlySet<string> } | null,
  floorId: string | null,
): Fact {
  const { ids, moments, met, skip, asked, sent, received } = answer
  const count = ids.length
  const kind = answer.kind === 'items' ? (count === 0 ? 'nothing' : 'items') : answer.kind
  let metPrefix = 0
  while (metPrefix < count && met[metPrefix] === 1) metPrefix += 1
  let last = count - 1
  while (last >= 0 && met[last] !== 1) last -= 1
  const lead = moments.findIndex((moment) => moment !== moments[0])
  let trail = Math.min(1, count)
  while (trail < count && moments[count - 1 - trail] === moments[count - 1]) trail += 1
  const known = moments.filter((moment) => moment !== null)
  const [tiedRising, tiedFalling] = tiedNeighbours(ids, moments)
  return {
    ...{ skip, asked, sent, received, kind, count, metPrefix },
    anchor: last < 0 ? 'none' : lead >= 0 && last >= lead ? 'shown' : 'tied',
    firstId: ids[0] ?? null,
    lastId: ids[count - 1] ?? null,
    floorAt: floorId === null || !ids.includes(floorId) ? null : skip + ids.lastIndexOf(floorId),
    first: moments[0] ?? null,
    last: moments[count - 1] ?? null,
    oldest: known.length === 0 ? null : known.reduce((one, other) => Math.min(one, other)),
    newest: known.length === 0 ? null : known.reduce((one, other) => Math.max(one, other)),
    ...{ trail, tiedRising, tiedFalling },
    ...shownRun(answer, owed === null ? moments[0] : owed.moment),
    fresh: owed === null ? 0 : new Set(ids.filter((id, at) => moments[at] === owed.moment && !owed.seen.has(id))).size,
  }
}

function tiedNeighbours(ids: readonly string[], moments: readonly Moment[]): [rising: number, falling: number] {
  let rising = 0
  let falling = 0
  for (let index = 1; index < ids.length; index += 1) {
    if (moments[index] !== moments[index - 1]) continue
    if ((ids[index] as string) > (ids[index - 1] as string)) rising += 1
    else falling += 1
  }
  return [rising, falling]
}

function shownRun({ moments, skip }: Answer, moment: Moment | undefined) {
  const first = moment === undefined ? -1 : moments.indexOf(moment)
  if (first < 0) return { runStart: null, runEnd: null, runGoesOn: null }
  let behind = first
  while (behind < moments.length && moments[behind] === moment) behind += 1
  const isOver = behind < moments.length
  return {
    runStart: first > 0 || skip === 0 ? skip + first : null,
    runEnd: isOver ? skip + behind : null,
    runGoesOn: isOver ? null : skip + behind,
  }
}
