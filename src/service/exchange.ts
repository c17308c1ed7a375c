// Sends one request and reads its answer, within one deadline. Judges nothing: tells what came, or how it broke.
import type { Dispatcher } from 'undici'
import { MirrorError } from '../errors.ts'
import { AttemptFailure } from './attempt-failure.ts'
import { ACCEPTED_CODINGS, announcedLength, codingsOf, readBody, tooLarge } from './body.ts'
import { admittedAgeMs } from './freshness.ts'
import { type ResponseInfo, responseInfo } from './response-info.ts'
import { retryAfterMs } from './retry-after.ts'
import { outcomeOfBreak } from './retry-policy.ts'
import { request } from './undici.ts'

/** Most bytes read of an error's body; where it is longer, the HTTP status alone counts. */
const MAX_ERROR_BODY_BYTES = 64 * 1024

interface HttpRequest {
  origin: string
  /** Sent as it is, never normalised; may end in a query with the key, so it goes into no message. */
  path: string
  /** JSON text of a POST; null for a GET. */
  body: string | null
  /** The header that carries the key. */
  credential: [name: string, value: string] | null
  userAgent: string
}

export interface HttpResponse {
  httpStatus: number
  /** The decoded body. Null for every 3xx, and for any other error whose body could not be read. */
  body: Uint8Array<ArrayBuffer> | null
  serviceDate: number | null
  /** Age of the answer by its headers, ms; 0 where they show none. */
  ageMs: number
  /** When the head of the answer came, epoch ms. */
  receivedAt: number
  /** The wait the service asks for, ms; null where it asks for none. */
  retryAfterMs: number | null
  /** Host of a Location header, for the facts of an error. */
  locationHost: string | null
}

interface ExchangeOptions {
  dispatcher: Dispatcher
  /** Whether the error came from connecting. */
  wasConnecting(error: unknown): boolean
  requestTimeoutMs: number
  maxResponseBytes: number
  signal: AbortSignal
  now(): number
  /** Called when an answer begins. */
  onResponse?(facts: ResponseInfo): void
}

/** Sends `question` once. Rejects with `AttemptFailure`, or with the reason of the signal. */
export async function exchange(question: HttpRequest, options: ExchangeOptions): Promise<HttpResponse> {
  const late = new AttemptFailure('timed-out', `no complete answer within ${options.requestTimeoutMs} ms`)
  return within(options.requestTimeoutMs, late, options.signal, (signal) => send(question, options, signal))
}

async function send(question: HttpRequest, options: ExchangeOptions, signal: AbortSignal): Promise<HttpResponse> {
  const headers = ['accept', 'application/json', 'accept-encoding', ACCEPTED_CODINGS, 'user-agent', question.userAgent]
  // No cache on the way may answer in place of the service.
  headers.push('cache-control', 'no-cache')
  if (question.body !== null) headers.push('content-type', 'application/json')
  if (question.credential !== null) headers.push(...question.credential)

  const { origin, path, body: text } = question
  const method = text === null ? 'GET' : 'POST'
  const asked = request(options.dispatcher, { origin, method, path, headers, body: text, signal })
  const answer = await asked.catch((error) => {
    throw broken(error, options.wasConnecting(error) ? 'connect' : 'head')
  })
  // Without a listener, an error before the body is read would be uncaught.
  answer.body.on('error', () => {})

  const httpStatus = answer.statusCode
  const facts = responseInfo(answer.headers)
  options.onResponse?.(facts)
  const { serviceDate } = facts
  const receivedAt = options.now()
  const reply = {
    httpStatus,
    serviceDate,
    ageMs: admittedAgeMs(answer.headers, serviceDate, receivedAt),
    receivedAt,
    retryAfterMs: retryAfterMs(answer.headers['retry-after'], serviceDate ?? receivedAt),
    locationHost: hostOf(answer.headers.location, origin),
  }
  const read = (limit: number) => readAnswer(answer, limit, signal)

  if (httpStatus >= 300 && httpStatus < 400) {
    answer.body.destroy()
    return { ...reply, body: null }
  }
  if (httpStatus >= 200 && httpStatus < 300) {
    try {
      return { ...reply, body: await read(options.maxResponseBytes) }
    } catch (error) {
      throw signal.aborted ? signal.reason : broken(error, 'body', httpStatus)
    }
  }
  // The status of an error counts whether or not its body can be read.
  const body = await read(MAX_ERROR_BODY_BYTES).catch(() => null)
  options.signal.throwIfAborted()
  return { ...reply, body }
}

async function readAnswer(
  { body, headers }: Pick<Dispatcher.ResponseData, 'body' | 'headers'>,
  limit: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const codings = codingsOf(headers['content-encoding'])
    const announced = announcedLength(headers['content-length'])
    // Saves the download where the answer itself announces that it is too large.
    if (codings.length === 0 && Number(headers['content-length']) > limit) throw tooLarge(limit)
    return await readBody(body, codings, { limit, signal, announced })
  } finally {
    body.destroy()
  }
}

/** Gives `work` a signal that aborts with `late` after `ms`, or when `signal` does; `work` has to end then. */
async function within<T>(
  ms: number,
  late: Error,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(late), ms)
  const onAbort = () => controller.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Settles as `work` does, or rejects at once when `signal` aborts, with its reason; the later outcome is ignored. */
export async function orAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Words for errors whose own text does not name the cause: OpenSSL's by their code, undici's by their message. */
const PLAIN_WORDS: Readonly<Record<string, string>> = {
  EPROTO: 'the TLS handshake failed: is it an https service?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the port does not speak TLS: is it an http service?',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the port does not speak TLS: is it an http service?',
  // undici passes over other interim answers, but breaks off at this one.
  'bad response': 'an interim answer (100 Continue) that was not asked for',
}

function broken(error: unknown, phase: 'connect' | 'head' | 'body', httpStatus?: number): unknown {
  if (error instanceof MirrorError) return error
  if (error instanceof AttemptFailure) return new AttemptFailure(error.outcome, error.message, { httpStatus })
  const { code = 'unknown', message = '' } = error as NodeJS.ErrnoException
  const text = PLAIN_WORDS[code] ?? PLAIN_WORDS[message] ?? (message === '' ? code : message)
  // Only errors of connecting are kept as a cause: others can hold bytes of the answer.
  const cause = phase === 'connect' ? error : undefined
  return new AttemptFailure(outcomeOfBreak(phase, code), text, { httpStatus, cause, errorCode: code })
}

function hostOf(location: string | string[] | undefined, origin: string): string | null {
  const first = Array.isArray(location) ? location[0] : location
  return first === undefined ? null : (URL.parse(first, origin)?.host ?? null)
}
