// The service over HTTP: asks, judges by retry-policy.ts, asks again, waits by pacing.ts. Knows nothing of tasks.
import pRetry from 'p-retry'
import { type ErrorFacts, isMirrorError, MirrorError } from '../errors.ts'
import { isAskable, readAddress } from './address.ts'
import { AttemptFailure, finalAnswer } from './attempt-failure.ts'
import { openConnections } from './connections.ts'
import { readEnvelope } from './decode/envelope.ts'
import { exchange, type HttpResponse, orAborted } from './exchange.ts'
import { type Came, dateWatch } from './freshness.ts'
import { type Auth, checkAuth, checkKey, credentialsFor, withoutKey } from './key.ts'
import { createPacing, type WaitReason } from './pacing.ts'
import type { ResponseFacts } from './response-facts.ts'
import { type AttemptOutcome, backOffMs, type Operation, outcomeOf, RETRY_POLICY } from './retry-policy.ts'
import type { Answer, Decode, Decoded, Ok, RequestOptions, Service } from './service.ts'

export interface ClientOptions {
  /** http or https; may have a path and a trailing slash. */
  baseUrl: string
  auth: Auth
  apiKey: string | null
  connectTimeoutMs: number
  /** One deadline per request, from dispatch to the last byte. */
  requestTimeoutMs: number
  /** Of a body after decompression. */
  maxResponseBytes: number
  /** Of a body with more than a few tasks: as many bytes of answers may be under way. `maxResponseBytes` where absent. */
  maxBytesInFlight?: number
  /** Most requests under way at once; fewer while the service is strained. */
  concurrency: number
  requestsPerSecond: number | null
  /** Retries after the first attempt of a request. */
  maxRetries: number
  /** A longer Retry-After throws `wait-too-long`. */
  maxRetryAfterMs: number
  /** URL of an HTTP proxy; none where null or absent. */
  proxy?: string | null
  userAgent: string
  /** Its abort rejects everything under way with `interrupted`. */
  signal: AbortSignal
  /** Epoch ms. */
  now(): number
  /** 0 to 1. */
  random(): number
  /** Resolves after `ms`, or rejects as soon as `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** A wait begins: until when, epoch ms, and why; for a back-off, what went wrong. */
  onWait?(untilMs: number, why: WaitReason, trouble: string | null): void
  /** Answers of an earlier run to the same service: what stands still since then is seen by them. */
  earlier?: readonly Came[]
  /** The first window that came. */
  onFirst?(came: Came): void
  /** Every answer as it begins: what its headers tell beside the answer. */
  onResponse?(facts: ResponseFacts): void
  /** What happened, in chosen scalars that hold no key and no body. */
  log?(event: 'retry' | 'no-answer', facts: ErrorFacts): void
}

/** Throws `config-invalid` for an address, key or proxy that cannot be used; nothing is sent before the first request. */
export function createClient(options: ClientOptions): Service {
  const { apiKey, auth, now } = options
  const address = readAddress(options.baseUrl)
  checkAuth(auth)
  if (apiKey !== null) checkKey(apiKey)

  // One signal for the end of the run and for `close`, with the reason that everybody is to get.
  const end = new AbortController()
  const stop = (why: string) => end.abort(new MirrorError('interrupted', why))
  const onAbort = () => stop('Stopped before the service had answered')
  if (options.signal.aborted) onAbort()
  else options.signal.addEventListener('abort', onAbort, { once: true })

  const { signal } = end
  /** What is wrong with the service just now; null once it answers again. */
  let trouble: string | null = null
  const pacing = createPacing({ ...options, signal, onWait: (until, why) => options.onWait?.(until, why, trouble) })
  const connections = openConnections({ ...options, origin: address.origin })
  const traffic = { requests: 0, retries: 0, bytes: 0, inFlight: 0, oldestMs: 0 }
  const standsStill = dateWatch(options.earlier)
  const mostOfMany = Math.min(options.maxResponseBytes, options.maxBytesInFlight ?? options.maxResponseBytes)
  let listed = 0

  const scrub = (text: string) => withoutKey(text, apiKey)
  const onResponse = ({ contentCoding, limits, ...facts }: ResponseFacts) =>
    options.onResponse?.({
      ...facts,
      contentCoding: contentCoding === null ? null : scrub(contentCoding),
      limits: limits.map(scrub),
    })

  /** The end of the run, or that of what `given` is about. One signal for each: they outlive thousands of requests. */
  const joined = new WeakMap<AbortSignal, AbortSignal>()
  function either(given: AbortSignal): AbortSignal {
    const known = joined.get(given) ?? AbortSignal.any([signal, given])
    joined.set(given, known)
    return known
  }

  /** A turn that comes when nobody wants it any more is passed on. */
  async function turn(wanted: AbortSignal, notBefore?: number): Promise<() => void> {
    wanted.throwIfAborted()
    const entered = pacing.enter(notBefore)
    try {
      return await orAborted(() => entered, wanted)
    } catch (error) {
      entered.then(
        (leave) => leave(),
        () => undefined,
      )
      throw error
    }
  }

  /** Asks until the table says it is over. */
  async function ask<T extends Decoded>(
    request: ServiceRequest,
    decode: Decode<T>,
    { maxRetries = options.maxRetries, signal: given, discard }: RequestOptions<T> = {},
  ): Promise<Answer<T>> {
    const { operation, path } = request
    const wanted: Wanted<T> = { signal: given === undefined ? signal : either(given), discard }
    let retryAt: number | undefined
    let attempts = 0
    try {
      return await pRetry(
        (attempt) => {
          attempts = attempt
          return askOnce(request, decode, wanted, retryAt)
        },
        {
          retries: maxRetries,
          // The wait is ours, on the shared clock: p-retry adds none.
          minTimeout: 0,
          maxTimeout: 0,
          shouldRetry: ({ error, retriesConsumed }) => {
            if (!(error instanceof AttemptFailure) || !RETRY_POLICY[error.outcome].retried) return false
            const delayMs = backOffMs(retriesConsumed, options.random())
            retryAt = now() + delayMs
            trouble = scrub(error.words)
            options.log?.('retry', { ...error.facts, operation, attempt: attempts, delayMs })
            return true
          },
        },
      )
    } catch (error) {
      if (!(error instanceof AttemptFailure)) throw error
      options.log?.('no-answer', { ...error.facts, operation, attempts })
      const { header, query } = credentialsFor(operation, auth, apiKey)
      const keySent = header !== null || query !== ''
      return finalAnswer(error, { operation, origin: address.origin, path, attempts, keySent, scrub })
    }
  }

  /** Sends once, when its turn has come. Throws `AttemptFailure` for everything but a usable answer. */
  async function askOnce<T extends Decoded>(
    request: ServiceRequest,
    decode: Decode<T>,
    { signal: wanted, discard }: Wanted<T>,
    retryAt?: number,
  ): Promise<Ok<T>> {
    const leave = await turn(wanted, retryAt)
    const startedAt = now()
    const dispatcher = connections.current()
    const { wasConnecting } = connections
    const { header, query } = credentialsFor(request.operation, auth, apiKey)
    traffic.requests += 1
    if (retryAt !== undefined) traffic.retries += 1
    traffic.inFlight += 1
    try {
      const question = {
        origin: address.origin,
        path: request.path + query,
        body: request.body,
        credential: header,
        userAgent: options.userAgent,
      }
      const reply = await exchange(question, {
        ...options,
        maxResponseBytes: request.maxBytes,
        ...{ onResponse, dispatcher, wasConnecting, signal: wanted },
      })
      // The network is free while a success is decoded; anything else is learned from first.
      if (isSuccess(reply)) leave()
      const answer = await judged(request, reply, { decode, discard }, startedAt)
      pacing.heard('well', startedAt)
      trouble = null
      return answer
    } catch (error) {
      if (error instanceof AttemptFailure) learn(error, startedAt, () => connections.suspect(dispatcher))
      throw error
    } finally {
      traffic.inFlight -= 1
      leave()
    }
  }

  async function judged<T extends Decoded>(
    { operation, path, body: asked }: ServiceRequest,
    reply: HttpResponse,
    { decode, discard }: { decode: Decode<T>; discard: Wanted<T>['discard'] },
    startedAt: number,
  ): Promise<Ok<T>> {
    const { httpStatus, serviceDate, locationHost, retryAfterMs, receivedAt } = reply
    // Taken now: decoding may hand the buffer to another thread.
    const bytes = reply.body?.byteLength ?? 0
    traffic.bytes += bytes
    const question = `${operation} ${path} ${asked}`
    const came: Came = { question, serviceDate, bytes, startedAt, receivedAt }
    const ageMs = Math.max(reply.ageMs, standsStill(came))
    traffic.oldestMs = Math.max(traffic.oldestMs, ageMs)
    const age = ageMs === 0 ? {} : { ageMs }
    const success = isSuccess(reply)
    const read = success ? await decoded(reply, decode) : { body: 'none' as const, value: null }
    const { statusCode, message } = read.value ?? readEnvelope(success ? null : reply.body)
    const outcome = outcomeOf(operation, { httpStatus, statusCode, body: read.body })
    if (outcome === 'answered' && read.value !== null) {
      // A run may look at the end of the list before it reads the front.
      if (operation === 'list' && listed++ < FIRST_ANSWERS) options.onFirst?.(came)
      return { kind: 'ok', value: read.value, startedAt: startedAt - ageMs, serviceDate, bytes, ...age }
    }
    if (read.value !== null) discard?.(read.value)
    throw new AttemptFailure(outcome, UNUSABLE[outcome] ?? (message || `HTTP ${httpStatus}`), {
      httpStatus,
      statusCode,
      locationHost: locationHost === null ? null : scrub(locationHost),
      retryAfterMs,
      ...age,
    })
  }

  async function decoded<T extends Decoded>({ body }: HttpResponse, decode: Decode<T>) {
    if (body === null || body.byteLength === 0) return { body: 'none' as const, value: null }
    try {
      const value = await orAborted(() => decode(body), signal)
      return { body: value.hasPayload ? ('with-payload' as const) : ('without-payload' as const), value }
    } catch (error) {
      if (isMirrorError(error, 'body-invalid')) {
        const isTooMuch = error.facts.reason === 'too-many-items'
        return { body: isTooMuch ? ('too-much' as const) : ('not-json' as const), value: null }
      }
      throw error
    }
  }

  /** What one bad answer teaches about all requests. Throws `wait-too-long`. */
  function learn({ outcome, detail }: AttemptFailure, startedAt: number, suspect: () => void): void {
    const rule = RETRY_POLICY[outcome]
    if (rule.strained) pacing.heard('strained', startedAt)
    else if (rule.ends === 'refused') pacing.heard('well', startedAt)
    if (rule.suspect) suspect()
    if (rule.ends === 'status' && typeof detail.retryAfterMs === 'number') pacing.hold(detail.retryAfterMs)
  }

  return {
    list: ({ skip, take }, decode, given) => {
      const body = JSON.stringify({ take, skip })
      const mostWanted = Math.min(mostOfMany, given?.maxBytes ?? mostOfMany)
      const maxBytes = take > FEW_TASKS ? mostWanted : options.maxResponseBytes
      return ask({ operation: 'list', path: address.listPath, body, maxBytes }, decode, given)
    },

    get: async (id, decode, given) => {
      if (!isAskable(id)) {
        return { kind: 'refused', httpStatus: 0, statusCode: null, message: 'A path cannot carry this id' }
      }
      const maxBytes = options.maxResponseBytes
      return ask({ operation: 'get', path: address.taskPath(id), body: null, maxBytes }, decode, given)
    },

    traffic: () => ({ ...traffic, waitedMs: pacing.waitedMs(), allowed: pacing.concurrency() }),
    trouble: () => trouble,

    close: async () => {
      options.signal.removeEventListener('abort', onAbort)
      stop('The connection to the service is closed')
      await connections.destroy()
    },
  }
}

/** So many may be heavier together than what may be under way: a heavy task has to be seen beside its neighbours. */
const FEW_TASKS = 16

/** Answers of the list by which the next run sees a Date that stands still. */
const FIRST_ANSWERS = 4

interface ServiceRequest {
  operation: Operation
  /** Without the query that may carry the key. */
  path: string
  /** JSON text; null where there is none. */
  body: string | null
  /** Of the answer's body after decompression. */
  maxBytes: number
}

interface Wanted<T> {
  /** Its abort: not wanted any more. */
  signal: AbortSignal
  discard: ((value: T) => void) | undefined
}

/** A success that cannot be used: what the service says of it, such as "OK", would mislead. */
const UNUSABLE: Partial<Record<AttemptOutcome, string>> = {
  empty: 'an answer without a body',
  'not-json': 'a body that is no JSON object',
  'no-payload': 'a success without items',
  'too-large': 'an answer with more items than can be taken in at once',
}

function isSuccess({ httpStatus }: HttpResponse): boolean {
  return httpStatus >= 200 && httpStatus < 300
}
