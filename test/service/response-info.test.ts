// What headers tell beside the answer.
import { expect, test } from 'vitest'
import { responseInfo } from '../../src/service/response-info.ts'

test('the coding and every usual header about limits are noticed, and no other', () => {
  const headers = {
    'content-encoding': 'GZIP',
    'retry-after': '7',
    'x-ratelimit-remaining': '41',
    'ratelimit-policy': '100;w=60',
    'x-rate-limit-reset': ['1', '2'],
    'x-app-rate-limit': '9',
    'set-cookie': ['session=secret'],
    'x-rated': 'no',
    date: 'Sun, 22 Nov 2026 09:00:00 GMT',
    authorization: 'secret',
  }
  expect(responseInfo(headers)).toEqual({
    contentCoding: 'gzip',
    limits: [
      'retry-after: 7',
      'x-ratelimit-remaining: 41',
      'ratelimit-policy: 100;w=60',
      'x-rate-limit-reset: 1, 2',
      'x-app-rate-limit: 9',
    ],
    serviceDate: Date.UTC(2026, 10, 22, 9),
  })
})

test('a body as it is has no coding, and a long value is cut', () => {
  const { contentCoding, limits } = responseInfo({
    'content-encoding': 'identity',
    'retry-after': '9'.repeat(500),
  })
  expect(contentCoding).toBeNull()
  expect(limits[0]!.length).toBe(80)
})
