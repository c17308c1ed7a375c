// What the headers of an answer tell about the service beside the answer itself. Pure.
import { parseHttpDate } from './http-date.ts'

/** Headers as the HTTP library gives them: lower-case names. */
type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface ResponseFacts {
  httpStatus: number
  /** Such as `gzip`; null where the body came as it is. */
  contentCoding: string | null
  /** Retry-After and the usual rate-limit headers, as `name: value`. */
  limits: string[]
  /** The `Date` header, epoch ms; null where there is none that can be read. */
  serviceDate: number | null
}

/** `Retry-After` (RFC 9110), `RateLimit` and `RateLimit-*` (IETF draft), and their many forms with `x-`. */
const LIMIT = /^(?:retry-after|(?:x-)?(?:[a-z]+-)?rate-?limit(?:-[a-z-]+)?)$/

const LONGEST = 80

export function responseFacts(httpStatus: number, headers: Headers): ResponseFacts {
  const text = (value: string | string[] | undefined) => [value ?? []].flat().join(', ').trim()
  const coding = text(headers['content-encoding']).toLowerCase()
  return {
    httpStatus,
    contentCoding: coding === '' || coding === 'identity' ? null : coding.slice(0, LONGEST),
    limits: Object.keys(headers)
      .filter((name) => LIMIT.test(name))
      .map((name) => `${name}: ${text(headers[name])}`.slice(0, LONGEST)),
    serviceDate: typeof headers.date === 'string' ? parseHttpDate(headers.date) : null,
  }
}
