import { expect, test } from 'vitest'
import { parseDuration, parseMoment, parsePast } from '../../src/config/duration.ts'

test.each([
  ['90s', 90_000],
  ['50m', 3_000_000],
  ['1h30m', 5_400_000],
  ['7d', 604_800_000],
  ['2w', 1_209_600_000],
  ['250ms', 250],
  ['1.5h', 5_400_000],
  ['0', 0],
])('%s is %d ms', (text, ms) => {
  expect(parseDuration(text, '--x')).toBe(ms)
})

test.each(['', 'm', '50', '1500', '5 m', '5y', '-5m', '5m!', '1e3', 'x5m', '99999999999999w'])(
  '"%s" is no duration',
  (text) => {
    expect(() => parseDuration(text, '--max-age')).toThrow('--max-age')
  },
)

test('a number without a unit is said to have none', () => {
  expect(() => parseDuration('50', '--max-duration')).toThrow('--max-duration: "50" has no unit')
})

const NOW = Date.UTC(2026, 10, 20)

test.each([
  ['2026-11-01', Date.UTC(2026, 10, 1)],
  ['2026-11-01T12:30', Date.UTC(2026, 10, 1, 12, 30)],
  ['2026-11-01 12:30:15', Date.UTC(2026, 10, 1, 12, 30, 15)],
  ['2026-11-01T12:30Z', Date.UTC(2026, 10, 1, 12, 30)],
  ['2026-11-01T12:30+02:00', Date.UTC(2026, 10, 1, 10, 30)],
  ['2026-11', Date.UTC(2026, 10, 1)],
  ['2026-11-01t12:30:15.123456z', Date.UTC(2026, 10, 1, 12, 30, 15, 123)],
  ['2026-11-01 12:30 -0500', Date.UTC(2026, 10, 1, 17, 30)],
  ['1700000000000', 1_700_000_000_000],
  ['0', 0],
  ['1000000000000', 1_000_000_000_000],
  ['9999999999999', 9_999_999_999_999],
  ['-5', -5],
  ['2024-02-29', Date.UTC(2024, 1, 29)],
  ['7d', NOW - 604_800_000],
])('%s is the moment %d', (text, ms) => {
  expect(parseMoment(text, '--since', NOW)).toBe(ms)
})

test.each([
  '',
  'yesterday',
  '2026-13-45',
  '2026-02-30',
  '2025-02-29T10:00',
  '2026-11-31 12:00',
  // JavaScript reads these in the zone of the machine.
  '2026-11-1',
  '2026-11-01 (x)',
  '2026-11-01  12:30',
  '2026-11-01Z',
  '01/11/2026',
  '24:00',
  '1e12',
  '7.5',
  '99999999999999w',
  // A day without its dashes, an age without its unit, a moment of digits, and a digit too few or too many.
  '1',
  '7',
  '20261101',
  '999999999',
  '10000000000',
  '999999999999',
  '202611011200',
  '10000000000000',
  '20261101120000',
  '99999999999999999',
  '-99999999999999999',
])('"%s" is no moment', (text) => {
  expect(() => parseMoment(text, '--since', NOW)).toThrow(`--since: "${text}" is not a moment`)
})

test('seconds are told', () => {
  for (const text of ['1000000000', '1700000000', '9999999999'])
    expect(() => parseMoment(text, '--since', NOW)).toThrow(
      expect.objectContaining({
        ...{
          code: 'usage-invalid',
          message: `--since: ${text} looks like seconds`,
          hint: expect.stringContaining(`${text}000`),
        },
      }),
    )
})

test('what has been is not later than now', () => {
  expect([parsePast('0d', '--x', NOW), parsePast(String(NOW), '--x', NOW)]).toEqual([NOW, NOW])
  for (const text of [String(NOW + 1), '2026-11-21'])
    expect(() => parsePast(text, '--x', NOW)).toThrow(`--x: "${text}" is in the future`)
})
