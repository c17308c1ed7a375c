// What the kernel keeps of one answer: a few values, however many items it held. The writer's marks say which items the
// walk had met. Pure; docs/proof.md says what follows from a fact.
import type { Moment } from '../task.ts'

/** One answer of the list as the walk received it. `sent` and `received` are readings of one clock that only grows. */
export interface ListAnswer {
  skip: number
  asked: number
  sent: number
  received: number
  /** `items`: there may be none. A refusal or a failure brought no items. */
  kind: 'items' | 'refused' | 'failed'
  ids: readonly string[]
  moments: readonly Moment[]
  /** 1 where the walk had met the item before this answer. */
  met: ArrayLike<number>
}

/** An answer as plain data, of one size whatever it held: a line of the evidence. */
export interface Fact {
  skip: number
  asked: number
  sent: number
  received: number
  kind: 'items' | 'nothing' | 'refused' | 'failed'
  /** Number of items in the answer. */
  count: number
  /** How many items at its beginning had been met, up to the first one that had not. */
  metPrefix: number
  /**
   * Its anchor is the last item in it that had been met: it is `shown` where an item of another createdAt stands before
   * it in this answer, and `tied` where none does.
   */
  anchor: 'none' | 'tied' | 'shown'
  /** The id of the anchor, where it is `tied`. */
  anchorId: string | null
  /** The first id, kept if there is no anchor, or this item is alone, the floor's last, or not of the owed run. */
  firstId: string | null
  lastId: string | null
  /** createdAt of the first and of the last item. */
  first: Moment
  last: Moment
  /** The oldest and the newest createdAt in the answer, where the walk speaks of a range. */
  oldest: Moment
  newest: Moment
  /** How many items at the end share the last one's createdAt. */
  trail: number
  /** The index of the floor's last item (see `State.floor`); null where the answer does not show it. */
  floorAt: number | null
  /** It shows neighbours of equal createdAt whose ids rise, and such whose ids fall. */
  tiesRise: boolean
  tiesFall: boolean
  /** What `State.tiedMet` comes to once the answer is taken in; 0 where it adds nothing. */
  tiedMet: number
  /**
   * Of the owed run, or if none is owed and the anchor is `tied`, the first item's run: the index of its first item,
   * the index behind its last one, and the index behind the answer if that ends within the run. Null if not shown.
   */
  runStart: number | null
  runEnd: number | null
  runGoesOn: number | null
  /** The item at `runEnd`: its id, and its createdAt. */
  behindId: string | null
  behind: Moment
  /** The answer shows the member of the owed run: another run may have the same createdAt. */
  hasMember: boolean
  /** How many ids of that run, where it is counted, no answer has shown since the count began. */
  fresh: number
}

/** A run of equal createdAt, known by one item that was met, for another run may have the same createdAt. */
export interface RunMember {
  moment: Moment
  member: string
}

/** The part of `State` that says which run is owed, and between which indexes it is counted. */
interface Owed {
  owed: RunMember | null
  count: { start: number | null; end: number; isClosed: boolean } | null
}

/** The part of `State` that a fact depends on. */
interface Known extends Owed {
  floor: { id: string | null } | null
  tiedMet: number
}

/** Makes the fact. `seen`: the ids of the owed run that were counted so far. `hasRange`: the walk speaks of a range. */
export function factOf(answer: ListAnswer, state: Known, seen: ReadonlySet<string>, hasRange: boolean): Fact {
  const { ids, moments, met, skip, asked, sent, received } = answer
  const floorId = state.floor?.id ?? null
  const count = ids.length
  const kind = answer.kind === 'items' ? (count === 0 ? 'nothing' : 'items') : answer.kind
  let metPrefix = 0
  while (metPrefix < count && met[metPrefix] === 1) metPrefix += 1
  let last = count - 1
  while (last >= 0 && met[last] !== 1) last -= 1
  const lead = moments.findIndex((moment) => moment !== moments[0])
  let trail = Math.min(1, count)
  while (trail < count && moments[count - 1 - trail] === moments[count - 1]) trail += 1
  const known = hasRange ? moments.filter((moment) => moment !== null) : []
  const anchor = last < 0 ? 'none' : lead >= 0 && last >= lead ? 'shown' : 'tied'
  return {
    ...{ skip, asked, sent, received, kind, count, metPrefix },
    anchor,
    anchorId: anchor === 'tied' ? (ids[last] as string) : null,
    firstId: anchor === 'none' || count === 1 || ids[0] === floorId || isOther(answer, state) ? (ids[0] ?? null) : null,
    lastId: ids[count - 1] ?? null,
    floorAt: floorId === null || !ids.includes(floorId) ? null : skip + ids.lastIndexOf(floorId),
    first: moments[0] ?? null,
    last: moments[count - 1] ?? null,
    oldest: known.length === 0 ? null : known.reduce((one, other) => Math.min(one, other)),
    newest: known.length === 0 ? null : known.reduce((one, other) => Math.max(one, other)),
    ...{ trail, ...tiedNeighbours(answer, state) },
    ...(state.owed === null && anchor !== 'tied' ? NO_RUN : shownRun(answer, state)),
    fresh: new Set(idsOfRun(answer, state)).difference(seen).size,
  }
}

/** Whether the answer begins with an item of another createdAt than that of the owed run. */
function isOther({ ids, moments }: ListAnswer, { owed }: Owed): boolean {
  return owed !== null && ids.length > 0 && moments[0] !== owed.moment
}

/**
 * Ids of the owed run in the answer that stand between the indexes where it is counted. None once its end was seen
 * again: another run of this createdAt may have come there since.
 */
export function idsOfRun(answer: ListAnswer, { owed, count }: Owed): readonly string[] {
  const [first, behind] = owed === null ? [-1, -1] : placeOfRun(answer, { owed, count })
  const from = Math.max(first, (count?.start ?? 0) - answer.skip)
  return first < 0 || count?.isClosed === true
    ? []
    : answer.ids.slice(from, Math.max(from, Math.min(behind, (count?.end ?? Infinity) - answer.skip)))
}

/**
 * Where in the answer the owed run (if none is owed, the first item's run) begins, and the place behind its last item;
 * [-1, -1] where it shows none. Of several runs of that createdAt it is the one with the member, if that is shown.
 */
function placeOfRun({ ids, moments, skip }: ListAnswer, { owed, count }: Owed): [first: number, behind: number] {
  if (owed === null && ids.length === 0) return [-1, -1]
  const { moment, member } = owed ?? { moment: moments[0] ?? null, member: null }
  const isOfRun = (index: number): boolean => moments[index] === moment
  let first = member === null ? 0 : ids.indexOf(member)
  const isShown = first >= 0
  if (first < 0) first = moments.findIndex((_, index) => isOfRun(index) && skip + index >= (count?.start ?? 0))
  if (first < 0 || !isOfRun(first)) return [-1, -1]
  let behind = first
  while (first > 0 && isOfRun(first - 1)) first -= 1
  while (behind < ids.length && isOfRun(behind)) behind += 1
  // A run that begins behind the owed run's end, and does not hold the member, is another one.
  return !isShown && count !== null && skip + first >= count.end ? [-1, -1] : [first, behind]
}

function tiedNeighbours({ ids, moments, met }: ListAnswer, { tiedMet }: Known) {
  let tiesRise = false
  let tiesFall = false
  let added = 0
  for (let index = 1; index < ids.length; index += 1) {
    if (moments[index] !== moments[index - 1]) continue
    if ((ids[index] as string) > (ids[index - 1] as string)) tiesRise = true
    else tiesFall = true
    if (met[index] !== 1) added += 1
  }
  return { tiesRise, tiesFall, tiedMet: added === 0 ? 0 : tiedMet + added }
}

/** The answer shows nothing of a run. */
export const NO_RUN = {
  ...{ runStart: null, runEnd: null, runGoesOn: null, hasMember: false },
  ...{ behindId: null, behind: null },
} as const

function shownRun(answer: ListAnswer, known: Owed) {
  const [first, behind] = placeOfRun(answer, known)
  if (first < 0) return NO_RUN
  const { owed } = known
  const { ids, moments, skip } = answer
  const isOver = behind < ids.length
  return {
    behindId: ids[behind] ?? null,
    behind: moments[behind] ?? null,
    runStart: first > 0 || skip === 0 ? skip + first : null,
    runEnd: isOver ? skip + behind : null,
    runGoesOn: isOver ? null : skip + behind,
    hasMember: owed !== null && ids.slice(first, behind).includes(owed.member),
  }
}
