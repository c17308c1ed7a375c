// What stands behind the last item, told by places: lists that stand still where not said otherwise.
import { expect, test } from 'vitest'
import { type Item, makeModel, newestFirst, walkModel } from './model.ts'

test('answers of one item, one that cannot be read directly before a run that cannot be counted so: all others are met', async () => {
  const items: Item[] = [9, 8, 7, 6, 6, 6, 6, 5, 4, 3, 2].map((at, index) => ({ id: `t${index}`, at: at * 1000 }))
  const model = makeModel(items, {
    answer: (skip, take) => (skip <= 2 && skip + take > 2 ? 'failed' : items.slice(skip, skip + 1)),
  })
  const { met, unreadable, requests } = await walkModel(model, { window: 50, overlap: 10 })
  expect({ met: met.size, unreadable }).toEqual({ met: 10, unreadable: [2] })
  expect(requests).toBeLessThan(300)
})

test('positions behind the end at which something stood for a moment do not count in the total', async () => {
  // Two tasks come in behind the end while it is looked at, and are gone when it is read on from there.
  const items = newestFirst(25)
  const passing = [1, 2].map((index) => ({ id: `passing${index}`, at: 0 }))
  const model = makeModel(items, {
    before: (_, it) => {
      const asked = it.requests.filter(({ skip }) => skip === 25).length
      it.items = asked === 1 && it.requests.at(-1)?.skip === 25 ? [...items, ...passing] : [...items]
    },
  })
  const { result } = await walkModel(model, { window: 10, overlap: 3 })
  expect(result).toMatchObject({ verdict: 'complete', total: 25 })
})

test.each([
  ['the item before it', 't00024'],
  ['another one', 't00003'],
])('%s is deleted while what cannot be read is looked at: the walk goes on behind that', async (_, id) => {
  for (let at = 2; at < 45; at += 1) {
    const model = makeModel(newestFirst(60), {
      before(request, it) {
        if (request === at) it.items = it.items.filter((item) => item.id !== id)
      },
      answer: (skip, take, it) =>
        it.items.slice(skip, skip + take).some((item) => item.id === 't00025') ? 'failed' : null,
    })
    const { result, met } = await walkModel(model, { window: 10, overlap: 3 })
    expect({ at, verdict: result.verdict, isMet: met.size >= 58 }).toEqual({ at, verdict: 'complete', isMet: true })
  }
})

test.each([
  ['left out of answers', 50, null],
  ['left out of answers', 100, null],
  ['failing', 20, 'failed'],
  ['failing', 50, 'failed'],
  ['failing', 100, 'failed'],
] as const)(
  'three hundred in a row, %s of %i: all others are met, and the walk is partial',
  async (_, window, failed) => {
    const items = newestFirst(2500)
    const isGone = (index: number) => index >= 700 && index < 1000
    const model = makeModel(items, {
      answer(skip, take) {
        const places = Array.from({ length: Math.min(take, items.length - skip) }, (__, at) => skip + at)
        if (failed !== null) return places.some(isGone) ? failed : null
        return places.flatMap((index) => (isGone(index) ? [] : [items[index] as Item]))
      },
    })
    const { result, met, requests } = await walkModel(model, { window, overlap: 3 })
    expect({ verdict: result.verdict, met: met.size }).toEqual({ verdict: 'partial', met: 2200 })
    expect(requests).toBeLessThan(1500)
  },
)

test('one task comes in front of a list that begins with hidden ones: that is no service that counts whole pages', async () => {
  for (let at = 0; at < 60; at += 1) {
    const model = makeModel(newestFirst(60), {
      before(request, it) {
        if (request === at) it.items = [{ id: 'x', at: 1e9 }, ...it.items]
      },
      answer: (skip, take, it) => it.items.slice(skip, skip + take).filter(({ id }) => id >= 't00008'),
    })
    const { result, met } = await walkModel(model, { window: 5, overlap: 1 })
    const missed = newestFirst(60).filter(({ id }) => id >= 't00008' && !met.has(id)).length
    expect({ at, reason: result.reason, missed }).toEqual({ at, reason: null, missed: 0 })
  }
})
