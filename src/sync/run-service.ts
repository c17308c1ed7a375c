// The service as a run asks it. The writer's side reads the answers, so that no content holds up this thread, and holds
// what they show until it is taken in or dropped. What requests cost, time and bytes by operation, is watched.
import type { Answer, Ok, RequestOptions, Service, Window } from '../service/service.ts'
import type { ParsedDetail } from './writer/details-intake.ts'
import type { Writer } from './writer/thread.ts'
import type { ParsedAnswer, ParsedList } from './writer/writing.ts'

interface ObservedCosts {
  /** Median of the last look-ups by id that brought something, ms; null where there was none. */
  requestMs: number | null
  /** Mean size of their answers, bytes. */
  detailBytes: number
  /** Items that windows brought, and what those windows took in all: ms and bytes. */
  windows: { count: number; items: number; ms: number; bytes: number }
}

export interface AskOptions extends Pick<RequestOptions<never>, 'maxRetries' | 'maxBytes' | 'signal'> {
  /** At a few items, while windows come: its answer waits for none of theirs. */
  isLook?: boolean
}

export interface RunService extends Pick<Service, 'traffic' | 'trouble' | 'close'> {
  list(window: Window, options?: AskOptions): Promise<Answer<ParsedList>>
  get(id: string, options?: AskOptions): Promise<Answer<ParsedDetail>>
  /** As the answers so far have shown. */
  costs(): ObservedCosts
}

const LAST = 32

/** `now`: epoch ms. */
export function runService(service: Service, writer: Writer, now: () => number): RunService {
  const lookUps: number[] = []
  const details = { count: 0, bytes: 0 }
  const windows = { count: 0, items: 0, ms: 0, bytes: 0 }

  /** `note` is told what took how long, from sending a request to having its answer read; `drop` what nobody gets. */
  async function ask<T extends ParsedAnswer>(
    send: (discard: (parsed: T) => void) => Promise<Answer<T>>,
    drop: (handle: number) => Promise<unknown>,
    note: (answer: Ok<T>, ms: number) => void,
  ): Promise<Answer<T>> {
    const unused: number[] = []
    try {
      const answer = await send(({ handle }) => unused.push(handle))
      // What comes from a cache, or brings nothing, says nothing of the service.
      if (answer.kind === 'ok' && (answer.ageMs ?? 0) === 0 && answer.value.hasPayload)
        note(answer, Math.max(0, now() - answer.startedAt))
      return answer
    } finally {
      for (const handle of unused) await drop(handle)
    }
  }

  return {
    list: (window, { isLook = false, ...options } = {}) =>
      ask<ParsedList>(
        (discard) => service.list(window, (raw) => writer.parseList(raw, isLook), { ...options, discard }),
        (handle) => writer.dropWindow(handle),
        ({ value, bytes }, ms) => {
          windows.count += 1
          windows.items += value.count
          windows.ms += ms
          windows.bytes += bytes
        },
      ),
    get: (id, options) =>
      ask<ParsedDetail>(
        (discard) => service.get(id, (raw) => writer.parseDetail(raw), { ...options, discard }),
        (handle) => writer.dropDetail(handle),
        ({ bytes }, ms) => {
          lookUps.push(ms)
          if (lookUps.length > LAST) lookUps.shift()
          details.count += 1
          details.bytes += bytes
        },
      ),
    traffic: () => service.traffic(),
    trouble: () => service.trouble(),
    close: () => service.close(),
    costs() {
      const sorted = lookUps.toSorted((a, b) => a - b)
      return {
        requestMs: sorted[Math.floor(sorted.length / 2)] ?? null,
        detailBytes: details.count === 0 ? 0 : details.bytes / details.count,
        windows: { ...windows },
      }
    },
  }
}
