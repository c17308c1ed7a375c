import { expect, test } from 'vitest'
import { ageOf, isApart, jumpWatch, latestKnown, leastSkew, skewOf, steadyClock } from '../src/clock.ts'

const NOW = 1_800_000_000_000
const HOUR = 3_600_000

test.each([
  [null, 60_000, null],
  [undefined, 60_000, null],
  [NOW - 5, 60_000, 5],
  [NOW, 60_000, 0],
  [NOW + 60_000, 60_000, 0],
  [NOW + 60_001, 60_000, null],
  [NOW + 400 * 86_400_000, 60_000, null],
  // However little is configured, two processes may see a clock that was set by a second.
  [NOW + 1000, 0, 0],
  [NOW + 1001, 0, null],
])('the age of %s, with %s ms to settle, is %s', (moment, settleMs, age) => {
  expect(ageOf(moment, NOW, settleMs)).toBe(age)
})

test('what is the latest known has an age, and nothing later', () => {
  for (const settleMs of [0, 500, 60_000]) {
    expect(ageOf(latestKnown(NOW, settleMs), NOW, settleMs)).toBe(0)
    expect(ageOf(latestKnown(NOW, settleMs) + 1, NOW, settleMs)).toBeNull()
  }
})

test('a steady clock begins with the wall clock and goes on with the monotonic one', () => {
  let wall = NOW
  let ticks = 17.25
  const clock = steadyClock(
    () => wall,
    () => ticks,
  )
  expect(clock()).toBe(NOW)
  wall -= 86_400_000
  ticks += 1500.75
  expect(clock()).toBe(NOW + 1500)
})

test('a jump of more than a second is seen once, in either direction; a slow drift is none', () => {
  let wall = NOW
  let ticks = 0
  const jumped = jumpWatch(
    () => wall,
    () => ticks,
  )
  const after = (wallMs: number, ms: number) => {
    wall += wallMs
    ticks += ms
    return jumped()
  }
  expect(after(15_000, 15_000)).toBe(0)
  expect(after(15_900, 15_000)).toBe(0)
  expect(after(15_900, 15_000)).toBe(0)
  expect(after(-86_400_000, 1000)).toBe(-86_401_000)
  expect(after(1000, 1000)).toBe(0)
  expect(after(3_601_500, 1000)).toBe(3_600_500)
})

test('a Date is compared with the middle of the time its answer took, and the one that fits best is believed', () => {
  const skew = skewOf(NOW, NOW - 4000, NOW)
  expect(skew).toEqual({ aheadMs: 2500, uncertainMs: 2500 })
  const hourOld = skewOf(NOW - HOUR, NOW, NOW)
  expect(leastSkew(leastSkew(null, hourOld), skew)).toBe(skew)
  expect(leastSkew(skew, hourOld)).toBe(skew)
  expect([isApart(skew), isApart(hourOld), isApart({ aheadMs: 35_000, uncertainMs: 9000 })]).toEqual([
    false,
    true,
    false,
  ])
})
