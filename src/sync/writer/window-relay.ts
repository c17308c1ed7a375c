// Windows on the main thread's side of the writer: prepares them and hands them over without waiting for an answer, so
// that the writer always has the next one at hand. What the writer said of a window before others were taken in is
// brought up to date here. Knows no tables.
import type { Moment } from '../../task.ts'
import { newIds } from '../../walk/source.ts'
import { type PreparedWindow, type Summary, summaryOf, withHashes } from './prepare.ts'
import type { TakeIn } from './take-window.ts'
import type { KnownState, Looked, TakenIn, Viewed } from './windows.ts'
import type { ParsedList } from './writing.ts'

/** Calls a method of the session in the writer thread; calls keep their order. `transfer` is given away. */
export type Call = (method: string, args: unknown[], transfer?: ArrayBuffer[]) => Promise<unknown>

/** What the writer says of a window. */
interface LookUp extends LookedUpAt {
  looked: Promise<Looked>
}

interface Held {
  ids: string[]
  moments: Moment[]
  asked: LookUp | null
  /** As last viewed. */
  viewed: (LookedUpAt & { met: Uint8Array }) | null
}

/** Rejects with `body-invalid`; null where preparing would hold this thread up, so that the writer does it. */
export type Prepare = (raw: Uint8Array) => Promise<PreparedWindow | null>

/** With fewer unanswered calls than this the writer has time to hash a window itself: it waits for this thread. */
const BUSY = 3

/** Whether the relay answers calls of this name; all others go to the writer unchanged. */
export function isWindowCall(name: string): name is Exclude<keyof WindowRelay, 'otherCall'> {
  return name !== 'otherCall' && Object.hasOwn(WindowRelay.prototype, name)
}

/** The first error of calls that nobody waits for: told once, to whoever asks next. */
export class LateError {
  #failed: { error: unknown } | null = null

  note(done: Promise<unknown>): void {
    done.catch((error) => {
      this.#failed ??= { error }
    })
  }

  throw(): void {
    if (this.#failed === null) return
    const { error } = this.#failed
    this.#failed = null
    throw error
  }

  /** An error of `answer` is thrown here, and need not be told again. */
  async told<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      if (this.#failed?.error === error) this.#failed = null
      throw error
    }
  }
}

/** A look-up for a walk, made when `after` windows had been taken in. */
interface LookedUpAt {
  walkId: number
  after: number
}

/**
 * What a walk has taken in since windows were looked up: brings an answer of the writer up to date, so that it need not
 * be asked for again. Holds the ids of no more windows than that takes.
 */
export class RecentlyTaken {
  #count = 0
  #walkId: number | null = null
  /** Which window brought an id last, of the windows that still matter. */
  readonly #takenAt = new Map<string, number>()
  readonly #windows: { number: number; ids: string[] }[] = []

  /** How many windows walks have taken in so far. */
  get count(): number {
    return this.#count
  }

  /** Forgets what earlier walks took in: it is of no use to this one. */
  add(walkId: number, ids: string[]): void {
    if (walkId !== this.#walkId) {
      this.#takenAt.clear()
      this.#windows.length = 0
      this.#walkId = walkId
    }
    for (const id of ids) this.#takenAt.set(id, this.#count)
    this.#windows.push({ number: this.#count, ids })
    this.#count += 1
  }

  /** Sets `met` to 1, by index, for those of `ids` that the walk has taken in since they were looked up. */
  bringUpToDate(met: Uint8Array, ids: readonly string[], { walkId, after }: LookedUpAt): void {
    if (walkId !== this.#walkId || after === this.#count) return
    ids.forEach((id, index) => {
      if ((this.#takenAt.get(id) ?? -1) >= after) met[index] = 1
    })
  }

  /** All look-ups that still matter were made when `after` windows or more had been taken in. */
  forgetBefore(after: number): void {
    const windows = this.#windows
    for (let oldest = windows[0]; oldest !== undefined && oldest.number < after; oldest = windows[0]) {
      for (const id of oldest.ids) if (this.#takenAt.get(id) === oldest.number) this.#takenAt.delete(id)
      windows.shift()
    }
  }
}

export class WindowRelay {
  readonly #callWriter: Call
  readonly #prepare: Prepare
  #unanswered = 0
  readonly #held = new Map<number, Held>()
  /** The look-ups that views are waiting for just now. */
  readonly #awaited = new Set<LookUp>()
  readonly #taken = new RecentlyTaken()
  readonly #late = new LateError()
  #handles = 0
  /** The walk that windows are most likely wanted for. */
  #current: number | null = null
  #lastPrepared: Promise<unknown> = Promise.resolve()
  #lastTaken: Promise<unknown> = Promise.resolve()

  /** `prepare` is called for one window at a time, looks aside. */
  constructor(callWriter: Call, prepare: Prepare) {
    this.#callWriter = callWriter
    this.#prepare = prepare
  }

  /** `isLook`: at a few items, soon made ready; it waits for no window. */
  async parseList(raw: Uint8Array, isLook = false): Promise<ParsedList> {
    const window = await (isLook ? this.#prepare(raw) : this.#prepareInTurn(raw))
    this.#handles += 1
    const handle = this.#handles
    if (window === null) {
      const parsed = (await this.#call('prepare', [handle, raw], [raw.buffer as ArrayBuffer])) as Summary
      this.#held.set(handle, { ids: parsed.ids, moments: parsed.moments, asked: null, viewed: null })
      return { handle, ...parsed }
    }
    const walkId = this.#current
    const after = this.#taken.count
    const given = this.#unanswered < BUSY ? window : withHashes(window)
    const answer = this.#call('hold', [handle, given, walkId], [window.rows.buffer]) as Promise<Looked | null>
    this.#late.note(answer)
    const asked = walkId === null ? null : { walkId, looked: answer as Promise<Looked>, after }
    this.#held.set(handle, { ids: window.ids, moments: window.moments, asked, viewed: null })
    return { handle, ...summaryOf(window) }
  }

  async view(handle: number, walkId: number): Promise<Viewed> {
    this.#late.throw()
    const window = this.#held.get(handle) as Held
    const { ids, moments } = window
    this.#current = walkId
    const asked = window.asked?.walkId === walkId ? window.asked : this.#look(handle, walkId)
    window.asked = null
    window.viewed = null
    this.#awaited.add(asked)
    try {
      const looked = await this.#late.told(asked.looked)
      this.#late.throw()
      const { met } = looked
      this.#taken.bringUpToDate(met, ids, asked)
      window.viewed = { walkId, met, after: this.#taken.count }
      return { ids, moments, ...looked, unknown: ids.length - looked.known }
    } finally {
      this.#awaited.delete(asked)
    }
  }

  /** What the mirror holds now: windows handed over before this call are in it. */
  knownState(handle: number): Promise<KnownState> {
    return this.#call('knownState', [handle]) as Promise<KnownState>
  }

  /** Answers before the work is done. This or a later call throws its error, and the rest of the walk is refused. */
  async takeIn(step: TakeIn): Promise<TakenIn> {
    this.#late.throw()
    const { ids, viewed } = this.#held.get(step.handle) as Held
    this.#held.delete(step.handle)
    const { walkId } = step
    const done = this.#call('takeIn', [step]) as Promise<TakenIn>
    if (walkId === null || viewed?.walkId !== walkId) {
      this.#forget()
      return done
    }
    this.#late.note(done)
    this.#lastTaken = done.catch(() => undefined)
    this.#taken.bringUpToDate(viewed.met, ids, viewed)
    const newlyMet = newIds({ ids, met: viewed.met }).size
    this.#taken.add(walkId, ids)
    this.#forget()
    return { newlyMet }
  }

  async dropWindow(handle: number): Promise<void> {
    this.#held.delete(handle)
    await this.#call('dropWindow', [handle])
  }

  /** Waits until everything is taken in and committed; throws why something was not, unless a call has told it. */
  async drain(): Promise<void> {
    await this.#lastTaken
    // Also after a window has failed: why the last transaction could not be ended is not left to the next one to tell.
    const flushed = this.#call('flush', [])
    this.#late.note(flushed)
    await flushed.catch(() => undefined)
    this.#late.throw()
  }

  /** Call before any other call: look-ups may no longer hold. Throws why a window was not taken in. */
  otherCall(): void {
    this.#current = null
    for (const window of this.#held.values()) window.asked = null
    this.#late.throw()
  }

  /** One after another: two at once would both be late. */
  #prepareInTurn(raw: Uint8Array): ReturnType<Prepare> {
    const prepared = this.#lastPrepared.then(() => this.#prepare(raw))
    this.#lastPrepared = prepared.catch(() => undefined)
    return prepared
  }

  async #call(...given: Parameters<Call>): Promise<unknown> {
    this.#unanswered += 1
    try {
      return await this.#callWriter(...given)
    } finally {
      this.#unanswered -= 1
    }
  }

  #look(handle: number, walkId: number): LookUp {
    const after = this.#taken.count
    return { walkId, looked: this.#call('look', [handle, walkId]) as Promise<Looked>, after }
  }

  /** Forgets windows taken in before everything that is held was looked up: nobody needs them any more. */
  #forget(): void {
    let needed = this.#taken.count
    for (const { asked, viewed } of this.#held.values())
      needed = Math.min(needed, asked?.after ?? needed, viewed?.after ?? needed)
    for (const { after } of this.#awaited) needed = Math.min(needed, after)
    this.#taken.forgetBefore(needed)
  }
}
