// Asks for `probe`: with and without the key, within a bound on requests, and keeps what every answer shows beside its
// own question: order, clock, compression, limits. Judges nothing.
import { createHash } from 'node:crypto'
import { isMirrorError, type MirrorError } from '../errors.ts'
import type { Noticed } from '../service/noticed.ts'
import type { Answer, Decoded, Ok, Service, Traffic } from '../service/service.ts'
import { type Detail, type Page, type PageItem, readDetail, readPage } from '../service/wire.ts'
import type { Moment } from '../task.ts'
import { breakStretch, noEvidence, type OrderEvidence, observe } from '../walk/order.ts'
import { OutOfRequests, type Pager, type Seen } from '../walk/paging.ts'

/** An answer, or that the service wants a key, or another one. */
export type Reply<T> =
  | Answer<T>
  | { kind: 'key-refused'; httpStatus: number | null; message: string; error: MirrorError }

export interface AskOptions {
  withoutKey?: boolean
}

/** What answers show whatever was asked. */
export interface Aside {
  order: OrderEvidence
  windows: number
  /** The service's clock less this machine's, ms, one per answer with a Date header. */
  skews: number[]
  /** Successful answers. */
  answers: number
  codings: Set<string>
  limits: Set<string>
}

export interface Asker extends Pager {
  aside: Aside
  /** The first answer to a window at 0; null before there is one. */
  first(): Page | null
  list(skip: number, take: number, options?: AskOptions): Promise<Reply<Page>>
  get(id: string, options?: AskOptions): Promise<Reply<Detail>>
  /** Hands on what a header told; for `onNotice` of both clients. */
  notice(noticed: Noticed): void
  traffic(): Traffic
}

export interface AskerOptions {
  service: Service
  /** A client without the key; the same as `service` where there is no key. */
  keyless: Service
  /** Requests that both may send together, retries included. */
  most: number
  /** Epoch ms. */
  now(): number
}

export function openAsker({ service, keyless, most, now }: AskerOptions): Asker {
  const aside: Aside = {
    order: noEvidence(),
    windows: 0,
    skews: [],
    answers: 0,
    codings: new Set(),
    limits: new Set(),
  }
  let first: Page | null = null

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
  ): Promise<Reply<T>> {
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

  const list = (skip: number, take: number, options: AskOptions = {}) =>
    ask(options, (client, retries) => client.list({ skip, take }, async (raw) => readPage(raw), retries))

  /** With the key that the run has: what refuses it ends the run. */
  async function read(skip: number, take: number): Promise<Seen> {
    const reply = await list(skip, take)
    if (reply.kind === 'key-refused') throw reply.error
    if (reply.kind !== 'ok') return { kind: reply.kind, status: reply.httpStatus, message: reply.message }
    if (skip === 0) first ??= reply.value
    const { ids, moments } = viewOf(reply.value)
    breakStretch(aside.order)
    observe(aside.order, ids, moments, 0)
    aside.windows += 1
    return { kind: 'items', ids, moments, bytes: reply.bytes }
  }

  return {
    aside,
    traffic,
    list,
    read,
    first: () => first,
    get: (id, options = {}) =>
      ask(options, (client, retries) => client.get(id, async (raw) => readDetail(raw), retries)),

    notice({ contentCoding, limits }) {
      if (contentCoding !== null) aside.codings.add(contentCoding)
      for (const limit of limits) if (aside.limits.size < 20) aside.limits.add(limit)
    },
  }
}

/** An item without a usable id gets one that no id can equal. */
export function viewOf({ items }: Page): { ids: string[]; moments: Moment[] } {
  const idOf = (item: PageItem): string =>
    item.kind === 'task' ? item.task.id : `\u0000${createHash('sha256').update(item.raw).digest('base64')}`
  const momentOf = (item: PageItem): Moment => {
    const created = item.kind === 'task' ? item.task.createdAt : item.createdAt
    return typeof created === 'number' && Number.isSafeInteger(created) ? created : null
  }
  return { ids: items.map(idOf), moments: items.map(momentOf) }
}
