// The last item of a list that moves, followed from where it stood.
import { expect, test } from 'vitest'
import { followLast } from '../../src/walk/last-item.ts'
import { makeReader } from '../../src/walk/reader.ts'
import { makeModel, newestFirst, sourceOf } from './model.ts'

const WINDOW = 10
const LAST = 't00099'

/** Asks from five items before where the last of 100 stood, all met, once `added` others have come in front. */
async function followed(added: number, { unmet = false, isGone = false } = {}) {
  const before = newestFirst(100)
  const inFront = Array.from({ length: added }, (_, index) => ({ id: `new${index}`, at: 1_000_000 }))
  const model = makeModel([...inFront, ...before.filter(({ id }) => !(isGone && id === LAST))])
  const met = new Set(before.map(({ id }) => id).filter((id) => !(unmet && id === 't00070')))
  const reader = makeReader(sourceOf(model, met), WINDOW)
  const answer = await followLast(reader, LAST, 99, 5)
  return { at: answer === null ? null : answer.skip + answer.ids.indexOf(LAST), requests: model.requests.length }
}

test.each([
  ['found where it stood', 0, {}, { at: 99, requests: 1 }],
  ['found behind the window it stood in', 7, {}, { at: 106, requests: 2 }],
  ['found some windows further down', 50, {}, { at: 149, requests: 6 }],
  ['not followed for ever', 60, {}, { at: null, requests: 6 }],
  ['not followed past items that the walk has yet to read', 30, { unmet: true }, { at: null, requests: 1 }],
  ['not found where it is gone', 0, { isGone: true }, { at: null, requests: 2 }],
])('the last item is %s', async (_, added, state, expected) => {
  expect(await followed(added, state)).toEqual(expected)
})
