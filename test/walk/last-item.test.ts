// The last item of a list that moves, followed from where it stood.
import { expect, test } from 'vitest'
import { Kernel } from '../../src/proof/kernel.ts'
import { followLast } from '../../src/walk/last-item.ts'
import { Reader } from '../../src/walk/reader.ts'
import { makeModel, newestFirst, sourceOf } from './model.ts'

const WINDOW = 10
const COUNT = 1_000
const LAST = 't00999'

/** Asks from five items before where the last of 1,000 stood, all met; `added` others come in front of every answer. */
async function followed(added: number, { unmet = false, isGone = false, once = false } = {}) {
  const before = newestFirst(COUNT)
  let count = 0
  const model = makeModel(
    before.filter(({ id }) => !(isGone && id === LAST)),
    {
      before: (request, { items }) => {
        const many = once && request > 0 ? 0 : added
        items.unshift(...Array.from({ length: many }, () => ({ id: `new${count++}`, at: 1_000_000 })))
      },
    },
  )
  const met = new Set(before.map(({ id }) => id).filter((id) => !(unmet && id === 't00970')))
  const reader = new Reader(sourceOf(model, met), { window: WINDOW }, new Kernel(null))
  const answer = await followLast(reader, LAST, COUNT - 1, 5)
  return { at: answer === null ? null : answer.skip + answer.ids.indexOf(LAST), requests: model.requests.length }
}

const once = true
test.each([
  ['found where it stood', 0, {}, { at: 999, requests: 1 }],
  ['found behind the window it stood in', 7, { once }, { at: 1006, requests: 2 }],
  ['found some windows further down', 50, { once }, { at: 1049, requests: 5 }],
  ['found many windows further down', 900, { once }, { at: 1899, requests: 15 }],
  ['found where it moves on with every answer', 6, {}, { at: 1011, requests: 2 }],
  ['not followed for ever', 40, {}, { at: null, requests: 16 }],
  ['not followed past items that the walk has yet to read', 30, { once, unmet: true }, { at: null, requests: 1 }],
  ['not found where it is gone', 0, { isGone: true }, { at: null, requests: 16 }],
])('the last item is %s', async (_, added, state, expected) => {
  expect(await followed(added, state)).toEqual(expected)
})
