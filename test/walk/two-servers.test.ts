// A list that is answered by two servers at random, of which one is behind: indexes go back and forth without any change.

import { expect, test } from 'vitest'
import { seeded } from '../../src/simulator/random.ts'
import { type Item, type Model, makeModel, newestFirst, type Walked, walkModel } from './model.ts'

function missing({ met, listedThroughout }: Walked): string[] {
  return [...listedThroughout.difference(met)]
}

test.each([0.5, 2])(
  'newest first, %d in front with every request, from two servers of which one is some requests behind',
  async (rate) => {
    for (const behind of [1, 3, 10, 30]) {
      for (let seed = 1; seed <= 10; seed += 1) {
        const random = seeded(seed, 0x1a6)
        const lists = [newestFirst(400)]
        const before: Model['before'] = (request, { items }) => {
          const most = Math.floor(rate * (request + 1)) - Math.floor(rate * request)
          for (let one = 0; one < most; one += 1)
            items.unshift({ id: `n${request}-${one}`, at: 1e6 + 1000 * request + one })
          lists.unshift([...items])
        }
        const answer: Model['answer'] = (skip, take) =>
          (lists[random.chance(0.5) ? 0 : Math.min(behind, lists.length - 1)] as Item[]).slice(skip, skip + take)
        const walked = await walkModel(makeModel(newestFirst(400), { before, answer }), { window: 50 })
        const { reason } = walked.result
        expect({ behind, seed, reason, missing: missing(walked) }).toEqual({ behind, seed, reason: null, missing: [] })
      }
    }
  },
)

test('one of them lacks the newest: a window joins by its place only where no overlap can show it', async () => {
  let complete = 0
  for (const { window, overlap, lacks } of [
    { window: 6, overlap: 3, lacks: 9 },
    { window: 10, overlap: 3, lacks: 4 },
    { window: 10, overlap: 3, lacks: 15 },
    { window: 20, overlap: 10, lacks: 25 },
    { window: 50, overlap: 10, lacks: 15 },
  ]) {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = seeded(seed, 5)
      const all = newestFirst(10 * window + lacks)
      const old = all.slice(lacks)
      const answer: Model['answer'] = (skip, take) => (random.chance(0.5) ? all : old).slice(skip, skip + take)
      const walked = await walkModel(makeModel(old, { answer }), { window, overlap })
      if (walked.result.verdict === 'partial') continue
      complete += 1
      expect({ window, lacks, seed, missing: missing(walked) }).toEqual({ window, lacks, seed, missing: [] })
    }
  }
  expect(complete).toBeGreaterThan(210)
})

test('one of them lacks more of the newest than a window holds: that is no list that begins again', async () => {
  for (const lacks of [15, 25]) {
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = seeded(seed, 5)
      const all = newestFirst(300 + lacks)
      const old = all.slice(lacks)
      const answer: Model['answer'] = (skip, take) => (random.chance(0.5) ? all : old).slice(skip, skip + take)
      const { result } = await walkModel(makeModel(old, { answer }), { window: 10, overlap: 3 })
      expect({ lacks, seed, wraps: result.reason === 'wraps' }).toEqual({ lacks, seed, wraps: false })
    }
  }
})
