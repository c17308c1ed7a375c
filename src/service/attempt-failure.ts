// An attempt that failed, and what its caller gets once it is not retried any more. Pure.
import { type ErrorFacts, MirrorError } from '../errors.ts'
import type { KeySent } from './key.ts'
import { type AttemptOutcome, type Operation, RETRY_POLICY } from './retry-policy.ts'
import type { Failed, FailureReason, Refused } from './service.ts'

interface Detail {
  httpStatus?: number
  /** The envelope's `statusCode`. */
  statusCode?: number | null
  /** Code of the error that broke the request, such as ECONNRESET. */
  errorCode?: string
  locationHost?: string | null
  retryAfterMs?: number | null
  /** Whether the body is HTML or XML. */
  isPage?: boolean
  /** Age of the answer, ms; absent where nothing shows it. */
  ageMs?: number
  /** Set only for errors that cannot hold bytes of an answer. */
  cause?: unknown
}

/** Thrown by one attempt; never leaves this folder. Its message may quote the service. */
export class AttemptFailure extends Error {
  readonly outcome: AttemptOutcome
  readonly detail: Detail

  constructor(outcome: AttemptOutcome, message: string, detail: Detail = {}) {
    super(message)
    this.name = 'AttemptFailure'
    this.outcome = outcome
    this.detail = detail
  }

  /** The message, with the HTTP status in front of it unless it says that already. */
  get words(): string {
    const { httpStatus } = this.detail
    return httpStatus === undefined || this.message.startsWith('HTTP ')
      ? this.message
      : `HTTP ${httpStatus}: ${this.message}`
  }

  /** Facts for the log: chosen scalars, never the service's message. */
  get facts(): ErrorFacts {
    const { httpStatus, statusCode, errorCode, locationHost } = this.detail
    return { happening: this.outcome, httpStatus, statusCode, errorCode, locationHost }
  }
}

interface AttemptedRequest {
  operation: Operation
  origin: string
  /** Without the query, which may hold the key. */
  path: string
  attempts: number
  key: KeySent
  /** Whether the request goes through a proxy. */
  proxied: boolean
  /** Removes the key from text that the service sent. */
  scrub(text: string): string
}

/** Turns the last attempt into what the retry policy says: an answer, or a thrown `MirrorError`. */
export function finalAnswer(last: AttemptFailure, asked: AttemptedRequest): Refused | Failed {
  const { ends } = RETRY_POLICY[last.outcome]
  const { httpStatus = null, statusCode = null, ageMs } = last.detail
  const message = asked.scrub(last.message)
  // A 404 on the list is the only sign of a wrong path in the base URL, so the message names what was asked.
  const placed = (text: string) =>
    httpStatus === 404 && asked.operation === 'list' ? `${text} (asked: ${target(asked)})` : text
  switch (ends) {
    case 'refused':
      return { kind: 'refused', httpStatus: httpStatus ?? 0, statusCode, message: placed(message), ageMs }
    case 'key-refused':
      throw keyRefused(last, asked)
    case 'service-refused':
      throw redirected(last, asked)
    case 'service-unreachable':
      throw unreachable(last, asked, message)
    default:
      return {
        kind: 'failed',
        reason: ends as FailureReason,
        httpStatus,
        message: `${message}${times(asked.attempts)}`,
      }
  }
}

/** No hint quotes the configured prefix: it may be the key, set in the wrong place. */
const KEY_HINT: Readonly<Record<KeySent, string>> = {
  none: 'Put it into a file and name that in TASK_MIRROR_API_KEY_FILE; service.auth.placement, name, prefix and on say how it is sent.',
  kept: 'A key is set, but service.auth.placement and on keep it from this request.',
  sent: 'Check the key, alone in its file without a name or quotes, and how it is sent: service.auth.placement, name, prefix (its space included) and on.',
  'prefixed-twice':
    'The key already begins with what service.auth.prefix adds ("Bearer " by default): set the key alone, or the prefix to "".',
}

const BY_A_PAGE =
  'The answer is a web page: a proxy or firewall on the way may have sent it, for a reason other than the key.'

function keyRefused(last: AttemptFailure, asked: AttemptedRequest): MirrorError {
  const isSent = asked.key === 'sent' || asked.key === 'prefixed-twice'
  const what = isSent ? 'The service refuses the key' : 'The service asks for a key'
  return new MirrorError('key-refused', `${what} (${statusOf(last)} for ${target(asked)})`, {
    facts: factsOf(last, asked),
    hint: last.detail.isPage === true ? `${KEY_HINT[asked.key]} ${BY_A_PAGE}` : KEY_HINT[asked.key],
  })
}

function redirected(last: AttemptFailure, asked: AttemptedRequest): MirrorError {
  return new MirrorError('service-refused', `The service redirects (${statusOf(last)} for ${target(asked)})`, {
    facts: factsOf(last, asked),
    hint: 'Redirects are not followed: set service.baseUrl to the final address.',
  })
}

/** What to do where the service does not answer. */
export const CHECK_REACH = 'Check service.baseUrl, the network and service.proxy, then run the same command again.'

function unreachable(last: AttemptFailure, asked: AttemptedRequest, message: string): MirrorError {
  const untrusted = last.outcome === 'untrusted'
  const who = isOfProxy(last, asked) ? 'The proxy (service.proxy)' : asked.origin
  const way = asked.proxied && who === asked.origin ? ' by way of service.proxy' : ''
  const what = untrusted ? 'does not prove its identity' : `cannot be reached${way}${times(asked.attempts)}`
  return new MirrorError('service-unreachable', `${who} ${what}: ${message}`, {
    facts: factsOf(last, asked),
    hint: reachHint(last),
    cause: last.detail.cause,
  })
}

function reachHint({ outcome, message, detail: { errorCode = '' } }: AttemptFailure): string {
  // undici gives the proxy's status in its words only.
  if (/^Proxy response \(407\)/.test(message))
    return 'The proxy wants a user and a password: http://USER:PASSWORD@HOST:PORT in service.proxy, or in the variable that it is taken from.'
  if (outcome !== 'untrusted') return CHECK_REACH
  return /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/.test(errorCode)
    ? "Check this machine's clock (`date`); if it is right, whoever runs the service has to renew its certificate."
    : 'Check the host of service.baseUrl; a private certificate authority is trusted with NODE_EXTRA_CA_CERTS.'
}

/** Whether the proxy itself failed: for a tunnel, this machine resolves and dials only the proxy's host. */
function isOfProxy({ detail: { cause } }: AttemptFailure, { proxied }: AttemptedRequest): boolean {
  return (
    proxied && cause instanceof Error && 'syscall' in cause && /^(connect|getaddrinfo)$/.test(String(cause.syscall))
  )
}

function factsOf(last: AttemptFailure, asked: AttemptedRequest): ErrorFacts {
  return { ...last.facts, operation: asked.operation, attempts: asked.attempts }
}

function target({ operation, origin, path }: AttemptedRequest): string {
  return `${operation === 'list' ? 'POST' : 'GET'} ${origin}${path}`
}

function statusOf({ detail: { httpStatus, statusCode } }: AttemptFailure): string {
  const envelope = statusCode === null || statusCode === undefined || statusCode === httpStatus
  return envelope ? `HTTP ${httpStatus}` : `HTTP ${httpStatus}, statusCode ${statusCode}`
}

function times(attempts: number): string {
  return attempts === 1 ? '' : ` after ${attempts} attempts`
}
