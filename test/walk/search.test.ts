import { expect, test } from 'vitest'
import { firstBeyond, Search, type SearchOptions } from '../../src/walk/search.ts'

/** Places looked at until the end of a list of `length` items is found, one item an answer. */
function placesUntilFound(search: Search, length: (look: number) => number, isFound = () => search.isClosed): number[] {
  const places: number[] = []
  while (!isFound()) {
    places.push(search.place)
    expect(places.length).toBeLessThan(200)
    if (search.place < length(places.length)) search.tooNear()
    else search.tooFar()
  }
  return places
}

const LENGTHS = Array.from({ length: 70 }, (_, length) => length)

test.each<SearchOptions>([
  { near: 0 },
  { near: 0, stride: 7 },
  { near: 0, stride: 3, growth: 4 },
  { near: 0, far: 100 },
])('the end of a list that stands still is found from everywhere: %j', (options) => {
  for (const from of LENGTHS)
    for (const length of LENGTHS) {
      const search = new Search(from, options)
      const places = placesUntilFound(search, () => length)
      expect(search.far).toBe(length)
      expect(places.length).toBeLessThan(22)
    }
})

test('between two bounds a search only halves', async () => {
  for (const length of LENGTHS) {
    if (length > 64) continue
    let looks = 0
    const found = await firstBeyond(0, 64, async (place) => {
      looks += 1
      return place >= length
    })
    expect(found).toBe(length)
    expect(looks).toBeLessThan(8)
  }
})

test.each([
  ['grows', (look: number) => 20 + 3 * look],
  ['becomes shorter', (look: number) => Math.max(0, 200 - 10 * look)],
  ['is deleted', () => 0],
  ['swings', (look: number) => (look % 2 === 0 ? 10 : 30)],
])('a list that %s: bounds that do not hold are given up, and the search comes near', (_, length) => {
  const search = new Search(50, { stride: 5 })
  let looks = 0
  for (; looks < 40 && Math.abs(search.place - length(looks)) > 3; looks += 1) {
    if (search.place < length(looks)) search.tooNear()
    else search.tooFar()
  }
  expect(looks).toBeLessThan(40)
})

test('before the beginning there is nothing', () => {
  const search = new Search(3, { stride: 2 })
  expect([search.tooFar(), search.place, search.tooFar(), search.place, search.tooFar()]).toEqual([
    true,
    1,
    true,
    0,
    false,
  ])
})

test('no step is longer than a list, and places stay whole numbers', () => {
  const search = new Search(0, { near: 0, stride: 1000 })
  for (let look = 0; look < 100; look += 1) search.tooNear(1000)
  expect(Number.isSafeInteger(search.place)).toBe(true)
})
