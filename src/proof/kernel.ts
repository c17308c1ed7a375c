// The kernel of proof: it is told every answer of a walk, in the order in which they came, and which windows the walk takes in.
// It alone says `complete`; the walk may waste requests or give up, but it cannot claim (docs/proof.md).
import type { Moment } from '../task.ts'
import { countsFor, knownOf, owedOf, owing } from './counting.ts'
import { type Answer, type Fact, factOf, idsOfRun } from './facts.ts'
import { after, afterEmpty, claimed, missingFor, type Seam, seamOf } from './rules.ts'
import { BEGINNING, type Claim, type Range, SETTINGS, type State, union } from './state.ts'

/** What goes on in another process: plain data. */
export interface Saved {
  state: State
  spoiled: string | null
  /** Answers so far. */
  answers: number
}

/** Ids of one run that are kept while it is counted: a longer one cannot be proven. */
const LARGEST_RUN = 300_000
/** Answers that a walk may still take in. */
const MOST_TOLD = 64
/** Ids behind the floor that are kept: one is enough. */
const MOST_AHEAD = 20_000

export class Kernel {
  #state: State
  /** Answers that may still be taken in, by their handles; and the one that was taken in last. */
  readonly #told = new Map<number, { fact: Fact; ids: readonly string[] }>()
  #last: Fact | null = null
  /**
   * Ids that were seen behind the floor, and not taken in since: the list does not end there. Those that were seen further
   * on, and not in one answer with it, may have come in front of it: for each until when that is forgotten.
   */
  readonly #ahead = new Map<string, number>()
  #isLost = false
  /** Ids of the owed run seen since it was measured; those of a run that was counted, which are still to be marked. */
  readonly #seen = new Set<string>()
  #counted: ReadonlySet<string> | null = null
  /** The window that was read behind the floor; and one that joins by its place, with what it makes of the state. */
  #behind: number | null = null
  #byPlace: { handle: number; state: State } | null = null
  #spoiled: string | null = null
  #answers: number
  /** Answers that other processes were given. */
  readonly #before: number
  readonly #trial

  constructor(range: Range | null, saved: Saved | null = null) {
    // What was begun with answers that are forgotten begins again.
    this.#state = saved === null ? BEGINNING : { ...saved.state, bracket: null, count: null, edge: null, repeat: null }
    this.#spoiled = saved?.spoiled ?? null
    this.#before = saved?.answers ?? 0
    this.#answers = this.#before
    this.#trial = { settings: { ...SETTINGS, range } }
  }

  get state(): State {
    return this.#state
  }

  save(): Saved {
    return { state: this.#state, spoiled: this.#spoiled, answers: this.#answers }
  }

  /** An answer; `handle` names its window for `take`. */
  tell(answer: Answer, handle: number | null): void {
    this.#answers = this.#before + answer.received
    // What was asked for at a time that is not known was asked for before everything.
    const sent = answer.sent === 0 ? 0 : this.#before + answer.sent
    const told = { ...answer, sent, received: this.#answers }
    const fact = factOf(told, knownOf(this.#state, this.#seen))
    this.#hear(fact, answer, handle)
    if (handle === null) return
    this.#told.set(handle, { fact, ids: answer.ids })
    this.#lookAhead(fact, answer)
    for (const first of this.#told.keys()) {
      if (this.#told.size <= MOST_TOLD) break
      this.#told.delete(first)
    }
  }

  /** Whether the window joins if it is taken in now. */
  joins(handle: number): boolean {
    const fact = this.#told.get(handle)?.fact
    if (this.#byPlace?.handle === handle) return true
    return fact !== undefined && missingFor(this.#state, fact, this.#claimToJoin(fact.skip), this.#trial) === null
  }

  /** How the window stands to what has joined. */
  seam(handle: number): Seam {
    const fact = this.#told.get(handle)?.fact
    return fact === undefined ? 'none' : seamOf(this.#state, fact, this.#trial.settings)
  }

  /** The window is taken in, and its items are met from now on. A walk that takes in what does not join is not complete. */
  take(handle: number): void {
    const { fact, ids = [] } = this.#told.get(handle) ?? {}
    for (const id of ids) this.#ahead.delete(id)
    const byPlace = this.#byPlace?.handle === handle ? this.#byPlace.state : null
    // It brings nothing new, so that nothing has to be said of it.
    if (byPlace === null && fact !== undefined && fact.metPrefix === fact.count && this.seam(handle) !== 'shown') return
    // Everything else that stayed has been met.
    if (this.#state.ended !== null) return
    const claim = this.#claimToJoin(fact?.skip ?? 0)
    const missing =
      fact === undefined
        ? 'every window that is taken in was told'
        : byPlace === null
          ? missingFor(this.#state, fact, claim, this.#trial)
          : null
    this.#spoiled ??= missing
    if (missing !== null || fact === undefined) return
    this.#state = byPlace === null ? claimed(this.#state, fact, claim, this.#trial) : this.#joinedByPlace(byPlace)
    this.#last = fact
    for (const [id, received] of this.#ahead) if (received <= fact.sent) this.#ahead.delete(id)
    this.#isLost = false
    this.#byPlace = null
    this.#behind = null
  }

  /** The run of equal createdAt that is owed: tasks of it may have been passed over. Undefined where none is. */
  get owed(): Moment | undefined {
    return this.#state.owed?.moment
  }

  /** Different ids of the owed run that were seen since it is counted. */
  get counted(): number {
    return this.#seen.size
  }

  /** The run of the floor is owed from now on: the list may end with it. */
  owe(): void {
    const { owed, floor, ended } = this.#state
    if (owed === null && floor !== null && ended === null) this.#state = { ...this.#state, ...owing(floor) }
  }

  /** Answers leave items out. */
  filter(): void {
    this.#state = { ...this.#state, isFiltered: true }
  }

  /** The ids of a run that was counted just now, which are to be marked: they are met from now on. */
  takeCounted(): string[] {
    const counted = [...(this.#counted ?? [])]
    this.#counted = null
    return counted
  }

  /** The end of the list was shown, and not only by an answer with room for more. */
  get hasEnded(): boolean {
    const { ended, owed } = this.#state
    return ended?.includes('held') === true && owed === null
  }

  /** Everything that was listed at a moment of this walk has been met: see "passed". */
  get hasPassed(): boolean {
    const { owed } = this.#state
    return owed === null && this.#last !== null && missingFor(this.#state, this.#last, 'passed', this.#trial) === null
  }

  /** Nothing that is read from now on makes the walk complete. */
  get isSpoiled(): boolean {
    return this.#spoiled !== null
  }

  /**
   * The first link that is missing; null where every task that stayed has been met: of the list or the range, or (not
   * `isWhole`) of what stands at or before the end of the window that joined last.
   */
  missing(isWhole = true): string | null {
    if (this.#spoiled !== null) return this.#spoiled
    if (this.#counted !== null) return 'every run that was counted was marked'
    if (isWhole) this.#claimEnd()
    if (this.#state.owed !== null) return 'the run of equal createdAt that is owed has been counted'
    if (!isWhole) return this.#state.floor === null ? 'a window has joined' : null
    return this.#state.ended === null ? 'the end of the list was shown' : null
  }

  #claimEnd(): void {
    const last = this.#last
    if (last === null || this.#state.ended !== null) return
    const ends = (['reached', 'room', 'passed'] as const).find(
      (claim) =>
        (claim !== 'room' || this.#ahead.size === 0) && missingFor(this.#state, last, claim, this.#trial) === null,
    )
    if (ends !== undefined) this.#state = claimed(this.#state, last, ends, this.#trial)
  }

  #lookAhead({ skip, count, floorAt, received }: Fact, { ids, met }: Answer): void {
    const { floor } = this.#state
    if (floor === null || this.#ahead.size > MOST_AHEAD) return
    // Where its last item does not stand any more, nothing says what lies behind it, until that is seen again.
    const isElsewhere = floorAt === null && skip <= floor.index && skip + count > floor.index
    this.#isLost = floorAt === null && (this.#isLost || isElsewhere)
    if (floorAt === null && (this.#isLost || skip <= floor.index)) return
    for (let index = floorAt === null ? 0 : floorAt + 1 - skip; index < ids.length; index += 1)
      if (met[index] === 0) this.#ahead.set(ids[index] as string, floorAt === null ? received : Infinity)
  }

  #claimToJoin(skip: number): Claim {
    const from = this.#trial.settings.range?.from ?? null
    return from !== null && this.#state.floor === null && skip > 0 ? 'from' : 'join'
  }

  #joinedByPlace({ floor, ceiling, owed, count, edge, basis }: State): State {
    const debt = this.#state.owed === null ? { owed, count, edge } : {}
    return { ...this.#state, ...debt, bracket: null, floor, ceiling, basis: union(this.#state.basis, basis) }
  }

  /** What an answer says by its place alone. */
  #claimOf(fact: Fact): Claim {
    const { bracket, floor, ended } = this.#state
    if (ended !== null || floor === null) return 'look'
    const holds = (claim: Claim) => missingFor(this.#state, fact, claim, this.#trial) === null
    if (bracket !== null && holds('again')) return 'again'
    if (bracket !== null && holds('stands')) return 'stands'
    if (holds('repeated')) return 'repeated'
    if (fact.skip === floor.index + 1) {
      if (bracket?.gaps.some(({ skip, kind }) => skip === fact.skip && kind === fact.kind)) return 'look'
      // What is read behind the floor once more counts from now on.
      this.#state = { ...this.#state, bracket: null }
    } else if (bracket === null || bracket.last.kind === 'items' || fact.skip !== bracket.reach + 1) return 'look'
    return holds('behind') ? 'behind' : 'look'
  }

  #hear(fact: Fact, answer: Answer, handle: number | null): void {
    const claim = this.#claimOf(fact)
    const before = this.#state
    const counts = countsFor(before, fact, this.#trial)
    const owed = owedOf(before)
    const ofRun = counts === null || owed === null ? [] : idsOfRun(answer, owed)
    if (counts === 'paid') this.#counted = new Set(fact.isWhole && fact.hasMember ? ofRun : [...this.#seen, ...ofRun])
    else for (const id of ofRun) this.#seen.add(id)
    const state = after(before, fact, claim, this.#trial)
    if ((claim === 'again' || claim === 'stands') && this.#behind !== null) {
      // It joins once it is taken in.
      this.#byPlace = { handle: this.#behind, state }
      this.#state = { ...after(before, fact, 'look', this.#trial), bracket: null }
    } else this.#state = claim === 'look' ? afterEmpty(state, fact) : state
    if (this.#seen.size > LARGEST_RUN) this.#state = { ...this.#state, count: null }
    if ((this.#state.count?.ids ?? 0) === 0) this.#seen.clear()
    if (claim === 'behind') this.#behind = fact.kind === 'items' ? handle : null
    if (this.#state.bracket === null) this.#behind = null
  }
}
