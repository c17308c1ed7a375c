// The kernel of proof: it is told every answer of a walk, in the order in which they came, and is offered claims. It alone
// says `complete`. What it was told and what it accepted is the certificate, from which anybody can judge again.
import type { Moment } from '../task.ts'
import { type Answer, type Fact, factOf } from './facts.ts'
import {
  after,
  afterEmpty,
  BEGINNING,
  type Claim,
  isCounted,
  missingFor,
  type Range,
  SETTINGS,
  type State,
} from './rules.ts'

/** One line of a certificate. */
export interface Line {
  fact: Fact
  claim: Claim
}

/** Ids of one run that are kept while it is counted: a longer one cannot be proven. */
const LARGEST_RUN = 300_000

export class Kernel {
  #state: State
  #told: { fact: Fact; handle: number | null; ids: readonly string[]; moments: readonly Moment[] } | null = null
  #last: Fact | null = null
  /** Ids of the owed run seen since it was measured. */
  readonly #seen = new Set<string>()
  /** Windows that were read behind the floor, and windows that have joined and are still to be taken in. */
  #behind: number[] = []
  readonly #joined = new Set<number>()
  /** Ids that are still to be marked: a run that was counted. */
  #counted: ReadonlySet<string> | null = null
  #spoiled: string | null = null
  readonly #onLine: (line: Line) => void
  readonly #trial

  /** `saved`: the state of a walk that was cut off. */
  constructor(range: Range | null, saved: State | null = null, onLine: (line: Line) => void = () => undefined) {
    // What was begun with answers that are forgotten begins again.
    this.#state = saved === null ? BEGINNING : { ...saved, bracket: null, count: null, runGoesOn: null }
    this.#onLine = onLine
    this.#trial = { settings: { ...SETTINGS, range } }
  }

  /** Plain data, to go on from in another process. */
  get state(): State {
    return this.#state
  }

  /** `handle` names the window for `taken`. */
  tell(answer: Answer, handle: number | null = null): void {
    this.#settle('look')
    const { owed } = this.#state
    const fact = factOf(answer, owed === null ? null : { moment: owed.moment, seen: this.#seen })
    this.#told = { fact, handle, ids: answer.ids, moments: answer.moments }
  }

  /**
   * Null where the answer told last proves the claim; else the first condition that is missing. `passed` and `reached` are
   * said of the windows that have joined.
   */
  claim(claim: Claim): string | null {
    if (claim === 'passed' || claim === 'reached') return this.#claimJoined(claim)
    if (this.#told === null) return 'an answer that no claim was made of'
    const missing = missingFor(this.#state, this.#told.fact, claim, this.#trial)
    if (missing === null) this.#settle(claim)
    return missing
  }

  /** The window named `handle` is taken in, and its items are met from now on. */
  taken(handle: number): void {
    if (!this.#joined.delete(handle)) this.#spoiled ??= 'every window that was taken in has joined'
  }

  /** These ids are met from now on: a run that was counted. */
  marked(ids: readonly string[]): void {
    const counted = this.#counted
    if (counted === null || ids.some((id) => !counted.has(id)))
      this.#spoiled ??= 'every run that was marked has been counted'
    else if (new Set(ids).size === counted.size) this.#counted = null
  }

  /** The ids of a run that was counted just now and is to be marked; null where there is none. */
  get countedRun(): ReadonlySet<string> | null {
    return this.#counted
  }

  /** The first link that is missing; null where every task that stayed has been met. */
  missing(): string | null {
    this.#settle('look')
    if (this.#spoiled !== null) return this.#spoiled
    if (this.#joined.size > 0) return 'every window that has joined was taken in'
    if (this.#counted !== null) return 'every run that was counted was marked'
    if (this.#state.owed !== null) return 'the run of equal createdAt that is owed has been counted'
    return this.#state.ended === null ? 'the end of the list was shown' : null
  }

  #claimJoined(claim: Claim): string | null {
    this.#settle('look')
    if (this.#last === null) return `${claim}: something was read that it can be said of`
    const missing = missingFor(this.#state, this.#last, claim, this.#trial)
    if (missing === null) this.#state = after(this.#state, this.#last, claim, this.#trial)
    if (missing === null) this.#onLine({ fact: this.#last, claim })
    return missing
  }

  #settle(claim: Claim): void {
    if (this.#told === null) return
    const { fact, handle, ids, moments } = this.#told
    this.#told = null
    this.#last = fact
    const before = this.#state
    const isNowCounted = isCounted(before, fact, this.#trial)
    if (before.owed !== null && before.count !== null)
      ids.forEach((id, index) => {
        if (moments[index] === before.owed?.moment) this.#seen.add(id)
      })
    this.#state = after(before, fact, claim, this.#trial)
    if (claim === 'look') this.#state = afterEmpty(this.#state, fact)
    if (isNowCounted) this.#counted = new Set(this.#seen)
    if (this.#seen.size > LARGEST_RUN) this.#state = { ...this.#state, count: null }
    if ((this.#state.count?.ids ?? 0) === 0) this.#seen.clear()
    if (claim === 'behind' && handle !== null && fact.kind === 'items') this.#behind.push(handle)
    if (claim === 'again') for (const one of this.#behind) this.#joined.add(one)
    if (handle !== null && (claim === 'join' || claim === 'from' || claim === 'room' || claim === 'repeated'))
      this.#joined.add(handle)
    if (this.#state.bracket === null) this.#behind = []
    this.#onLine({ fact, claim })
  }
}
