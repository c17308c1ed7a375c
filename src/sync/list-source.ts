// The windows of a walk over the service: asks, has them parsed on the writing side, and reads ahead where the walk says
// what it will want next. What the walk has no use for is taken in for its items alone: whatever becomes of the walk, no
// task that an answer showed is thrown away.
import { MirrorError } from '../errors.ts'
import { allowanceOf, nextAllowance } from '../service/pacing.ts'
import { ageOfAnswer, type RequestOptions, type Service } from '../service/service.ts'
import type { ItemsWindow, ReadOptions, WindowAnswer, WindowSource } from '../walk/source.ts'
import type { AccountShown } from './identity.ts'
import { FEW, type WalkWindow } from './window-size.ts'
import type { Writer } from './writer/thread.ts'
import type { ParsedList } from './writer/writing.ts'

type EarlyAnswer = { askedAfter: number } & (
  | { kind: 'parsed'; parsed: ParsedList; startedAt: number; serviceDate: number | null; ageMs: number }
  | { kind: 'refused' | 'failed'; reason: string; message: string; status: number | null }
)

export interface ListSource extends WindowSource {
  /** Asks for a window that the walk will want first; what came, or why it failed. Its items are never lost. */
  askAhead(skip: number, take: number): Promise<string>
  /** Nothing is read ahead from this index on. */
  stopAhead(index: number): void
  /** Whether an answer that had to be fresh came from a cache all the same. */
  wasStale(): boolean
  /** Ends what is under way and takes in what came; call when the walk is over. */
  settle(): Promise<void>
}

interface ListSourceOptions {
  service: Service
  writer: Writer
  walkId: number
  /** Windows in flight at once, the wanted one included. */
  concurrency: number
  /** Is told what answers weigh, and tells how many bytes of them may be under way or waiting. */
  size: WalkWindow
  /** Nothing is read ahead from here on; null where the length of the list is not known. */
  total: number | null
  /** Epoch ms. */
  now(): number
  /** Called with every answer before any of it is taken in. */
  onParsed?(parsed: ParsedList): Promise<void>
  /** Called with every window before any of it is taken in: the place to refuse another account. */
  onShown?(shown: AccountShown): Promise<void>
}

type AskBounds = Pick<RequestOptions<ParsedList>, 'maxRetries' | 'maxBytes'>

/** Where the length of the list is not known; one more for each that the walk waited for, so that a round doubles it. */
const FIRST_DEPTH = 1

export function listSource(options: ListSourceOptions): ListSource {
  const { service, writer, walkId, concurrency, size } = options
  const ahead = new Map<string, Promise<EarlyAnswer>>()
  const prefetched = new Map<string, Promise<EarlyAnswer>>()
  const over = new AbortController()
  let keeping: { error: unknown } | null = null
  let last = options.total
  let reads = 0
  /** Answers that the walk was given. */
  let given = 0
  let wasStale = false
  /** Where windows lie if the first one comes as long as it was asked for. */
  let guess: { skip: number; stride: number } | null = null
  /** The most that an answer held, and where one that held less ended: nothing is read ahead behind it. */
  let largest = 0
  let seemingEnd = Number.POSITIVE_INFINITY
  /** Windows read ahead that have come, and how many may: more would only take memory. */
  const come = new Set<string>()
  const mostCome = Math.max(4, Math.floor(concurrency * 0.75))
  /** How many windows are read ahead: more while the walk waits for them, fewer where it wants others: the list moves. */
  let depth = allowanceOf(options.total === null ? FIRST_DEPTH : concurrency, concurrency)

  async function decode(raw: Uint8Array<ArrayBuffer>): Promise<ParsedList> {
    const parsed = await writer.parseList(raw)
    if (parsed.hasPayload) await options.onParsed?.(parsed)
    return parsed
  }

  function discard({ handle }: ParsedList): void {
    // Whatever is wrong will be wrong for the window that is wanted, too.
    writer.dropWindow(handle).catch(() => undefined)
  }

  /** Takes in what joins no chain, once it has been shown. What fails is told by the next read. */
  async function keep(handle: number, skip: number, startedAt: number, isShown: boolean): Promise<void> {
    try {
      if (!isShown) {
        const { ids, known, others } = await writer.view(handle, walkId)
        await options.onShown?.({ known, others, unknown: ids.length - known })
      }
      await writer.takeIn({ handle, walkId: null, skip, readAt: startedAt, now: options.now() })
    } catch (error) {
      keeping ??= { error }
    }
  }

  async function ask(skip: number, take: number, bounds: AskBounds = {}): Promise<EarlyAnswer> {
    const { signal } = over
    const askedAfter = given
    const answer = await service.list({ skip, take }, decode, { signal, discard, ...bounds })
    if (answer.kind === 'ok') {
      const { value: parsed, startedAt, serviceDate } = answer
      const { count } = parsed
      // A look at a few says little of a window.
      if (take >= Math.min(FEW, size.window)) size.saw(count, answer.bytes)
      if (count < Math.min(take, largest)) seemingEnd = Math.min(seemingEnd, skip + count)
      largest = Math.max(largest, count)
      const ageMs = ageOfAnswer(answer)
      return { kind: 'parsed', parsed, startedAt, serviceDate, ageMs, askedAfter: ageMs > 0 ? 0 : askedAfter }
    }
    const { message } = answer
    if (answer.kind === 'failed' && answer.reason === 'too-large' && bounds.maxBytes === undefined) size.failed(take)
    if (answer.kind === 'refused')
      return { kind: 'refused', reason: 'status', message, status: answer.httpStatus, askedAfter }
    return { kind: 'failed', reason: answer.reason, message, status: answer.httpStatus, askedAfter }
  }

  function askEarly(early: Map<string, Promise<EarlyAnswer>>, key: string, skip: number, take: number): void {
    const asked = ask(skip, take, { maxBytes: size.maxBytesAhead(take) })
    const note = () => {
      if (early.get(key) === asked) come.add(key)
    }
    // Read later, or forgotten: never unhandled.
    asked.then(note, note)
    early.set(key, asked)
  }

  function forget(early: Map<string, Promise<EarlyAnswer>>): void {
    for (const [key, asked] of early) {
      come.delete(key)
      const skip = Number.parseInt(key, 10)
      asked
        .then((answer) =>
          answer.kind === 'parsed' ? keep(answer.parsed.handle, skip, answer.startedAt, false) : undefined,
        )
        // Whatever is wrong will be wrong for the window that is wanted, too.
        .catch(() => undefined)
    }
    early.clear()
  }

  /** What was asked for ahead, where it will do. Where the walk wants something else, what was read ahead is stale. */
  function takeEarly(key: string, fresh: boolean): Promise<EarlyAnswer> | undefined {
    const early = fresh ? prefetched : ahead
    const asked = early.get(key)
    if (asked === undefined) {
      // What was asked for behind the first window was a guess.
      if (ahead.size > 0 && reads > 1) depth = nextAllowance(depth, 'strained', concurrency)
      forget(ahead)
    } else {
      if (!come.delete(key)) depth = nextAllowance(depth, 'well', concurrency)
      early.delete(key)
    }
    reads += 1
    return asked
  }

  function readAhead(skip: number, stride: number, take: number): void {
    // Beside the one that the walk has in hand.
    const most = Math.min(Math.floor(depth.present), Math.max(1, size.fitting(take) - 1))
    if (skip > seemingEnd) seemingEnd = Number.POSITIVE_INFINITY
    for (let step = 0; step < most; step += 1) {
      const place = skip + step * stride
      if (place > seemingEnd || (last !== null && place > last)) break
      const key = `${place}:${take}`
      if (ahead.has(key)) continue
      if (ahead.size >= most || come.size >= mostCome) break
      askEarly(ahead, key, place, take)
    }
  }

  return {
    async askAhead(skip, take) {
      askEarly(ahead, `${skip}:${take}`, skip, take)
      try {
        const asked = await (ahead.get(`${skip}:${take}`) as Promise<EarlyAnswer>)
        return asked.kind === 'parsed' ? 'parsed' : asked.reason
      } catch {
        // Told where the walk reads it.
        return 'failed'
      }
    },

    stopAhead(index) {
      last = index
    },

    wasStale: () => wasStale,

    async read(skip: number, take: number, { fresh = false, maxRetries }: ReadOptions = {}): Promise<WindowAnswer> {
      if (keeping !== null) throw keeping.error
      const bounds = maxRetries === undefined ? {} : { maxRetries }
      const early = takeEarly(`${skip}:${take}`, fresh)
      let answer = await (early ?? ask(skip, take, bounds))
      // Too large for one of many need not be too large for the one that is wanted.
      if (early !== undefined && answer.kind === 'failed' && answer.reason === 'too-large')
        answer = await ask(skip, take, bounds)
      given += 1
      const { askedAfter } = answer
      const number = given
      if (answer.kind !== 'parsed') return { ...answer, skip, asked: take, number }
      if (fresh && answer.ageMs > 0) wasStale = true
      const { handle, count } = answer.parsed
      // Not before it is known that the service answers at all, and that there is more; but while the window is looked at.
      if (reads === 1 && guess?.skip === skip && count === take) {
        readAhead(skip + guess.stride, guess.stride, take)
      }
      const { known, others, ...viewed } = await writer.view(handle, walkId)
      const { startedAt, serviceDate } = answer
      const window: ItemsWindow = {
        kind: 'items',
        skip,
        asked: take,
        number,
        askedAfter,
        handle,
        startedAt,
        serviceDate,
        ...viewed,
      }
      await options.onShown?.({ known, others, unknown: viewed.ids.length - known })
      return window
    },

    drop(window) {
      // What it showed again has been taken in a moment ago.
      if (window.met.includes(0)) void keep(window.handle, window.skip, window.startedAt, true)
      else void writer.dropWindow(window.handle).catch(() => undefined)
    },

    readAhead(skip, stride, take) {
      if (reads === 0) guess = { skip, stride }
      else readAhead(skip, stride, take)
    },

    prefetch(windows) {
      forget(prefetched)
      if (concurrency === 1) return
      for (const { skip, take } of windows) askEarly(prefetched, `${skip}:${take}`, skip, take)
    },

    async settle() {
      const open = [...ahead.values(), ...prefetched.values()]
      // They may take all their retries, which nobody is to wait for, and nobody wants a refused key sent again.
      over.abort(new MirrorError('interrupted', 'The walk is over'))
      forget(ahead)
      forget(prefetched)
      await Promise.allSettled(open)
    },
  }
}
