// The list as a closing lap reads it. What laps are for is tested with whole walks (walk.test.ts) and in the simulation.
import { describe, expect, test } from 'vitest'
import { Kernel } from '../../src/proof/kernel.ts'
import { seeded, shuffle } from '../../src/simulator/random.ts'
import { HeadAgain, LapSource } from '../../src/walk/lap.ts'
import { noOrderSeen } from '../../src/walk/order.ts'
import { Reader } from '../../src/walk/reader.ts'
import type { ItemsWindow, WindowSource } from '../../src/walk/source.ts'
import { type Item, type Model, makeModel, newestFirst, sourceOf, type WalkOptions, walkModel } from './model.ts'

function lapOf(count: number) {
  const model = makeModel(newestFirst(count))
  const ids = model.items.map(({ id }) => id)
  const source = sourceOf(model, new Set(ids))
  const reader = new Reader(source, { window: count }, new Kernel(null))
  return { ids, source, reader, lap: new LapSource(reader) }
}

test('a lap begins with nothing met, and its windows are those of its walk', async () => {
  const { ids, reader, lap } = lapOf(4)
  const window = (await lap.read(0, 3)) as ItemsWindow
  expect([...window.met]).toEqual([0, 0, 0])
  const taken = lap.release(window)
  expect([...taken.met]).toEqual([1, 1, 1])
  lap.mark(taken.ids)
  const next = (await lap.read(1, 3)) as ItemsWindow
  expect(next.ids).toEqual(ids.slice(1))
  expect([...next.met]).toEqual([1, 1, 0])
  expect(reader.requests).toBe(2)
})

test('what the walk had read ahead is asked for anew', async () => {
  const { source } = lapOf(3)
  const asked: unknown[] = []
  const watched: WindowSource = {
    ...source,
    read(skip, take, options) {
      asked.push({ skip, take, ...options })
      return source.read(skip, take, options)
    },
  }
  await new LapSource(new Reader(watched, { window: 3 }, new Kernel(null))).read(0, 3, { maxRetries: 1 })
  expect(asked).toEqual([{ skip: 0, take: 3, maxRetries: 1, fresh: true }])
})

test('however long a lap is, what it knows to be met is bounded', async () => {
  const { ids, lap } = lapOf(20_002)
  lap.mark(ids)
  const window = (await lap.read(0, 20_002)) as ItemsWindow
  expect(window.met.indexOf(1)).toBe(2)
  expect(window.met.includes(0, 2)).toBe(false)
})

test('a lap reads on past a run of equal createdAt and does not count it: no proof rests on it', async () => {
  const items = newestFirst(65)
  const came = items.slice(0, 25).map((item) => ({ ...item, at: items[0]?.at as number }))
  const model = makeModel(items.slice(25), {
    before(request, { items: listed }) {
      if (request === 5) listed.unshift(...came)
    },
  })
  const { result, met } = await walkModel(model, { window: 10 })
  expect(result.verdict).toBe('complete')
  expect(met.size).toBe(65)
  const skips = model.requests.map(({ skip }) => skip)
  expect(skips.slice(skips.lastIndexOf(0))).toEqual([0, 7, 14, 21])
})

test('nor does it matter that its ties stand in the order of their ids, and then do not', async () => {
  const tied = Array.from({ length: 90 }, (_, index) => ({ id: `t${String(index).padStart(2, '0')}`, at: 99_000 }))
  const behind = newestFirst(40).map(({ id, at }) => ({ id: `x${id}`, at }))
  const items = [...tied, ...behind.slice(0, 30), { id: 'u2', at: 9_500 }, { id: 'u1', at: 9_500 }, ...behind.slice(31)]
  const settings = { window: 25, overlap: 5, tiesUnordered: true }
  const still = makeModel(items)
  await walkModel(still, settings)
  const lapAt = still.requests.findLastIndex(({ skip }) => skip === 0)
  // What the lap would meet first is gone, so it reads to the end.
  const model = makeModel(items, { before: (request, it) => void (request === lapAt && it.items.splice(0, 25)) })
  expect((await walkModel(model, settings)).result).toMatchObject({ verdict: 'complete', reason: null })
})

test('a task that moves to the front of a list with the oldest first, while the walk is further down, is met', async () => {
  for (const at of [1, 2, 3]) {
    const model = makeModel(newestFirst(20).reverse(), {
      before: (request, { items }) => {
        if (request === at) items.unshift(...items.splice(18, 1))
      },
    })
    const { result, met } = await walkModel(model, { window: 8, overlap: 2 })
    expect({ met: met.size, order: result.order }).toEqual({ met: 20, order: 'none' })
  }
})

/** Upper case ids had been met; createdAt falls by one per letter, but `c` and `d` share it. */
test.each<[string, string, { isSeen: boolean; unstable: boolean }, boolean?]>([
  ['as it was', 'ABC', { isSeen: true, unstable: false }],
  ['with something new in front', 'zABC', { isSeen: true, unstable: false }],
  ['ties in another order', 'ABDC', { isSeen: true, unstable: false }],
  ['one of it has moved to the front', 'EABCD', { isSeen: true, unstable: true }],
  ['one that was met further down has come between', 'AMBC', { isSeen: false, unstable: true }],
  ['some of it is gone', 'ACF', { isSeen: false, unstable: false }],
  ['some of it is gone, where nothing moves', 'ACF', { isSeen: true, unstable: false }, true],
  ['so much is gone that what is left may have moved', 'AF', { isSeen: false, unstable: false }, true],
  ['only a part of it', 'ab', { isSeen: false, unstable: false }],
])('the head of the list again, %s', (_, letters, expected, isStill = false) => {
  const moment = (id: string): number => 200 - (id === 'd' ? 'c' : id).charCodeAt(0)
  const ids = [...'abcdef']
  const order = noOrderSeen()
  const head = new HeadAgain({ ids, moments: ids.map(moment) }, { overlap: 3, isStill }, order, moment('a'))
  const again = [...letters.toLowerCase()]
  const met = Uint8Array.from(letters, (letter) => (letter === letter.toUpperCase() ? 1 : 0))
  head.look({ ids: again, moments: again.map(moment), met } as ItemsWindow, 0)
  expect({ isSeen: head.isSeen, unstable: order.unstable }).toEqual(expected)
})

test.each([
  [1, 1, 1],
  [2, 2, 2],
  [3, 3, 3],
  [6, 6, 3],
  [12, 10, 6],
  [1000, 10, 10],
])('of %i in front %i in a row show that they have not moved, %i where nothing moves', (count, ...wanted) => {
  const ids = Array.from({ length: count }, (_, index) => `t${index}`)
  const moments = ids.map(() => null)
  const seen = [false, true].map((isStill) => {
    const head = new HeadAgain({ ids, moments }, { overlap: 10, isStill }, noOrderSeen(), null)
    const one = (id: string) => ({ ids: [id], moments: [null], met: new Uint8Array(1) }) as unknown as ItemsWindow
    return 1 + ids.findIndex((id) => head.look(one(id), 0))
  })
  expect(seen).toEqual(wanted)
})

test.each([
  ['in no order of createdAt', undefined],
  ['by last update, which createdAt seems to order as well', { order: 'updated_desc', inversionMs: 0 }],
] as const)('what has moved to the front in the sequence in which it stood ends no lap: %s', async (_, known) => {
  const items = newestFirst(60)
  const moments =
    known === undefined
      ? shuffle(
          items.map(({ at }) => at),
          seeded(1),
        )
      : items.map(({ at }) => at)
  const listed = items.map((item, index) => ({ ...item, at: moments[index] as number }))
  const model = makeModel(listed, {
    before(request, { items: now }) {
      if (request !== 6) return
      const moved = [5, 7, 9, 20, 21, 22, 23, 24, 25, 26, 27].map((place) => listed[place] as Item)
      const others = now.filter((item) => !moved.includes(item))
      now.splice(0, now.length, ...moved, { id: 'new', at: 1e9 }, ...others)
    },
  })
  const { met } = await walkModel(model, { window: 10, overlap: 3, ...(known && { known }) })
  expect(model.requests.length).toBeGreaterThan(7)
  expect(met.has('new')).toBe(true)
})

describe('a list that is longer than what was met', () => {
  const items = newestFirst(24)
  /** A task is inserted before the end is shown; one request is answered by a server that shows neither it nor the two before it. */
  const lagging = (behind: number) =>
    makeModel(items.slice(1), {
      before(request, model) {
        if (request === 2) model.items = [...items]
      },
      answer(skip, take, { requests }) {
        return requests.length === behind ? items.slice(3).slice(skip, skip + take) : null
      },
    })
  const walked = async (model: Model, settings: WalkOptions = {}) => {
    const met = new Set<string>()
    const { result } = await walkModel(model, {
      window: 10,
      marks: met,
      isCounted: (total) => met.size >= total,
      ...settings,
    })
    return { met: met.size, order: result.order, heads: model.requests.filter(({ skip }) => skip === 0).length }
  }

  test('shows its head again, where a server that lags had answered the lap', async () => {
    const plain = makeModel(items)
    await walked(plain)
    const lap = plain.requests.length
    expect(await walked(lagging(lap))).toEqual({ met: 24, order: 'created_desc', heads: 3 })
  })

  test('is asked for it four times at most, and not where answers are uneven', async () => {
    const isCounted = () => false
    expect(await walked(makeModel(items), { isCounted })).toMatchObject({ heads: 5 })
    const cutTo = (most: (skip: number) => number) =>
      makeModel(items, { answer: (skip, take, { items }) => items.slice(skip, skip + Math.min(take, most(skip))) })
    const even = cutTo(() => 7)
    expect(await walked(even, { isCounted })).toMatchObject({ heads: 5 })
    const uneven = cutTo((skip) => (skip === 0 ? 9 : 7))
    expect(await walked(uneven, { isCounted })).toMatchObject({ heads: 2 })
  })

  test.each([
    ['one window', 40, 12],
    ['one window, the first', 40, 0],
    ['the last of several windows', 10, 20],
  ])('leaves items out where its last answers hold fewer than stand there: in %s', async (_, window, place) => {
    const hidden = items[place]
    const model = makeModel(items, {
      answer: (skip, take, { items }) => items.slice(skip, skip + take).filter((item) => item !== hidden),
    })
    const met = new Set<string>()
    const { result } = await walkModel(model, { window, marks: met, isCounted: (total) => met.size >= total })
    expect(result).toMatchObject({ verdict: 'complete', order: 'created_desc', total: 24, countable: false })
    expect(met.size).toBe(23)
  })

  test('leaves nothing out where its sequence depends on the window', async () => {
    const passed = items[20] as Item
    const others = items.filter((item) => item !== passed)
    // Where a window reaches beyond its place, one item stands in front of all others.
    const model = makeModel(items, {
      answer: (skip, take) => (skip + take > 20 ? [passed, ...others] : items).slice(skip, skip + take),
    })
    const met = new Set<string>()
    const { result } = await walkModel(model, { window: 10, marks: met, isCounted: (total) => met.size >= total })
    expect(result).toMatchObject({ total: 24, countable: true })
    expect(met.has(passed.id)).toBe(false)
  })
})
