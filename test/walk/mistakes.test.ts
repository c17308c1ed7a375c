// A list at rest of which one answer holds nothing by mistake, whichever it is: what the walk calls complete is complete.
import { expect, test } from 'vitest'
import { type Model, makeModel, newestFirst, walkModel } from './model.ts'

/** The last item fits beside no other: answers are cut in front of it. */
const cutBeforeLast: Model['answer'] = (skip, take, { items }) => {
  const window = items.slice(skip, skip + take)
  return window.length > 1 && skip + window.length === items.length ? window.slice(0, -1) : window
}

test.each<[string, number, NonNullable<Model['answer']>]>([
  ['answers are whole', 12, (skip, take, { items }) => items.slice(skip, skip + take)],
  ['answers are cut by number', 12, (skip, take, { items }) => items.slice(skip, skip + Math.min(4, take))],
  ['the last item comes alone', 12, cutBeforeLast],
  ['the last item comes alone, behind full windows', 11, cutBeforeLast],
])('%s', async (_, count, answer) => {
  let complete = 0
  for (const nothing of [[], 'refused' as const]) {
    for (let mistaken = 0; mistaken < 20; mistaken += 1) {
      const model = makeModel(newestFirst(count), {
        answer: (skip, take, it) => (it.requests.length - 1 === mistaken ? nothing : answer(skip, take, it)),
      })
      const { result, met } = await walkModel(model, { window: 10, overlap: 2 })
      if (result.verdict !== 'complete') continue
      complete += 1
      expect({ nothing, mistaken, met: met.size }).toEqual({ nothing, mistaken, met: count })
    }
  }
  expect(complete).toBeGreaterThanOrEqual(30)
})

test('an item that is refused at any size is not the end of a list of which answers are cut by number', async () => {
  for (let refused = 30; refused < 42; refused += 1) {
    const items = newestFirst(42).map((item, index) => (index < 35 ? item : { ...item, at: 0 }))
    const model = makeModel(items, {
      answer: (skip, take, it) => {
        const window = it.items.slice(skip, skip + Math.min(4, take))
        return window.some(({ id }) => id === items[refused]?.id) ? 'refused' : window
      },
    })
    const { result, met } = await walkModel(model, { window: 10, overlap: 2 })
    expect({ refused, isTrue: result.verdict === 'partial' || met.size >= 41 }).toEqual({ refused, isTrue: true })
  }
})
