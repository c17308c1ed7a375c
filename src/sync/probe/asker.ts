// Asks for `probe`, with and without the key, within a bound on requests, and keeps what every answer shows beside its
// own question: order, clock, compression, limits. Judges nothing.
import { skewOf } from '../../clock.ts'
import { isMirrorError, type MirrorError } from '../../errors.ts'
import type { ResponseInfo } from '../../service/response-info.ts'
import type { Answer, Decoded, Ok, Service, Traffic } from '../../service/service.ts'
import { OutOfRequests, type Pager, type Seen } from '../../walk/measure/paging.ts'
import { breakStretch, noOrderSeen, observe } from '../../walk/order.ts'
import type { Run } from '../context.ts'
import { type AskOptions, type RunService, runService } from '../run-service.ts'
import type { ParsedDetail } from '../writer/details-intake.ts'
import type { ParsedAnswer, ParsedList } from '../writer/writing.ts'
import { noTimeframes, noteTimeframes } from './timeframe.ts'

/** An answer; or the service wants a key, or another one. */
export type ProbeAnswer<T> =
  | Answer<T>
  | { kind: 'key-refused'; httpStatus: number | null; message: string; error: MirrorError }

interface Question<T> {
  withoutKey?: boolean
  /** Gets the answer before the writer forgets it; true: the writer is to keep it. */
  use?(parsed: T): Promise<boolean>
}

/** What answers show, whatever was asked. */
export class Observations {
  readonly order = noOrderSeen()
  windows = 0
  readonly timeframes = noTimeframes()
  /** The service's clock less this machine's, ms, one per answer with a Date header. */
  readonly skews: number[] = []
  /** Number of successful answers. */
  answers = 0
  readonly codings = new Set<string>()
  readonly limits = new Set<string>()

  /** `now`: when the answer had come, epoch ms. */
  noteAnswer({ serviceDate, startedAt }: Ok<unknown>, now: number): void {
    this.answers += 1
    if (serviceDate !== null) this.skews.push(skewOf(serviceDate, startedAt, now).aheadMs)
  }

  noteWindow({ ids, moments }: ParsedList): void {
    breakStretch(this.order)
    observe(this.order, ids, moments, 0)
    this.windows += 1
  }

  /** What headers told; for `onResponse` of both clients. */
  noteResponse({ contentCoding, limits }: ResponseInfo): void {
    if (contentCoding !== null) this.codings.add(contentCoding)
    for (const limit of limits) if (this.limits.size < 20) this.limits.add(limit)
  }
}

export class Asker implements Pager {
  readonly observed = new Observations()
  readonly #run: Run
  readonly #keyless: RunService
  readonly #most: number
  #first: ParsedList | null = null

  /** `most` requests may be sent, retries included. `keyless`: a client without the key; null where there is no key. */
  constructor(run: Run, most: number, keyless: Service | null = null) {
    this.#run = run
    this.#keyless = keyless === null ? run.service : runService(keyless, run.writer, run.now)
    this.#most = most
  }

  /** The first answer to a window at 0; null before there is one. The writer holds it until it is dropped. */
  first(): ParsedList | null {
    return this.#first
  }

  /** Asks with the run's key: an answer that refuses it ends the run. */
  async read(skip: number, take: number): Promise<Seen> {
    const isFirst = skip === 0 && this.#first === null
    const use = async ({ handle, ids }: ParsedList): Promise<boolean> => {
      noteTimeframes(this.observed.timeframes, ids, await this.#run.writer.taskMoments(handle))
      return isFirst
    }
    const reply = await this.list(skip, take, { use })
    if (reply.kind === 'key-refused') throw reply.error
    if (reply.kind !== 'ok') return { kind: reply.kind, status: reply.httpStatus, message: reply.message }
    if (isFirst) this.#first = reply.value
    this.observed.noteWindow(reply.value)
    const { ids, moments } = reply.value
    return { kind: 'items', ids, moments, bytes: reply.bytes }
  }

  list(skip: number, take: number, question: Question<ParsedList> = {}): Promise<ProbeAnswer<ParsedList>> {
    const drop = (handle: number) => this.#run.writer.dropWindow(handle)
    return this.#ask(question, (client, given) => client.list({ skip, take }, given), drop)
  }

  get(id: string, question: Question<ParsedDetail> = {}): Promise<ProbeAnswer<Decoded>> {
    const drop = (handle: number) => this.#run.writer.dropDetail(handle)
    return this.#ask(question, (client, given) => client.get(id, given), drop)
  }

  /** Asks for a task that the writer is comparing. Whether it differs from the list; null where it is not given. */
  async compare(id: string): Promise<boolean | null> {
    let differs: boolean | null = null
    const use = async ({ handle, taskId }: ParsedDetail): Promise<boolean> => {
      if (taskId === id) differs = await this.#run.writer.noteDetail(id, handle)
      return false
    }
    await this.get(id, { use })
    return differs
  }

  /** Reads the start of the list again for the tasks `ids`, which the writer is comparing; returns those listed. */
  async compareAgain(ids: string[], take: number): Promise<string[]> {
    let listed: string[] = []
    const use = async ({ handle }: ParsedList): Promise<boolean> => {
      listed = await this.#run.writer.noteListed(handle, ids)
      return false
    }
    await this.list(0, take, { use })
    return listed
  }

  /** Of both clients together. */
  traffic(): Traffic {
    const one = this.#run.service.traffic()
    if (this.#keyless === this.#run.service) return one
    const other = this.#keyless.traffic()
    return {
      requests: one.requests + other.requests,
      retries: one.retries + other.retries,
      bytes: one.bytes + other.bytes,
      waitedMs: one.waitedMs + other.waitedMs,
      inFlight: one.inFlight + other.inFlight,
    }
  }

  /** `drop`: has the writer forget what the answer held. */
  async #ask<T extends ParsedAnswer>(
    { withoutKey = false, use }: Question<T>,
    send: (client: RunService, options: AskOptions) => Promise<Answer<T>>,
    drop: (handle: number) => Promise<void>,
  ): Promise<ProbeAnswer<T>> {
    const { service, now } = this.#run
    const left = this.#most - this.traffic().requests
    if (left < 1) throw new OutOfRequests()
    // Without a first answer there is no probe; later answers are worth fewer retries.
    const maxRetries = Math.min(this.observed.answers === 0 ? 3 : 1, left - 1)
    try {
      const answer = await send(withoutKey ? this.#keyless : service, { maxRetries })
      if (answer.kind !== 'ok') return answer
      this.observed.noteAnswer(answer, now())
      if ((await use?.(answer.value)) !== true) await drop(answer.value.handle)
      return answer
    } catch (error) {
      if (!isMirrorError(error, 'key-refused')) throw error
      const { httpStatus } = error.facts
      return { kind: 'key-refused', httpStatus: Number(httpStatus) || null, message: error.message, error }
    }
  }
}
