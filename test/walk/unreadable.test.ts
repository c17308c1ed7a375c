// Lists that stand still, of which some tasks cannot be read: a window that holds one of them fails, or is refused. Wherever they
// stand, and however many, all others are met, for little.
import { describe, expect, test } from 'vitest'
import { seeded } from '../../src/simulator/random.ts'
import { type Item, makeModel, newestFirst, walkModel } from './model.ts'

type Kind = 'failed' | 'refused'

async function walkAround(items: Item[], bad: ReadonlySet<string>, kind: Kind, window: number, overlap: number) {
  const model = makeModel(items, {
    answer: (skip, take) => (items.slice(skip, skip + take).some(({ id }) => bad.has(id)) ? kind : null),
  })
  const { result, met, unreadable, requests } = await walkModel(model, { window, overlap })
  return { verdict: result.verdict, reason: result.reason, met: met.size, unreadable: unreadable.length, requests }
}

/** `pattern`: one letter for each task, `x` for one that cannot be read. */
function badOf(pattern: string): Set<string> {
  return new Set(newestFirst(pattern.length).flatMap(({ id }, index) => (pattern[index] === 'x' ? [id] : [])))
}

/** Every pattern of up to `most` tasks with one that cannot be read and one that can, up to three of which come first. */
function patterns(most: number): string[] {
  return Array.from({ length: most }, (_, index) => index + 1).flatMap((count) =>
    Array.from({ length: 2 ** count }, (_, bits) => bits.toString(2).padStart(count, '0'))
      .map((bits) => bits.replaceAll('0', 'o').replaceAll('1', 'x'))
      .filter((pattern) => /^x{0,2}o/.test(pattern) && pattern.includes('x')),
  )
}

describe.each([10, 3])('in windows of %i', (window) => {
  const overlap = Math.min(3, window - 1)

  test('every list of up to six tasks, of which some make every window fail, is complete', async () => {
    for (const pattern of patterns(6)) {
      const bad = badOf(pattern)
      const walked = await walkAround(newestFirst(pattern.length), bad, 'failed', window, overlap)
      const met = pattern.length - bad.size
      expect(walked, pattern).toMatchObject({ verdict: 'complete', reason: null, met, unreadable: bad.size })
      expect(walked.requests, pattern).toBeLessThanOrEqual(100)
    }
  })

  test('where they are refused, all that stands between them is met', async () => {
    for (const pattern of patterns(6)) {
      // One task in front of four that are refused: that is how a service looks that gives one and no more.
      if (pattern === 'oxxxxo') continue
      const bad = badOf(pattern)
      const walked = await walkAround(newestFirst(pattern.length), bad, 'refused', window, overlap)
      expect(walked.met, pattern).toBe(pattern.length - bad.size)
    }
  })
})

test.each(['xxx', 'xxxo'])(
  '%s: where the first three cannot be read, the service counts as failing',
  async (pattern) => {
    const items = newestFirst(pattern.length)
    await expect(walkAround(items, badOf(pattern), 'failed', 10, 3)).rejects.toMatchObject({ code: 'service-failing' })
  },
)

test.each([3, 5, 9])('the first %i cannot be read, and others can: all of those are met', async (count) => {
  const items = newestFirst(count + 30)
  const bad = new Set(items.slice(0, count).map(({ id }) => id))
  const walked = await walkAround(items, bad, 'failed', 10, 3)
  expect(walked).toMatchObject({ verdict: 'complete', reason: null, met: 30, unreadable: count })
})

test('a walk over the newest tasks has passed nothing over where the first one is asked for to see whether the service works', async () => {
  const items = newestFirst(60).reverse()
  const bad = new Set([0, 20, 57].map((index) => items[index]?.id))
  const model = makeModel(items, {
    startedAt: 100_000,
    answer: (skip, take) => (items.slice(skip, skip + take).some(({ id }) => bad.has(id)) ? 'failed' : null),
  })
  const { result, met, unreadable } = await walkModel(model, {
    start: 40,
    range: { order: 'created_asc', from: 50_000, to: null },
    accepts: () => true,
    known: { order: 'created_asc', inversionMs: 0 },
    beyond: false,
    lap: 'never',
  })
  expect(result).toMatchObject({ verdict: 'complete', contradicted: false, order: 'created_asc', total: 60 })
  expect({ met: met.size, unreadable }).toEqual({ met: 19, unreadable: [57] })
})

test('two hundred in a row that cannot be read are passed, one by one', async () => {
  const items = newestFirst(300)
  const bad = new Set(items.slice(40, 240).map(({ id }) => id))
  expect(await walkAround(items, bad, 'failed', 50, 5)).toMatchObject({
    verdict: 'complete',
    met: 100,
    unreadable: 200,
  })
})

test.each([
  { share: 20, ties: 0, kind: 'failed' as const, least: 40 },
  { share: 20, ties: 4, kind: 'failed' as const, least: 40 },
  { share: 100, ties: 4, kind: 'failed' as const, least: 37 },
  { share: 300, ties: 0, kind: 'failed' as const, least: 40 },
  { share: 20, ties: 0, kind: 'refused' as const, least: 38 },
])('long lists, $share of 1,000 $kind, $ties of 10 tied', async ({ share, ties, kind, least }) => {
  let complete = 0
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = seeded(seed)
    const count = 20 + random.int(300)
    let at = 9_000_000
    const items = Array.from({ length: count }, (_, index) => {
      if (random.int(10) >= ties) at -= 1000
      return { id: `t${String(random.int(1_000_000)).padStart(6, '0')}-${index}`, at }
    })
    const bad = new Set(items.filter((_, index) => index > 0 && random.int(1000) < share).map(({ id }) => id))
    const window = [1000, 50, 10, 5][random.int(4)] as number
    const walked = await walkAround(items, bad, kind, window, window < 50 ? 2 : 10)
    expect(walked.met, `seed ${seed}`).toBe(count - bad.size)
    expect(walked.requests, `seed ${seed}`).toBeLessThan(100 + 8 * count)
    if (walked.verdict === 'complete') complete += 1
  }
  expect(complete).toBeGreaterThanOrEqual(least)
})

test.each([5, 7, 12])('within a run that answers of %i do not hold: it is not counted again and again', async (cap) => {
  // Not in the order of their ids, which would show that none is missing.
  const items = newestFirst(60).map((_, index) => ({ id: `t${index}`, at: 1000 * (60 - Math.floor(index / 20)) }))
  for (const bad of [25, 30, 35]) {
    const model = makeModel(items, {
      answer(skip, take) {
        const window = items.slice(skip, skip + Math.min(take, cap))
        return window.some(({ id }) => id === items[bad]?.id) ? 'failed' : window
      },
    })
    const { result, met, unreadable, requests } = await walkModel(model, { window: 10, overlap: 3 })
    expect({ ...result, met: met.size, unreadable }).toMatchObject({ verdict: 'partial', met: 59, unreadable: [bad] })
    expect(requests).toBeLessThan(350)
  }
})

test('where two are given for one that is asked for, what is beside one that cannot be read is not passed in silence', async () => {
  const kinds: readonly Kind[] = ['failed', 'refused']
  for (const kind of kinds) {
    for (const pattern of patterns(6).filter((one) => !one.startsWith('x') && one[1] === 'o')) {
      const items = newestFirst(pattern.length)
      const bad = badOf(pattern)
      const model = makeModel(items, {
        answer(skip, take) {
          const window = items.slice(skip, skip + 2 * Math.ceil(take / 2))
          return window.some(({ id }) => bad.has(id)) ? kind : window
        },
      })
      const { result, met } = await walkModel(model)
      // All that some question shows.
      const readable = items.filter(({ id }, at) =>
        [at, at - 1].some(
          (skip) => skip >= 0 && !items.slice(skip, skip + 2).some((one) => bad.has(one.id)) && !bad.has(id),
        ),
      )
      if (readable.some(({ id }) => !met.has(id))) expect(result.verdict, pattern).toBe('partial')
    }
  }
})
