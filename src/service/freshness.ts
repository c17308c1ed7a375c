// How old an answer is, by its headers: a cache may repeat an earlier answer. Knows nothing of requests.
import { keepLatest } from '../bounded.ts'
import { type Headers, headerText } from './response-info.ts'

/** Headers in which a cache says whether the answer is its own: RFC 9211, and what proxies and CDNs sent before it. */
const TELLING = ['cache-status', 'x-cache', 'x-cache-status', 'x-proxy-cache', 'cf-cache-status']
/** Values that say so, such as `HIT`, `TCP_MEM_HIT`, `nginx; hit`, `Hit from cloudfront`, `STALE`. */
const FROM_CACHE = /(?:^|[\s,;:_-])(?:hit|stale|updating)\b/i
/** Says that the cache asked the service whether its stored answer still holds: so that answer is fresh. */
const ASKED_AGAIN = /refresh|revalidated|fwd=/i

/** RFC 9111 section 1.2.2: the largest delta-seconds a recipient has to know. */
const MOST_SECONDS = 2 ** 31
/** The least age assumed where a cache says that it answered, but not how old its answer is. */
const LEAST_MS = 1000

/** The age that an answer's headers show, ms; 0 where they show none. `serviceDate`: its Date header, epoch ms. */
export function admittedAgeMs(headers: Headers, serviceDate: number | null, now: number): number {
  const [, seconds] = /^\s*(\d{1,20})\s*(?:,|$)/.exec(headerText(headers.age)) ?? []
  const age = seconds === undefined ? 0 : Math.min(Number(seconds), MOST_SECONDS) * 1000
  if (age > 0) return age
  const isHit = TELLING.map((name) => headerText(headers[name])).some(
    (text) => FROM_CACHE.test(text) && !ASKED_AGAIN.test(text),
  )
  if (!isHit) return 0
  return Math.max(LEAST_MS, serviceDate === null ? 0 : now - serviceDate)
}

/** An answer as it came, for comparing with an earlier one to the same request. */
export interface Came {
  /** The request as text: equal for equal requests. */
  question: string
  serviceDate: number | null
  bytes: number
  /** When it was asked, and when the head of the answer came, epoch ms of this machine. */
  startedAt: number
  receivedAt: number
}

/** Questions whose last answer is remembered. */
const MOST_QUESTIONS = 1000
/** A Date header counts whole seconds and has to move on: one that is the same after longer than this stands still. */
const STANDS_STILL_MS = 2500

/**
 * Tells the least age, ms, of an answer whose Date header stands still: the same question was answered, longer than
 * `STANDS_STILL_MS` before, with the same Date and as many bytes; 0 for any other. `earlier`: those of an earlier run.
 */
export function dateWatch(earlier: readonly Came[] = []): (came: Came) => number {
  const last = new Map(earlier.map((came) => [came.question, came]))
  return (came) => {
    if (came.serviceDate === null) return 0
    const before = last.get(came.question)
    const isSame = before?.serviceDate === came.serviceDate && before.bytes === came.bytes
    if (before !== undefined && isSame && came.startedAt - before.receivedAt > STANDS_STILL_MS)
      return came.startedAt - before.receivedAt
    last.delete(came.question)
    last.set(came.question, came)
    keepLatest(last, MOST_QUESTIONS)
    return 0
  }
}
