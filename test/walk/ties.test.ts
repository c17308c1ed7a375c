// A run of equal createdAt is proven: by one answer only where that shows all of it, else by counting.
import { expect, test } from 'vitest'
import { makeReader, probe } from '../../src/walk/reader.ts'
import { type ProofOptions, proveRun } from '../../src/walk/ties.ts'
import { type Item, type Model, makeModel, newestFirst, sourceOf } from './model.ts'

const WINDOW = 10
const START = 20

/** A list whose items from index `START` on have one createdAt: `length` of them, with `behind` others behind. */
function listWithRun(length: number, behind = 20): Item[] {
  const { at } = newestFirst(START + length + behind)[START] as Item
  return newestFirst(START + length + behind).map((item, index) =>
    index >= START && index < START + length ? { ...item, at } : item,
  )
}

function idsOfRun(length: number): string[] {
  return listWithRun(length)
    .slice(START, START + length)
    .map(({ id }) => id)
}

/** Proves the run of `length` items of a list that `model` then changes; what was marked, and the requests it took. */
async function prove(length: number, model: Model, options: ProofOptions = {}, member = idsOfRun(length)[1]) {
  const { at: moment } = model.items[START] as Item
  const reader = makeReader(sourceOf(model, new Set()), WINDOW)
  await probe(reader, 0)
  const steps = proveRun(reader, { moment, start: START, met: 0, member: member as string }, START + length, options)
  const marked: string[] = []
  for (;;) {
    const { value, done } = await steps.next({ newlyMet: 0 })
    if (done === true) return { isProven: value, marked: marked.sort(), requests: model.requests.length - 1 }
    if (value.kind === 'mark') marked.push(...value.ids)
  }
}

test.each<[string, number, Partial<Model> & { behind?: number }, ProofOptions]>([
  ['in the middle', 3, {}, {}],
  [
    'in the middle of a list that loses its first item before every request',
    3,
    { before: (_, { items }) => void items.shift() },
    {},
  ],
  ['at the end of the list', 3, { behind: 0 }, { atEnd: true }],
])('one answer proves a run %s that it shows whole', async (_, length, { behind, ...changes }, options) => {
  const model = makeModel(listWithRun(length, behind), changes)
  expect(await prove(length, model, options)).toEqual({ isProven: true, marked: idsOfRun(length), requests: 1 })
})

/** Only the first answer of the proof is this part of the list. */
const onceAnswered =
  (answer: (items: Item[], skip: number) => Item[]): Model['answer'] =>
  (skip, _, { items, requests }) =>
    requests.length === 2 ? answer(items, skip) : null

test.each<[string, number, Partial<Model> & { behind?: number }, ProofOptions]>([
  [
    'begins within it, because the list lost items meanwhile,',
    6,
    { before: (request, { items }) => void (request === 1 && items.splice(0, 7)) },
    {},
  ],
  ['ends within it', 6, {}, {}],
  [
    'ends within it and is short, as answers that are cut are,',
    6,
    { answer: onceAnswered((items, skip) => items.slice(skip, skip + 8)) },
    {},
  ],
  ['ends within it near the end of the list', 6, { behind: 0 }, { atEnd: true }],
  [
    'shows another item within it',
    3,
    { answer: onceAnswered((items) => [15, 16, 17, 18, 19, 20, 23, 21, 24].map((index) => items[index] as Item)) },
    {},
  ],
])(
  'an answer that %s does not show all of a run: that is counted',
  async (_, length, { behind, ...changes }, options) => {
    const model = makeModel(listWithRun(length, behind), changes)
    const { isProven, marked } = await prove(length, model, options)
    expect({ isProven, marked }).toEqual({ isProven: true, marked: idsOfRun(length) })
  },
)

test('a run without the item that the chain has met is another one', async () => {
  expect(await prove(3, makeModel(listWithRun(3)), {}, 'gone')).toMatchObject({ isProven: false, marked: [] })
})
