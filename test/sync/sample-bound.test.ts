// The bound of a sample, against published values and by counting.
import { expect, test } from 'vitest'
import { shareAtMost } from '../../src/sync/one-off/sample-bound.ts'

test.each([
  // 1 - 0.05^(1/n): the rule of three, exactly.
  [100, 0, 0.029513],
  [1_000, 0, 0.0029912],
  [10, 0, 0.258866],
  // Clopper and Pearson, one-sided 95 %.
  [10, 1, 0.394163],
  [20, 2, 0.282619],
  [100, 5, 0.102256],
])('of %i sampled, %i different', (sampled, bad, expected) => {
  expect(shareAtMost(sampled, bad, 1_000_000)).toBeCloseTo(expected, 5)
})

test('of all, the share itself; of none, nothing is known', () => {
  expect(shareAtMost(200, 3, 200)).toBe(0.015)
  expect(shareAtMost(0, 0, 0)).toBe(1)
  expect(shareAtMost(5, 5, 100)).toBe(1)
})

test('a large sample with many different ones', () => {
  expect(shareAtMost(100_000, 50_000, 10_000_000)).toBeCloseTo(0.5026, 3)
})
