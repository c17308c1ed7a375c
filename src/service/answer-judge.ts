// Judges an answer that came: returns its value or throws an `AttemptFailure`. Compares it with earlier answers,
// decodes it, and applies retry-policy.ts.
import { leastSkew, type Skew, skewOf } from '../clock.ts'
import { isMirrorError } from '../errors.ts'
import { AttemptFailure } from './attempt-failure.ts'
import { readEnvelope } from './decode/wire.ts'
import { type HttpResponse, orAborted } from './exchange.ts'
import { type Came, dateWatch } from './freshness.ts'
import { type AttemptOutcome, type Operation, outcomeOf } from './retry-policy.ts'
import type { Decode, Decoded, Ok } from './service.ts'

export interface ServiceRequest {
  operation: Operation
  /** Without the query that may carry the key. */
  path: string
  /** JSON text; null where there is none. */
  body: string | null
  /** Most bytes of the answer's body, after decompression. */
  maxBytes: number
}

export interface Wanted<T extends Decoded> {
  /** Aborts when nobody wants the answer any more. */
  signal: AbortSignal
  decode: Decode<T>
  discard: ((value: T) => void) | undefined
}

export interface JudgeOptions {
  /** Answers that an earlier run got from the same service, to detect a Date header that has stood still since. */
  earlier?: readonly Came[]
  /** Called with each of the first list answers of the run, `FIRST_ANSWERS` at most. */
  onFirst?(came: Came): void
  /** Aborts when the run ends or the client is closed. */
  signal: AbortSignal
  scrub(text: string): string
  /** Totals of the client, which the judge adds to. */
  traffic: { bytes: number; oldestMs: number; skew: Skew | null }
}

/** How many list answers the next run gets to see, to detect a Date header that stands still. */
const FIRST_ANSWERS = 4

/** What is said of a success that cannot be used: the service's own message, such as "OK", would mislead. */
const UNUSABLE: Partial<Record<AttemptOutcome, string>> = {
  empty: 'an answer without a body',
  'not-json': 'a body that is no JSON object',
  'no-payload': 'a success without content',
  'too-large': 'an answer with more items than can be taken in at once',
}

const A_PAGE = 'a web page instead of JSON, as for a sign-in, a proxy or another address'

export class AnswerJudge {
  readonly #options: JudgeOptions
  readonly #standsStill: (came: Came) => number
  #listed = 0

  constructor(options: JudgeOptions) {
    this.#options = options
    this.#standsStill = dateWatch(options.earlier)
  }

  async judge<T extends Decoded>(
    request: ServiceRequest,
    response: HttpResponse,
    { decode, discard }: Wanted<T>,
    startedAt: number,
  ): Promise<Ok<T>> {
    const { operation } = request
    const { httpStatus, serviceDate, locationHost, retryAfterMs } = response
    // Before decoding, which may hand the buffer to another thread.
    const came = this.#count(request, response, startedAt)
    const isPage = isMarkup(response.body)
    const ageMs = this.#ageOf(came, response)
    const age = ageMs === 0 ? {} : { ageMs }
    const success = isSuccess(response)
    const read = success ? await this.#decoded(response, decode) : { body: 'none' as const, value: null }
    const { statusCode, message } = read.value ?? readEnvelope(success ? null : response.body)
    const outcome = outcomeOf(operation, { httpStatus, statusCode, retryAfterMs, body: read.body })
    if (outcome === 'answered' && read.value !== null) {
      // The first answers, wherever they are in the list: a run may ask for its end before its front.
      if (operation === 'list' && this.#listed++ < FIRST_ANSWERS) this.#options.onFirst?.(came)
      return { kind: 'ok', value: read.value, startedAt: startedAt - ageMs, serviceDate, bytes: came.bytes, ...age }
    }
    if (read.value !== null) discard?.(read.value)
    const told = outcome === 'not-json' && isPage ? A_PAGE : (UNUSABLE[outcome] ?? (message || `HTTP ${httpStatus}`))
    throw new AttemptFailure(outcome, told, {
      httpStatus,
      statusCode,
      locationHost: locationHost === null ? null : this.#options.scrub(locationHost),
      retryAfterMs,
      isPage,
      ...age,
    })
  }

  #count({ operation, path, body }: ServiceRequest, response: HttpResponse, startedAt: number): Came {
    const { serviceDate, receivedAt } = response
    const bytes = response.body?.byteLength ?? 0
    this.#options.traffic.bytes += bytes
    return { question: `${operation} ${path} ${body}`, serviceDate, bytes, startedAt, receivedAt }
  }

  #ageOf(came: Came, response: HttpResponse): number {
    const { traffic } = this.#options
    const ageMs = Math.max(response.ageMs, this.#standsStill(came))
    traffic.oldestMs = Math.max(traffic.oldestMs, ageMs)
    const { serviceDate, startedAt, receivedAt } = came
    if (ageMs === 0 && serviceDate !== null)
      traffic.skew = leastSkew(traffic.skew, skewOf(serviceDate, startedAt, receivedAt))
    return ageMs
  }

  async #decoded<T extends Decoded>({ body }: HttpResponse, decode: Decode<T>) {
    if (body === null || body.byteLength === 0) return { body: 'none' as const, value: null }
    try {
      const value = await orAborted(() => decode(body), this.#options.signal)
      return { body: value.hasPayload ? ('with-payload' as const) : ('without-payload' as const), value }
    } catch (error) {
      if (!isMirrorError(error, 'body-invalid')) throw error
      const isTooMuch = error.facts.reason === 'too-many-items'
      return { body: isTooMuch ? ('too-much' as const) : ('not-json' as const), value: null }
    }
  }
}

/** HTML or XML: nothing but white space before the first `<`. */
function isMarkup(body: Uint8Array | null): boolean {
  const start = body?.subarray(0, 256).findIndex((byte) => byte > 0x20) ?? -1
  return start >= 0 && body?.[start] === 0x3c
}

export function isSuccess({ httpStatus }: HttpResponse): boolean {
  return httpStatus >= 200 && httpStatus < 300
}
