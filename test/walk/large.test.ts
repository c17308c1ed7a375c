// Lists that stand still, and whose answers are cut by size: some tasks fill an answer alone, or nearly so. Wherever they stand, the
// list is complete, for little.
import { describe, expect, test } from 'vitest'
import { seeded } from '../../src/simulator/random.ts'
import { type Item, makeModel, walkModel } from './model.ts'

const MOST_SIZE = 100

/** Walks `items`, of which each answer holds as many as fit; `refuses`: a window that does not fit is refused, or fails. */
async function walkSized(
  items: Item[],
  sizeOf: (id: string) => number,
  settings: { window: number; overlap: number },
  {
    isHidden = () => false,
    refuses = false,
  }: { isHidden?: (id: string) => boolean; refuses?: boolean | 'failed' } = {},
) {
  const model = makeModel(items, {
    answer(skip, take) {
      const answer: Item[] = []
      let size = 0
      for (const item of items.slice(skip, skip + take)) {
        if (isHidden(item.id)) continue
        size += sizeOf(item.id)
        if (answer.length > 0 && size > MOST_SIZE) {
          if (refuses) return refuses === 'failed' ? 'failed' : 'refused'
          break
        }
        answer.push(item)
      }
      return answer
    },
  })
  const { result, met, requests } = await walkModel(model, settings)
  return { verdict: result.verdict, reason: result.reason, total: result.total, met: met.size, requests }
}

/** Newest first, `tied` at a time of one createdAt. */
function listOf(count: number, tied: number): Item[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `t${index}`,
    at: 9_000_000 - 1000 * Math.floor(index / tied),
  }))
}

describe('every list of up to seven tasks, of which some fill an answer alone, is complete', () => {
  const worlds = [1, 2, 3].flatMap((tied) => [
    { tied, window: 1000, overlap: 10, most: 110 },
    { tied, window: 5, overlap: 2, most: 110 },
  ])
  const ways = [
    { refuses: false, share: 1 },
    { refuses: true, share: 0.6 },
  ]
  const cases = ways.flatMap((way) => worlds.map((world) => ({ ...world, ...way })))
  test.each(cases)(
    '$tied of one createdAt, windows of $window, refused where they do not fit: $refuses',
    async ({ tied, window, overlap, most, refuses, share }) => {
      for (let count = 1; count <= 7; count += 1) {
        const items = listOf(count, tied)
        for (let large = 1; large < 2 ** count; large += 1) {
          const isLarge = (id: string): boolean => (large & (1 << Number(id.slice(1)))) !== 0
          const walked = await walkSized(
            items,
            (id) => (isLarge(id) ? share * MOST_SIZE : 1),
            { window, overlap },
            { refuses },
          )
          const where = `${count} tasks, large: ${large.toString(2)}`
          expect(walked, where).toMatchObject({ verdict: 'complete', reason: null, total: count, met: count })
          expect(walked.requests, where).toBeLessThanOrEqual(most)
        }
      }
    },
  )
})

// By createdAt, in the order of the list; with a star: large.
test.each([
  { what: 'the first of its run, and the start of the list', list: '1 2* 1*', refuses: 'failed' },
  { what: 'before what failed, where fewer were asked for', list: '5 4 4* 3*', refuses: 'failed' },
  { what: 'of a run in front of another of its createdAt', list: '1* 1* 1* 2 1', refuses: true },
] as const)('$list: what is seen $what is not taken for the run that is counted', async ({ list, refuses }) => {
  const items = list.split(' ').map((task, index) => ({ id: `t${index}`, at: Number.parseInt(task, 10), task }))
  const isLarge = new Map(items.map(({ id, task }) => [id, task.endsWith('*')]))
  const sizeOf = (id: string): number => (isLarge.get(id) === true ? 0.6 * MOST_SIZE : 1)
  const walked = await walkSized(items, sizeOf, { window: 20, overlap: 1 }, { refuses })
  expect(walked).toMatchObject({ verdict: 'complete', met: items.length })
})

test('one large task second from the end of ten is no end that keeps moving', async () => {
  const sizeOf = (id: string): number => (id === 't8' ? MOST_SIZE : 1)
  const walked = await walkSized(listOf(10, 1), sizeOf, { window: 1000, overlap: 10 })
  expect(walked).toMatchObject({ verdict: 'complete', met: 10 })
  expect(walked.requests).toBeLessThan(50)
})

describe('light tasks, and behind them heavy ones: what holds fewer than the answers before is no end each time', () => {
  // Of 600 tasks; heavy ones fill an answer by sixes, with three of them shared.
  test.each([
    { light: 1, hidden: 0, most: 130 },
    { light: 2.5, hidden: 0, most: 310 },
    { light: 1, hidden: 0.02, most: 450 },
    { light: 2.5, hidden: 0.05, most: 550 },
    { light: 1, hidden: 0.3, most: 600 },
  ])('light ones of $light, $hidden of all left out: $most requests', async ({ light, hidden, most }) => {
    for (const seed of [1, 2, 3]) {
      const items = listOf(600, 1)
      const random = seeded(seed)
      const gone = new Set(items.filter(() => random.chance(hidden)).map(({ id }) => id))
      const sizeOf = (id: string): number => (Number(id.slice(1)) < 300 ? light : 15)
      const walked = await walkSized(items, sizeOf, { window: 100, overlap: 10 }, { isHidden: (id) => gone.has(id) })
      expect({ seed, ...walked }).toMatchObject({
        seed,
        met: 600 - gone.size,
        ...(hidden === 0 && { verdict: 'complete' }),
      })
      expect(walked.requests).toBeLessThanOrEqual(most)
    }
  })
})

/** What tasks weigh, by their place in a list of 2,000, where an answer holds 100. */
const SHAPES: [name: string, weight: (at: number, random: ReturnType<typeof seeded>) => number, most: number][] = [
  ['ever heavier', (at) => 0.5 + (30 * at) / 2000, 5500],
  ['ever lighter', (at) => 30.5 - (30 * at) / 2000, 5500],
  ['now heavy, now light', (at) => 1 + 10 * (1 + Math.sin(at / 50)), 2200],
  ['heavy ones in the middle', (at) => (at > 800 && at < 900 ? 60 : 1), 1400],
  ['a few very heavy ones', (_, random) => Math.min(100, 0.5 / (1 - random.next()) ** 0.8), 1400],
  ['one in a hundred alone in its answer', (_, random) => (random.chance(0.01) ? 100 : 1), 900],
]

describe.each([1, 7])('2,000 tasks, %i at a time of one createdAt', (tied) => {
  test.each(SHAPES)('%s: complete; with some left out all others are met', async (_, weight, most) => {
    for (const hidden of [0, 0.05]) {
      const random = seeded(tied)
      const items = listOf(2000, tied)
      const sizes = new Map(items.map(({ id }, at) => [id, weight(at, random)]))
      const gone = new Set(items.filter(() => random.chance(hidden)).map(({ id }) => id))
      const sizeOf = (id: string): number => sizes.get(id) as number
      const walked = await walkSized(items, sizeOf, { window: 200, overlap: 10 }, { isHidden: (id) => gone.has(id) })
      expect({ hidden, ...walked }).toMatchObject({
        hidden,
        met: 2000 - gone.size,
        ...(hidden === 0 && { verdict: 'complete' }),
      })
      expect(walked.requests).toBeLessThan(most)
    }
  })
})

test.each([false, true])(
  'long lists of tasks of all sizes, many of one createdAt, are complete; refused where they do not fit: %s',
  async (refuses) => {
    const some = Array.from({ length: 40 }, (_, index) => index + 1)
    // Each of these took a walk once for another list than it is, or went round in circles for good.
    for (const seed of [...some, 138, 518, 666, 1852, 3053, 3346]) {
      const random = seeded(seed)
      const count = 1 + random.int(seed % 10 === 0 ? 300 : 60)
      const [ties, large] = [random.int(9), random.int(7)]
      let at = 9_000_000
      const items = Array.from({ length: count }, (_, index) => {
        if (random.int(10) >= ties) at -= 1000
        return { id: `t${String(random.int(1_000_000)).padStart(6, '0')}-${index}`, at }
      })
      const sizes = new Map(
        items.map(({ id }) => [id, random.int(10) < large ? 20 + random.int(100) : 1 + random.int(5)]),
      )
      const window = [1000, 50, 10, 5][random.int(4)] as number
      const sizeOf = (id: string): number =>
        refuses ? Math.min(MOST_SIZE, sizes.get(id) as number) : (sizes.get(id) as number)
      const walked = await walkSized(items, sizeOf, { window, overlap: window < 50 ? 2 : 10 }, { refuses })
      expect(walked, `seed ${seed}`).toMatchObject({ verdict: 'complete', reason: null, total: count, met: count })
      expect(walked.requests, `seed ${seed}`).toBeLessThan(100 + 8 * count)
    }
  },
)

// As many as were asked for: nothing says that the list has grown by them.
test.each([
  { list: '3:1 3:5 2:6 2:5 3:9 2:1 2:9', window: 10 },
  { list: '1:1 2:6 2:5 3:6 3:6 2:9 3:5', window: 5 },
])(
  'one createdAt in several places, windows refused where they do not fit, $list: complete',
  async ({ list, window }) => {
    const parsed = list.split(' ').map((task, index) => {
      const [at, size] = task.split(':').map(Number) as [number, number]
      return { id: `t${index}`, at, size: 10 * size }
    })
    const sizeOf = (id: string): number => parsed.find((task) => task.id === id)?.size ?? 0
    const walked = await walkSized(parsed, sizeOf, { window, overlap: 1 }, { refuses: true })
    expect(walked).toMatchObject({ verdict: 'complete', total: parsed.length, met: parsed.length })
  },
)
