// How old an answer is, by its headers: a cache may give again what was said before. Nothing of requests.
import { keepLatest } from '../bounded.ts'
import { type Headers, headerText } from './response-info.ts'

/** Where caches say whether they answered themselves: RFC 9211, and what proxies and CDNs sent before it. */
const TELLING = ['cache-status', 'x-cache', 'x-cache-status', 'x-proxy-cache', 'cf-cache-status']
/** Such as `HIT`, `TCP_MEM_HIT`, `nginx; hit`, `Hit from cloudfront`, `STALE`. */
const FROM_CACHE = /(?:^|[\s,;:_-])(?:hit|stale|updating)\b/i
/** A cache that asked the service whether its answer still holds. */
const ASKED_AGAIN = /refresh|revalidated|fwd=/i

/** RFC 9111 section 1.2.2: the largest delta-seconds a recipient has to know. */
const MOST_SECONDS = 2 ** 31
/** Where a cache says that it answered, and not how old its answer is. */
const LEAST_MS = 1000

/** The age an answer admits to, ms; 0 where none shows. `serviceDate`: its Date header, epoch ms. */
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
  /** What was asked: the same for the same question. */
  question: string
  serviceDate: number | null
  bytes: number
  /** When it was asked, and when the head of the answer came, epoch ms of this machine. */
  startedAt: number
  receivedAt: number
}

/** Questions that are kept in mind. */
const MOST_QUESTIONS = 1000
/** A Date header tells whole seconds, and clocks run on: the same one later than that stands still. */
const STANDS_STILL_MS = 2500

/**
 * Says how old an answer is at least because its Date header stands still: the same question, asked that much later, was
 * answered with as many bytes and the Date of the answer before. 0 where it is not so. `first`: answers of an earlier run.
 */
export function dateWatch(first: readonly Came[] = []): (came: Came) => number {
  const earlier = new Map(first.map((came) => [came.question, came]))
  return (came) => {
    if (came.serviceDate === null) return 0
    const before = earlier.get(came.question)
    const isSame = before?.serviceDate === came.serviceDate && before.bytes === came.bytes
    if (before !== undefined && isSame && came.startedAt - before.receivedAt > STANDS_STILL_MS)
      return came.startedAt - before.receivedAt
    earlier.delete(came.question)
    earlier.set(came.question, came)
    keepLatest(earlier, MOST_QUESTIONS)
    return 0
  }
}
