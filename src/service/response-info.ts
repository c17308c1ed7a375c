// What the headers of an answer tell about the service beside the answer itself. Pure.
import { parseHttpDate } from './http-date.ts'

/** Headers as the HTTP library gives them: lower-case names. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface ResponseInfo {
  /** Such as `gzip`; null where the body came as it is. */
  contentCoding: string | null
  /** Retry-After and the usual rate-limit headers, as `name: value`. */
  limits: string[]
  /** The `Date` header, epoch ms; null where there is none that can be read. */
  serviceDate: number | null
}

/** All values of one header. */
export const headerText = (value: string | string[] | undefined): string => [value ?? []].flat().join(', ')

/** `Retry-After` (RFC 9110), `RateLimit` and `RateLimit-*` (IETF draft), and their many forms with `x-`. */
const LIMIT = /^(?:retry-after|(?:x-)?(?:[a-z]+-)?rate-?limit(?:-[a-z-]+)?)$/

const LONGEST = 80

export function responseInfo(headers: Headers): ResponseInfo {
  const coding = headerText(headers['content-encoding']).trim().toLowerCase()
  return {
    contentCoding: coding === '' || coding === 'identity' ? null : coding.slice(0, LONGEST),
    limits: Object.keys(headers)
      .filter((name) => LIMIT.test(name))
      .map((name) => `${name}: ${headerText(headers[name]).trim()}`.slice(0, LONGEST)),
    serviceDate: typeof headers.date === 'string' ? parseHttpDate(headers.date) : null,
  }
}
