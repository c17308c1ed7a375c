import { expect, test } from 'vitest'
import { allowedAge, makeTimetable, passedMoments } from '../../src/schedule/timetable.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const at = (text: string) => Date.parse(text)
const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

test('an expression is read in its time zone', () => {
  const daily = makeTimetable('0 3 * * *', 'Europe/Berlin', 'schedule.export')
  expect(iso(daily.next(at('2026-11-20T00:00:00Z')))).toBe('2026-11-20T02:00:00.000Z')
  expect(iso(daily.next(at('2026-07-20T00:00:00Z')))).toBe('2026-07-20T01:00:00.000Z')
  expect(iso(daily.previous(at('2026-11-20T00:00:00Z')))).toBe('2026-11-19T02:00:00.000Z')
})

test('a time that the change to summer time skips is due once, right after it; one it repeats is due once', () => {
  const spring = makeTimetable('30 2 * * *', 'Europe/Berlin', 'schedule.export')
  const days = [spring.next(at('2026-03-28T12:00:00Z'))]
  days.push(spring.next(days[0] as number))
  expect(days.map(iso)).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z'])
  const autumn = spring.next(at('2026-10-24T12:00:00Z'))
  expect(iso(autumn)).toBe('2026-10-25T00:30:00.000Z')
  expect(iso(spring.next(autumn as number))).toBe('2026-10-26T01:30:00.000Z')
})

test.each(['often', '61 * * * *', '* * *', ''])('"%s" is refused with the key it stands under', (expression) => {
  expect(() => makeTimetable(expression, 'UTC', 'schedule.sync')).toThrow(/^schedule\.sync: ".*" is not a cron/)
})

test('moments that have passed are counted, the one that is now included', () => {
  const minutes = makeTimetable('* * * * *', 'UTC', 'schedule.sync')
  const due = at('2026-11-20T10:00:00Z')
  expect(passedMoments(minutes, due, due - 1)).toEqual({ count: 0, next: due })
  expect(passedMoments(minutes, due, due)).toEqual({ count: 1, next: due + 60_000 })
  expect(passedMoments(minutes, due, due + 600_500)).toEqual({ count: 11, next: due + 660_000 })
})

test('a sleep of months is not counted second by second', () => {
  const seconds = makeTimetable('* * * * * *', 'UTC', 'schedule.sync')
  const due = at('2026-01-01T00:00:00Z')
  const now = at('2026-06-01T00:00:00Z')
  expect(passedMoments(seconds, due, now)).toEqual({ count: 1000, next: now + 1000 })
})

test('an expression that never comes has no next moment', () => {
  const never = makeTimetable('0 0 30 2 *', 'UTC', 'schedule.sync')
  expect(never.next(at('2026-11-20T10:00:00Z'))).toBeNull()
  expect(allowedAge(never)(at('2026-11-20T10:00:00Z'))).toBeNull()
})

test('a moment that has just passed is the last one', () => {
  const daily = makeTimetable('0 3 * * *', 'UTC', 'schedule.export')
  expect(iso(daily.previous(at('2026-11-20T03:00:00.000Z')))).toBe('2026-11-19T03:00:00.000Z')
  expect(iso(daily.previous(at('2026-11-20T03:00:00.001Z')))).toBe('2026-11-20T03:00:00.000Z')
  expect(iso(daily.previous(at('2026-11-20T03:00:00.999Z')))).toBe('2026-11-20T03:00:00.000Z')
})

test('what is made anew every five minutes may be a quarter of an hour old, whatever the clock of the zone does', () => {
  const allowed = allowedAge(makeTimetable('*/5 * * * *', 'Europe/Berlin', 'schedule.sync'))
  for (let now = at('2026-10-24T23:50:00Z'); now < at('2026-10-25T02:10:00Z'); now += 47_013)
    expect(allowed(now)).toBe(15 * MINUTE)
})

test.each([
  ['amid a morning', '2026-11-20T10:02:00Z', 15 * MINUTE],
  ['at night', '2026-11-20T23:00:00Z', 6 * HOUR - 45 * MINUTE],
  ['on Sunday', '2026-11-22T12:00:00Z', 42 * HOUR + 15 * MINUTE],
  ['before the first sync of Monday is done', '2026-11-23T09:00:30Z', 63 * HOUR + 15 * MINUTE],
  ['once three more were due', '2026-11-23T09:15:30Z', 15 * MINUTE],
])('with syncs in working hours only, %s it is allowed to be as old as it has to be', (_, now, ms) => {
  // Asked for in the order of time, as a process that stays up does, and by one that has just begun.
  const working = makeTimetable('*/5 9-17 * * 1-5', 'UTC', 'schedule.sync')
  const kept = allowedAge(working)
  for (let before = at('2026-11-20T09:58:00Z'); before < at(now); before += HOUR) kept(before)
  expect([kept(at(now)), allowedAge(working)(at(now))]).toEqual([ms, ms])
  // The clock may be set back.
  expect(kept(at('2026-11-20T10:02:00Z'))).toBe(15 * MINUTE)
})
