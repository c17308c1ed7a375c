// Lists that stand still, behind services with up to three habits at once: what a walk knows how to do about each, it has to know beside each
// other one.
import { expect, test } from 'vitest'
import { type Item, makeModel, walkModel } from './model.ts'

interface Habits {
  /** A larger window is refused. */
  limit?: number
  /** A window holds so many items at most. */
  cap?: number
  /** A window is so many items short of what was asked, and holds one at least. */
  short?: number
  /** A window holds items of so much weight together, or one: they weigh one to nine. */
  budget?: number
  /** One of so many items is left out. */
  hidden?: number
  /** Windows fail that hold one of these positions. */
  unreadable?: readonly number[]
  behind?: 'refused' | 'the last window again'
  /** So many items share a createdAt. */
  ties?: number
  isRising?: boolean
}

const ALONE: Record<string, Habits> = {
  'refuses large windows': { limit: 23 },
  'caps them': { cap: 19 },
  'holds less than asked': { short: 3 },
  'cuts by size': { budget: 60 },
  'leaves items out': { hidden: 20 },
  'fails at two positions': { unreadable: [9, 52] },
  'refuses what lies behind the end': { behind: 'refused' },
  'gives its last window again': { behind: 'the last window again' },
  'has ties by three': { ties: 3 },
  'has ties by twenty': { ties: 20 },
  'begins with the oldest': { isRising: true },
}

const LENGTH = 200
/** One of those that are left out. */
const HIDDEN = 106
/** Windows of the fewest items are some thirty; the rest is for positions that fail, runs that are counted, and the end. */
const MOST_REQUESTS = 400

function itemsOf({ ties = 1, isRising = false }: Habits): Item[] {
  const items = Array.from({ length: LENGTH }, (_, index) => ({
    id: `t${index}`,
    at: 1000 * (LENGTH - Math.floor(index / ties)),
  }))
  return isRising ? items.reverse() : items
}

function serviceOf(habits: Habits) {
  const { limit = Number.POSITIVE_INFINITY, cap = limit, short = 0, budget, hidden, unreadable = [], behind } = habits
  const items = itemsOf(habits)
  const isHidden = (index: number) => hidden !== undefined && index % hidden === HIDDEN % hidden
  const answer = (skip: number, take: number): Item[] | 'refused' | 'failed' => {
    if (take > limit || (skip >= LENGTH && behind === 'refused')) return 'refused'
    const from = skip >= LENGTH && behind !== undefined ? Math.max(0, LENGTH - take) : skip
    const window: Item[] = []
    let weight = 0
    for (let index = from; index < from + Math.max(1, Math.min(take, cap) - short); index += 1) {
      if (unreadable.includes(index)) return 'failed'
      const item = items[index]
      if (item === undefined || isHidden(index)) continue
      weight += 1 + ((index * 7) % 9)
      if (budget !== undefined && window.length > 0 && weight > budget) break
      window.push(item)
    }
    return window
  }
  const readable = items.filter((_, index) => !isHidden(index) && !unreadable.includes(index)).length
  return { model: makeModel(items, { answer }), readable }
}

/** Each choice of `count` habits that can be had at once. */
function choices(count: number, names = Object.keys(ALONE)): string[][] {
  if (count === 0) return [[]]
  const all = names.flatMap((name, at) => choices(count - 1, names.slice(at + 1)).map((more) => [name, ...more]))
  return all.filter((some) => new Set(some.flatMap((name) => Object.keys(ALONE[name] as Habits))).size === count)
}

/** Nobody can tell where such a list ends, or sees what is read before a position that fails in one answer with what stands before that. */
const UNPROVABLE = [
  ['leaves items out', 'gives its last window again'],
  ['holds less than asked', 'fails at two positions'],
]

/** Runs that no answer holds, where they cannot be counted: docs/proof.md, "counted". */
const UNCOUNTED = [
  'refuses large windows, leaves items out, has ties by twenty: ties',
  'caps them, leaves items out, has ties by twenty: ties',
  'cuts by size, leaves items out, has ties by twenty: ties',
  'cuts by size, gives its last window again, has ties by twenty: ties',
  'leaves items out, fails at two positions, has ties by three: not-joined',
  'leaves items out, fails at two positions, has ties by twenty: not-joined',
]

test.each([1, 2, 3])('%i at once: all that can be read is met, and complete where it can be', async (count) => {
  const partial: string[] = []
  for (const habits of choices(count)) {
    const { model, readable } = serviceOf(Object.assign({}, ...habits.map((name) => ALONE[name])))
    const settings = { window: 50, overlap: 10 }
    let walked = await walkModel(model, settings)
    // As a run does: some of these ties stand in the order of their ids, such as t8 and t9, and others do not.
    if (walked.result.reason === 'ties-unordered') walked = await walkModel(model, { ...settings, tiesUnordered: true })
    const { result, met, requests } = walked
    expect({ habits, met: met.size }).toEqual({ habits, met: readable })
    expect(requests, habits.join(', ')).toBeLessThan(MOST_REQUESTS)
    const isProvable = !UNPROVABLE.some((some) => some.every((name) => habits.includes(name)))
    if (isProvable && result.verdict !== 'complete') partial.push(`${habits.join(', ')}: ${result.reason}`)
  }
  expect(partial).toEqual(count < 3 ? [] : UNCOUNTED)
})

test.each([{}, { limit: 23 }, { cap: 19 }, { budget: 60 }])(
  'one left out near one that fails, windows %o: all others are met',
  async (windows) => {
    for (let position = 95; position < 112; position += 1) {
      const { model, readable } = serviceOf({ ...windows, hidden: 20, unreadable: [position, 150] })
      const { result, met, requests } = await walkModel(model, { window: 50, overlap: 10 })
      expect({ position, met: met.size }).toEqual({ position, met: readable })
      expect(requests).toBeLessThan(MOST_REQUESTS)
      // It is seen that nothing stands at the position of the one that is left out only where as many as answers hold can be asked for there.
      if (position !== HIDDEN + 1 && position !== HIDDEN + 2)
        expect({ position, ...result }).toMatchObject({ verdict: 'complete' })
    }
  },
)

test('a larger skip is taken for the largest allowed, and what stands behind that is refused: that is no last window given again', async () => {
  for (const [length, largest, refused] of [
    [4, 1, 2],
    [10, 3, 5],
    [40, 29, 30],
  ] as const) {
    const items = itemsOf({}).slice(0, length)
    const model = makeModel(items, {
      answer(skip, take) {
        const from = Math.min(skip, largest)
        return from <= refused && from + take > refused ? 'refused' : items.slice(from, from + take)
      },
    })
    const { result } = await walkModel(model, { window: 10, overlap: 3 })
    expect({ length, verdict: result.verdict }).toEqual({ length, verdict: 'partial' })
  }
})

test('behind the end the last window again, which fails, and single ones that are left out: not passed one by one', async () => {
  for (const length of [4, 6, 30, 130]) {
    const items = itemsOf({}).slice(0, length)
    const model = makeModel(items, {
      answer(skip, take) {
        const from = skip >= length ? Math.max(0, length - take) : skip
        const places = Array.from({ length: Math.min(take, length - from) }, (_, at) => from + at)
        if (places.includes(length - 2)) return 'failed'
        return places.filter((place) => place < length - 1).map((place) => items[place] as Item)
      },
    })
    const { met, requests } = await walkModel(model, { window: 10, overlap: 3 })
    expect({ length, met: met.size }).toEqual({ length, met: length - 2 })
    expect(requests).toBeLessThan(MOST_REQUESTS + 200)
  }
})
