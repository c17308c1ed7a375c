// Every small world: lists of a few tasks that change at any moment between two answers, and an adversary who reads what
// it likes, in any order, and takes in whatever it likes. An end that the kernel accepts is held against the list: a
// task that stayed throughout and was not met makes it false, unless the world broke an assumption that it rests on.

import { hash } from 'node:crypto'
import type { ConditionName } from '../../src/proof/conditions.ts'
import { countsFor, idsFor } from '../../src/proof/counting.ts'
import { type Fact, factOf, type ListAnswer } from '../../src/proof/facts.ts'
import {
  asTold,
  atEnd,
  type Told as Heard,
  heard,
  isNarrow,
  joined,
  linkOf,
  recalled,
  taken,
  told,
  trusted,
} from '../../src/proof/rules.ts'
import { type Basis, BEGINNING, type State, type Trial, type WalkRange } from '../../src/proof/state.ts'

/** By what the end of a list, or a link, may be shown beside windows that overlap. */
export type Evidence = 'place' | 'room' | 'passed' | 'repeated' | 'reached'

export interface Scope {
  name: string
  /** Tasks at the beginning, at most. */
  tasks: number
  readings: number
  changes: number
  /** The largest `take`, and where every answer is cut; null where each may be cut anywhere. */
  take: number
  cap: number | null
  /** Tasks of equal createdAt change places; without, equal createdAt may stand anywhere, for good. */
  ties: boolean
  /** How many items may be hidden: left out of answers, though they have an index. */
  hidden?: number
  /** Answers stop before those. */
  blocks?: boolean
  /** Asks for any number up to `take`, and not for that alone. */
  asksAll?: boolean
  /** What is asked for (skip and take); everything where absent. */
  asks?: readonly (readonly [skip: number, asked: number])[]
  /** What is asked for with each reading, one after another. */
  inTurn?: readonly (readonly [skip: number, asked: number])[]
  /** Answers may be asked for early and come late. */
  ahead?: boolean
  /** Any answer may be taken in, and not only the last one. */
  later?: boolean
  /** Reads on and takes in where the end seems to be shown, which a larger answer may take back. */
  goesOn?: boolean
  /** As many are given as are asked for, rounded up to a multiple. */
  rounds?: number
  /** Behind the end the last window comes again. */
  repeats?: boolean
  /** Tasks of equal createdAt stand in the order of their ids, and so many neighbours show it. */
  orderedTies?: number
  /** The walk has found that answers leave items out. */
  filtered?: boolean
  /** Positions whose task cannot be read; `refuses`: a window that holds one is refused, and does not fail. */
  poisoned?: number
  refuses?: boolean
  /** Windows that reach beyond an index are refused. */
  limit?: number
  /** So many answers bring nothing by mistake: a refusal, or no items. */
  mistakes?: number
  /** The kinds of changes; all where absent. */
  only?: readonly ('shuffle' | 'delete' | 'insert' | 'hide')[]
  /** Runs of equal createdAt are counted. */
  counts?: boolean
  /** The lists at the beginning, by createdAt; all where absent. */
  lists?: readonly (readonly number[])[]
  /** What is tried beside windows that overlap; all where absent. */
  tries?: readonly Evidence[]
  /** More than that at once is refused. */
  refusedAbove?: number
  /** Tasks stand in created order, and the walk speaks of a range. */
  range?: WalkRange
  /** Insertions only of a createdAt that stands beside them. */
  onlyTies?: boolean
  /** Insertions only behind all others, and only in front of them. */
  oldestFirst?: boolean
  newestFirst?: boolean
}

interface Item {
  id: number
  at: number
  stays: boolean
  met: boolean
  hidden: boolean
  poisoned: boolean
}

/** An answer on its way. */
interface Given {
  skip: number
  asked: number
  sent: number
  kind: ListAnswer['kind']
  items: Item[]
  /** An item that is not hidden stood at its place or behind; behind all that it asked for or was cut at. */
  beyond: boolean
  beyondCut: boolean
  /** Of `World.sinceFloor`, when it was made, and since then. */
  sinceFloor: number
  deletedSince: boolean
  insertedSince: boolean
  isMistake: boolean
}

/** An answer that was told, by when it was received. */
interface Told {
  received: number
  heard: Heard
  fact: Fact
  ids: number[]
  /** Deleted between the floor's moment and its own; inserted, and deleted, since its own. */
  deletedBefore: boolean
  insertedSince: boolean
  deletedSince: boolean
  /** It showed nothing, though something stood there or behind. */
  isDeceptive: boolean
  /** Something stood behind what it showed. */
  beyondCut: boolean
}

/** What an answer holds, and how many positions it speaks of. */
type Said = Pick<Given, 'kind' | 'items'> & { length: number }

interface World {
  items: Item[]
  state: State
  now: number
  changes: number
  readings: number
  mistakes: number
  nextId: number
  /** Answers that may be taken in: this one, and those behind the floor that have not joined. */
  told: Told[]
  /** The window that was taken in last. */
  last: Told | null
  /** Deleted (1) and inserted (2) since the count began, and since the floor was taken in. */
  sinceCount: number
  sinceFloor: number
  /** The same since the last item was alone at its place. */
  sinceAlone: number
  /** The same since the answer was read that ends in the run. */
  sinceEdge: number
  /**
   * Of `held` where an index was empty, by when: 1 deleted since the floor joined and before that, 2 inserted since then, 3 and
   * that counts.
   */
  sunk: Readonly<Record<number, number>>
  broken: Basis[]
  /** Ids of the owed run seen since it was measured. */
  counted: number[]
  early: Given | null
  /** The answer that is doubted, where it is no mistake. */
  first: Given | null
  trail: Trail | null
}

interface Trail {
  line: string
  before: Trail | null
}

export interface FalseClaim {
  scope: string
  steps: string[]
}

export interface Searched {
  worlds: number
  claims: number
  accepted: number
  complete: number
  /** Ends that were claimed of a list in which a named assumption was broken and a task was missed. */
  excused: Partial<Record<Basis, number>>
  found: FalseClaim | null
}

/** Whether tasks of one createdAt stand in several places. */
function standsApart(items: readonly Item[]): boolean {
  return items.some(
    ({ at }, index) =>
      index > 0 && items[index - 1]?.at !== at && items.slice(0, index - 1).some((one) => one.at === at),
  )
}

const ALL: readonly Evidence[] = ['place', 'room', 'passed', 'repeated', 'reached']
const GONE = null as unknown as World
const MISTAKES: readonly Said[] = [
  { kind: 'refused', items: [], length: 0 },
  { kind: 'items', items: [], length: 0 },
]

export function search(scope: Scope, without?: ConditionName, most = Number.POSITIVE_INFINITY): Searched {
  return new Search(scope, without, most).run()
}

class Search {
  readonly #scope: Scope
  readonly #trial: Trial
  readonly #most: number
  readonly #tries: readonly Evidence[]
  /**
   * By the hash of a world, for millions are kept: with how many readings and changes left it was come to. Several maps, by the first
   * byte of the hash: one holds 2^24 keys at most.
   */
  readonly #seen = Array.from({ length: 16 }, () => new Map<string, number[]>())
  readonly #result: Searched = {
    worlds: 0,
    claims: 0,
    accepted: 0,
    complete: 0,
    excused: {},
    found: null,
  }
  #stack: World[] = []

  constructor(scope: Scope, without: ConditionName | undefined, most: number) {
    this.#scope = scope
    this.#most = most
    this.#tries = scope.tries ?? ALL
    const settings = {
      orderedTies: scope.orderedTies ?? Number.POSITIVE_INFINITY,
      range: scope.range ?? null,
    }
    this.#trial = without === undefined ? settings : { ...settings, without }
  }

  run(): Searched {
    const { tasks, readings, changes, mistakes = 0 } = this.#scope
    for (let count = 0; count <= tasks; count += 1) {
      for (const items of this.#lists(count)) {
        this.#push({
          ...{
            items,
            state: { ...BEGINNING, isFiltered: this.#scope.filtered === true },
            now: 0,
            changes,
            readings,
            mistakes,
            nextId: count,
            told: [],
            last: null,
          },
          ...{
            sinceCount: 0,
            sinceFloor: 0,
            sinceAlone: 0,
            sinceEdge: 0,
            sunk: {},
            counted: [],
            early: null,
            first: null,
          },
          broken: [],
          trail: { line: `the list ${show(items)}`, before: null },
        })
        // First come, first looked at: what has most left comes first.
        for (let at = 0; at < this.#stack.length; at += 1) {
          if (this.#result.found !== null || this.#result.worlds >= this.#most) break
          this.#visit(this.#stack[at] as World)
          this.#stack[at] = GONE
        }
        this.#stack = []
        if (this.#result.found !== null) return this.#result
      }
    }
    return this.#result
  }

  /** Lists of so many tasks: which have equal createdAt, which are hidden, which cannot be read. */
  *#lists(count: number): Generator<Item[]> {
    const { ties, hidden = 0, poisoned = 0, lists } = this.#scope
    const all = lists?.filter(({ length }) => length === count) ?? (ties ? runs(count) : labels(count))
    for (const moments of all) {
      for (const concealed of choices(count, hidden)) {
        for (const unreadable of choices(count, poisoned)) {
          yield moments.map((at, id) => ({
            ...{ id, at, stays: true, met: false },
            hidden: concealed.has(id),
            poisoned: unreadable.has(id),
          }))
        }
      }
    }
  }

  #push(world: World): void {
    const isSafe = world.items.every((item) => !this.#isMissed(item))
    // Nothing that is said of it can be false any more, or nothing more can be said.
    if (isSafe || world.readings === 0) return
    const { pending, count, ended } = world.state
    const isFar = pending.length === 0 && count === null && ended === null
    if (world.readings === 1 && isFar && !this.#tries.some((one) => one !== 'place')) return
    const key = hash('sha1', keyOf(world, this.#scope, this.#tries), 'binary')
    const { readings, changes } = world
    const worlds = this.#seen[key.charCodeAt(0) & 15] as Map<string, number[]>
    const seen = worlds.get(key)
    // What can come of it has been looked at already, with as much left as now.
    if (seen?.some((left) => left >> 4 >= readings && (left & 15) >= changes)) return
    const left = (readings << 4) | changes
    if (seen === undefined) worlds.set(key, [left])
    else seen.push(left)
    this.#result.worlds += 1
    this.#stack.push(world)
  }

  #visit(world: World): void {
    if (world.changes > 0) for (const changed of this.#changed(world)) this.#push(changed)
    if (world.readings === 0) return
    const { ahead } = this.#scope
    if (world.early !== null) this.#deliver({ ...world, early: null }, world.early)
    for (const [skip, asked] of this.#asks(world)) {
      for (const answer of this.#answers(world, skip, asked)) {
        const isMistake = MISTAKES.includes(answer)
        const beyond = !isMistake && world.items.some((item, index) => index >= skip && !item.hidden)
        const end = skip + Math.max(1, answer.length)
        const beyondCut = world.items.some((item, index) => index >= end && !item.hidden)
        const { sinceFloor } = world
        const marks = { sinceFloor, deletedSince: false, insertedSince: false, isMistake }
        const given: Given = { skip, asked, sent: world.now, ...answer, beyond, beyondCut, ...marks }
        const asking = isMistake ? { ...world, mistakes: world.mistakes - 1 } : world
        this.#deliver(asking, given)
        if (!ahead || world.early !== null) continue
        const line = `asks for ${skip}+${asked}, which will come late`
        this.#push({ ...asking, now: world.now + 1, early: given, trail: { line, before: world.trail } })
      }
    }
  }

  *#asks({ items, readings }: World): Generator<readonly [skip: number, asked: number]> {
    const { asks, inTurn, asksAll, take } = this.#scope
    if (inTurn !== undefined) return yield inTurn[this.#scope.readings - readings] as readonly [number, number]
    if (asks !== undefined) return yield* asks
    for (let skip = 0; skip < items.length + 2; skip += 1) {
      // Where every answer may be cut anywhere, asking for less shows nothing else.
      for (let asked = asksAll ? 1 : take; asked <= take; asked += 1) yield [skip, asked]
    }
  }

  *#answers({ items, mistakes }: World, skip: number, asked: number): Generator<Said> {
    if (mistakes > 0) yield* MISTAKES
    const { cap, limit, repeats, rounds = 1, refusedAbove = asked } = this.#scope
    if ((limit !== undefined && skip + asked > limit) || asked > refusedAbove)
      return yield { kind: 'refused', items: [], length: 0 }
    const given = rounds * Math.ceil(asked / rounds)
    const from = repeats && skip >= items.length ? Math.max(0, items.length - given) : skip
    const there = Math.min(given, Math.max(0, items.length - from))
    if (there === 0) return yield { kind: 'items', items: [], length: 0 }
    const lengths = cap === null ? Array.from({ length: there }, (_, index) => index + 1) : [Math.min(cap, there)]
    for (const length of lengths) {
      // Behind the end an answer ends as the list does, wherever it is cut.
      const all = from < skip ? items.slice(items.length - length) : items.slice(from, from + length)
      const stop = this.#scope.blocks === true ? all.findIndex(({ hidden }) => hidden) : -1
      const some = stop < 0 ? all : all.slice(0, stop)
      if (some.some(({ poisoned }) => poisoned))
        yield { kind: this.#scope.refuses === true ? 'refused' : 'failed', items: [], length }
      else yield { kind: 'items', items: some.filter(({ hidden }) => !hidden), length }
    }
  }

  /** Every single change of the list. */
  *#changed(world: World): Generator<World> {
    const { items } = world
    const { ties, onlyTies, oldestFirst, newestFirst, only = ['shuffle', 'delete', 'insert'] } = this.#scope
    if (ties && only.includes('shuffle'))
      for (const shuffled of shuffles(items)) yield this.#after(world, shuffled, `now ${show(shuffled)}`, 0)
    for (
      let place = oldestFirst ? items.length : 0;
      only.includes('insert') && place <= (newestFirst ? 0 : items.length);
      place += 1
    ) {
      const [before, behind] = [items[place - 1]?.at, items[place]?.at]
      const own = Math.max(0, ...items.map(({ at }) => at)) + 1
      const moments =
        this.#scope.range !== undefined
          ? between(before, behind)
          : ties
            ? [
                ...(before === behind || onlyTies ? [] : [own]),
                ...new Set([before, behind].filter((at) => at !== undefined)),
              ]
            : [...new Set([own, ...items.map(({ at }) => at)])]
      for (const at of moments) {
        const item = { id: world.nextId, at, stays: false, met: false, hidden: false, poisoned: false }
        const changed = this.#after(world, items.toSpliced(place, 0, item), `inserts ${show([item])} at ${place}`, 2)
        const { floor, empty } = world.state
        const last = items.findIndex(({ id }) => name(id) === floor?.id)
        const isInFront = place > Math.max(0, last) && place < items.length && (empty !== null || world.early !== null)
        const isTie = items.some((other) => other.at === at)
        const broken =
          (isInFront || isTie) && !changed.broken.includes('grows-at-its-ends')
            ? [...changed.broken, 'grows-at-its-ends' as const]
            : changed.broken
        yield { ...changed, broken, nextId: world.nextId + 1 }
      }
    }
    for (let place = 0; only.includes('delete') && place < items.length; place += 1)
      yield this.#after(world, items.toSpliced(place, 1), `deletes ${show(items.slice(place, place + 1))}`, 1)
    // An index it keeps, but to `held` it is gone.
    for (const [place, item] of only.includes('hide') ? items.entries() : []) {
      const other = { ...item, stays: false, hidden: !item.hidden }
      const line = `hides or shows ${show([item])}`
      yield this.#after(world, items.toSpliced(place, 1, other), line, other.hidden ? 1 : 2)
    }
  }

  /** `kind`: 1 deleted, 2 inserted, 0 neither. */
  #after(world: World, items: Item[], line: string, kind: 0 | 1 | 2): World {
    const early = since(world.early, kind)
    const first = since(world.first, kind)
    const marks = {
      told: world.told.map((one) => since(one, kind)),
      sunk: kind === 2 ? ofEach(world.sunk, (sunk) => (sunk === 1 ? 2 : sunk)) : world.sunk,
      sinceCount: world.sinceCount | kind,
      sinceFloor: world.sinceFloor | kind,
      sinceAlone: world.sinceAlone | kind,
      sinceEdge: world.sinceEdge | kind,
    }
    const trail = { line, before: world.trail }
    const isUnordered = items.some(
      (item, index) => index > 0 && items[index - 1]?.at === item.at && (items[index - 1] as Item).id > item.id,
    )
    const isBroken: Basis[] = []
    if (isUnordered) isBroken.push('ids-order-ties')
    if (kind === 0) isBroken.push('ties-keep-places')
    const broken = [...new Set([...world.broken, ...isBroken])]
    return { ...world, ...marks, items, early, first, trail, broken, changes: world.changes - 1 }
  }

  #deliver(asking: World, came: Given): void {
    const met = new Map(asking.items.map((item) => [item.id, item.met]))
    const answer: ListAnswer = {
      ...{ skip: came.skip, asked: came.asked, sent: came.sent, received: asking.now + 1, kind: came.kind },
      ids: came.items.map(({ id }) => name(id)),
      moments: came.items.map(({ at }) => at),
      met: came.items.map((item) => ((met.get(item.id) ?? item.met) ? 1 : 0)),
    }
    const seen = new Set(asking.counted.map(name))
    const told = factOf(answer, asking.state, seen, this.#scope.range !== undefined)
    // Where no answer is a mistake each may be believed, which says more.
    const isDoubted = this.#scope.mistakes !== undefined
    const each = isNarrow(asking.state, told, this.#trial) ? null : told
    const fact = isDoubted ? trusted(asking.state, told, this.#trial) : each
    const world = isDoubted ? { ...asking, state: heard(asking.state, told) } : asking
    if (fact === null) {
      this.#doubt(world, came)
      return
    }
    const given = came.isMistake && world.first !== null ? world.first : came
    this.#tell(world, given, answer, fact)
  }

  #doubt(world: World, given: Given): void {
    const line = `reads ${given.skip}+${given.asked}: ${given.kind === 'items' ? '[]' : given.kind}`
    this.#push({
      ...{ ...world, first: given.isMistake ? null : given, now: world.now + 2, readings: world.readings - 1 },
      trail: { line, before: world.trail },
    })
  }

  /** The kernel is told the answer; then anything that joins may be taken in. */
  #tell(world: World, given: Given, answer: ListAnswer, fact: Fact): void {
    const { state: before } = world
    const shown = given.kind === 'items' ? show(given.items) : given.kind
    const line = `reads ${given.skip}+${given.asked}: ${shown}`
    const after = told(before, fact, this.#trial)
    const state = this.#relevant(after)
    const next: World = { ...world, state, now: world.now + 2, readings: world.readings - 1, broken: [...world.broken] }
    next.trail = { line, before: world.trail }
    const counts = countsFor(before, after)
    const isPaid = counts === 'shown' || counts === 'counted'
    const ofRun =
      counts === null ? world.counted : idsFor(before, counts, answer, world.counted.map(String)).map(Number)
    const counted = [...new Set(ofRun)].sort((a, b) => a - b)
    if (isPaid) next.items = met(world.items, counted)
    next.counted = (state.count?.ids ?? 0) === 0 ? [] : counted
    const entry: Told = {
      ...{ received: fact.received, heard: asTold(fact, before), fact, ids: given.items.map(({ id }) => id) },
      ...{ deletedBefore: (given.sinceFloor & 1) !== 0, insertedSince: given.insertedSince },
      ...{ deletedSince: given.deletedSince, isDeceptive: fact.kind === 'nothing' && given.beyond },
      beyondCut: given.beyondCut,
    }
    next.told = [...world.told, entry]
    this.#followAnswer(world, next, given, fact)
    this.#judge(next)
    this.#takeIn(next, given.items.length > 0 ? entry : null, given)
  }

  /** Each answer that joins by now, and each of the others after it. */
  #takeIn(world: World, latest: Told | null, given: Given): void {
    const { state } = world
    if (state.ended !== null && this.#scope.goesOn !== true) return
    const mayBeEarlier = this.#tries.includes('place') || this.#scope.later === true
    for (const one of world.told) {
      const isLatest = one.received === latest?.received
      if (one.ids.length === 0 || (!isLatest && !mayBeEarlier)) continue
      this.#result.claims += 1
      const fact = recalled(one.heard, state)
      const link = linkOf(state, fact, this.#trial)
      // What joins and brings nothing new may join, though the judge does without.
      const joins = typeof link !== 'string' && state.ended === null
      const after = joins ? joined(state, fact, link) : taken(state, fact, this.#trial)
      const isNew = world.items.some(({ id, met }) => !met && one.ids.includes(id))
      if (after.spoiled !== null || (after.floor === state.floor && !isNew)) continue
      this.#result.accepted += 1
      const next = { ...world, broken: [...world.broken], items: met(world.items, one.ids) }
      next.state = this.#relevant(after)
      next.trail = { line: `takes in what was read from ${one.fact.skip}`, before: world.trail }
      if (after.floor !== state.floor) this.#followJoin(world, next, one, given)
      this.#judge(next)
      this.#takeIn(next, null, given)
    }
  }

  /** Without what nothing of this scope depends on: worlds that differ in nothing else are one. */
  #relevant(state: State): State {
    const relevant = { ...state }
    if (this.#scope.orderedTies === undefined) Object.assign(relevant, { tiesRise: false, tiesFall: false, tiedMet: 0 })
    const asksForRoom = this.#tries.some((one) => one === 'room' || one === 'place')
    if (!asksForRoom && this.#scope.hidden === undefined)
      Object.assign(relevant, { largest: 0, narrowest: null, uneven: false, isCut: false })
    if (!this.#tries.includes('passed')) relevant.empty = BEGINNING.empty
    if (!this.#tries.includes('repeated') && relevant.floor?.again) relevant.floor = { ...relevant.floor, again: null }
    if (!this.#tries.includes('place') && relevant.ended === null) relevant.pending = []
    if (this.#scope.counts !== true) Object.assign(relevant, { count: null, ahead: null, within: null })
    return relevant
  }

  /** Which assumptions the world has broken, of what an answer has shown. */
  #followAnswer(world: World, next: World, given: Given, fact: Fact): void {
    const { state: before } = world
    const { state } = next
    const breaks = (basis: Basis) => void (next.broken.includes(basis) || next.broken.push(basis))
    // What is inserted once an answer has its place, or has shown the end by it, is another matter.
    const placed = placedBy(before, state)
    const isOfThese = ({ received }: Told): boolean => placed.has(received)
    if (world.told.some((one) => one.deletedBefore && one.insertedSince && isOfThese(one))) breaks('held')
    const isEnd = before.ended === null && state.ended !== null
    if (isEnd && next.told.some((one) => one.isDeceptive && one.fact.asked >= before.largest))
      breaks('nothing-hidden-behind')
    // What cannot be read has the createdAt of another.
    if (world.items.some((one) => one.poisoned && world.items.some((other) => other !== one && other.at === one.at)))
      breaks('unread-apart')
    // Every answer cut alike, or the walk has seen one that was not.
    const isWithin = state.within !== null && state.within.received === fact.received
    const asksForRoom =
      ((isEnd || isWithin) && this.#scope.refuses === true) || (before.owed !== null && before.ended !== null)
    if (asksForRoom && given.beyondCut && this.#mayBeUneven(before) && !before.uneven) breaks('even-cuts')
    if (countsFor(before, state) === 'counted') {
      if (world.sinceCount === 3) breaks('held')
      if (world.sinceCount !== 0 && standsApart(world.items)) breaks('ties-side-by-side')
    }
    if (isEnd && state.ended?.includes('last-window-again') === true && world.sinceAlone === 3) breaks('held')
    next.sunk = sunkAfter(world, state, given)
    const isNew = state.empty !== null && !(state.empty.received in world.sunk)
    if (given.beyond && isNew && fact.asked >= before.largest) breaks('nothing-hidden-behind')
    const sinceThen = (given.deletedSince ? 1 : 0) | (given.insertedSince ? 2 : 0)
    // Its last item was seen elsewhere: from now on it stands there.
    if (state.floor?.received === fact.received) next.sinceFloor = sinceThen
    if (state.floor?.aloneAt !== before.floor?.aloneAt) next.sinceAlone = sinceThen
    if (state.count !== null && (before.count === null || (state.count.ids === 0 && state.count.start === null)))
      next.sinceCount = world.sinceEdge | sinceThen
    if (state.within === null || state.within.received !== before.within?.received) next.sinceEdge = sinceThen
    const isKept = (one: Told): boolean => state.pending.some(({ received }) => received === one.received)
    next.told = next.told.filter((one) => one.received === fact.received || this.#scope.later === true || isKept(one))
  }

  /** The same, of a window that is taken in. */
  #followJoin(world: World, next: World, one: Told, given: Given): void {
    const { fact, deletedSince, insertedSince } = one
    const { state } = next
    next.last = one
    // Carried on by an index that was looked at twice: nothing in front of it may have changed.
    const isPlaced = fact.skip > 0 && fact.anchor === 'none'
    next.sunk = sunkAfter(world, state, given)
    if (isPlaced && world.sinceFloor === 3) next.sunk = ofEach(next.sunk, () => 3)
    next.sinceFloor = (deletedSince ? 1 : 0) | (insertedSince ? 2 : 0)
    if (state.count !== null && world.state.count === null) next.sinceCount = next.sinceFloor
    next.told = world.told.filter(({ received }) =>
      this.#scope.later === true ? received !== fact.received : state.pending.some((one) => one.received === received),
    )
  }

  #mayBeUneven(before: State): boolean {
    const { cap, hidden, refuses } = this.#scope
    return cap === null || hidden !== undefined || (refuses === true && !before.isCut)
  }

  /** Stayed, lies in what the walk speaks of, and was not met. */
  #isMissed({ at, stays, met, hidden, poisoned }: Item): boolean {
    const { range } = this.#scope
    if (!stays || met || hidden || poisoned) return false
    // Without slack a range is what lies between its sides.
    return range === undefined || (at >= (range.from ?? at) && at < (range.to ?? at + 1))
  }

  /** Once everything is said to be met. */
  #judge(world: World): void {
    this.#hold(world)
    const { state, last } = world
    if (state.ended !== null || last === null) return
    const end = atEnd(state, recalled(last.heard, state), false, this.#trial)
    if (end === null) return
    const kind = end.ended?.includes('created-order') ? 'reached' : end.ended?.includes('held') ? 'passed' : 'room'
    if (!this.#tries.includes(kind)) return
    const broken = [...world.broken]
    if (kind === 'passed' && Object.values(world.sunk).includes(3)) broken.push('held')
    if (kind === 'room' && last.beyondCut && this.#mayBeUneven(state) && !state.uneven) broken.push('even-cuts')
    this.#hold({ ...world, state: end, broken, trail: { line: `ends: ${kind}`, before: world.trail } })
  }

  #hold(world: World): void {
    const { state, items, broken } = world
    if (state.ended === null || state.owed !== null || this.#scope.goesOn === true) this.#push(world)
    if (state.ended === null || state.owed !== null) return
    this.#result.complete += 1
    if (!items.some((item) => this.#isMissed(item))) return
    const reason = [...state.basis, ...state.ended].find((basis) => broken.includes(basis))
    if (reason !== undefined) this.#result.excused[reason] = (this.#result.excused[reason] ?? 0) + 1
    else this.#result.found = { scope: this.#scope.name, steps: stepsOf(world.trail) }
  }
}

/** When the answers were received that have their place, by `held`, since the last one. */
function placedBy(before: State, state: State): Set<number> {
  const isHeld = ({ rests }: { rests: Basis[] }): boolean => rests.includes('held')
  const known = new Set(before.pending.filter(isHeld).map(({ received }) => received))
  const isEnd = before.ended === null && state.ended?.includes('held') === true
  const now = [...state.pending.filter(isHeld), ...(isEnd ? before.pending : [])].map(({ received }) => received)
  return new Set(now).difference(known)
}

/** See `World.sunk`. */
function sunkAfter({ state: before, sunk, sinceFloor }: World, { empty }: State, given: Given): World['sunk'] {
  if (empty === null) return {}
  const known = sunk[empty.received]
  if (known === undefined) return { [empty.received]: (sinceFloor & 1) === 0 ? 0 : given.insertedSince ? 2 : 1 }
  // The last item was seen again: what was inserted until then counts from then on.
  return { [empty.received]: before.empty === empty ? known : known === 1 ? 0 : known === 2 ? 3 : known }
}

function met(items: readonly Item[], ids: readonly number[]): Item[] {
  return items.map((item) => (ids.includes(item.id) ? { ...item, met: true } : item))
}

function since<T extends Given | Told | null>(given: T, kind: 0 | 1 | 2): T {
  if (given === null || kind === 0) return given
  return kind === 1 ? { ...given, deletedSince: true } : { ...given, insertedSince: true }
}

function ofEach(sunk: World['sunk'], change: (one: number) => number): World['sunk'] {
  return Object.fromEntries(Object.entries(sunk).map(([at, one]) => [at, change(one)]))
}

/** Between its neighbours, or equal to one, in a list oldest first. */
function between(before: number | undefined, behind: number | undefined): number[] {
  const low = before ?? (behind ?? 0) - 1
  const high = behind ?? low + 1
  return [...new Set([low, (low + high) / 2, high])]
}

const name = (id: number): string => String(id).padStart(3, '0')

function show(items: readonly Item[]): string {
  return `[${items.map(({ id, at, hidden, poisoned, met }) => `${id}@${at}${hidden ? 'h' : ''}${poisoned ? 'p' : ''}${met ? '+' : ''}`).join(' ')}]`
}

function stepsOf(trail: Trail | null): string[] {
  const steps: string[] = []
  for (let at = trail; at !== null; at = at.before) steps.unshift(at.line)
  return steps
}

/** What the future depends on, ids and moments renamed by their first appearance. */
function keyOf(world: World, { range, later }: Scope, tries: readonly Evidence[]): string {
  const scopeRepeats = tries.includes('repeated')
  const moments = new Map<number | null, number>()
  const ids = new Map<number, number>()
  const m = (at: number | null | undefined) => {
    if (at === undefined || at === null) return -1
    if (!moments.has(at)) moments.set(at, moments.size)
    return moments.get(at) as number
  }
  const i = (id: number) => {
    if (!ids.has(id)) ids.set(id, ids.size)
    return ids.get(id) as number
  }
  const side = (at: number) =>
    range === undefined ? '' : `${at >= (range.from ?? at) ? 1 : 0}${at < (range.to ?? at + 1) ? 1 : 0}`
  const item = (it: Item) =>
    `${i(it.id)}.${m(it.at)}${side(it.at)}.${(it.stays ? 1 : 0) | (it.met ? 2 : 0) | (it.hidden ? 4 : 0) | (it.poisoned ? 8 : 0)}`
  const { state, early } = world
  const { floor, pending, owed, count, empty } = state
  const way = (it: Given | null) =>
    it === null
      ? '-'
      : `${it.skip}.${it.asked}.${it.kind}.${it.items.map(item).join(',')}.${it.beyond ? 1 : 0}${it.beyondCut ? 1 : 0}.${it.sinceFloor}.${it.deletedSince ? 1 : 0}${it.insertedSince ? 1 : 0}${it.isMistake ? 1 : 0}`
  const times = [
    floor?.sent,
    floor?.received,
    count?.received,
    count?.since,
    empty?.received,
    early?.sent,
    state.ahead?.received,
    state.within?.received,
    floor?.again?.received,
    floor?.aloneAt ?? undefined,
    state.doubted?.sent,
    world.first?.sent,
    ...pending.flatMap((one) => [one.sent, one.received]),
  ]
  const sorted = [...new Set(times.filter((at) => at !== undefined))].sort((a, b) => a - b)
  // Nothing is sent before now but what is on its way: where nothing is, moments of the past are all alike.
  const clock =
    early === null
      ? times.map((at, n) => (n === 0 || n === 4 || n >= 6 ? sorted.indexOf(at as number) : 0))
      : times.map((at) => sorted.indexOf(at as number))
  const f = (it: typeof floor) =>
    it === null || it === undefined
      ? '-'
      : `${it.index}.${it.joinedAt}.${it.but === null ? '' : `${m(it.but.moment)}_${i(Number(it.but.member))}`}.${it.apart}.${it.id === null ? '' : i(Number(it.id))}.${m(it.moment)}.${it.run}.${it.short}.${it.aloneAt === null}${range === undefined ? '' : side(it.oldest as number) + side(it.newest as number)}`
  const behind = ({ index, id, moment }: NonNullable<State['count']>['behind']) =>
    `${index}_${id === null ? '' : i(Number(id))}_${m(moment)}`
  const edge = (it: State['ahead']) => (it === null ? '-' : `${it.index}.${it.unread}.${it.reach}`)
  return [
    world.items.map(item).join(','),
    f(floor),
    pending
      .map((one) => {
        const { deletedBefore, insertedSince, deletedSince, isDeceptive, beyondCut, fact, ids } = world.told.find(
          ({ received }) => received === one.received,
        ) as Told
        const flags = [deletedBefore, insertedSince, deletedSince, isDeceptive, beyondCut, fact.asked]
          .map(Number)
          .join('')
        const but = one.but === null ? '' : `${m(one.but.moment)}_${i(Number(one.but.member))}`
        return `${one.kind}.${one.from}.${one.to}.${one.low}.${but}.${m(one.first)}.${one.rests.join('')}.${flags}.${ids.map(i).join('_')}`
      })
      .join(';'),
    world.last === null
      ? '-'
      : `${world.last.fact.count}.${world.last.fact.asked}.${world.last.received === floor?.received}.${world.last.beyondCut}`,
    owed === null ? '-' : `${m(owed.moment)}.${i(Number(owed.member))}`,
    count === null
      ? '-'
      : `${count.end}.${behind(count.behind)}.${count.start}.${count.ids}.${count.hasMember}.${count.isClosed}.${count.rests.join('')}`,
    edge(state.ahead),
    edge(state.within),
    floor?.again?.skip,
    state.isFiltered ? 1 : 0,
    state.drifts ? 1 : 0,
    state.largest,
    state.narrowest,
    state.uneven ? 1 : 0,
    state.isCut ? 1 : 0,
    state.givesMore ? 1 : 0,
    `${state.tiesRise}.${state.tiesFall}.${state.tiedMet}`,
    state.doubted === null ? '-' : `${state.doubted.skip}.${state.doubted.asked}.${state.doubted.kind}`,
    empty === null ? '-' : `${empty.index}.${(floor?.sent ?? 0) >= empty.received}.${world.sunk[empty.received]}`,
    `${state.ended?.join('') ?? '-'}.${state.isStray}`,
    state.basis.join(''),
    world.mistakes,
    world.sinceFloor,
    count === null ? 0 : world.sinceCount,
    scopeRepeats ? world.sinceAlone : 0,
    state.within === null ? 0 : world.sinceEdge,
    world.broken.toSorted().join(''),
    world.counted.map(i).join('_'),
    way(early),
    way(world.first),
    later === true ? JSON.stringify(world.told.map(({ fact, ids }) => [fact, ids])) : '',
    clock.join('_'),
  ].join('|')
}

/** Which neighbours have equal createdAt, in every way. */
function* runs(count: number): Generator<number[]> {
  for (let bits = 0; bits < 2 ** Math.max(0, count - 1); bits += 1) {
    let at = 0
    yield Array.from({ length: count }, (_, index) => {
      if (index > 0 && (bits & (1 << (index - 1))) === 0) at += 1
      return at
    })
  }
}

/** createdAt equal or not wherever they stand. */
function* labels(count: number, before: number[] = []): Generator<number[]> {
  if (before.length === count) {
    yield before
    return
  }
  const highest = Math.max(-1, ...before)
  for (let at = 0; at <= highest + 1; at += 1) yield* labels(count, [...before, at])
}

/** Every choice of at most `most` of `count`. */
function* choices(count: number, most: number): Generator<Set<number>> {
  for (let bits = 0; bits < 2 ** count; bits += 1) {
    const chosen = new Set(Array.from({ length: count }, (_, index) => index).filter((index) => bits & (1 << index)))
    if (chosen.size <= most) yield chosen
  }
}

/** The list with one run in another order, in every way. */
function* shuffles(items: Item[]): Generator<Item[]> {
  for (let start = 0; start < items.length; ) {
    let end = start + 1
    while (end < items.length && items[end]?.at === items[start]?.at) end += 1
    const run = items.slice(start, end)
    for (const order of permutations(run)) {
      if (order.some((item, index) => item !== run[index]))
        yield [...items.slice(0, start), ...order, ...items.slice(end)]
    }
    start = end
  }
}

function* permutations<T>(some: T[]): Generator<T[]> {
  if (some.length < 2) {
    yield some
    return
  }
  for (let index = 0; index < some.length; index += 1) {
    for (const rest of permutations(some.toSpliced(index, 1))) yield [some[index] as T, ...rest]
  }
}
