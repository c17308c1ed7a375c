// Seeded randomness: the same everywhere, and spread evenly.

import { expect, it } from 'vitest'
import { mix32, seeded, shuffle, unitAt, unmix32 } from '../../src/simulator/random.ts'
import fc from '../support/fc.ts'

it('unmix32 undoes mix32', () => {
  fc.assert(
    fc.property(fc.nat(0xffff_ffff), (value) => {
      expect(unmix32(mix32(value))).toBe(value)
    }),
  )
})

it('a seed gives the same numbers on every machine', () => {
  const random = seeded(1, 2)
  expect(Array.from({ length: 4 }, () => random.int(1000))).toMatchInlineSnapshot(`
    [
      336,
      94,
      551,
      695,
    ]
  `)
})

it('numbers fill [0, 1) evenly, streams and places alike', () => {
  const random = seeded(3)
  const streamed = Array.from({ length: 20_000 }, () => random.next())
  const placed = Array.from({ length: 20_000 }, (_, place) => unitAt(3, place, 1))
  for (const numbers of [streamed, placed]) {
    const tenths = new Array(10).fill(0)
    for (const number of numbers) tenths[Math.floor(number * 10)]++
    for (const count of tenths) expect(Math.abs(count - 2000)).toBeLessThan(200)
  }
})

it('a shuffle keeps every item', () => {
  const items = Array.from({ length: 100 }, (_, i) => i)
  const shuffled = shuffle([...items], seeded(1))
  expect(shuffled).not.toEqual(items)
  expect(shuffled.sort((a, b) => a - b)).toEqual(items)
})
