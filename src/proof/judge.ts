// Judges a walk by its evidence, line by line in the order in which it came. The kernel asks it during the walk, and
// `verify --proof` gives it the same lines again. It knows no ids but those that facts name. Pure.
import { keepLatest } from '../bounded.ts'
import type { MissingLink } from './conditions.ts'
import { type Counts, countsFor, owing } from './counting.ts'
import type { Fact } from './facts.ts'
import { lastRunOf } from './places.ts'
import {
  asTold,
  atEnd,
  hasPassed,
  heard,
  linkOf,
  recalled,
  type Seam,
  seamOf,
  type Told,
  taken,
  told,
  trusted,
} from './rules.ts'
import { BEGINNING, NO_TRIAL, type State, type Trial, type WalkRange } from './state.ts'

/** One line of the evidence: plain data. `ahead`: ids were seen behind the floor that have not been met since. */
export type Line =
  /** The first line: what the walk speaks of (null: the whole list), and by which rules. */
  | { op: 'begun'; range: WalkRange | null; rules: number }
  | { op: 'told'; handle: number | null; fact: Fact; ahead: boolean }
  | { op: 'taken'; handle: number; ahead: boolean }
  /** A counted run's ids were marked. */
  | { op: 'marked'; ahead: boolean }
  /** The floor's run is owed, as the list may end with it; answers leave items out; ties are not in the order of ids. */
  | { op: 'owed' | 'filtered' | 'unordered' }
  /** The end of the list or the range was claimed, and proven. */
  | { op: 'ended' }
  /** Another process goes on, without the answers of the one before: what was begun with those begins again. */
  | { op: 'resumed' }
  /** The last line: complete, for the whole or up to the floor (see `Floor`). */
  | { op: 'complete'; isWhole: boolean }

/** The evidence does not prove what it claims. The message says why, and quotes nothing of it. */
export class Unproven extends Error {}

/** Raised with every change of a rule or of what a line says: evidence by other rules proves nothing by these. */
export const RULES_NUMBER = 41

/** The evidence was made by the rules of another version. */
export class OtherRules extends Unproven {}

/** At most so many ids of a run are kept while it is counted: a longer run cannot be proven. */
export const LARGEST_RUN = 300_000
/** How many answers are kept for the walk to take in. */
export const MOST_TOLD = 64

export class Judge {
  state: State
  /** Ids were seen behind the floor, and have not been met since: the list does not end there. */
  protected isAhead = false
  /** Ids of a run that was counted are still to be marked. */
  protected isToMark = false
  /** Answers that may still be taken in, by their handles; and the one that was taken in last. */
  readonly #told = new Map<number, Told>()
  #last: Told | null = null
  readonly #trial: Trial

  constructor(range: WalkRange | null, state: State = BEGINNING) {
    this.state = state
    this.#trial = { ...NO_TRIAL, range }
  }

  /** Hears an answer; `handle` names its window for `hearTaken`. Returns what the answer did for the owed run. */
  protected hearAnswer(answer: Fact, handle: number | null): Counts | null {
    if (handle !== null && answer.kind === 'items') this.#told.set(handle, asTold(answer, this.state))
    keepLatest(this.#told, MOST_TOLD)
    const fact = trusted(this.state, answer)
    this.state = heard(this.state, answer)
    if (fact === null) return null
    const before = this.state
    this.state = told(before, fact, this.#trial)
    const counts = countsFor(before, this.state)
    if (counts !== null && counts !== 'counts') this.isToMark = true
    if ((this.state.count?.ids ?? 0) > LARGEST_RUN) this.state = { ...this.state, count: null }
    return counts
  }

  /** Whether the window joins if it is taken in now. */
  joins(handle: number): boolean {
    const fact = this.#recall(handle)
    return fact !== undefined && typeof linkOf(this.state, fact, this.#trial) !== 'string'
  }

  #recall(handle: number): Fact | undefined {
    const told = this.#told.get(handle)
    return told === undefined ? undefined : recalled(told, this.state)
  }

  /** How the window is linked to what has joined, by its own items. */
  seam(handle: number): Seam {
    const fact = this.#recall(handle)
    return fact === undefined ? 'none' : seamOf(this.state, fact, this.#trial)
  }

  /** Hears that the window is taken in: see `taken`. Returns its fact where it has joined, else null. */
  protected hearTaken(handle: number): Fact | null {
    const fact = this.#recall(handle)
    const before = this.state
    this.state =
      fact === undefined
        ? { ...before, spoiled: before.spoiled ?? 'every window that is taken in was told' }
        : taken(before, fact, this.#trial)
    if (fact === undefined || this.state.floor === before.floor) return null
    this.#last = this.#told.get(handle) as Told
    return fact
  }

  /** From now on the floor's run is owed, as the list may end with it. Returns whether that changes anything. */
  owe(): boolean {
    const { owed, floor, ended } = this.state
    if (owed !== null || floor === null || ended !== null) return false
    this.state = { ...this.state, ...owing(this.state, lastRunOf(floor)) }
    return true
  }

  /** Claims the end of the list or the range, by the window taken in last. Returns whether that is newly proven. */
  protected end(): boolean {
    const last = this.#last
    if (last === null || this.state.spoiled !== null || this.isToMark || this.state.ended !== null) return false
    const ended = atEnd(this.state, recalled(last, this.state), this.isAhead, this.#trial)
    this.state = ended ?? this.state
    return ended !== null
  }

  /**
   * The state from which another process goes on. It cannot know which ids of a run were seen while that was counted,
   * or are to be marked; and what was read behind the floor may be long.
   */
  protected resumed(): State {
    return { ...this.state, spoiled: this.state.spoiled ?? this.#unmarked ?? this.#refuted, pending: [], count: null }
  }

  get #unmarked(): MissingLink | null {
    return this.isToMark ? 'every run that was counted was marked' : null
  }

  /** An end that room alone has shown is none once anything was seen behind it, or a cut. */
  get #refuted(): MissingLink | null {
    const { ended, uneven } = this.state
    const isByRoom = ended?.every((basis) => basis === 'even-cuts') === true
    return isByRoom && (this.isAhead || uneven) ? 'room: no cut by size was seen' : null
  }

  /** Everything that was listed at one moment of this walk has been met: docs/proof.md, "passed". */
  get hasPassed(): boolean {
    return this.state.owed === null && hasPassed(this.state.floor, this.state.empty)
  }

  /** The first missing link; null where every task that stayed has been met. `isWhole`: see `Line`, `complete`. */
  missing(isWhole: boolean): MissingLink | null {
    const { owed, floor, ended, spoiled, basis, tiesRise, tiesFall } = this.state
    if (spoiled !== null) return spoiled
    const isByIds = basis.includes('ids-order-ties') || ended?.includes('ids-order-ties') === true
    if (isByIds && tiesRise && tiesFall) return 'ties stand in the order of their ids'
    if (this.#unmarked !== null) return this.#unmarked
    if (owed !== null) return 'the run of equal createdAt that is owed has been counted'
    if (!isWhole) return floor === null ? 'a window has joined' : null
    return ended === null ? 'the end of the list was shown' : this.#refuted
  }

  /** Hears any line but the first and the last. Throws `Unproven` where it cannot follow the lines before it. */
  hear(line: Line): void {
    if (line.op === 'told') this.hearAnswer(line.fact, line.handle)
    else if (line.op === 'taken') this.hearTaken(line.handle)
    else if (line.op === 'marked') this.isToMark = false
    else if (line.op === 'filtered') this.state = { ...this.state, isFiltered: true }
    else if (line.op === 'unordered') this.state = { ...this.state, tiesRise: true, tiesFall: true }
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
    this.state = this.resumed()
    this.isAhead = false
    this.isToMark = false
    this.#told.clear()
    this.#last = null
  }
}
