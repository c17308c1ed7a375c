// Where, by each answer, a task can be that stayed and was not met: docs/proof.md, "join", "place" and "end". One rule
// for windows that overlap, items known by index alone, positions without a readable item, and the end. Pure.
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

/** At most so many answers from behind the floor are kept while they have not joined. */
const MOST_PENDING = 1000

/** The part of a sight that says before which index no unmet task can stand. */
type Mark = Pick<Sight, 'sent' | 'received' | 'low' | 'but' | 'rests'>

/** What an answer says by itself, as it begins with the list or shows an anchor. */
export function sightOf(fact: Fact): Sight {
  const { skip, count, kind, metPrefix, anchor, anchorId, first, sent, received } = fact
  const isTied = skip > 0 && anchor === 'tied'
  return {
    ...{ kind, first, sent, received, from: skip, to: skip + (kind === 'items' ? count : 1) },
    low: skip === 0 || anchor !== 'none' ? skip + metPrefix : 0,
    but: isTied ? { moment: first, member: anchorId ?? '' } : null,
    rests: isUnread(kind) ? ['unread-apart'] : [],
  }
}

/** The run that is owed where ties of `runs` may have been passed over; null where that would make two. */
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
  // Where answers leave items out, no run can be counted.
  return state.isFiltered ? { but: null, rests: ['ties-keep-places'] } : { but: run, rests: [] }
}

/** The run of the floor's last item. */
export function lastRunOf({ moment, id }: Floor): RunMember {
  return { moment, member: id ?? '' }
}

/** The state after a believed answer, with all that it says of positions behind the floor. */
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
  for (const one of state.pending) pending.push(resolved(state, one, { mark: sight, known: pending }, trial))
  const mark = { ...sight, reach: reachOf(state, fact) }
  for (const one of pending) {
    const isRefused = one.kind === 'refused'
    // The answer that reaches beyond a refusal may stand behind a tie that was not met.
    const debt = isOver(one, pending, mark, trial)
      ? debtOf(state, [one.but, isRefused ? sight.but : null], trial)
      : null
    if (debt === null) continue
    const even: Basis[] = isRefused ? ['even-cuts'] : []
    const basis = union([...one.rests, ...even], ['nothing-hidden-behind'])
    // A run that is owed from now on ends there, or further up.
    const debts = owing(state, debt.but, one.from, { received: fact.received, rests: basis })
    return ended({ ...state, ...debts }, union(basis, debt.rests))
  }
  return { ...state, pending }
}

/** The floor's last item, seen elsewhere, stands there by now: what was read behind its former place is forgotten. */
function sighted(state: State, { floorAt, sent, received, count, asked }: Fact, { low, but }: Sight): State {
  const { floor, isFiltered } = state
  if (floor === null || floorAt === null || sent < floor.received || floorAt === floor.index) return state
  // Nothing is forgotten where all up to its former place has been met, or where left out items make indexes too small.
  if (low > floor.index && but === null) return state
  if (isFiltered && count < asked && floorAt < floor.index) return state
  return { ...state, pending: [], floor: { ...floor, index: floorAt, but: lastRunOf(floor), received } }
}

/** Keeps the sights behind the floor, by their positions. Items replace those read there before, and further down. */
function withSight(state: State, sight: Sight, { asked, anchor }: Fact, trial: Trial): State {
  const { floor, pending } = state
  const { kind, from, to } = sight
  const isItems = kind === 'items'
  const isBehind = from > (floor?.index ?? -1) && (!isItems || (from > 0 && anchor === 'none'))
  const isByItself = asked === 1 && !state.givesMore
  const isSingle = isItems || kind === 'nothing' || holds(trial, 'place: asked for by itself', isByItself)
  if (!isSingle || !(isBehind || (isUnread(kind) && to === floor?.apart))) return state
  // Of answers without items about one position, the first one and the last two are kept.
  const same = isItems ? [] : pending.filter((one) => one.from === from && one.kind !== 'items')
  const isOutdated = (one: Sight): boolean =>
    one.kind === 'items' ? one.from === from || (isItems && one.from > from) : same.length > 2 && one === same[1]
  const others = pending.filter((one) => !isOutdated(one))
  const at = others.findLastIndex((one) => one.from <= from) + 1
  return { ...state, pending: others.length < MOST_PENDING ? others.toSpliced(at, 0, sight) : [] }
}

/** Before any sight: no unmet task stands in front of the list, and none stood up to the floor's last item. */
function startOf({ floor }: State): Mark {
  if (floor === null) return { sent: 0, received: 0, low: 0, but: null, rests: [] }
  return { ...floor, low: floor.index + 1, rests: [] }
}

/**
 * What follows for `sight` from `mark`, seen just now, and from `known`, sights of positions before it: what stood at
 * its first index or behind both before and after it stood there at its moment, too, and not where nothing came.
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
  // What is left out at a position may be a tie of the unmet task, and change places with it.
  const isLeftOut = [before, after].some((one) => 'kind' in one && one.kind === 'nothing')
  const more: Basis[] = ['held', ...debt.rests, ...(isLeftOut ? ['ties-keep-places' as const] : [])]
  return { ...sight, low, but: debt.but, rests: union(union(before.rests, after.rests), union(rests, more)) }
}

function best(marks: Mark[]): Mark | undefined {
  return marks.find(({ but }) => but === null) ?? marks[0]
}

/** `mark`, which owes no run if it begins directly behind what could not be read, in an answer from after `sight`. */
function apart({ pending }: State, mark: Sight, { received }: Sight, trial: Trial): Sight {
  if (mark.but === null) return mark
  const isStill = pending.some(
    (one) => isUnread(one.kind) && one.to === mark.from && one.sent >= received && one.received <= mark.sent,
  )
  return holds(trial, 'apart: still cannot be read', isStill)
    ? { ...mark, but: null, rests: union(mark.rests, ['unread-apart']) }
    : mark
}

/** Whether nothing stands there or behind. A refusal may be about that window: another answer must reach further. */
function isOver(sight: Sight, pending: readonly Sight[], mark: Sight & { reach: number }, trial: Trial): boolean {
  const { kind, from, low } = sight
  if (low <= from || (kind !== 'nothing' && kind !== 'refused')) return false
  if (pending.some((one) => one.kind === 'items' && one.from > from)) return false
  // That answer shows nothing there, and before it only what was met: what the refusal hid may stand there by now.
  const isBeyond = mark.low >= mark.to && mark.to <= from && mark.reach > from
  return kind === 'nothing' || holds(trial, 'end: reaches beyond a refusal', isBeyond)
}
