// Where an unmet task that stayed can be, by each answer: docs/proof.md, "join", "place" and "end". One rule for windows that overlap, items
// known by their index alone, positions that bring nothing or cannot be read, and the end of the list. Pure.
import { owing } from './counting.ts'
import type { Fact, RunMember } from './facts.ts'
import {
  type Basis,
  ended,
  type Floor,
  holds,
  isUnread,
  reachOf,
  type Sight,
  type State,
  type Trial,
  tiesAreOrdered,
  union,
} from './state.ts'

/** Most answers from behind the floor that are kept while they have not joined. */
const MOST_PENDING = 1000

/** The part of a sight that says where nothing can stand that was not met. */
type Mark = Pick<Sight, 'sent' | 'received' | 'low' | 'but' | 'rests' | 'heldAt'>

/** What an answer says by itself: it begins with the list, or shows an anchor. */
export function sightOf(fact: Fact): Sight {
  const { skip, count, kind, metPrefix, anchor, anchorId, first, sent, received } = fact
  const isTied = skip > 0 && anchor === 'tied'
  return {
    ...{ kind, first, sent, received, from: skip, to: skip + (kind === 'items' ? count : 1) },
    low: skip === 0 || anchor !== 'none' ? skip + metPrefix : 0,
    but: isTied ? { moment: first, member: anchorId ?? '' } : null,
    rests: isUnread(kind) ? ['unread-apart'] : [],
    heldAt: -1,
  }
}

/** The run that may have been passed over where ties of `runs` may have; null where it cannot be owed, as another one is. */
export function debtOf(
  state: State,
  runs: readonly (RunMember | null)[],
  trial: Trial,
): { but: RunMember | null; rests: Basis[] } | null {
  const some = runs.filter((run) => run !== null)
  const [run] = some
  if (run === undefined) return { but: null, rests: [] }
  if (tiesAreOrdered(state, trial)) return { but: null, rests: ['ids-order-ties'] }
  const { moment } = state.owed ?? run
  const isOne = some.every((other) => other.moment === moment)
  if (!holds(trial, 'join: no other run is owed', isOne)) return null
  // Among items that are left out no run can be counted.
  return state.isFiltered ? { but: null, rests: ['ties-keep-places'] } : { but: run, rests: [] }
}

/** The run of the floor's last item. */
export function lastRunOf({ moment, id }: Floor): RunMember {
  return { moment, member: id ?? '' }
}

/** The state once an answer has been heard that is believed, whatever it says of positions behind the floor. */
export function placed(before: State, fact: Fact, trial: Trial): State {
  const sight = sightOf(fact)
  const seen = sighted(before, fact, sight)
  if (before.ended !== null) return seen
  const state = withSight(seen, sight, fact, trial)
  const isShown = state.floor === null && state.pending.some(({ kind }) => kind === 'items')
  if (fact.skip === 0 && fact.kind === 'nothing' && !isShown) return { ...state, ended: ['nothing-hidden-behind'] }
  const { floor } = state
  if (state.pending.length === 0 || (floor !== null && sight.low <= floor.index)) return state
  const pending: Sight[] = []
  const mark = { ...sight, heldAt: fact.floorAt === floor?.joinedAt ? sight.sent : -1 }
  for (const one of state.pending) pending.push(resolved(state, one, { mark, known: pending }, trial))
  const reach = reachOf(state, fact)
  const over = pending.find(
    (one) => isOver(one, pending, { ...sight, reach }, trial) && debtOf(state, [one.but], trial) !== null,
  )
  if (over === undefined) return { ...state, pending }
  const rests = over.kind === 'refused' ? [...over.rests, 'even-cuts' as const] : over.rests
  const basis = union(rests, ['nothing-hidden-behind'])
  const debts = owing(state, over.but, behindRun(state, over), { received: over.received, rests: basis })
  return ended({ ...state, ...debts }, basis)
}

/** The index behind the floor's run, where what was read directly behind the floor shows that. */
export function behindRun({ floor }: State, { kind, from, first }: Sight): number | null {
  const isDirect = from === (floor?.index ?? -1) + 1
  return isDirect && (kind !== 'items' || first !== floor?.moment) ? from : null
}

/** The floor's last item was seen elsewhere: it stands there by now, and what was read behind its former place is forgotten. */
function sighted(state: State, { floorAt, sent, received, count, asked }: Fact, { low, but }: Sight): State {
  const { floor, isFiltered } = state
  if (floor === null || floorAt === null || sent < floor.received || floorAt === floor.index) return state
  // Everything up to where it stood has been met; or, where items are left out, it stands there or further down.
  if (low > floor.index && but === null) return state
  if (isFiltered && count < asked && floorAt < floor.index) return state
  return { ...state, pending: [], floor: { ...floor, index: floorAt, but: lastRunOf(floor), received } }
}

/** Keeps what speaks of positions behind the floor, in the order of these; of answers with items only what came last. */
function withSight(state: State, sight: Sight, { asked, anchor }: Fact, trial: Trial): State {
  const { floor, pending } = state
  const { kind, from, to } = sight
  const isItems = kind === 'items'
  const isBehind = from > (floor?.index ?? -1) && (!isItems || (from > 0 && anchor === 'none'))
  const isSingle = isItems || kind === 'nothing' || holds(trial, 'place: asked for by itself', asked === 1)
  if (!isSingle || !(isBehind || (isUnread(kind) && to === floor?.apart))) return state
  // Of what brought nothing at a position, or could not be read, the first one and the last two.
  const same = isItems ? [] : pending.filter((one) => one.from === from && one.kind !== 'items')
  const isOutdated = (one: Sight): boolean =>
    one.kind === 'items' ? one.from === from || (isItems && one.from > from) : same.length > 2 && one === same[1]
  const others = pending.filter((one) => !isOutdated(one))
  const at = others.findLastIndex((one) => one.from <= from) + 1
  return { ...state, pending: others.length < MOST_PENDING ? others.toSpliced(at, 0, sight) : [] }
}

/** In front of everything there is nothing; and nothing that was not met stood up to the end of the floor. */
function startOf({ floor }: State): Mark {
  if (floor === null) return { sent: 0, received: 0, low: 0, but: null, rests: [], heldAt: -1 }
  return { ...floor, low: floor.index + 1, rests: [], heldAt: -1 }
}

/**
 * What follows for `sight` from `mark`, seen just now, and from what is `known` of the positions before it: what stands at its first
 * index or behind before it and after it, stood there at its moment, too, and not at positions that brought nothing.
 */
function resolved(state: State, sight: Sight, { mark, known }: { mark: Sight; known: Sight[] }, trial: Trial): Sight {
  const { kind, from, to, rests } = sight
  const low = kind === 'items' ? from : to
  if (sight.low >= from) return { ...sight, low: Math.max(low, sight.low) }
  const reaches = (one: Mark): boolean => holds(trial, 'place: leaves no position out', one.low >= from)
  const isBefore = (one: Mark): boolean =>
    holds(trial, 'place: asked for after an answer that shows it', one.received <= sight.sent)
  const isAfter = (one: Mark): boolean => holds(trial, 'place: shown once more afterwards', one.sent >= sight.received)
  const before = best([startOf(state), ...known].filter((one) => reaches(one) && isBefore(one)))
  const after = best([apart(state, mark, sight, trial), ...known].filter((one) => reaches(one) && isAfter(one)))
  if (before === undefined || after === undefined) return sight
  const debt = debtOf(state, [before.but, after.but], trial)
  if (debt === null) return sight
  const more: Basis[] = ['held', ...debt.rests]
  const { heldAt } = mark
  return { ...sight, low, but: debt.but, heldAt, rests: union(union(before.rests, after.rests), union(rests, more)) }
}

function best(marks: Mark[]): Mark | undefined {
  return marks.find(({ but }) => but === null) ?? marks[0]
}

/** An answer that begins directly behind what could not be read when the floor's window joined, and cannot after `sight`: its run begins there. */
function apart({ floor, pending }: State, mark: Sight, { received }: Sight, trial: Trial): Sight {
  if (mark.but === null || floor === null || floor.apart === null || mark.from !== floor.apart) return mark
  const isStill = pending.some(({ kind, to, sent }) => isUnread(kind) && to === floor.apart && sent >= received)
  return holds(trial, 'apart: still cannot be read', isStill)
    ? { ...mark, but: null, rests: union(mark.rests, ['unread-apart']) }
    : mark
}

/** Nothing stands there or behind. A refusal may concern only that window or item: what showed items last has to reach further. */
function isOver(sight: Sight, pending: readonly Sight[], mark: Sight & { reach: number }, trial: Trial): boolean {
  const { kind, from, low, received } = sight
  if (low <= from || (kind !== 'nothing' && kind !== 'refused')) return false
  if (pending.some((one) => one.kind === 'items' && one.from > from)) return false
  // It reaches further, and shows nothing there.
  const isBeyond = mark.kind === 'items' && mark.to <= from && mark.reach > from && mark.sent >= received
  return kind === 'nothing' || (from > 0 && holds(trial, 'end: reaches beyond a refusal', isBeyond))
}
