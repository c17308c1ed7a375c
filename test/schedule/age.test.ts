import { expect, test } from 'vitest'
import { mirrorAge } from '../../src/schedule/age.ts'

const NOW = 1_800_000_000_000
const DAY = 86_400_000

function makeClocks() {
  const clocks = { wall: NOW, ticks: 5 }
  const age = mirrorAge(
    () => clocks.wall,
    () => clocks.ticks,
    60_000,
  )
  const pass = (ms: number) => {
    clocks.wall += ms
    clocks.ticks += ms
  }
  return { age, clocks, pass }
}

test('a mirror grows older by the monotonic clock although the wall clock is set back', () => {
  const { age, clocks, pass } = makeClocks()
  age.learn(NOW - 2000)
  clocks.wall -= DAY
  pass(3000)
  age.learn(NOW - 2000)
  expect(age.ageMs()).toBe(5000)
})

test('after a sleep, in which the monotonic clock stood still, the wall clock counts', () => {
  const { age, clocks } = makeClocks()
  age.learn(NOW - 2000)
  clocks.wall += DAY
  expect(age.ageMs()).toBe(DAY + 2000)
})

test('nothing is known of a walk in the future, until the clock is right or another walk is learned', () => {
  const { age, clocks } = makeClocks()
  expect(age.ageMs()).toBeNull()
  age.learn(NOW + 400 * DAY)
  expect(age.ageMs()).toBeNull()
  clocks.wall += 400 * DAY + 10
  age.learn(NOW + 400 * DAY)
  expect(age.ageMs()).toBe(10)
  clocks.wall -= 400 * DAY
  age.learn(NOW - 1)
  expect(age.ageMs()).toBe(11)
})

test('a walk made under a wrong clock in our own time keeps its true age once the clock is right', () => {
  const { age, clocks, pass } = makeClocks()
  clocks.wall += 400 * DAY
  age.learn(NOW + 400 * DAY)
  pass(1000)
  clocks.wall -= 400 * DAY
  expect(age.ageMs()).toBe(1000)
})
