// Asks for `probe`: with and without the key, within a bound on requests, and keeps what every answer shows beside its
// own question: order, clock, compression, limits. What it was answered with is read by the writer's thread: no content
// holds up this one. Judges nothing.
import { isMirrorError, type MirrorError } from '../../errors.ts'
import type { ResponseFacts } from '../../service/response-facts.ts'
import type { Answer, Decoded, Ok, Service, Traffic, Window } from '../../service/service.ts'
import { OutOfRequests, type Pager, type Seen } from '../../walk/measure/paging.ts'
import { breakStretch, noEvidence, observe } from '../../walk/order.ts'
import type { ParsedDetail } from '../writer/details-intake.ts'
import type { Writer } from '../writer/thread.ts'
import type { ParsedList } from '../writer/writing.ts'
import { noTimeframes, noteTimeframes } from './timeframe.ts'

/** An answer, or that the service wants a key, or another one. */
export type ProbeAnswer<T> =
  | Answer<T>
  | { kind: 'key-refused'; httpStatus: number | null; message: string; error: MirrorError }

interface AskOptions {
  withoutKey?: boolean
}

/** What answers show whatever was asked. */
export class Aside {
  readonly order = noEvidence()
  windows = 0
  readonly timeframes = noTimeframes()
  /** The service's clock less this machine's, ms, one per answer with a Date header. */
  readonly skews: number[] = []
  /** Successful answers. */
  answers = 0
  readonly codings = new Set<string>()
  readonly limits = new Set<string>()

  /** `now`: when it had come, epoch ms. */
  noteAnswer({ serviceDate, startedAt }: Ok<unknown>, now: number): void {
    this.answers += 1
    // A Date header tells whole seconds: on average it is half a second behind.
    if (serviceDate !== null) this.skews.push(serviceDate + 500 - (startedAt + now) / 2)
  }

  noteWindow({ ids, moments }: ParsedList): void {
    breakStretch(this.order)
    observe(this.order, ids, moments, 0)
    this.windows += 1
  }

  /** What headers told; for `onResponse` of both clients. */
  noteResponse({ contentCoding, limits }: ResponseFacts): void {
    if (contentCoding !== null) this.codings.add(contentCoding)
    for (const limit of limits) if (this.limits.size < 20) this.limits.add(limit)
  }
}

interface AskerOptions {
  service: Service
  /** A client without the key; the same as `service` where there is no key. */
  keyless: Service
  writer: Pick<
    Writer,
    'parseList' | 'dropWindow' | 'taskMoments' | 'noteListed' | 'parseDetail' | 'dropDetail' | 'noteDetail'
  >
  /** Requests that both may send together, retries included. */
  most: number
  /** Epoch ms. */
  now(): number
}

/** How one request is sent: `discard` is given what an answer held that is not used. */
type Send<T> = (client: Service, options: { maxRetries: number; discard(parsed: T): void }) => Promise<Answer<T>>

export class Asker implements Pager {
  readonly aside = new Aside()
  readonly #options: AskerOptions
  #first: ParsedList | null = null

  constructor(options: AskerOptions) {
    this.#options = options
  }

  /** The first answer to a window at 0; null before there is one. Held by the writer until it is dropped there. */
  first(): ParsedList | null {
    return this.#first
  }

  /** With the key that the run has: what refuses it ends the run. */
  async read(skip: number, take: number): Promise<Seen> {
    const isFirst = skip === 0 && this.#first === null
    const reply = await this.#list({ skip, take }, {}, async ({ handle, ids }) => {
      noteTimeframes(this.aside.timeframes, ids, await this.#options.writer.taskMoments(handle))
      return isFirst
    })
    if (reply.kind === 'key-refused') throw reply.error
    if (reply.kind !== 'ok') return { kind: reply.kind, status: reply.httpStatus, message: reply.message }
    if (isFirst) this.#first = reply.value
    this.aside.noteWindow(reply.value)
    const { ids, moments } = reply.value
    return { kind: 'items', ids, moments, bytes: reply.bytes }
  }

  list(skip: number, take: number, options: AskOptions = {}): Promise<ProbeAnswer<ParsedList>> {
    return this.#list({ skip, take }, options, async () => false)
  }

  get(id: string, options: AskOptions = {}): Promise<ProbeAnswer<Decoded>> {
    return this.#get(id, options, async () => undefined)
  }

  /** Asks for a task that the writer compares: whether it differs from the list; null where it is not given. */
  async compare(id: string): Promise<boolean | null> {
    let differs: boolean | null = null
    await this.#get(id, {}, async ({ handle, taskId }) => {
      if (taskId === id) differs = await this.#options.writer.noteDetail(id, handle)
    })
    return differs
  }

  /** Has the tasks `ids`, which the writer compares, read from the start of the list again; those that were listed. */
  async compareAgain(ids: string[], take: number): Promise<string[]> {
    let listed: string[] = []
    await this.#list({ skip: 0, take }, {}, async ({ handle }) => {
      listed = await this.#options.writer.noteListed(handle, ids)
      return false
    })
    return listed
  }

  /** Of both clients. */
  traffic(): Traffic {
    const { service, keyless } = this.#options
    const one = service.traffic()
    if (keyless === service) return one
    const other = keyless.traffic()
    return {
      requests: one.requests + other.requests,
      retries: one.retries + other.retries,
      bytes: one.bytes + other.bytes,
      waitedMs: one.waitedMs + other.waitedMs,
      inFlight: one.inFlight + other.inFlight,
    }
  }

  /** `use` has the answer before the writer forgets it; true: it is not to. */
  async #list(
    window: Window,
    options: AskOptions,
    use: (parsed: ParsedList) => Promise<boolean>,
  ): Promise<ProbeAnswer<ParsedList>> {
    const { writer } = this.#options
    const drop = ({ handle }: ParsedList): Promise<void> => writer.dropWindow(handle)
    const reply = await this.#ask(options, drop, (client, given) =>
      client.list(window, (raw) => writer.parseList(raw), given),
    )
    if (reply.kind === 'ok' && !(await use(reply.value))) await drop(reply.value)
    return reply
  }

  async #get(
    id: string,
    options: AskOptions,
    use: (parsed: ParsedDetail) => Promise<void>,
  ): Promise<ProbeAnswer<Decoded>> {
    const { writer } = this.#options
    const drop = ({ handle }: ParsedDetail): Promise<void> => writer.dropDetail(handle)
    const reply = await this.#ask(options, drop, (client, given) =>
      client.get(id, (raw) => writer.parseDetail(raw), given),
    )
    if (reply.kind === 'ok') {
      await use(reply.value)
      await drop(reply.value)
    }
    return reply
  }

  async #ask<T extends Decoded>(
    { withoutKey = false }: AskOptions,
    drop: (parsed: T) => Promise<void>,
    send: Send<T>,
  ): Promise<ProbeAnswer<T>> {
    const { service, keyless, most, now } = this.#options
    const left = most - this.traffic().requests
    if (left < 1) throw new OutOfRequests()
    // Without a first answer there is no probe; later ones are worth less.
    const maxRetries = Math.min(this.aside.answers === 0 ? 3 : 1, left - 1)
    const discard = (parsed: T): void => void drop(parsed).catch(() => undefined)
    try {
      const answer = await send(withoutKey ? keyless : service, { maxRetries, discard })
      if (answer.kind === 'ok') this.aside.noteAnswer(answer, now())
      return answer
    } catch (error) {
      if (!isMirrorError(error, 'key-refused')) throw error
      const { httpStatus } = error.facts
      return { kind: 'key-refused', httpStatus: Number(httpStatus) || null, message: error.message, error }
    }
  }
}
