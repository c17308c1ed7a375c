import { expect, test } from 'vitest'
import {
  backOffMs,
  outcomeOf,
  outcomeOfBreak,
  outcomeOfStatus,
  RETRY_POLICY,
  worseStatus,
} from '../../src/service/retry-policy.ts'
import fc from '../support/fc.ts'

test.each([
  [200, null, 200],
  [200, 200, 200],
  [200, 404, 404],
  [404, 200, 404],
  [500, 404, 500],
  [404, 500, 500],
  [200, 0, 200],
  [200, -500, 200],
  [200, 99, 200],
  [200, 599, 599],
  [200, 600, 200],
  [200, 404.5, 200],
  [503, 100, 503],
])('HTTP %i with envelope %j counts as %i', (httpStatus, statusCode, counts) => {
  expect(worseStatus(httpStatus, statusCode)).toBe(counts)
})

test.each([
  [200, 'answered', 'answered'],
  [299, 'answered', 'answered'],
  [300, 'redirected', 'redirected'],
  [399, 'redirected', 'redirected'],
  [400, 'refused', 'refused'],
  [401, 'key-refused', 'key-refused'],
  [403, 'key-refused', 'refused'],
  [404, 'refused', 'refused'],
  [408, 'overloaded', 'overloaded'],
  [418, 'refused', 'refused'],
  [425, 'failing', 'failing'],
  [429, 'limited', 'limited'],
  [500, 'failing', 'failing'],
  [502, 'failing', 'failing'],
  [503, 'overloaded', 'overloaded'],
  [504, 'overloaded', 'overloaded'],
  [600, 'failing', 'failing'],
  [100, 'failing', 'failing'],
])('%i is %s on the list and %s on a detail', (status, onList, onDetail) => {
  expect([outcomeOfStatus('list', status), outcomeOfStatus('get', status)]).toEqual([onList, onDetail])
})

test.each([
  ['connect', 'ECONNREFUSED', 'unreachable'],
  ['connect', 'ENOTFOUND', 'unreachable'],
  ['connect', 'EPROTO', 'unreachable'],
  ['connect', 'UND_ERR_CONNECT_TIMEOUT', 'unreachable'],
  ['connect', 'CERT_HAS_EXPIRED', 'untrusted'],
  ['connect', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'untrusted'],
  ['connect', 'SELF_SIGNED_CERT_IN_CHAIN', 'untrusted'],
  ['connect', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted'],
  ['connect', 'ERR_TLS_CERT_ALTNAME_INVALID', 'untrusted'],
  ['head', 'ECONNRESET', 'reset'],
  ['head', 'UND_ERR_HEADERS_OVERFLOW', 'reset'],
  ['body', 'ECONNRESET', 'truncated'],
] as const)('a break in phase %s by %s is %s', (phase, code, outcome) => {
  expect(outcomeOfBreak(phase, code)).toBe(outcome)
})

test('a success without its payload is a refusal of the list and an answer of a detail', () => {
  const heard = { httpStatus: 200, statusCode: 200, body: 'without-payload' } as const
  expect(RETRY_POLICY[outcomeOf('list', heard)]).toMatchObject({ ends: 'refused', retried: false })
  expect(outcomeOf('get', heard)).toBe('answered')
  const noContent = { httpStatus: 204, statusCode: null, body: 'none' } as const
  expect(outcomeOf('list', noContent)).toBe('no-payload')
  expect(outcomeOf('get', noContent)).toBe('no-payload')
})

test('a 403 that says when to ask again is a limit, and any other one refuses', () => {
  const outcomeOf403 = (retryAfterMs: number | null) =>
    (['list', 'get'] as const).map((operation) =>
      outcomeOf(operation, { httpStatus: 403, statusCode: 403, retryAfterMs, body: 'none' }),
    )
  expect(outcomeOf403(60_000)).toEqual(['limited', 'limited'])
  for (const none of [0, null]) expect(outcomeOf403(none)).toEqual(['key-refused', 'refused'])
})

test('nothing that ends the run or refuses is retried, and nothing answered strains', () => {
  for (const [outcome, row] of Object.entries(RETRY_POLICY)) {
    if (['ok', 'refused', 'key-refused', 'service-refused', 'too-large'].includes(row.ends)) {
      expect(row, outcome).toMatchObject({ retried: false, strained: false, suspect: false })
    }
  }
})

test('back-off lies between 0 and 30 seconds', () => {
  fc.assert(
    fc.property(fc.nat({ max: 5_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (n, random) => {
      const delay = backOffMs(n, random)
      expect(delay).toBeGreaterThanOrEqual(0)
      expect(delay).toBeLessThanOrEqual(30_000)
    }),
  )
  expect([0, 1, 2, 6, 7].map((n) => backOffMs(n, 1))).toEqual([500, 1_000, 2_000, 30_000, 30_000])
})
