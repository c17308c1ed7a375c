// When a list is too short to be believed, as tables.
import { describe, expect, test } from 'vitest'
import { isMuchShorter, lastBelieved } from '../../src/sync/steps/shrunk.ts'

const limits = { massDeleteFraction: 0.1, massDeleteMinimum: 100 }

describe('a list is believed', () => {
  test.each([
    [2_500, 2_500, false],
    [2_500, 2_250, false],
    [2_500, 2_249, true],
    [2_500, 0, true],
    [500, 400, false],
    [500, 399, true],
    [60, 1, false],
    // However few there were: an empty list is no list.
    [60, 0, true],
    [1, 0, true],
    [0, 0, false],
    [100, 5_000, false],
  ])('of %i items, with %i left: much shorter is %s', (before, listed, expected) => {
    expect(isMuchShorter(listed, before, limits)).toBe(expected)
  })

  test.each([1, 50, 101, 500, 2_500, 99_999])('up to the item whose place is asked for, with %i before', (before) => {
    const last = lastBelieved(before, limits)
    expect(isMuchShorter(last + 1, before, limits)).toBe(false)
    expect(isMuchShorter(last, before, limits)).toBe(true)
  })
})
