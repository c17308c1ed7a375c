// Decides which requests go wrong, and how: first a script (array or function), then a share of all requests by seed.
import type { FaultKind, SimulatorOptions } from './options.ts'
import { seeded } from './random.ts'
import type { ParsedRequest } from './respond.ts'

/** What goes wrong with one answer. Fields can be combined; `reset` and `hang` leave no answer. */
export interface Fault {
  /** HTTP status instead of the true answer. */
  status?: number
  /** The `Retry-After` header: seconds, or any text. */
  retryAfter?: number | string
  /** The `Location` header, for redirects. */
  location?: string
  /** The connection is reset, without an answer. */
  reset?: boolean
  /** Body and connection end half-way. */
  truncate?: boolean
  /** No answer until the simulator closes. */
  hang?: boolean
  /** The body is an HTML page. */
  html?: boolean
  /** The body has no bytes. */
  emptyBody?: boolean
  /** `statusCode` of an envelope without payload. The HTTP status stays 200 unless `status` is given. */
  envelopeStatus?: number
  /** Wait before the answer, ms. */
  delayMs?: number
}

/** A request as scripts, hooks and the log see it. */
export interface SimulatedRequest extends ParsedRequest {
  /** From 0. */
  n: number
  method: string
  /** Path and query as sent. */
  target: string
}

/** The fault of the n-th request, or a function that decides. No entry, null or undefined: no fault. */
export type FaultScript =
  | readonly (Fault | null | undefined)[]
  | ((request: SimulatedRequest) => Fault | null | undefined)

const KINDS: Record<FaultKind, Fault> = {
  '500': { status: 500 },
  '503': { status: 503, retryAfter: 1 },
  '429': { status: 429, retryAfter: 1 },
  reset: { reset: true },
  truncate: { truncate: true },
  html: { status: 502, html: true },
  empty: { emptyBody: true },
  'envelope-500': { envelopeStatus: 500 },
  hang: { hang: true },
}

export function faultFor(
  options: SimulatorOptions,
  script: FaultScript | undefined,
  request: SimulatedRequest,
): Fault | null {
  const scripted = typeof script === 'function' ? script(request) : script?.[request.n]
  if (scripted) return scripted
  if (options.faultRate === 0) return null
  // Seeded by the number of the request, so that it does not depend on random numbers drawn elsewhere.
  const random = seeded(options.seed, request.n, 0xfa17)
  return random.chance(options.faultRate) ? KINDS[random.pick(options.faultKinds)] : null
}
