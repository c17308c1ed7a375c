// What can happen to a request, and what is done about it: one table, and the pure functions that find its row.
import type { ErrorCode } from '../errors.ts'
import type { FailureReason } from './service.ts'

export type Operation = 'list' | 'get'

export type AttemptOutcome =
  | 'answered'
  | 'empty'
  | 'not-json'
  | 'no-payload'
  | 'too-large'
  | 'refused'
  | 'key-refused'
  | 'redirected'
  | 'overloaded'
  | 'limited'
  | 'failing'
  | 'timed-out'
  | 'reset'
  | 'truncated'
  | 'unreachable'
  | 'untrusted'

interface RetryRule {
  /** What the caller gets once no retry is left or due: an answer of that kind, or an error of that code. */
  ends: 'ok' | 'refused' | FailureReason | ErrorCode
  retried: boolean
  /** Whether it shows that the service has more than it can bear: then concurrency is halved. */
  strained: boolean
  /** The connection, and others opened at the same time, cannot be trusted: the retry takes a fresh one. */
  suspect: boolean
}

const calm = { strained: false, suspect: false }

export const RETRY_POLICY: Readonly<Record<AttemptOutcome, RetryRule>> = {
  // A 2xx with what was asked for; also a detail without an item, whose meaning is learned elsewhere.
  answered: { ends: 'ok', retried: false, ...calm },
  // A 2xx without a body that is no 204.
  empty: { ends: 'not-json', retried: true, ...calm },
  // HTML, cut or invalid JSON, another top-level value, a content coding that nobody asked for.
  'not-json': { ends: 'not-json', retried: true, ...calm },
  // A 2xx to a list without `items`, or a 204. Some services mean that nothing stands there, others that they cannot
  // answer, so it is believed as little as a refusal: docs/proof.md, "end". To a look-up, some frameworks answer 204
  // for a task that is not there; whether this one does is learned elsewhere, too.
  'no-payload': { ends: 'refused', retried: false, ...calm },
  // Not retried: the same window would be as large again, so the caller asks for a smaller one.
  'too-large': { ends: 'too-large', retried: false, ...calm },
  // Any other 4xx.
  refused: { ends: 'refused', retried: false, ...calm },
  // 401; 403 on the list.
  'key-refused': { ends: 'key-refused', retried: false, ...calm },
  // Any 3xx: never followed.
  redirected: { ends: 'service-refused', retried: false, ...calm },
  // 408, 503, 504.
  overloaded: { ends: 'status', retried: true, strained: true, suspect: false },
  // 429, and a 403 that says when to ask again, as gateways tell of a quota.
  limited: { ends: 'status', retried: true, strained: true, suspect: false },
  // 425, any other 5xx, and numbers that are no HTTP status.
  failing: { ends: 'status', retried: true, ...calm },
  // The deadline passed before the last byte.
  'timed-out': { ends: 'timeout', retried: true, strained: true, suspect: true },
  // The connection ended or spoke no HTTP before the answer began.
  reset: { ends: 'reset', retried: true, strained: false, suspect: true },
  // The connection ended inside the answer.
  truncated: { ends: 'truncated', retried: true, strained: false, suspect: true },
  // Refused connection, unknown host, connect time-out, broken TLS handshake.
  unreachable: { ends: 'service-unreachable', retried: true, ...calm },
  // A certificate that does not prove the host.
  untrusted: { ends: 'service-unreachable', retried: false, ...calm },
}

/** The worse (larger) of HTTP status and envelope `statusCode`, if that is an HTTP status (100 to 599). */
export function worseStatus(httpStatus: number, statusCode: number | null): number {
  const counts = statusCode !== null && Number.isInteger(statusCode) && statusCode >= 100 && statusCode <= 599
  return counts ? Math.max(httpStatus, statusCode) : httpStatus
}

/** The outcome of an attempt by its status; `answered` for a 2xx. */
export function outcomeOfStatus(operation: Operation, status: number): AttemptOutcome {
  if (status >= 200 && status < 300) return 'answered'
  if (status >= 300 && status < 400) return 'redirected'
  if (status === 401 || (status === 403 && operation === 'list')) return 'key-refused'
  if (status === 408 || status === 503 || status === 504) return 'overloaded'
  if (status === 429) return 'limited'
  if (status !== 425 && status >= 400 && status < 500) return 'refused'
  return 'failing'
}

/** What was read of an answer, without its bytes. */
interface HeardAnswer {
  httpStatus: number
  /** The envelope's `statusCode`; null where there is none. */
  statusCode: number | null
  /** The wait that it asks for, ms. */
  retryAfterMs?: number | null
  /** What a 2xx brought; of any other answer only `statusCode` matters. */
  body: 'none' | 'not-json' | 'too-much' | 'without-payload' | 'with-payload'
}

export function outcomeOf(operation: Operation, heard: HeardAnswer): AttemptOutcome {
  const status = worseStatus(heard.httpStatus, heard.statusCode)
  if (status === 403 && heard.retryAfterMs) return 'limited'
  const byStatus = outcomeOfStatus(operation, status)
  if (byStatus !== 'answered') return byStatus
  if (heard.body === 'none') return heard.httpStatus === 204 ? 'no-payload' : 'empty'
  if (heard.body === 'not-json') return 'not-json'
  if (heard.body === 'too-much') return 'too-large'
  return heard.body === 'without-payload' && operation === 'list' ? 'no-payload' : 'answered'
}

/** Codes of a certificate that Node refuses (node:tls, "X509 certificate error codes"), or undici, for a proxy. */
const CERTIFICATE =
  /^(?:CERT_|CRL_|UNABLE_TO_|ERROR_IN_CERT_|ERROR_IN_CRL_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|ERR_TLS_CERT_|UND_ERR_PRX_TLS)/

/** Where a request was when it broke: before a connection, before the head of the answer, or inside its body. */
type Phase = 'connect' | 'head' | 'body'

export function outcomeOfBreak(phase: Phase, code: string): AttemptOutcome {
  if (phase === 'connect') return CERTIFICATE.test(code) ? 'untrusted' : 'unreachable'
  return phase === 'head' ? 'reset' : 'truncated'
}

const LONGEST_BACK_OFF_MS = 30_000
const FIRST_BACK_OFF_MS = 500

/** Full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter"): ms before retry `n`, counted from 0. */
export function backOffMs(n: number, random: number): number {
  return Math.round(random * Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** n))
}

/**
 * So many retries more, each after `limitWaitMs`, where the last one met a limit that does not say when it is over: it
 * may count by the minute.
 */
export const LIMIT_RETRIES = 3

/** Half of the longest back-off at least, ms: three of them last most of a minute, whatever is drawn. */
export function limitWaitMs(random: number): number {
  return Math.round((LONGEST_BACK_OFF_MS * (1 + random)) / 2)
}
