import { expect, test } from 'vitest'
import { estimateEnd, roundedMiddle } from '../../src/walk/measure/estimate.ts'

/** Looks into a list of `length` items; fails at the look `failsAt`. */
function list(length: number, failsAt = Number.POSITIVE_INFINITY) {
  const looks: number[] = []
  const look = async (index: number) => {
    looks.push(index)
    return looks.length >= failsAt ? null : index < length
  }
  return { look, looks }
}

test.each([
  [20_001, 4],
  [25_000, 3],
  [99_999, 8],
  [1_000_000, 8],
  [300_000_000, 12],
])('a list of %i items is measured to an eighth with at most %i looks', async (length, most) => {
  const { look, looks } = list(length)
  const reach = await estimateEnd(look, 9910)
  expect(reach!.low).toBeLessThanOrEqual(length)
  expect(reach!.high).toBeGreaterThanOrEqual(length)
  expect(Math.abs(roundedMiddle(reach!) / length - 1)).toBeLessThan(1 / 8)
  expect(looks.length).toBeLessThanOrEqual(most)
})

test('a list that is not twice as long as what is known is not measured: one look', async () => {
  const { look, looks } = list(19_820)
  expect(await estimateEnd(look, 9910)).toBeNull()
  expect(looks).toEqual([19_820])
})

test('a list without an end, such as one that begins again, ends the search', async () => {
  const { look, looks } = list(Number.POSITIVE_INFINITY)
  expect(await estimateEnd(look, 1000)).toBeNull()
  expect(looks.length).toBeLessThan(15)
  expect(looks.at(-1)).toBeLessThanOrEqual(1_000_000_000)
})

test.each([1, 2, 5])('where look %i fails, nothing is known', async (failsAt) => {
  const { look, looks } = list(1_000_000, failsAt)
  expect(await estimateEnd(look, 9910)).toBeNull()
  expect(looks).toHaveLength(failsAt)
})

test('the search is bounded whatever is answered', async () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    let state = seed
    let looks = 0
    const reach = await estimateEnd(
      async () => {
        looks += 1
        state = (state * 48_271) % 2_147_483_647
        return state % 2 === 0
      },
      1 + (seed % 50) * 100,
    )
    expect(looks).toBeLessThanOrEqual(16)
    if (reach !== null) expect(reach.low).toBeLessThanOrEqual(reach.high)
  }
})
