// The requests of one walk, and what their answers tell of the list. `read` asks, again where nothing came, and keeps
// the answer to be taken in. `look` does the same but drops the answer; `glance` looks without asking again, where no
// proof rests on it. `probe` asks for the largest size that works.
import { keepLatest } from '../bounded.ts'
import type { Kernel } from '../proof/kernel.ts'
import { isBeforeRange } from '../proof/rules.ts'
import type { WalkRange } from '../proof/state.ts'
import type { Moment } from '../task.ts'
import type { ItemsWindow, ReadOptions, WindowAnswer, WindowSource } from './source.ts'

export interface ReaderOptions extends ReadOptions {
  /** It is asked for once: no proof will rest on an answer that brings nothing. */
  once?: boolean
}

/** So many ids are kept of answers that were not taken in. */
const MOST_UNMET = 20_000

/**
 * Sizes, in items: `window` is what the walk would like to ask for, `take` what it asks for at present, `served` the
 * largest `take` that was answered, `largest` the most that came. `cap` of the chain is the most that came short.
 */
export class Reader {
  readonly source: WindowSource
  readonly kernel: Kernel
  readonly #settings: { readonly window: number }
  readonly #range: WalkRange | null
  /** Requests made by this walk. */
  requests = 0
  /** How many items are asked for at present; where `window` has shrunk, more than that until the next success. */
  take: number
  /** The largest size that was answered in this walk; 0 before the first answer. */
  served = 0
  /** The last position that could not be read. */
  unreadable = Number.NEGATIVE_INFINITY
  /** Windows read since the size last changed, and how many of them it takes before the size is doubled. */
  successes = 0
  patience = 1
  /** The createdAt, by id, of items in answers not taken in that had not been met: the last ones. */
  readonly unmet = new Map<string, Moment>()
  /** Ids in `unmet` since before the kernel knew an empty index: they have to be met before "passed" is claimed. */
  pending: string[] = []
  /** Since the kernel knows that empty index, the walk has looked directly behind the chain. */
  isLookedBehind = false
  /** By how many items the list grows with every request, as the last two answers that showed its end tell. */
  growth = 0
  /** The item met last, where an answer showed it last. */
  last: { id: string; moment: Moment; index: number } | null = null
  /** The index of the item seen furthest down. */
  furthest = -1
  /** The lowest index from which an answer brought nothing. */
  emptyFrom = Number.POSITIVE_INFINITY
  #shownEnd: { index: number; requests: number } | null = null

  constructor(
    source: WindowSource,
    settings: { readonly window: number },
    kernel: Kernel,
    range: WalkRange | null = null,
  ) {
    this.source = source
    this.kernel = kernel
    this.#settings = settings
    this.#range = range
    this.take = settings.window
  }

  /** The most items that an answer of this walk held, of those that were asked for. */
  get largest(): number {
    return this.kernel.state.largest
  }

  /** How many items the walk would like to ask for: fewer where they are heavy. */
  get window(): number {
    return this.#settings.window
  }

  /** Asks twice where nothing comes, and returns the second answer; not if `once`, or if several items are refused. */
  async read(skip: number, take: number, { once = false, ...options }: ReaderOptions = {}): Promise<WindowAnswer> {
    const answer = await this.#ask(skip, take, options)
    if (once || !isNothing(answer) || (answer.kind === 'refused' && take > 1)) return answer
    // Such an answer may be a mistake: the kernel believes it once it has come twice.
    this.drop(answer)
    return this.#ask(skip, take, { ...options, fresh: true })
  }

  /** As `read`, for a window that is not taken in; asked for now. */
  async look(skip: number, take: number, options: ReaderOptions = {}): Promise<WindowAnswer> {
    const answer = await this.read(skip, take, { ...options, fresh: true })
    this.drop(answer)
    return answer
  }

  drop(answer: WindowAnswer): void {
    if (answer.kind !== 'items') return
    this.noteUnmet(answer)
    this.source.drop(answer)
  }

  /** Notes what is still to be met: items of the range in front of `end` that an answer shows which joins nothing. */
  noteUnmet({ skip, ids, moments, met }: ItemsWindow, end = Number.POSITIVE_INFINITY): void {
    ids.forEach((id, index) => {
      const moment = moments[index] as Moment
      if (met[index] === 0 && skip + index < end && !isBeforeRange(moment, this.#range)) this.unmet.set(id, moment)
    })
    keepLatest(this.unmet, MOST_UNMET)
  }

  async #ask(skip: number, take: number, options: ReadOptions): Promise<WindowAnswer> {
    this.requests += 1
    const answer = await this.source.read(skip, take, options)
    const before = this.kernel.state.empty
    const shown = answer.kind === 'items' ? answer : { ...answer, ids: [], moments: [], met: [], handle: null }
    this.kernel.tell(shown, shown.handle)
    const { ids, kind } = shown
    if (answer.kind === 'items') this.#follow(answer)
    if (ids.length > 0) this.served = Math.max(this.served, take)
    // An empty answer to few does not count (all may be hidden), nor a refusal of many (for their number).
    else if (kind === 'items' ? take >= this.served : kind === 'refused' && take <= this.served)
      this.emptyFrom = Math.min(this.emptyFrom, skip)
    if (options.fresh === true && ids.length > 0 && ids.length < this.largest) this.#showEnd(skip + ids.length)
    const { empty } = this.kernel.state
    if (empty !== null && empty.received !== before?.received) {
      this.pending = [...this.unmet.keys()]
      this.isLookedBehind = false
    }
    return answer
  }

  /** Follows the last item; not where a tie stands beside it, as the two may have changed places. */
  #follow({ skip, ids, moments }: ItemsWindow): void {
    if (ids.length > 0) this.furthest = Math.max(this.furthest, skip + ids.length - 1)
    const at = this.last === null ? -1 : ids.lastIndexOf(this.last.id)
    if (this.last === null || at < 0) return
    const { moment } = this.last
    const isTied = moment !== null && (moments[at - 1] === moment || moments[at + 1] === moment)
    if (!isTied) this.last.index = skip + at
  }

  /** A short answer ends at `index`, maybe where the list does: tells how fast the list grows. */
  #showEnd(index: number): void {
    const { requests } = this
    const earlier = this.#shownEnd
    if (earlier !== null) this.growth = (index - earlier.index) / (requests - earlier.requests)
    this.#shownEnd = { index, requests }
  }
}

/** True for an empty answer or a refusal. A refusal may be about the size: see `probeAt`. */
export function isNothing(answer: WindowAnswer): boolean {
  return answer.kind === 'refused' || (answer.kind === 'items' && answer.ids.length === 0)
}

/** The largest size known to work. */
export function probeSize(reader: Reader): number {
  return reader.served > 0 ? reader.served : reader.take
}

/** Reads at `skip` anew at the largest size known to work; a refusal counts only where a single item is refused too. */
export async function probeAt(reader: Reader, skip: number, options: ReaderOptions = {}): Promise<WindowAnswer> {
  const answer = await reader.read(skip, probeSize(reader), { ...options, fresh: true })
  if (answer.kind !== 'refused' || answer.asked === 1) return answer
  return reader.read(skip, 1, { ...options, fresh: true, maxRetries: 1 })
}

/** As `probeAt`, for a window that is not taken in. */
export async function lookAt(reader: Reader, skip: number, options: ReaderOptions = {}): Promise<WindowAnswer> {
  const answer = await probeAt(reader, skip, options)
  reader.drop(answer)
  return answer
}

/** As `lookAt`, where no proof rests on an answer that brings nothing: further on than the walk has come. */
export function glanceAt(reader: Reader, skip: number): Promise<WindowAnswer> {
  return lookAt(reader, skip, { once: true })
}

/** Looks at as many items as can be read at `skip`, `most` or fewer; `failed` where not even one can be. */
export async function lookShort(reader: Reader, skip: number, most: number): Promise<WindowAnswer> {
  const answer = await reader.look(skip, most, { once: true, maxRetries: 1 })
  return answer.kind === 'failed' && most > 1 ? lookShort(reader, skip, Math.floor(most / 2)) : answer
}

/**
 * What stands at `index` by now, in an answer that begins before the item's run (at `runStart`) if one answer can hold
 * that: so nothing of the run can have been passed over (docs/proof.md, "place"). A larger `take` reaches beyond it.
 */
export async function seeAgain(reader: Reader, index: number, runStart: number, take = 1): Promise<WindowAnswer> {
  const { floor } = reader.kernel.state
  // The run is shown to begin directly behind what cannot be read, if that still cannot be.
  const apart = floor?.index === index && floor.apart !== null && runStart <= floor.apart ? floor.apart : null
  if (apart !== null) await reader.look(apart - 1, 1, { maxRetries: 1 })
  const from = apart ?? Math.max(0, runStart - 1)
  const most = Math.max(take, reader.largest)
  const fits = index + (take > 1 ? 2 : 1) - from <= Math.min(most, reader.largest + 1)
  if (fits && from < index) {
    const answer = await reader.look(from, take > 1 ? take : index + 1 - from)
    // Not if the answer was cut before the item, or refused.
    if (answer.kind === 'items' && answer.ids.length > index - from) return answer
  }
  return reader.look(index, take)
}
