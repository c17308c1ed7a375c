// The windows of a walk over the service: asks for them, and reads ahead where the walk says what it will want next.
// What the walk has no use for is taken in for its items alone: whatever becomes of the walk, no task that an answer
// showed is thrown away.
import { MirrorError } from '../errors.ts'
import { allowanceOf, nextAllowance } from '../service/pacing.ts'
import { ageOfAnswer } from '../service/service.ts'
import type { ItemsWindow, ReadOptions, WindowAnswer, WindowSource } from '../walk/source.ts'
import type { Run } from './context.ts'
import { EarlyWindows, SeemingEnd } from './early-windows.ts'
import type { AskOptions } from './run-service.ts'
import { takeBeside, takeItems } from './steps/beside.ts'
import { SMALL_WINDOW, type WalkWindow } from './window-size.ts'
import { LateError } from './writer/window-relay.ts'
import type { ParsedList } from './writer/writing.ts'

/** `ageMs`: how old it shows itself to be; 0 where nothing shows that it came from a cache. */
type EarlyAnswer = { sent: number; ageMs: number } & (
  | { kind: 'parsed'; parsed: ParsedList; startedAt: number; serviceDate: number | null }
  | { kind: 'refused' | 'failed'; reason: string; message: string; status: number | null }
)

interface ListSourceOptions {
  run: Pick<Run, 'service' | 'writer' | 'account' | 'now'>
  walkId: number
  /** Windows in flight at once, the wanted one included. */
  concurrency: number
  /** Is told what answers weigh, and tells how many bytes of them may be under way or waiting. */
  size: WalkWindow
  /** Nothing is read ahead from here on; null where the length of the list is not known. */
  total: number | null
  /** Called with every answer before any of it is taken in. */
  onParsed?(parsed: ParsedList): Promise<void>
}

/** Windows read ahead in a list of unknown length; one more for each that the walk waited for: a round doubles it. */
const FIRST_DEPTH = 1

export class ListSource implements WindowSource {
  readonly #options: ListSourceOptions
  readonly #ahead = new EarlyWindows<EarlyAnswer>()
  readonly #prefetched = new EarlyWindows<EarlyAnswer>()
  readonly #end = new SeemingEnd()
  readonly #over = new AbortController()
  /** At most so many that have come may wait: more would only take memory. */
  readonly #mostCome: number
  /** How many windows are read ahead: more while the walk waits for them, fewer if it wants others (the list moves). */
  #depth: ReturnType<typeof allowanceOf>
  /** Nothing is read ahead behind this index. */
  #last: number | null
  /** How many windows the walk has asked for, and how many answers it was given. */
  #reads = 0
  #given = 0
  /** Where the next windows lie if the first one comes as long as it was asked for. */
  #guess: { skip: number; stride: number } | null = null
  #wasStale = false
  #tookNew = false
  /** Settles once all windows so far that join no chain are taken in. */
  #kept: Promise<void> = Promise.resolve()
  /** Why one of those could not be taken in. */
  readonly #late = new LateError()

  constructor(options: ListSourceOptions) {
    const { concurrency, total } = options
    this.#options = options
    this.#last = total
    this.#mostCome = Math.max(4, Math.floor(concurrency * 0.75))
    this.#depth = allowanceOf(total === null ? FIRST_DEPTH : concurrency, concurrency)
  }

  /** Asks for a window that the walk will want first. Returns what came, or why it failed. Its items are never lost. */
  async askAhead(skip: number, take: number): Promise<string> {
    try {
      const answer = await this.#askEarly(this.#ahead, skip, take)
      return answer.kind === 'parsed' ? 'parsed' : answer.reason
    } catch {
      // The error is told where the walk reads the window.
      return 'failed'
    }
  }

  /** Nothing is read ahead from this index on. */
  stopAhead(index: number): void {
    this.#last = index
  }

  /** Whether an answer that had to be fresh came from a cache all the same. */
  wasStale(): boolean {
    return this.#wasStale
  }

  /** Whether a window that the walk had no use for has brought tasks that the mirror did not hold. */
  tookNew(): boolean {
    return this.#tookNew
  }

  async read(skip: number, take: number, { fresh = false, maxRetries }: ReadOptions = {}): Promise<WindowAnswer> {
    const { run, walkId } = this.#options
    this.#late.throw()
    const early = this.#takeEarly(skip, take, fresh)
    let answer = await (early ?? this.#ask(skip, take, { maxRetries }))
    // What is too large for one window of many need not be too large for the one that is wanted.
    if (early !== undefined && answer.kind === 'failed' && answer.reason === 'too-large')
      answer = await this.#ask(skip, take, { maxRetries })
    this.#given += 1
    if (fresh && answer.ageMs > 0) this.#wasStale = true
    const asked = { skip, asked: take, sent: answer.sent, received: this.#given }
    if (answer.kind !== 'parsed') return { ...answer, ...asked }
    const { startedAt, serviceDate } = answer
    const { handle, count } = answer.parsed
    // Reads ahead once the service is known to answer, and more to be there; but while this window is looked at.
    if (this.#reads === 1 && this.#guess?.skip === skip && count === take) {
      const { stride } = this.#guess
      this.#readAhead(skip + stride, stride, take)
    }
    const { ids, moments, met, held, ...shown } = await run.writer.view(handle, walkId)
    await run.account.saw(shown)
    return { kind: 'items', ...asked, handle, startedAt, serviceDate, ids, moments, met, held }
  }

  drop(window: ItemsWindow): void {
    // A window that shows nothing new has been taken in a moment ago.
    if (window.met.includes(0)) {
      this.#tookNew ||= window.held.includes(0)
      this.#keep(takeItems(this.#options.run, window))
    } else void this.#options.run.writer.dropWindow(window.handle).catch(() => undefined)
  }

  readAhead(skip: number, stride: number, take: number): void {
    if (this.#reads === 0) this.#guess = { skip, stride }
    else this.#readAhead(skip, stride, take)
  }

  prefetch(windows: readonly { skip: number; take: number }[]): void {
    this.#forget(this.#prefetched)
    if (this.#options.concurrency === 1) return
    for (const { skip, take } of windows) this.#askEarly(this.#prefetched, skip, take)
  }

  /** Ends what is under way and takes in what came; call when the walk is over. Throws why it could not be taken in. */
  async end(): Promise<void> {
    // Requests may take all their retries: nobody is to wait for them, nor to send a refused key again.
    this.#over.abort(new MirrorError('interrupted', 'The walk is over'))
    this.#forget(this.#ahead)
    this.#forget(this.#prefetched)
    await this.#kept
    this.#late.throw()
  }

  async #ask(skip: number, take: number, bounds: AskOptions): Promise<EarlyAnswer> {
    const { run, size, onParsed } = this.#options
    const given = this.#given
    const answer = await run.service.list({ skip, take }, { signal: this.#over.signal, ...bounds })
    const ageMs = ageOfAnswer(answer)
    const asked = { sent: ageMs > 0 ? 0 : given, ageMs }
    if (answer.kind === 'ok') {
      const { value: parsed, startedAt, serviceDate } = answer
      const { count } = parsed
      if (parsed.hasPayload) await onParsed?.(parsed)
      // A look at a few items says little of what a window weighs.
      if (take >= Math.min(SMALL_WINDOW, size.window)) size.saw(count, answer.bytes)
      this.#end.saw(skip, take, count)
      return { kind: 'parsed', parsed, startedAt, serviceDate, ...asked }
    }
    const { message, httpStatus: status } = answer
    if (answer.kind === 'refused') return { kind: 'refused', reason: 'status', message, status, ...asked }
    if (answer.reason === 'too-large' && bounds.maxBytes === undefined) size.failed(take)
    return { kind: 'failed', reason: answer.reason, message, status, ...asked }
  }

  #readAhead(skip: number, stride: number, take: number): void {
    // So many windows beside the one that the walk has in hand.
    const most = Math.min(Math.floor(this.#depth.present), Math.max(1, this.#options.size.fitting(take) - 1))
    this.#end.goesOn(skip)
    for (let step = 0; step < most; step += 1) {
      const place = skip + step * stride
      if (this.#end.liesBefore(place) || (this.#last !== null && place > this.#last)) break
      if (this.#ahead.has(place, take)) continue
      if (this.#ahead.size >= most || this.#ahead.come + this.#prefetched.come >= this.#mostCome) break
      this.#askEarly(this.#ahead, place, take)
    }
  }

  #askEarly(early: EarlyWindows<EarlyAnswer>, skip: number, take: number): Promise<EarlyAnswer> {
    const asked = this.#ask(skip, take, { maxBytes: this.#options.size.maxBytesAhead(take) })
    early.add(skip, take, asked)
    return asked
  }

  /** What was asked for ahead, if it will do. If the walk wants something else, what was read ahead is stale. */
  #takeEarly(skip: number, take: number, fresh: boolean): Promise<EarlyAnswer> | undefined {
    const { concurrency } = this.#options
    const early = (fresh ? this.#prefetched : this.#ahead).take(skip, take)
    if (early === undefined) {
      // What was asked for behind the first window was a guess.
      if (this.#ahead.size > 0 && this.#reads > 1) this.#depth = nextAllowance(this.#depth, 'strained', concurrency)
      this.#forget(this.#ahead)
    } else if (!early.hasCome) this.#depth = nextAllowance(this.#depth, 'well', concurrency)
    this.#reads += 1
    return early?.answer
  }

  /** Nobody wants these windows any more: what comes is taken in for its items alone. */
  #forget(early: EarlyWindows<EarlyAnswer>): void {
    const { run, walkId } = this.#options
    for (const { skip, answer } of early.clear()) {
      const take = async (came: EarlyAnswer): Promise<void> => {
        if (came.kind !== 'parsed') return
        const shown = { handle: came.parsed.handle, skip, startedAt: came.startedAt }
        const { unknown } = await takeBeside(run, shown, walkId)
        this.#tookNew ||= unknown > 0
      }
      // Where no answer comes there is nothing to take in.
      this.#keep(answer.then(take, () => undefined))
    }
  }

  /** Why something that joins no chain could not be taken in is told by the next read, or at the end. */
  #keep(taken: Promise<void>): void {
    this.#late.note(taken)
    this.#kept = this.#kept.then(() => taken).catch(() => undefined)
  }
}
