// Judges a walk by its evidence, line by line in the order in which it came. The kernel asks it during the walk, and
// `verify --proof` gives it the same lines again. It knows no ids but those that facts name. Pure.
import { countsFor, owing } from './counting.ts'
import { after, afterEmpty, behindFloor, claimed, heard, trusted, withoutLast } from './effects.ts'
import type { Fact } from './facts.ts'
import { type ConditionName, missingFor, type Seam, seamOf } from './rules.ts'
import { BEFORE, BEGINNING, type Claim, SETTINGS, type State, union, type WalkRange } from './state.ts'

/** One line of the evidence: plain data. `ahead`: ids were seen behind the floor that have not been taken in since. */
export type Line =
  /** The first: what the walk speaks of, null for the whole list. */
  | { op: 'begun'; range: WalkRange | null; rules: number }
  | { op: 'told'; handle: number | null; fact: Fact; ahead: boolean }
  | { op: 'taken'; handle: number; ahead: boolean }
  /** Marked: the ids of a run that was counted. Owed: the floor's run, as the list may end with it. Filtered: answers leave items out. */
  | { op: 'marked' | 'owed' | 'filtered' }
  /** The end of the list or the range was claimed, and proven. */
  | { op: 'ended' }
  /** Another process goes on: what was begun with answers that are forgotten begins again. */
  | { op: 'resumed' }
  /** The last: complete, for the whole or for what stands at or before the end of the window that joined last. */
  | { op: 'complete'; isWhole: boolean }

/** The evidence does not prove what it claims. The message says why, and quotes nothing of it. */
export class Unproven extends Error {}

/** Raised with every change of a rule or of what a line says: evidence by other rules proves nothing by these. */
export const RULES_NUMBER = 15

/** Evidence by the rules of another version. */
export class OtherRules extends Unproven {}

/** What a proof still lacks, as a statement that does not hold. */
export type MissingLink =
  | ConditionName
  | 'every window that is taken in was told'
  | 'every run that was counted was marked'
  | 'the run of equal createdAt that is owed has been counted'
  | 'a window has joined'
  | 'the end of the list was shown'

/** So many ids of a run are kept while it is counted. A longer run cannot be proven. */
export const LARGEST_RUN = 300_000
/** Answers without items behind the floor, one after another, that are kept. */
const MOST_GAPS = 256
/** Answers that a walk may still take in. */
const MOST_TOLD = 64

/** The state for another process to go on from: what was begun with answers that are forgotten is left out. */
export function resumed(state: State): State {
  return { ...state, bracket: null, count: null, edge: null, repeat: null, doubted: null }
}

export class Judge {
  state: State
  spoiled: MissingLink | null
  /** Ids were seen behind the floor, and not taken in since: the list does not end there. */
  isAhead = false
  /** Ids of a run that was counted are still to be marked. */
  isToMark = false
  /** Answers that may still be taken in, by their handles; and the one that was taken in last. */
  readonly #told = new Map<number, Fact>()
  #last: Fact | null = null
  /** The window that was read behind the floor; and one that joins by its place, with what it makes of the state. */
  #behind: number | null = null
  #byPlace: { handle: number; state: State } | null = null
  readonly #trial

  constructor(range: WalkRange | null, state: State = BEGINNING, spoiled: MissingLink | null = null) {
    this.state = state
    this.spoiled = spoiled
    this.#trial = { settings: { ...SETTINGS, range } }
  }

  /** An answer; `handle` names its window for `take`. Returns what it says of the run that is owed. */
  tell(fact: Fact, handle: number | null): 'paid' | 'counts' | null {
    const counts = this.#hear(fact, handle)
    if (handle === null) return counts
    this.#told.set(handle, fact)
    for (const first of this.#told.keys()) {
      if (this.#told.size <= MOST_TOLD) break
      this.#told.delete(first)
    }
    return counts
  }

  /** Whether the window may still be taken in. */
  remembers(handle: number): boolean {
    return this.#told.has(handle)
  }

  /** Whether the window joins if it is taken in now. */
  joins(handle: number): boolean {
    const fact = this.#told.get(handle)
    return (
      this.#byPlace?.handle === handle ||
      (fact !== undefined && this.#missing(fact, this.#claimToJoin(fact.skip)) === null)
    )
  }

  /** How the window stands to what has joined. */
  seam(handle: number): Seam {
    const fact = this.#told.get(handle)
    return fact === undefined ? 'none' : seamOf(this.state, fact, this.#trial.settings)
  }

  /**
   * The window is taken in, and its items are met from now on. A walk that takes in what does not join is not complete.
   * Returns the window's fact where it has joined and brought something.
   */
  take(handle: number): Fact | null {
    const fact = this.#told.get(handle)
    const byPlace = this.#byPlace?.handle === handle ? this.#byPlace.state : null
    const claim = this.#claimToJoin(fact?.skip ?? 0)
    const missing =
      fact === undefined
        ? 'every window that is taken in was told'
        : byPlace === null
          ? this.#missing(fact, claim)
          : null
    // It brings nothing new, so it need not join, unless it goes on behind the floor.
    const isKnown = fact !== undefined && byPlace === null && fact.metPrefix === fact.count
    if (isKnown && this.seam(handle) !== 'shown' && (missing !== null || behindFloor(fact) === 0)) return null
    // Everything that stayed has been met already.
    if (this.state.ended !== null) return null
    this.spoiled ??= missing
    if (missing !== null || fact === undefined) return null
    this.state = byPlace === null ? claimed(this.state, fact, claim, this.#trial) : this.#joinedByPlace(byPlace)
    this.#last = fact
    this.#byPlace = null
    this.#behind = null
    return fact
  }

  /** The run of the floor is owed from now on: the list may end with it. Whether that changes anything. */
  owe(): boolean {
    const { owed, floor, ended } = this.state
    if (owed !== null || floor === null || ended !== null) return false
    this.state = { ...this.state, ...owing(floor) }
    return true
  }

  /** Answers leave items out. */
  filter(): void {
    this.state = { ...this.state, isFiltered: true }
  }

  /** Claims the end of the list or the range, by what was taken in last; whether that is proven now and was not before. */
  end(): boolean {
    const last = this.#last
    if (last === null || this.spoiled !== null || this.isToMark || this.state.ended !== null) return false
    const ends = (['reached', 'room', 'passed'] as const).find(
      (claim) => (claim !== 'room' || !this.isAhead) && this.#missing(last, claim) === null,
    )
    if (ends === undefined) return false
    this.state = claimed(this.state, last, ends, this.#trial)
    return true
  }

  /** Missing for good if another process goes on now: the ids of a counted run that have not been marked would be forgotten. */
  get unmarked(): MissingLink | null {
    return this.isToMark ? 'every run that was counted was marked' : null
  }

  /** Everything that was listed at a moment of this walk has been met: see "passed". */
  get hasPassed(): boolean {
    return this.state.owed === null && this.#last !== null && this.#missing(this.#last, 'passed') === null
  }

  /** The first link that is missing; null where every task that stayed has been met: see `Line`, `complete`. */
  missing(isWhole: boolean): MissingLink | null {
    const { owed, floor, ended } = this.state
    if (this.spoiled !== null) return this.spoiled
    if (this.unmarked !== null) return this.unmarked
    if (owed !== null) return 'the run of equal createdAt that is owed has been counted'
    if (!isWhole) return floor === null ? 'a window has joined' : null
    return ended === null ? 'the end of the list was shown' : null
  }

  /** Everything but the first line and the last one. Throws `Unproven` where a line cannot follow those before it. */
  hear(line: Line): void {
    if (line.op === 'told') this.tell(line.fact, line.handle)
    else if (line.op === 'taken') this.take(line.handle)
    else if (line.op === 'marked') this.isToMark = false
    else if (line.op === 'filtered') this.filter()
    else if (line.op === 'resumed') this.#resume()
    else if (!((line.op === 'owed' && this.owe()) || (line.op === 'ended' && this.end())))
      throw new Unproven(
        line.op === 'ended'
          ? 'it claims an end that nothing shows'
          : 'it goes on in a way that does not follow from what was read',
      )
    if ('ahead' in line) this.isAhead = line.ahead
  }

  #resume(): void {
    this.spoiled ??= this.unmarked
    this.state = resumed(this.state)
    this.isAhead = false
    this.isToMark = false
    this.#told.clear()
    this.#last = null
    this.#behind = null
    this.#byPlace = null
  }

  #missing(fact: Fact, claim: Claim): ConditionName | null {
    return missingFor(this.state, fact, claim, this.#trial)
  }

  #claimToJoin(skip: number): Claim {
    const from = this.#trial.settings.range?.from ?? null
    return from !== null && this.state.floor === null && skip > 0 ? 'from' : 'join'
  }

  #joinedByPlace({ floor, empty, owed, count, edge, basis, isCut, uneven }: State): State {
    const debt = this.state.owed === null ? { owed, count, edge } : {}
    const cuts = { isCut: this.state.isCut || isCut, uneven: this.state.uneven || uneven }
    return { ...this.state, ...debt, ...cuts, bracket: null, floor, empty, basis: union(this.state.basis, basis) }
  }

  /** What may be claimed of an answer by its index alone. */
  #claimOf(fact: Fact): Claim {
    const { bracket, floor, ended } = this.state
    if (ended !== null) return 'look'
    for (const claim of bracket === null ? [] : (['again', 'stands'] as const))
      if (this.#missing(fact, claim) === null) return claim
    if (this.#missing(fact, 'repeated') === null) return 'repeated'
    // It shows where the floor's last item stands by now, and not what stands behind it.
    const index = floor?.index ?? BEFORE
    if (fact.floorAt !== null && fact.floorAt > index) return 'look'
    const isRead = bracket !== null && fact.skip === bracket.last.skip && fact.sent >= bracket.received
    if (!isRead && fact.skip === index + 1 && bracket?.gaps[0]?.kind === fact.kind) return 'look'
    const before = this.state
    // Read once more: only this answer counts from now on. And where another one stands directly behind the floor, all begins anew.
    if (isRead) this.state = { ...before, bracket: withoutLast(bracket) }
    else if (fact.skip === index + 1) this.state = { ...before, bracket: null }
    if (this.#missing(fact, 'behind') === null) return 'behind'
    if (isRead) this.state = before
    return 'look'
  }

  #hear(told: Fact, handle: number | null): 'paid' | 'counts' | null {
    const fact = trusted(this.state, told)
    this.state = heard(this.state, told)
    if (fact === null) return null
    const claim = this.#claimOf(fact)
    const before = this.state
    const counts = countsFor(before, fact, this.#trial)
    if (counts === 'paid') this.isToMark = true
    const state = after(before, fact, claim, this.#trial)
    if ((claim === 'again' || claim === 'stands') && this.#behind !== null) {
      // It joins once it is taken in.
      this.#byPlace = { handle: this.#behind, state }
      this.state = after(before, fact, 'look', this.#trial)
    } else this.state = claim === 'look' ? afterEmpty(state, fact) : state
    if ((this.state.count?.ids ?? 0) > LARGEST_RUN) this.state = { ...this.state, count: null }
    if ((this.state.bracket?.gaps.length ?? 0) > MOST_GAPS) this.state = { ...this.state, bracket: null }
    if (claim === 'behind') this.#behind = fact.kind === 'items' ? handle : null
    if (this.state.bracket === null) this.#behind = null
    return counts
  }
}
