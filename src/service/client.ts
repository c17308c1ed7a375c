// The service over HTTP: sends requests, retries by retry-policy.ts, waits by pacing.ts. Knows nothing of tasks.
import pRetry from 'p-retry'
import type { Dispatcher } from 'undici'
import type { Skew } from '../clock.ts'
import { type ErrorFacts, MirrorError } from '../errors.ts'
import { isAskable, readAddress } from './address.ts'
import { AnswerJudge, isSuccess, type JudgeOptions, type ServiceRequest, type Wanted } from './answer-judge.ts'
import { AttemptFailure, finalAnswer } from './attempt-failure.ts'
import { type ConnectionOptions, openConnections } from './connections.ts'
import { exchange, orAborted } from './exchange.ts'
import { type Auth, credentialsFor, keySent, withoutKey } from './key.ts'
import { Pacing, type PacingOptions, type WaitReason } from './pacing.ts'
import type { ResponseInfo } from './response-info.ts'
import { backOffMs, LIMIT_RETRIES, limitWaitMs, RETRY_POLICY } from './retry-policy.ts'
import type { Answer, Decode, Decoded, Ok, RequestOptions, Service, Traffic, Window } from './service.ts'

type PacingChoices = Omit<PacingOptions, 'onWait'>
type ConnectionChoices = Omit<ConnectionOptions, 'origin'>
type JudgeChoices = Pick<JudgeOptions, 'earlier' | 'onFirst'>

export interface ClientOptions extends PacingChoices, ConnectionChoices, JudgeChoices {
  /** http or https; may have a path and a trailing slash. */
  baseUrl: string
  auth: Auth
  apiKey: string | null
  /** One deadline per request, from dispatch to the last byte. */
  requestTimeoutMs: number
  /** Most bytes of a body, after decompression. */
  maxResponseBytes: number
  /** Most bytes of a body with more than a few tasks, as for all answers under way. `maxResponseBytes` where absent. */
  maxBytesInFlight?: number
  /** Retries after the first attempt of a request. */
  maxRetries: number
  userAgent: string
  /** A random number from 0 to 1. */
  random(): number
  /** Called when a wait begins: until when, epoch ms, and why; for a back-off, what went wrong. */
  onWait?(untilMs: number, why: WaitReason, trouble: string | null): void
  /** Called as each answer begins, with what its headers tell about the service. */
  onResponse?(facts: ResponseInfo): void
  /** Told of each event in chosen scalars that hold no key and no body. */
  log?(event: 'retry' | 'no-answer', facts: ErrorFacts): void
}

/** A window of so few tasks may exceed `maxBytesInFlight`: a heavy task must be readable with its neighbours. */
const FEW_TASKS = 16

/** Nothing is sent before the first request. */
export class Client implements Service {
  readonly #options: ClientOptions
  readonly #address: ReturnType<typeof readAddress>
  readonly #pacing: Pacing
  readonly #connections: ReturnType<typeof openConnections>
  readonly #judge: AnswerJudge
  readonly #traffic = {
    ...{ requests: 0, retries: 0, succeeded: 0, bytes: 0, inFlight: 0, oldestMs: 0 },
    skew: null as Skew | null,
  }
  /** Aborts at the end of the run or on `close`, with the reason that all waiting requests reject with. */
  readonly #end = new AbortController()
  readonly #onAbort = () => this.#stop('Stopped before the service had answered')
  /** For each caller's signal one that aborts with it or with `#end`; kept, because it serves thousands of requests. */
  readonly #joined = new WeakMap<AbortSignal, AbortSignal>()
  /** What is wrong with the service just now; null once it answers again. */
  #trouble: string | null = null

  /** Throws `config-invalid` for an unusable proxy. */
  constructor(options: ClientOptions) {
    const { signal } = this.#end
    this.#options = options
    this.#address = readAddress(options.baseUrl)
    if (options.signal.aborted) this.#onAbort()
    else options.signal.addEventListener('abort', this.#onAbort, { once: true })
    const onWait = (until: number, why: WaitReason) => options.onWait?.(until, why, this.#trouble)
    this.#pacing = new Pacing({ ...options, signal, onWait })
    this.#connections = openConnections({ ...options, origin: this.#address.origin })
    this.#judge = new AnswerJudge({ ...options, signal, scrub: this.#scrub, traffic: this.#traffic })
  }

  list<T extends Decoded>(
    { skip, take }: Window,
    decode: Decode<T>,
    given: RequestOptions<T> = {},
  ): Promise<Answer<T>> {
    const { maxResponseBytes, maxBytesInFlight = maxResponseBytes } = this.#options
    const mostOfMany = Math.min(maxResponseBytes, maxBytesInFlight, given.maxBytes ?? maxBytesInFlight)
    const maxBytes = take > FEW_TASKS ? mostOfMany : maxResponseBytes
    const body = JSON.stringify({ take, skip })
    return this.#ask({ operation: 'list', path: this.#address.listPath, body, maxBytes }, decode, given)
  }

  async get<T extends Decoded>(id: string, decode: Decode<T>, given: RequestOptions<T> = {}): Promise<Answer<T>> {
    if (!isAskable(id)) {
      return { kind: 'refused', httpStatus: 0, statusCode: null, message: 'A path cannot carry this id' }
    }
    const maxBytes = this.#options.maxResponseBytes
    return this.#ask({ operation: 'get', path: this.#address.taskPath(id), body: null, maxBytes }, decode, given)
  }

  traffic(): Traffic {
    return { ...this.#traffic, waitedMs: this.#pacing.waitedMs(), allowed: this.#pacing.allowed() }
  }

  trouble(): string | null {
    return this.#trouble
  }

  async close(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    this.#stop('The connection to the service is closed')
    await this.#connections.destroy()
  }

  #stop(why: string): void {
    this.#end.abort(new MirrorError('interrupted', why))
  }

  readonly #scrub = (text: string): string => withoutKey(text, this.#options.apiKey)

  #either(given: AbortSignal | undefined): AbortSignal {
    if (given === undefined) return this.#end.signal
    const known = this.#joined.get(given) ?? AbortSignal.any([this.#end.signal, given])
    this.#joined.set(given, known)
    return known
  }

  /** Waits for a turn. Where the caller gives up first, the turn passes to the next request once it comes. */
  async #turn(wanted: AbortSignal, notBefore?: number): Promise<() => void> {
    wanted.throwIfAborted()
    const entered = this.#pacing.enter(notBefore)
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

  /** Sends the request again until `RETRY_POLICY` says no, or no retry is left. */
  async #ask<T extends Decoded>(
    request: ServiceRequest,
    decode: Decode<T>,
    { maxRetries, signal, discard }: RequestOptions<T>,
  ): Promise<Answer<T>> {
    const { operation, path } = request
    const wanted: Wanted<T> = { signal: this.#either(signal), decode, discard }
    let retryAt: number | undefined
    let attempts = 0
    const retries = Math.min(maxRetries ?? Number.POSITIVE_INFINITY, this.#options.maxRetries)
    const isPatient = maxRetries === undefined && retries > 0
    try {
      return await pRetry(
        (attempt) => {
          attempts = attempt
          return this.#askOnce(request, wanted, retryAt)
        },
        {
          retries: retries + (isPatient ? LIMIT_RETRIES : 0),
          // `#askOnce` waits until `retryAt` by the shared pacing; p-retry must add no wait of its own.
          minTimeout: 0,
          maxTimeout: 0,
          shouldRetry: ({ error, retriesConsumed }) => {
            if (!(error instanceof AttemptFailure) || !RETRY_POLICY[error.outcome].retried) return false
            const isBeyond = retriesConsumed >= retries
            if (isBeyond && (error.outcome !== 'limited' || error.detail.retryAfterMs)) return false
            const random = this.#options.random()
            const delayMs = isBeyond ? limitWaitMs(random) : backOffMs(retriesConsumed, random)
            retryAt = this.#options.now() + delayMs
            this.#trouble = this.#scrub(error.words)
            this.#options.log?.('retry', { ...error.facts, operation, attempt: attempts, delayMs })
            return true
          },
        },
      )
    } catch (error) {
      if (!(error instanceof AttemptFailure)) throw error
      this.#options.log?.('no-answer', { ...error.facts, operation, attempts })
      const { auth, apiKey, proxy } = this.#options
      const key = keySent(operation, auth, apiKey)
      const { origin } = this.#address
      return finalAnswer(error, { operation, origin, path, attempts, key, proxied: Boolean(proxy), scrub: this.#scrub })
    }
  }

  /** Sends the request once, when its turn has come. Throws `AttemptFailure` for everything but a usable answer. */
  async #askOnce<T extends Decoded>(request: ServiceRequest, wanted: Wanted<T>, retryAt?: number): Promise<Ok<T>> {
    const leave = await this.#turn(wanted.signal, retryAt)
    const startedAt = this.#options.now()
    const dispatcher = this.#connections.current()
    this.#traffic.requests += 1
    if (retryAt !== undefined) this.#traffic.retries += 1
    this.#traffic.inFlight += 1
    try {
      const response = await this.#send(request, dispatcher, wanted.signal)
      // A success gives its slot back before it is decoded; after anything else, `#learn` comes first.
      if (isSuccess(response)) leave()
      const answer = await this.#judge.judge(request, response, wanted, startedAt)
      this.#pacing.heard('well', startedAt)
      this.#trouble = null
      this.#traffic.succeeded += 1
      return answer
    } catch (error) {
      if (error instanceof AttemptFailure) this.#learn(error, startedAt, dispatcher)
      throw error
    } finally {
      this.#traffic.inFlight -= 1
      leave()
    }
  }

  #send({ operation, path, body, maxBytes }: ServiceRequest, dispatcher: Dispatcher, signal: AbortSignal) {
    const { auth, apiKey, userAgent } = this.#options
    const { header, query } = credentialsFor(operation, auth, apiKey)
    const question = { origin: this.#address.origin, path: path + query, body, credential: header, userAgent }
    const { wasConnecting } = this.#connections
    const onResponse = (facts: ResponseInfo) => this.#tellFacts(facts)
    return exchange(question, {
      ...{ ...this.#options, maxResponseBytes: maxBytes },
      ...{ onResponse, dispatcher, wasConnecting, signal },
    })
  }

  #tellFacts({ contentCoding, limits, ...facts }: ResponseInfo): void {
    const coding = contentCoding === null ? null : this.#scrub(contentCoding)
    this.#options.onResponse?.({ ...facts, contentCoding: coding, limits: limits.map(this.#scrub) })
  }

  /** Applies what one bad answer shows to all requests: pacing, connections, Retry-After. Throws `wait-too-long`. */
  #learn({ outcome, detail }: AttemptFailure, startedAt: number, dispatcher: Dispatcher): void {
    const rule = RETRY_POLICY[outcome]
    if (rule.strained) this.#pacing.heard('strained', startedAt)
    else if (rule.ends === 'refused') this.#pacing.heard('well', startedAt)
    if (rule.suspect) this.#connections.suspect(dispatcher)
    if (rule.ends === 'status' && typeof detail.retryAfterMs === 'number') this.#pacing.hold(detail.retryAfterMs)
  }
}
