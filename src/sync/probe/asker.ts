// Asks for `probe`: with and without the key, within a bound on requests, and keeps what every answer shows beside its
// own question: order, clock, compression, limits. What it was answered with is read by the writer's thread: no content
// holds up this one. Judges nothing.
import { isMirrorError, type MirrorError } from '../../errors.ts'
import type { ResponseFacts } from '../../service/response-facts.ts'
import type { Answer, Decoded, Ok, Service, Traffic } from '../../service/service.ts'
import { OutOfRequests, type Pager, type Seen } from '../../walk/measure/paging.ts'
import { breakStretch, noEvidence, type OrderEvidence, observe } from '../../walk/order.ts'
import type { ParsedDetail } from '../writer/details-intake.ts'
import type { Writer } from '../writer/thread.ts'
import type { ParsedList } from '../writer/writing.ts'
import { noTimeframes, noteTimeframes, type TimeframeEvidence } from './timeframe.ts'

/** An answer, or that the service wants a key, or another one. */
export type ProbeAnswer<T> =
  | Answer<T>
  | { kind: 'key-refused'; httpStatus: number | null; message: string; error: MirrorError }

interface AskOptions {
  withoutKey?: boolean
}

/** What answers show whatever was asked. */
export interface Aside {
  order: OrderEvidence
  windows: number
  timeframes: TimeframeEvidence
  /** The service's clock less this machine's, ms, one per answer with a Date header. */
  skews: number[]
  /** Successful answers. */
  answers: number
  codings: Set<string>
  limits: Set<string>
}

export interface Asker extends Pager {
  aside: Aside
  /** The first answer to a window at 0; null before there is one. Held by the writer until it is dropped there. */
  first(): ParsedList | null
  list(skip: number, take: number, options?: AskOptions): Promise<ProbeAnswer<ParsedList>>
  get(id: string, options?: AskOptions): Promise<ProbeAnswer<Decoded>>
  /** Asks for a task that the writer compares: whether it differs from the list; null where it is not given. */
  compare(id: string): Promise<boolean | null>
  /** Has the tasks `ids`, which the writer compares, read from the start of the list again; those that were listed. */
  compareAgain(ids: string[], take: number): Promise<string[]>
  /** Hands on what a header told; for `onNotice` of both clients. */
  noteResponse(facts: ResponseFacts): void
  traffic(): Traffic
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

export function openAsker({ service, keyless, writer, most, now }: AskerOptions): Asker {
  const aside: Aside = {
    order: noEvidence(),
    windows: 0,
    timeframes: noTimeframes(),
    skews: [],
    answers: 0,
    codings: new Set(),
    limits: new Set(),
  }
  let first: ParsedList | null = null

  function traffic(): Traffic {
    const [one, other] = [service.traffic(), keyless === service ? null : keyless.traffic()]
    if (other === null) return one
    return {
      requests: one.requests + other.requests,
      retries: one.retries + other.retries,
      bytes: one.bytes + other.bytes,
      waitedMs: one.waitedMs + other.waitedMs,
      inFlight: one.inFlight + other.inFlight,
    }
  }

  async function ask<T extends Decoded>(
    { withoutKey = false }: AskOptions,
    send: (client: Service, retries: { maxRetries: number }) => Promise<Answer<T>>,
  ): Promise<ProbeAnswer<T>> {
    const left = most - traffic().requests
    if (left < 1) throw new OutOfRequests()
    // Without a first answer there is no probe; later ones are worth less.
    const maxRetries = Math.min(aside.answers === 0 ? 3 : 1, left - 1)
    try {
      const answer = await send(withoutKey ? keyless : service, { maxRetries })
      if (answer.kind === 'ok') observeAnswer(answer)
      return answer
    } catch (error) {
      if (!isMirrorError(error, 'key-refused')) throw error
      const { httpStatus } = error.facts
      return { kind: 'key-refused', httpStatus: Number(httpStatus) || null, message: error.message, error }
    }
  }

  function observeAnswer({ serviceDate, startedAt }: Ok<unknown>): void {
    aside.answers += 1
    // A Date header tells whole seconds: on average it is half a second behind.
    if (serviceDate !== null) aside.skews.push(serviceDate + 500 - (startedAt + now()) / 2)
  }

  /** `use` has the answer before the writer forgets it; true: it is not to. */
  async function listFor(
    [skip, take]: readonly [number, number],
    options: AskOptions,
    use: (parsed: ParsedList) => Promise<boolean>,
  ): Promise<ProbeAnswer<ParsedList>> {
    const drop = ({ handle }: ParsedList): Promise<void> => writer.dropWindow(handle)
    const discard = (parsed: ParsedList): void => void drop(parsed).catch(() => undefined)
    const reply = await ask(options, (client, retries) =>
      client.list({ skip, take }, (raw) => writer.parseList(raw), { ...retries, discard }),
    )
    if (reply.kind === 'ok' && !(await use(reply.value))) await drop(reply.value)
    return reply
  }

  async function getFor(
    id: string,
    options: AskOptions,
    use: (parsed: ParsedDetail) => Promise<void>,
  ): Promise<ProbeAnswer<Decoded>> {
    const drop = ({ handle }: ParsedDetail): Promise<void> => writer.dropDetail(handle)
    const discard = (parsed: ParsedDetail): void => void drop(parsed).catch(() => undefined)
    const reply = await ask(options, (client, retries) =>
      client.get(id, (raw) => writer.parseDetail(raw), { ...retries, discard }),
    )
    if (reply.kind === 'ok') {
      await use(reply.value)
      await drop(reply.value)
    }
    return reply
  }

  /** With the key that the run has: what refuses it ends the run. */
  async function read(skip: number, take: number): Promise<Seen> {
    const isFirst = skip === 0 && first === null
    const reply = await listFor([skip, take], {}, async ({ handle, ids }) => {
      noteTimeframes(aside.timeframes, ids, await writer.taskMoments(handle))
      return isFirst
    })
    if (reply.kind === 'key-refused') throw reply.error
    if (reply.kind !== 'ok') return { kind: reply.kind, status: reply.httpStatus, message: reply.message }
    if (isFirst) first = reply.value
    const { ids, moments } = reply.value
    breakStretch(aside.order)
    observe(aside.order, ids, moments, 0)
    aside.windows += 1
    return { kind: 'items', ids, moments, bytes: reply.bytes }
  }

  return {
    aside,
    traffic,
    read,
    first: () => first,
    list: (skip, take, options = {}) => listFor([skip, take], options, async () => false),
    get: (id, options = {}) => getFor(id, options, async () => undefined),

    async compare(id) {
      let differs: boolean | null = null
      await getFor(id, {}, async ({ handle, taskId }) => {
        if (taskId === id) differs = await writer.noteDetail(id, handle)
      })
      return differs
    },

    async compareAgain(ids, take) {
      let listed: string[] = []
      await listFor([0, take], {}, async ({ handle }) => {
        listed = await writer.noteListed(handle, ids)
        return false
      })
      return listed
    },

    noteResponse({ contentCoding, limits }) {
      if (contentCoding !== null) aside.codings.add(contentCoding)
      for (const limit of limits) if (aside.limits.size < 20) aside.limits.add(limit)
    },
  }
}
