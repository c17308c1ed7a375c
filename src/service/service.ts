// The two operations of the service, without HTTP; assumes nothing the interface document marks "not shown".

import type { Skew } from '../clock.ts'

/** A window of the list: `skip` items are passed over, at most `take` are asked for. */
export interface Window {
  skip: number
  take: number
}

/** What decoding a body must tell, so that HTTP status and envelope can be judged together (the worse counts). */
export interface Decoded {
  /** The envelope's `statusCode`; null where it is missing or no integer. */
  statusCode: number | null
  /** The envelope's `message`, cut to 200 characters; null where it is no string. */
  message: string | null
  /** Whether `body.items` is an array (list), or `body.item` an object (get). */
  hasPayload: boolean
}

/** Makes a value of the decoded bytes of a 2xx body. Throws `MirrorError` `body-invalid` where it is no JSON object. */
export type Decode<T extends Decoded> = (raw: Uint8Array<ArrayBuffer>) => Promise<T>

export interface Ok<T> {
  kind: 'ok'
  value: T
  /** The moment as of which the answer speaks, epoch ms of this machine: when it was asked for, less its age. */
  startedAt: number
  /** How old it is, ms, where its headers show that it came from a cache; absent where nothing shows that. */
  ageMs?: number
  /** The service's `Date` header, epoch ms; null where there is none. */
  serviceDate: number | null
  /** Bytes of the body after decompression. */
  bytes: number
}

/** The service says no to this very request: a 4xx other than 401, 408, 425, 429 (and 403 on the list). Not retried. */
export interface Refused {
  kind: 'refused'
  httpStatus: number
  /** The envelope's `statusCode`; null where there is none. */
  statusCode: number | null
  message: string
  /** As in `Ok`. */
  ageMs?: number
}

export type FailureReason = 'status' | 'timeout' | 'reset' | 'truncated' | 'not-json' | 'too-large'

/** The request failed, retries included: 5xx, time-outs, broken, foreign, too large bodies. A smaller one may pass. */
export interface Failed {
  kind: 'failed'
  reason: FailureReason
  httpStatus: number | null
  message: string
}

export type Answer<T> = Ok<T> | Refused | Failed

/** How old the answer shows itself to be, ms; 0 where nothing shows that it came from a cache. */
export function ageOfAnswer(answer: Answer<unknown>): number {
  return answer.kind === 'failed' ? 0 : (answer.ageMs ?? 0)
}

/** Counted since the client was made. */
export interface Traffic {
  requests: number
  retries: number
  /** Requests that got a usable answer; absent where nobody counts them. */
  succeeded?: number
  /** Bytes of bodies after decompression. */
  bytes: number
  /** Time spent waiting because the service asked for it or a retry backed off, ms. */
  waitedMs: number
  inFlight: number
  /** Requests that may be under way at once at present: fewer while the service is strained. */
  allowed?: number
  /** Age of the oldest answer, ms; 0 or absent where none showed that it came from a cache. */
  oldestMs?: number
  /** The service's clock compared with this machine's; null or absent where no fresh answer had a Date. */
  skew?: Skew | null
}

export interface RequestOptions<T> {
  /** Retries after the first attempt: at most so many, and never more than are configured. */
  maxRetries?: number
  /** Most bytes of the body, for a window of more than a few tasks; counts only below the configured limit. */
  maxBytes?: number
  /** Aborts when nobody wants the answer: the call rejects with its reason, sends no more, and hangs up mid-answer. */
  signal?: AbortSignal
  /** Called with a decoded value that nobody gets because it is no answer, as when the envelope holds an error. */
  discard?(value: T): void
}

/**
 * Both operations throw `MirrorError`: `service-unreachable` (no connection at all), `key-refused` (401; 403 on the
 * list), `wait-too-long` (Retry-After beyond the limit; facts.notBefore), `service-refused` (redirect), `interrupted`.
 */
export interface Service {
  list<T extends Decoded>(window: Window, decode: Decode<T>, options?: RequestOptions<T>): Promise<Answer<T>>
  /** A 200 without an item is `ok` with `hasPayload: false`: whether that means "not found" is learned, not assumed. */
  get<T extends Decoded>(id: string, decode: Decode<T>, options?: RequestOptions<T>): Promise<Answer<T>>
  traffic(): Traffic
  /** What went wrong with the last request that is to be tried again, in words; null where the service answers. */
  trouble(): string | null
  close(): Promise<void>
}
