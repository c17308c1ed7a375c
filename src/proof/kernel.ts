// The kernel of proof: the walk tells it every answer, in the order in which they came, and every window it takes in.
// The kernel alone says `complete`: the walk may waste requests or give up, but it cannot claim (docs/proof.md). The
// kernel is a judge that makes facts of the answers, judges by those, and keeps them as the evidence of the walk.
import { keepLatest } from '../bounded.ts'
import type { Moment } from '../task.ts'
import type { MissingLink } from './conditions.ts'
import { idsFor } from './counting.ts'
import { type Fact, factOf, type ListAnswer } from './facts.ts'
import { Judge, type Line, MOST_TOLD, RULES_NUMBER } from './judge.ts'
import type { State, WalkRange } from './state.ts'

/** What another process needs to go on with the walk: plain data. */
export interface Saved {
  state: State
  /** Number of answers so far. */
  answers: number
}

/** At most so many ids seen behind the floor are kept. One would be enough to deny an end. */
const MOST_AHEAD = 20_000

export class Kernel extends Judge {
  /** The ids of each answer that may still be taken in, by its handle. */
  readonly #idsOf = new Map<number, readonly string[]>()
  /**
   * Ids seen behind the floor and not met since, each with a time. An id that was not seen in one answer with the
   * floor may stand in front of it by now: it is forgotten when a window joins that was asked for after that time.
   */
  readonly #ahead = new Map<string, number>()
  #isLost = false
  /** Ids of the owed run seen since its count began; and those of a counted run, which are still to be marked. */
  readonly #seen = new Set<string>()
  readonly #counted = new Set<string>()
  readonly #hasRange: boolean
  #answers: number
  /** Number of answers that the processes before this one were given. */
  readonly #before: number
  #evidence: Line[]

  constructor(range: WalkRange | null, saved: Saved | null = null) {
    super(range, saved?.state)
    this.#evidence = [saved === null ? { op: 'begun', range, rules: RULES_NUMBER } : { op: 'resumed' }]
    this.#hasRange = range !== null
    this.#before = saved?.answers ?? 0
    this.#answers = this.#before
  }

  save(): Saved {
    return { state: this.resumed(), answers: this.#answers }
  }

  /** The lines of evidence since the last call, in order. */
  takeEvidence(): Line[] {
    const lines = this.#evidence
    this.#evidence = []
    return lines
  }

  /** Tells the kernel an answer; `handle` names its window for `take`. */
  tell(answer: ListAnswer, handle: number | null): void {
    this.#answers = this.#before + answer.received
    // An answer of unknown age counts as the oldest.
    const sent = answer.sent === 0 ? 0 : this.#before + answer.sent
    const told = { ...answer, sent, received: this.#answers }
    const before = this.state
    const fact = factOf(told, before, this.#seen, this.#hasRange)
    const counts = this.hearAnswer(fact, handle)
    const ofRun = counts === null ? [] : idsFor(before, counts, told, this.#seen)
    if (counts === 'counts') for (const id of ofRun) this.#seen.add(id)
    else if (counts !== null) for (const id of ofRun) this.#counted.add(id)
    if ((this.state.count?.ids ?? 0) === 0) this.#seen.clear()
    if (handle !== null && fact.kind === 'items') {
      this.#idsOf.set(handle, answer.ids)
      keepLatest(this.#idsOf, MOST_TOLD)
      this.#lookAhead(fact, answer)
    }
    this.isAhead = this.#ahead.size > 0
    this.#note({ op: 'told', handle, fact, ahead: this.isAhead })
  }

  /** The window is taken in: its items are met from now on. A walk that takes in what does not join is not complete. */
  take(handle: number): void {
    for (const id of this.#idsOf.get(handle) ?? []) this.#ahead.delete(id)
    this.#idsOf.delete(handle)
    const joined = this.hearTaken(handle)
    if (joined !== null) {
      for (const [id, received] of this.#ahead) if (received <= joined.sent) this.#ahead.delete(id)
      this.#isLost = false
    }
    this.isAhead = this.#ahead.size > 0
    this.#note({ op: 'taken', handle, ahead: this.isAhead })
  }

  /** The createdAt of the owed run, of which tasks may have been passed over. Undefined where none is owed. */
  get owed(): Moment | undefined {
    return this.state.owed?.moment
  }

  override owe(): boolean {
    const isNew = super.owe()
    if (isNew) this.#note({ op: 'owed' })
    return isNew
  }

  /** The walk has found that answers leave items out. */
  filter(): void {
    this.#say({ op: 'filtered' })
  }

  /** An earlier walk has seen ties in both orders of their ids: nothing is to rest on one of these. */
  unorder(): void {
    this.#say({ op: 'unordered' })
  }

  /** The ids of a run that was counted just now, for the caller to mark: they are met from now on. */
  takeCounted(): string[] {
    if (!this.isToMark) return []
    const ids = [...this.#counted]
    for (const id of ids) this.#ahead.delete(id)
    this.#say({ op: 'marked', ahead: this.#ahead.size > 0 })
    this.#counted.clear()
    return ids
  }

  /** The end of the list was shown, and that rests on `held`: not only on an answer with room for more. */
  get hasEnded(): boolean {
    return this.state.ended?.includes('held') === true
  }

  /**
   * The first link that is missing; null where every task that stayed has been met: of the list or the range, or,
   * without `isWhole`, up to the floor (see `Floor`).
   */
  override missing(isWhole = true): MissingLink | null {
    if (isWhole && this.end()) this.#note({ op: 'ended' })
    return super.missing(isWhole)
  }

  /** The walk is over, and nothing is `missing`: adds the last line of its evidence. */
  conclude(isWhole: boolean): void {
    this.#note({ op: 'complete', isWhole })
  }

  #note(line: Line): void {
    this.#evidence.push(line)
  }

  /** Hears the line as a judge of the evidence will. */
  #say(line: Line): void {
    this.hear(line)
    this.#note(line)
  }

  #lookAhead({ skip, count, floorAt, received }: Fact, { ids, met }: ListAnswer): void {
    const { floor } = this.state
    if (floor === null || this.#ahead.size > MOST_AHEAD) return
    // Another item stands at the floor's index: nothing is known to lie behind the floor until its last item is seen.
    const isElsewhere = floorAt === null && skip <= floor.index && skip + count > floor.index
    this.#isLost = floorAt === null && (this.#isLost || isElsewhere)
    if (floorAt === null && (this.#isLost || skip <= floor.index)) return
    for (let index = floorAt === null ? 0 : floorAt + 1 - skip; index < ids.length; index += 1)
      if (met[index] === 0) this.#ahead.set(ids[index] as string, floorAt === null ? received : Infinity)
  }
}
