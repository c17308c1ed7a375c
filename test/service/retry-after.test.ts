import { expect, test } from 'vitest'
import { parseHttpDate } from '../../src/service/http-date.ts'
import { LONGEST_WAIT_MS, retryAfterMs } from '../../src/service/retry-after.ts'
import fc from '../support/fc.ts'

const CLOCK = 784111777000 // Sun, 06 Nov 1994 08:49:37 GMT

test.each([
  [undefined, null],
  ['', null],
  ['soon', null],
  ['1e3', null],
  ['0x10', null],
  ['Infinity', null],
  ['5 seconds', null],
  ['1994-11-06T08:49:47Z', null],
  ['0', 0],
  ['-3', 0],
  [' 120 ', 120_000],
  ['1.5', 1_500],
  ['90000', 90_000_000],
  ['9'.repeat(400), LONGEST_WAIT_MS],
  ['Sun, 06 Nov 1994 08:49:47 GMT', 10_000],
  ['Sun, 06 Nov 1994 08:49:27 GMT', 0],
  ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
  ['Sun Nov  6 08:49:38 1994', 1_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', LONGEST_WAIT_MS],
  [['1', '3', 'soon', '2'], 3_000],
  [['soon'], null],
])('Retry-After %j is %j ms', (header, wait) => {
  expect(retryAfterMs(header, CLOCK)).toBe(wait)
})

test('any text is a wait within bounds, or none', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.bigInt().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  )
  fc.assert(
    fc.property(texts, fc.integer(), (text, clock) => {
      const wait = retryAfterMs(text, clock)
      expect(wait === null || (wait >= 0 && wait <= LONGEST_WAIT_MS)).toBe(true)
    }),
  )
})

test('every date that HTTP can write is read to the second', () => {
  const dates = fc.date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(dates, (date) => {
      expect(parseHttpDate(date.toUTCString())).toBe(Math.floor(date.getTime() / 1000) * 1000)
    }),
  )
})

test.each([
  '1',
  '06 Nov 1994',
  'Sun, 30 Feb 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 24:00:00 GMT',
  'Sun, 06 Foo 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:49:37 +0100',
])('%j is no HTTP date', (text) => {
  expect(parseHttpDate(text)).toBeNull()
})
