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
  seamOf,
} from './rules.ts'

/** One line of a certificate. */
export interface Line {
  fact: Fact
  claim: Claim
}

/** What goes on in another process: plain data. */
export interface Saved {
  state: State
  spoiled: string | null
  clock: number
}

/** Ids of one run that are kept while it is counted: a longer one cannot be proven. */
const LARGEST_RUN = 300_000

interface Told {
  fact: Fact
  handle: number | null
  ids: readonly string[]
  moments: readonly Moment[]
}

export class Kernel {
  #state: State
  #told: Told | null = null
  #deferred: Told | null = null
  #last: Fact | null = null
  /** Ids of the owed run seen since it was measured. */
  readonly #seen = new Set<string>()
  /** Windows that were read behind the floor, and windows that have joined and are still to be taken in. */
  #behind: number[] = []
  readonly #joined = new Set<number>()
  /** Ids that are still to be marked: a run that was counted. */
  #counted: ReadonlySet<string> | null = null
  #spoiled: string | null = null
  #clock: number
  readonly #onLine: (line: Line) => void
  readonly #trial

  constructor(range: Range | null, saved: Saved | null = null, onLine: (line: Line) => void = () => undefined) {
    // What was begun with answers that are forgotten begins again.
    this.#state = saved === null ? BEGINNING : { ...saved.state, bracket: null, count: null, runGoesOn: null }
    this.#spoiled = saved?.spoiled ?? null
    this.#clock = (saved?.clock ?? 0) + 1
    this.#onLine = onLine
    this.#trial = { settings: { ...SETTINGS, range } }
  }

  get state(): State {
    return this.#state
  }

  save(): Saved {
    return { state: this.#state, spoiled: this.#spoiled, clock: this.#clock }
  }

  /** A moment later than all before, for `sent` and `received`. */
  tick(): number {
    this.#clock += 1
    return this.#clock
  }

  /** `handle` names the window for `taken`. */
  tell(answer: Answer, handle: number | null = null): void {
    this.#pass()
    const { owed, floor } = this.#state
    const fact = factOf(answer, owed === null ? null : { moment: owed.moment, seen: this.#seen }, floor?.id ?? null)
    this.#told = { fact, handle, ids: answer.ids, moments: answer.moments }
  }

  /**
   * Null where the answer told last proves the claim; else the first condition that is missing. `passed` and `reached` are
   * said of the windows that have joined.
   */
  claim(claim: Claim, handle: number | null = null): string | null {
    if (claim === 'passed' || claim === 'reached') return this.#claimJoined(claim)
    if (handle !== null && this.#deferred?.handle === handle) {
      this.#pass()
      this.#told = this.#deferred
      this.#deferred = null
    }
    if (this.#told === null || (handle !== null && this.#told.handle !== handle)) return 'the answer was told last'
    const missing = missingFor(this.#state, this.#told.fact, claim, this.#trial)
    if (missing === null) this.#settle(claim)
    return missing
  }

  /** Nothing is claimed of the answer told last but what it shows by itself. */
  look(): void {
    this.#pass()
  }

  /** A claim of the answer told last may be made later, once others have come. */
  defer(): void {
    if (this.#told === null) return
    this.#deferred = this.#told
    this.#told = null
  }

  /** How the answer told last stands to what has joined. */
  seam(): 'shown' | 'tied' | 'none' {
    if (this.#told === null) return 'none'
    return seamOf(this.#state, this.#told.fact, this.#trial.settings)
  }

  /** createdAt of the run that is owed; undefined where none is. */
  get owed(): Moment | undefined {
    return this.#state.owed?.moment
  }

  /** Whether a run is owed, and has to be counted before the walk can be complete. */
  get owes(): boolean {
    return this.#state.owed !== null
  }

  /** Whether the end of the list, or of the range, is proven. */
  get hasEnded(): boolean {
    this.#pass()
    return this.#state.ended !== null
  }

  /** The window named `handle` is taken in, and its items are met from now on. */
  taken(handle: number): void {
    this.#pass()
    if (!this.#joined.delete(handle)) this.#spoiled ??= 'every window that was taken in has joined'
  }

  /** These ids are met from now on: a run that was counted. */
  marked(ids: readonly string[]): void {
    const counted = this.#counted
    if (counted === null || ids.some((id) => !counted.has(id)))
      this.#spoiled ??= 'every run that was marked has been counted'
    else if (new Set(ids).size === counted.size) this.#counted = null
  }

  /** Whether the window named `handle` has joined and is to be taken in. */
  hasJoined(handle: number): boolean {
    this.#pass()
    return this.#joined.has(handle)
  }

  /** Different ids of the owed run that were seen since it is counted. */
  get countedSoFar(): number {
    return this.#seen.size
  }

  /** The ids of a run that was counted just now and is to be marked; null where there is none. */
  get countedRun(): ReadonlySet<string> | null {
    return this.#counted
  }

  /**
   * The first link that is missing; null where every task that stayed has been met: of the list or the range, or (not
   * `isWhole`) of what stands at or before the end of the window that joined last.
   */
  missing(isWhole = true): string | null {
    this.#pass()
    if (this.#spoiled !== null) return this.#spoiled
    if (this.#joined.size > 0) return 'every window that has joined was taken in'
    if (this.#counted !== null) return 'every run that was counted was marked'
    if (this.#state.owed !== null) return 'the run of equal createdAt that is owed has been counted'
    if (!isWhole) return this.#state.floor === null ? 'a window has joined' : null
    return this.#state.ended === null ? 'the end of the list was shown' : null
  }

  /** An answer that nothing was said of: it may close a bracket, or show nothing behind the floor. */
  #pass(): void {
    if (this.#told === null) return
    const { fact } = this.#told
    const { bracket, floor } = this.#state
    const isBehind = fact.kind !== 'items' && floor !== null && fact.skip === (bracket?.reach ?? floor.index) + 1
    const claims: Claim[] = bracket === null ? [] : ['again', 'stands']
    if (isBehind) claims.push('behind')
    const proven = claims.find((claim) => missingFor(this.#state, fact, claim, this.#trial) === null)
    this.#settle(proven ?? 'look')
  }

  #claimJoined(claim: Claim): string | null {
    this.#pass()
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
    if (claim === 'again' || claim === 'stands') for (const one of this.#behind) this.#joined.add(one)
    if (handle !== null && (claim === 'join' || claim === 'from' || claim === 'room' || claim === 'repeated'))
      this.#joined.add(handle)
    if (this.#state.bracket === null) this.#behind = []
    this.#onLine({ fact, claim })
  }
}
