// All reading of Retry-After: seconds or a date, as a wait in milliseconds. Pure.
import { parseHttpDate } from './http-date.ts'

/** No wait is read as longer than this: a year is as good as for ever, and now plus a year is a valid date. */
export const LONGEST_WAIT_MS = 366 * 24 * 60 * 60 * 1000

/**
 * The wait that a Retry-After header asks for, ms, 0 to `LONGEST_WAIT_MS`; null where there is none or it is nonsense.
 * A negative number and a moment in the past ask for no wait. Of several headers the longest wait counts.
 * A date is measured against `clock`, epoch ms: the service's own Date header where it has one, because the clocks of
 * the two machines may differ by more than the wait.
 */
export function retryAfterMs(header: string | string[] | undefined, clock: number): number | null {
  const waits = [header ?? []].flat().map((text) => oneWait(text.trim(), clock))
  const known = waits.filter((wait) => wait !== null)
  return known.length === 0 ? null : Math.max(...known)
}

function oneWait(text: string, clock: number): number | null {
  // A fraction is not in RFC 9110, yet services send it; rounded up, so that nobody asks too early.
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) return bounded(Math.ceil(Number(text) * 1000))
  const moment = parseHttpDate(text)
  return moment === null ? null : bounded(moment - clock)
}

function bounded(wait: number): number {
  return Math.min(Math.max(wait, 0), LONGEST_WAIT_MS)
}
