// The windows of a walk over the service: asks, has them parsed on the writing side, and reads ahead where the walk says
// what it will want next. What was read ahead and is not wanted is dropped.
import type { Service } from '../service/service.ts'
import type { ItemsWindow, ReadOptions, WindowAnswer, WindowSource } from '../walk/source.ts'
import type { Writer } from './thread.ts'
import type { ParsedAnswer } from './writing.ts'

type Asked =
  | { kind: 'parsed'; parsed: ParsedAnswer; startedAt: number; serviceDate: number | null }
  | { kind: 'refused' | 'failed'; reason: string; message: string; status: number | null }

export interface ListSource extends WindowSource {
  /** Drops everything read ahead; call when the walk is over. */
  settle(): Promise<void>
}

export interface ListSourceOptions {
  service: Service
  writer: Writer
  walkId: number
  /** Windows in flight at once, the wanted one included. */
  concurrency: number
  /** Nothing is read ahead from here on; null where the length of the list is not known. */
  total: number | null
  /** Called with the first window before anything is taken in: the place to refuse another account. */
  onFirst?(window: ItemsWindow, known: number): Promise<void>
}

/** A short walk has no use for more. */
const FIRST_DEPTH = 4

export function listSource(options: ListSourceOptions): ListSource {
  const { service, writer, walkId } = options
  const ahead = new Map<string, Promise<Asked>>()
  let first = true
  /** Windows read ahead that have come, and how many may: more would only take memory. */
  const come = new Set<string>()
  /** How many windows are read ahead: more while the walk waits for them, fewer where it wants others: the list moves. */
  let depth = Math.min(FIRST_DEPTH, options.concurrency)
  const mostWaiting = Math.max(4, options.concurrency / 2)

  const decode = (raw: Uint8Array<ArrayBuffer>): Promise<ParsedAnswer> => writer.parseList(raw)

  async function ask(skip: number, take: number, maxRetries?: number): Promise<Asked> {
    const answer = await service.list({ skip, take }, decode, maxRetries === undefined ? {} : { maxRetries })
    if (answer.kind === 'ok') {
      return { kind: 'parsed', parsed: answer.value, startedAt: answer.startedAt, serviceDate: answer.serviceDate }
    }
    const { message } = answer
    if (answer.kind === 'refused') return { kind: 'refused', reason: 'status', message, status: answer.httpStatus }
    return { kind: 'failed', reason: answer.reason, message, status: answer.httpStatus }
  }

  function forget(): void {
    for (const asked of ahead.values()) {
      asked
        .then((answer) => (answer.kind === 'parsed' ? writer.dropWindow(answer.parsed.handle) : undefined))
        // Whatever is wrong will be wrong for the window that is wanted, too.
        .catch(() => undefined)
    }
    ahead.clear()
    come.clear()
  }

  return {
    async read(skip: number, take: number, { fresh = false, maxRetries }: ReadOptions = {}): Promise<WindowAnswer> {
      const key = `${skip}:${take}`
      const early = fresh ? undefined : ahead.get(key)
      if (early !== undefined) {
        if (!come.has(key)) depth = Math.min(options.concurrency, depth + 1 / depth)
      } else {
        if (ahead.size > 0) depth = Math.max(1, depth / 2)
        forget()
      }
      const answer = await (early ?? ask(skip, take, maxRetries))
      if (early !== undefined && ahead.delete(key)) come.delete(key)
      if (answer.kind !== 'parsed') return { ...answer, skip, asked: take }
      const { handle } = answer.parsed
      const { known, ...viewed } = await writer.view(handle, walkId)
      const { startedAt, serviceDate } = answer
      const window: ItemsWindow = { kind: 'items', skip, asked: take, handle, startedAt, serviceDate, ...viewed }
      if (first) {
        first = false
        await options.onFirst?.(window, known)
      }
      return window
    },

    drop(window) {
      void writer.dropWindow(window.handle).catch(() => undefined)
    },

    expect(skip, stride, take) {
      for (let step = 0; step < Math.floor(depth); step += 1) {
        const place = skip + step * stride
        if (options.total !== null && place > options.total) break
        const key = `${place}:${take}`
        if (ahead.has(key)) continue
        if (ahead.size >= Math.floor(depth) || come.size >= mostWaiting) break
        const asked = ask(place, take)
        const note = () => {
          if (ahead.get(key) === asked) come.add(key)
        }
        // Read later, or forgotten: never unhandled.
        asked.then(note, note)
        ahead.set(key, asked)
      }
    },

    async settle() {
      const open = [...ahead.values()]
      forget()
      await Promise.allSettled(open)
    },
  }
}
