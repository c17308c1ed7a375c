// Walks over lists in memory: what is proven, what is not, and at what cost.

import { describe, expect, test } from 'vitest'
import { seeded, shuffle } from '../../src/simulator/random.ts'
import type { WalkState } from '../../src/walk/request.ts'
import fc from '../support/fc.ts'
import { SOAK } from '../support/soak.ts'
import { type Item, type Model, makeModel, missedIn, newestFirst, walkModel } from './model.ts'

/** Nothing that was listed throughout is missing. */
function expectAllMet({ met, listedThroughout }: { met: Set<string>; listedThroughout: Set<string> }): void {
  expect([...listedThroughout].filter((id) => !met.has(id))).toEqual([])
}

describe('a list that stands still', () => {
  test.each([0, 1, 2, 3, 9, 10, 11, 19, 20, 21, 100, 1003])('of %i items is proven complete', async (count) => {
    const walked = await walkModel(makeModel(newestFirst(count)))
    expect(walked.result).toMatchObject({ verdict: 'complete', reason: null, total: count })
    expect(walked.met.size).toBe(count)
  })

  test.each([
    { count: 1, empty: 9, refused: 11 },
    { count: 2, empty: 9, refused: 13 },
    { count: 8, empty: 9, refused: 13 },
    { count: 20, empty: 12, refused: 14 },
    { count: 100, empty: 23, refused: 25 },
  ])('of $count items takes $empty requests, and $refused where all is refused behind its end', async (most) => {
    const items = newestFirst(most.count)
    for (const past of ['empty', 'refused'] as const) {
      const answer: Model['answer'] = (skip) => (past === 'refused' && skip >= most.count ? 'refused' : null)
      const { result, requests } = await walkModel(makeModel(items, { answer }), { window: 10 })
      expect({ past, verdict: result.verdict }).toEqual({ past, verdict: 'complete' })
      expect(requests, past).toBeLessThanOrEqual(most[past])
    }
  })

  test('is proven complete where the size of windows changes from answer to answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 2, max: 60 }), { minLength: 2, maxLength: 20 }), async (sizes) => {
        const model = makeModel(newestFirst(700))
        const settings = {
          get window() {
            return sizes[model.requests.length % sizes.length] as number
          },
          overlap: 3,
          settleMs: 60_000,
          maxRequests: 5_000,
        }
        const { result, met } = await walkModel(model, { settings })
        expect(result).toMatchObject({ verdict: 'complete', total: 700 })
        expect(met.size).toBe(700)
      }),
    )
  })

  test('is asked for in windows that shrink at once and grow again with what its settings say', async () => {
    const model = makeModel(newestFirst(700))
    const settings = {
      get window() {
        return model.requests.length > 4 && model.requests.length < 40 ? 5 : 60
      },
      overlap: 2,
      settleMs: 60_000,
      maxRequests: 5_000,
    }
    expect((await walkModel(model, { settings })).result).toMatchObject({ verdict: 'complete', total: 700 })
    const takes = model.requests.map(({ take }) => take)
    expect(takes.slice(0, 5)).toEqual([60, 60, 60, 60, 60])
    expect(new Set(takes.slice(5, 39))).toEqual(new Set([5]))
    expect(takes.slice(40, 45)).toEqual([10, 20, 40, 60, 60])
  })

  test('costs about one request per window, and a handful for the end and the lap', async () => {
    const walked = await walkModel(makeModel(newestFirst(700)))
    // Windows of 10 overlap by 3, so each brings 7: 100 windows.
    expect(walked.requests).toBeLessThanOrEqual(100 + 9)
  })

  test('is read ahead of its first window by a walk to its end, and by no walk that may be over with that window', async () => {
    const [whole, head] = [makeModel(newestFirst(40)), makeModel(newestFirst(40))]
    await walkModel(whole)
    expect(whole.expected[0]).toEqual({ skip: 0, stride: 7, after: 0 })
    await walkModel(head, { reached: ({ skip }) => skip > 0 })
    expect(head.expected[0]).toEqual({ skip: 7, stride: 7, after: 1 })
  })

  test.each([2, 3, 4, 7])('capped at %i items an answer is complete', async (cap) => {
    const model = makeModel(newestFirst(60), {
      answer: (skip, take, { items }) => items.slice(skip, skip + Math.min(take, cap)),
    })
    const walked = await walkModel(model)
    expect(walked.result).toMatchObject({ verdict: 'complete', total: 60 })
    expect(walked.met.size).toBe(60)
  })

  test('given one item at a time is proven by where each one stands', async () => {
    const model = makeModel(newestFirst(300), { answer: (skip, _, { items }) => items.slice(skip, skip + 1) })
    const walked = await walkModel(model)
    expect(walked.result).toMatchObject({ verdict: 'complete', total: 300 })
    expect(walked.met.size).toBe(300)
    // Each: itself, the one before it again, and the three of its run.
    expect(walked.requests).toBeLessThan(5 * 300 + 50)
  })

  test('that repeats its last window behind the end is complete', async () => {
    for (const count of [5, 10, 25, 60]) {
      const model = makeModel(newestFirst(count), {
        answer: (skip, take, { items }) => (skip < items.length ? null : items.slice(Math.max(0, items.length - take))),
      })
      expect((await walkModel(model)).result).toMatchObject({ verdict: 'complete', total: count })
    }
  })

  test('whose service moves skip back so that every window is full is complete, with the right total', async () => {
    const model = makeModel(newestFirst(64), {
      answer: (skip, take, { items }) => items.slice(Math.max(0, Math.min(skip, items.length - take))).slice(0, take),
    })
    expect((await walkModel(model)).result).toMatchObject({ verdict: 'complete', total: 64 })
  })

  test('that answers 400 behind the end is complete', async () => {
    const model = makeModel(newestFirst(60), {
      answer: (skip, _, { items }) => (skip >= items.length ? 'refused' : null),
    })
    expect((await walkModel(model)).result).toMatchObject({ verdict: 'complete', total: 60 })
  })

  test('behind a service that refuses windows beyond an index is not complete', async () => {
    const model = makeModel(newestFirst(200), { answer: (skip, take) => (skip + take > 100 ? 'refused' : null) })
    expect((await walkModel(model)).result).toMatchObject({ verdict: 'partial', reason: 'skip-limit' })
  })

  test.each([
    { count: 110, beyond: 'refused', met: 110, verdict: 'complete', reason: null },
    { count: 203, beyond: 'refused', met: 120, verdict: 'partial', reason: 'skip-limit' },
    { count: 203, beyond: 'empty', met: 120, verdict: 'partial', reason: 'skip-limit' },
  ])('a limit of where windows begin, $beyond, in a list of $count: all up to it is met', async (world) => {
    const { count, beyond, met, ...ending } = world
    const model = makeModel(newestFirst(count), {
      answer: (skip) => (skip <= 100 ? null : beyond === 'empty' ? [] : 'refused'),
    })
    const walked = await walkModel(model, { window: 20, overlap: 2 })
    expect(walked).toMatchObject({ met: { size: met }, result: ending })
    expect(walked.requests).toBeLessThan(60)
  })

  test('an end that is refused, of a list that has become shorter, is no limit', async () => {
    const model = makeModel(newestFirst(30), {
      before(request, { items }) {
        if (request === 2) items.length = 9
      },
      answer: (skip, _, { items }) => (skip >= items.length ? 'refused' : null),
    })
    const { result } = await walkModel(model, { window: 10, overlap: 2 })
    expect(result).toMatchObject({ verdict: 'complete', total: 9 })
  })

  test('in which a task is refused at any size is complete without it, and it is set aside', async () => {
    for (const bad of [2, 3, 10, 17]) {
      const items = newestFirst(20)
      const model = makeModel(items, {
        answer: (skip, take, { items: listed }) =>
          listed.slice(skip, skip + take).some(({ id }) => id === items[bad]?.id) ? 'refused' : null,
      })
      const { result, met, unreadable } = await walkModel(model, { window: 5, overlap: 2 })
      expect({ bad, unreadable, met: met.size, ...result }).toMatchObject({
        verdict: 'complete',
        unreadable: [bad],
        met: 19,
      })
    }
  })

  test('behind a service that refuses more than 4 items at once is complete', async () => {
    const model = makeModel(newestFirst(60), { answer: (_, take) => (take > 4 ? 'refused' : null) })
    expect((await walkModel(model)).result).toMatchObject({ verdict: 'complete', total: 60 })
  })

  test('behind a service that ignores skip ends after a few requests, unproven', async () => {
    for (const count of [5, 10, 100]) {
      const model = makeModel(newestFirst(count), { answer: (_, take, { items }) => items.slice(0, take) })
      const walked = await walkModel(model)
      expect(walked.result).toMatchObject({ verdict: 'partial', reason: 'skip-ignored' })
      expect(walked.requests).toBeLessThan(20)
    }
  })

  test('behind a service that counts whole pages by skip, and cuts its answers, is never proven', async () => {
    const answer = (skip: number, take: number, { items }: { items: Item[] }) => {
      const from = Math.floor(skip / take) * take
      return items.slice(from, from + Math.min(take, Math.max(2, Math.ceil(take / 2))))
    }
    for (const count of [3, 5, 12, 40]) {
      const walked = await walkModel(makeModel(newestFirst(count), { answer }), { window: 3, overlap: 2 })
      expect(walked.result, `${count}`).toMatchObject({ verdict: 'partial', reason: 'skip-ignored' })
    }
  })

  test('behind a service that counts whole pages by skip, and cuts its first answer to one item, is never proven', async () => {
    let answers = 0
    const model = makeModel(newestFirst(5), {
      answer(skip, take, { items }) {
        answers += 1
        const from = Math.floor(skip / take) * take
        return from < items.length ? items.slice(from, from + Math.min(take, answers === 1 ? 1 : 4)) : 'refused'
      },
    })
    const walked = await walkModel(model, { window: 6, overlap: 3 })
    expect(walked.result).toMatchObject({ verdict: 'partial', reason: 'skip-ignored' })
  })

  test('behind a service that wraps around is met but not proven', async () => {
    const model = makeModel(newestFirst(45), {
      answer: (skip, take, { items }) => items.slice(skip % items.length).slice(0, take),
    })
    const walked = await walkModel(model)
    expect(walked.result).toMatchObject({ verdict: 'partial', reason: 'wraps' })
    expect(walked.met.size).toBe(45)
  })

  const hide = (share: number) => (item: Item) => (Number(item.id.slice(1)) * 7919) % 100 < share * 100
  const filtered = (items: Item[], isHidden: (item: Item) => boolean) =>
    makeModel(items, { answer: (skip, take) => items.slice(skip, skip + take).filter((item) => !isHidden(item)) })

  test.each([
    [0.3, 10],
    [0.7, 30],
    [0.9, 60],
  ])('with pages filtered after paging, a share of %f hidden in windows of %i, is complete', async (share, window) => {
    const items = newestFirst(300)
    const walked = await walkModel(filtered(items, hide(share)), { window })
    expect(walked.met.size).toBe(items.filter((item) => !hide(share)(item)).length)
    expect(walked.result.verdict).toBe('complete')
  })

  test('with so many hidden that a window shows hardly an item is met, and claims nothing it cannot prove', async () => {
    const walked = await walkModel(filtered(newestFirst(300), hide(0.7)))
    expect(walked.met.size).toBe(90)
    expect(walked.result).toMatchObject({ verdict: 'partial', reason: 'ties' })
  })

  test.each([
    { cap: 10, hidden: 15, others: 0 },
    { cap: 10, hidden: 50, others: 0 },
    { cap: 10, hidden: 50, others: 0.2 },
    { cap: 100, hidden: 150, others: 0.2 },
  ])(
    'whose answers hold $cap at most, $hidden hidden in a row and $others of the others, is met behind them too',
    async ({ cap, hidden, others }) => {
      const isHidden = (id: string) => {
        const index = Number(id.slice(1))
        return (index >= 200 && index < 200 + hidden) || ((index * 7) % 10) / 10 < others
      }
      const model = makeModel(newestFirst(500), {
        answer: (skip, _, { items }) => items.slice(skip, skip + cap).filter(({ id }) => !isHidden(id)),
      })
      const walked = await walkModel(model, { window: 1_000, overlap: 3 })
      expect(model.items.filter(({ id }) => !isHidden(id) && !walked.met.has(id))).toEqual([])
    },
  )

  test.each([
    ['hohhhhhooohhhhhhhhohhhhhhhhhohohhhhhhoohhoooohhohoooho', 12],
    ['hhoohhho', 3],
    ['oohhoohhhohhoo', 5],
  ])(
    '%s, hidden ones left out of answers of %i, is no list that moves: complete means complete',
    async (pattern, cap) => {
      const model = makeModel(newestFirst(pattern.length), {
        answer: (skip, _, { items }) =>
          items.slice(skip, skip + cap).filter(({ id }) => pattern[Number(id.slice(1))] === 'o'),
      })
      const { result, met } = await walkModel(model, { window: 1_000, overlap: 10 })
      const listed = [...pattern].filter((letter) => letter === 'o').length
      expect(result.verdict === 'partial' || met.size === listed).toBe(true)
    },
  )

  test.each([
    { until: 9, vary: 3, shrinks: false },
    { until: 9, vary: 3, shrinks: true },
    { until: 19, vary: 2, shrinks: true },
  ])('is no list that grows for some requests, and does not any more: %o', async ({ until, vary, shrinks }) => {
    const model = makeModel(newestFirst(200), {
      before: (n, { items }) => {
        if (n < until) items.unshift({ id: `n${n}`, at: 2_000_000 + n })
        else if (shrinks) items.shift()
      },
      answer: (skip, take, { items }) => items.slice(skip, skip + Math.min(take, 20 - (skip % vary))),
    })
    const { result, requests } = await walkModel(model, { window: 1_000, overlap: 4 })
    expect(result.filtered).toBe(false)
    if (!shrinks)
      expect({ verdict: result.verdict, isQuick: requests < 70 }).toEqual({ verdict: 'complete', isQuick: true })
  })

  test.each([
    { cap: 10, hidden: 30, all: 500, window: 1_000, verdict: 'complete' },
    { cap: 100, hidden: 250, all: 2_500, window: 100, verdict: 'complete' },
    { cap: 1_000, hidden: 1_500, all: 5_000, window: 1_000, verdict: 'partial' },
  ])(
    'whose first $hidden are hidden, $cap in an answer, is not empty, and met behind them',
    async ({ cap, hidden, all, window, verdict }) => {
      const items = newestFirst(all)
      const model = makeModel(items, {
        answer: (skip, take) => items.slice(Math.max(skip, hidden), skip + Math.min(take, cap)),
      })
      const { result, met } = await walkModel(model, { window, overlap: 3 })
      expect({ verdict: result.verdict, met: met.size }).toEqual({ verdict, met: all - hidden })
    },
  )

  test('one position that cannot be read is set aside and passed', async () => {
    for (const bad of [1, 5, 17, 40, 58, 59]) {
      const model = makeModel(newestFirst(60), {
        answer: (skip, take) => (skip <= bad && bad < skip + take ? 'failed' : null),
      })
      const walked = await walkModel(model)
      expect(walked.unreadable).toEqual([bad])
      expect(walked.met.size).toBe(59)
      expect(walked.result.verdict).toBe('complete')
    }
  })

  test('a hidden item in front of one that cannot be read is not the end of the list', async () => {
    for (let hidden = 1; hidden < 10; hidden += 1) {
      const items = newestFirst(12)
      const isHidden = ({ id }: Item): boolean => id === items[hidden]?.id
      const model = makeModel(items, {
        answer: (skip, take) =>
          skip <= hidden + 1 && hidden + 1 < skip + take
            ? 'failed'
            : items.slice(skip, skip + take).filter((item) => !isHidden(item)),
      })
      const { result, met } = await walkModel(model, { window: 8, overlap: 2 })
      expect({ hidden, isTrue: result.verdict === 'partial' || met.size === 10 }).toEqual({ hidden, isTrue: true })
    }
  })

  test('of which nothing is answered from an index on ends the walk unproven, for little', async () => {
    const model = makeModel(newestFirst(60), { answer: (skip, take) => (skip + take > 30 ? 'failed' : null) })
    const { result, requests } = await walkModel(model)
    expect(result).toMatchObject({ verdict: 'partial', reason: 'unreadable-from' })
    expect(requests).toBeLessThan(80)
  })

  test('of which not even one item is answered fails the run', async () => {
    const model = makeModel(newestFirst(60), { answer: () => 'failed' })
    await expect(walkModel(model)).rejects.toMatchObject({ code: 'service-failing' })
  })
})

test('an end that has moved is asked about directly behind it alone, until nothing is there', async () => {
  const model = makeModel(newestFirst(60), {
    // One comes and one goes before every request: the last item is never where it was, and never there for long.
    before: (request, { items }) => {
      if (request <= 8 || request >= 60) return
      items.unshift({ id: `n${request}`, at: 100_000 + 1_000 * request })
      items.pop()
    },
  })
  const walked = await walkModel(model)
  expectAllMet(walked)
  expect(walked.result.verdict).toBe('complete')
  expect(walked.requests).toBeGreaterThan(30)
  // Ten windows behind.
  expect(model.requests.filter(({ skip }) => skip > 60 + 90)).toHaveLength(1)
})

test('an id that an answer shows twice is met once', async () => {
  const counts: number[] = []
  const model = makeModel(newestFirst(9), {
    answer(skip, take, { items }) {
      const shown = items.slice(skip, skip + take)
      return skip === 0 ? [...shown.slice(0, 1), ...shown] : shown
    },
  })
  const { met } = await walkModel(model, {
    ...{ window: 4, overlap: 2 },
    onTake: ({ state }) => counts.push((state as WalkState).met) > 0,
  })
  expect([met.size, ...counts]).toEqual([9, 0, 4, 6, 8, 9, 9])
})

describe('equal createdAt', () => {
  const tied = (count: number, at = 5000): Item[] =>
    Array.from({ length: count }, (_, index) => ({ id: `e${index}`, at }))

  test('in a fixed order is proven by counting, however long the run', async () => {
    const walked = await walkModel(
      makeModel([
        ...newestFirst(15).map((item) => ({ ...item, at: (item.at as number) + 9000 })),
        ...tied(47),
        { id: 'z', at: 1 },
      ]),
    )
    expect(walked.result).toMatchObject({ verdict: 'complete', total: 63 })
    expect(walked.met.size).toBe(63)
  })

  test('in the order of their ids need no counting, nor do items without createdAt', async () => {
    for (const at of [5000, null]) {
      const items = Array.from({ length: 400 }, (_, index) => ({ id: `e${String(index).padStart(4, '0')}`, at }))
      const walked = await walkModel(makeModel(items), { window: 50, overlap: 5 })
      expect(walked.result).toMatchObject({ verdict: 'complete', total: 400, order: 'id_asc' })
      expect(walked.requests).toBeLessThan(20)
    }
  })

  test('shuffled at every read is complete only once every item of the run has been met', async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const random = randomOf(seed)
      const front = newestFirst(12).map((item) => ({ ...item, at: (item.at as number) + 9000 }))
      const model = makeModel([...front, ...tied(16), { id: 'z', at: 1 }], {
        before: (_, it) => {
          const run = it.items.filter(({ at }) => at === 5000).sort(() => random() - 0.5)
          it.items = [...front, ...run, { id: 'z', at: 1 }]
        },
      })
      const walked = await walkModel(model)
      if (walked.result.verdict === 'complete') expectAllMet(walked)
      else expect(walked.result.reason).toBe('ties')
    }
  })
})

describe('a list that changes while it is read', () => {
  const walkWith = (change: (request: number, items: Item[]) => Item[], count = 300) =>
    walkModel(
      makeModel(newestFirst(count), {
        before: (n, model) => {
          model.items = change(n, model.items)
        },
      }),
    )

  test.each([1, 3, 8])('%i inserted in front before every request: nothing is missing', async (many) => {
    const walked = await walkWith((n, items) => [
      ...Array.from({ length: n < 40 ? many : 0 }, (_, index) => ({
        id: `n${n}-${index}`,
        at: 1_000_000 + n * 1000 - index,
      })),
      ...items,
    ])
    expect(walked.result.verdict).toBe('complete')
    expectAllMet(walked)
  })

  // About half of what an answer holds is as fast as a walk can follow, whatever the overlap.
  test.each([
    { many: 1, count: 1_000, cap: 100, overlap: 10, most: 60 },
    { many: 9, count: 1_000, cap: 100, overlap: 10, most: 70 },
    { many: 10, count: 1_000, cap: 100, overlap: 10, most: 70 },
    { many: 11, count: 1_000, cap: 100, overlap: 10, most: 70 },
    { many: 30, count: 1_000, cap: 100, overlap: 10, most: 100 },
    { many: 50, count: 1_000, cap: 100, overlap: 10, most: 240 },
    { many: 10, count: 500, cap: 50, overlap: 10, most: 100 },
    { many: 1, count: 300, cap: 10, overlap: 3, most: 150 },
    { many: 3, count: 300, cap: 10, overlap: 3, most: 400 },
    { many: 4, count: 300, cap: 10, overlap: 3, most: 700 },
  ])(
    '$many inserted in front of $count before every request, $cap in an answer: complete after $most requests',
    async ({ many, count, cap, overlap, most }) => {
      let added = 0
      const model = makeModel(newestFirst(count), {
        before: (_, { items }) =>
          void items.unshift(...Array.from({ length: many }, () => ({ id: `n${added++}`, at: 2_000_000 + added }))),
        answer: (skip, _, { items }) => items.slice(skip, skip + cap),
      })
      const walked = await walkModel(model, { window: 1_000, overlap })
      expect(walked.result).toMatchObject({ verdict: 'complete', reason: null })
      expectAllMet(walked)
      expect(walked.requests).toBeLessThanOrEqual(most)
    },
  )

  test('oldest first, one appended and one deleted before every request: complete', async () => {
    let added = 0
    const model = makeModel(newestFirst(300).reverse(), {
      before: (_, { items }) => {
        items.push({ id: `n${added++}`, at: 2_000_000 + 1000 * added })
        items.splice(5, 1)
      },
      answer: (skip, _, { items }) => items.slice(skip, skip + 10),
    })
    const walked = await walkModel(model, { window: 1_000 })
    expect(walked.result).toMatchObject({ verdict: 'complete', reason: null })
    expectAllMet(walked)
    expect(walked.requests).toBeLessThanOrEqual(150)
  })

  test.each([1, 5, 10])(
    '%i deleted before every request, 100 in an answer: the end is found as it comes nearer',
    async (many) => {
      const model = makeModel(newestFirst(1_000), {
        before: (_, { items }) => void items.splice(5, items.length > 50 ? many : 0),
        answer: (skip, _, { items }) => items.slice(skip, skip + 100),
      })
      const walked = await walkModel(model, { window: 1_000, overlap: 10 })
      expect(walked.result).toMatchObject({ verdict: 'complete', reason: null })
      expectAllMet(walked)
      expect(walked.requests).toBeLessThanOrEqual(150)
    },
  )

  test.each([1, 3, 8])('%i deleted in front before every request: nothing that stayed is missing', async (many) => {
    const walked = await walkWith((n, items) => (n < 20 ? items.slice(many) : items))
    expect(walked.result.verdict).toBe('complete')
    expectAllMet(walked)
  })

  test('a burst of deletes many windows long between two windows', async () => {
    const walked = await walkWith((n, items) => (n === 15 ? items.slice(90) : items))
    expect(walked.result.verdict).toBe('complete')
    expectAllMet(walked)
  })

  test('newest first, 600 inserted between two windows of 10: goes on behind them, and reads them once', async () => {
    const model = makeModel(newestFirst(100), {
      before(n, { items }) {
        if (n !== 5) return
        items.unshift(...Array.from({ length: 600 }, (_, index) => ({ id: `n${index}`, at: 1_000_000 - index })))
      },
      answer: (skip, _, { items }) => items.slice(skip, skip + 10),
    })
    const walked = await walkModel(model, { window: 1_000, overlap: 2 })
    expect(walked.result).toMatchObject({ verdict: 'complete', reason: null, order: 'created_desc' })
    expect(walked.met.size).toBe(700)
    // Eight new ones in an answer, a few looks ahead and back, and the end.
    expect(walked.requests).toBeLessThanOrEqual(700 / 8 + 42)
  })

  test('a burst of inserts many windows long while the end is looked at is no list that begins again', async () => {
    let isOver = false
    const model = makeModel(newestFirst(300), {
      answer(skip, _, { items }) {
        if (skip < 300 || isOver) return null
        isOver = true
        items.unshift(...Array.from({ length: 150 }, (_, index) => ({ id: `n${index}`, at: 1_000_000 - index })))
        return null
      },
    })
    const walked = await walkModel(model)
    expect(walked.result).toMatchObject({ verdict: 'complete', reason: null })
    expect(walked.met.size).toBe(450)
  })

  test('behind light tasks heavy ones, three to an answer, are read to the last, whatever the largest answer held', async () => {
    const model = makeModel(newestFirst(2_500), {
      answer: (skip, take, { items }) => items.slice(skip, skip < 990 ? Math.min(skip + take, 1_000) : skip + 3),
    })
    const { result, met } = await walkModel(model, { window: 1_000 })
    expect(met.size).toBe(2_500)
    expect(result.verdict).toBe('complete')
  })

  test('a service that gives its last item again at any index, and cuts and shuffles: bounded by the tasks, not by indexes', async () => {
    const random = seeded(31)
    const count = 9 + random.int(40)
    random.int(2)
    const model = makeModel(newestFirst(count), {
      before: (request, { items }) => {
        if (request > 10 && request < 200 && request % 20 === 0) items.splice(random.int(items.length), 1)
      },
      answer: (skip, take, { items }) => {
        const from = Math.min(skip, items.length - 1)
        return shuffle(items.slice(from, from + take), random).slice(0, 1 + ((from * 7 + 31) % 8))
      },
    })
    const { result, met, requests } = await walkModel(model, { window: 8, overlap: 2 })
    expect(result.verdict === 'partial' || model.items.every(({ id }) => met.has(id))).toBe(true)
    expect(requests).toBeLessThanOrEqual(1_000 + 20 * count)
  })

  test('a task that moves behind what was read, while ten in front go, is no anchor: nothing orders this list', async () => {
    const moved = newestFirst(60)
    const model = makeModel(moved, {
      before: (request, { items }) => {
        if (request !== 2) return
        const [, , second] = items.splice(0, 11)
        items.splice(14, 0, second as Item)
      },
    })
    const { result, met } = await walkModel(model, { lap: 'never' })
    expect(model.requests[2]).toEqual({ skip: 14, take: 10 })
    // Eight tasks that stayed are passed over: only a second walk that agrees may be believed.
    expect(moved.filter(({ id }) => !met.has(id))).toHaveLength(8)
    expect(result.order).toBe('none')
  })

  test('a task that moves to the front while the walk is further down is met by the closing lap', async () => {
    const walked = await walkWith((n, items) =>
      n === 10 ? [items[200] as Item, ...items.filter((_, at) => at !== 200)] : items,
    )
    expectAllMet(walked)
    expect(walked.met.has('t00200')).toBe(true)
    // Its createdAt at the head shows that createdAt does not order this list.
    expect(walked.result.order).toBe('none')
  })

  test('more than a lap shows at once move to the front while it is further down: laps go on until one answer shows the front', async () => {
    const model = makeModel(newestFirst(100), {
      before: (request, it) => {
        if (request > 0 && request <= 6) it.items.unshift(...it.items.splice(60 + request, 4))
      },
    })
    const known = { order: 'updated_desc', inversionMs: 0 } as const
    const { result, met, listedThroughout } = await walkModel(model, { lap: 'unless-one-answer', known })
    expect(listedThroughout.difference(met).size).toBe(0)
    expect(result.front).toEqual(model.items.slice(0, 10).map(({ id }) => id))
  })

  test.each([
    [10, 3_500, 650, 0.6],
    [1_000, 3_500, 10, 0.7],
    [1_000, 20_000, 30, 0.6],
  ])(
    'in another order at every read, %i of %i in an answer: soon over, with what it showed',
    async (cap, count, most, share) => {
      const random = seeded(1)
      const model = makeModel(newestFirst(count), {
        before: (_, { items }) => void shuffle(items, random),
        answer: (skip, take, { items }) => items.slice(skip, skip + Math.min(cap, take)),
      })
      const { result, met, requests } = await walkModel(model, { window: 1_000, overlap: 10 })
      expect(result).toMatchObject({ verdict: 'partial', reason: 'no-order', order: 'none' })
      expect(requests).toBeLessThanOrEqual(most)
      expect(met.size).toBeGreaterThan(share * count)
    },
  )

  describe('whose last item is too large to stand beside another', () => {
    const withLargeLast = (before: (request: number, items: Item[]) => void) =>
      makeModel(newestFirst(25), {
        before: (request, { items }) => before(request, items),
        answer: (skip, take, { items }) => {
          const window = items.slice(skip, skip + take)
          const large = window.findIndex(({ id }) => id === 't00024')
          return large > 0 ? window.slice(0, large) : window
        },
      })
    const numbers = Array.from({ length: 16 }, (_, request) => request)

    test.each(numbers)('it is not hidden by a deletion before request %i', async (deletedBefore) => {
      const { result, met } = await walkModel(
        withLargeLast((request, items) => void (request === deletedBefore && items.splice(3, 1))),
      )
      expect(result.verdict === 'partial' || met.has('t00024')).toBe(true)
    })

    test.each([1, 2, 3, 4])('it is not hidden where %i are inserted in front before every request', async (many) => {
      let added = 0
      const insert = (items: Item[]) =>
        items.unshift(...Array.from({ length: many }, () => ({ id: `n${added++}`, at: 1_000_000 + added })))
      const { result, met } = await walkModel(withLargeLast((_, items) => void insert(items)))
      expect(result.verdict === 'partial' || met.has('t00024')).toBe(true)
    })
  })

  test('a lap whose next answer is the same, because as much was inserted in front, is not over', async () => {
    const count = 40
    let ended = -1
    const model = makeModel(newestFirst(count), {
      before: (request, { requests, items }) => {
        // The last task moves to the front while the walk is further down, behind others that came; more come in the lap.
        if (request === 10) items.unshift(...newcomers(6), items.splice(35, 1)[0] as Item)
        if (requests.at(-1)?.skip === 0 && request > 15 && ended < 0) {
          ended = request
          items.unshift(...newcomers(2))
        }
      },
      answer: (skip, _, { items }) => items.slice(skip, skip + 4),
    })
    let added = 0
    const newcomers = (many: number): Item[] =>
      Array.from({ length: many }, () => ({ id: `n${added++}`, at: 2_000_000 + added }))
    const walked = await walkModel(model, { window: 4, overlap: 2 })
    expect(ended).toBeGreaterThan(10)
    expectAllMet(walked)
  })

  test('everything deleted at once ends the walk', async () => {
    const walked = await walkWith((n, items) => (n >= 8 ? [] : items))
    expect(walked.result).toMatchObject({ verdict: 'complete', total: 0 })
  })

  test('whatever is inserted or deleted wherever: complete means complete', async () => {
    const changes = fc.array(
      fc.record({
        request: fc.nat(60),
        kind: fc.constantFrom('insert' as const, 'delete' as const),
        place: fc.double({ min: 0, max: 1, noNaN: true }),
        many: fc.integer({ min: 1, max: 40 }),
      }),
      { maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 120 }),
        changes,
        fc.integer({ min: 2, max: 12 }),
        fc.boolean(),
        async (count, plan, window, asc) => {
          let serial = 0
          // An order that does not change: by `at`, spread so that there is room between any two.
          const start = Array.from({ length: count }, (_, index) => ({
            id: `t${index}`,
            at: (asc ? index : count - index) * 1_000_000,
          }))
          const model = makeModel(start, {
            seen: { listings: new Map(), viewed: [] },
            before: (n, it) => {
              for (const change of plan.filter(({ request }) => request === n)) {
                const at = Math.floor(change.place * it.items.length)
                if (change.kind === 'delete') it.items.splice(at, change.many)
                else {
                  const low = it.items[at]?.at ?? (asc ? 500_000_000 : 0)
                  const before = it.items[at - 1]?.at ?? (asc ? -1_000_000 : 500_000_000)
                  const fresh = Array.from({ length: change.many }, (_, index) => ({
                    id: `n${serial++}`,
                    at: (before as number) + (((low as number) - (before as number)) * (index + 1)) / (change.many + 1),
                  }))
                  it.items.splice(at, 0, ...fresh)
                }
              }
            },
          })
          const walked = await walkModel(model, { window, overlap: Math.max(1, Math.floor(window / 3)) })
          expect(missedIn(model, walked)).toEqual([])
          if (plan.length === 0) expect(walked.result.verdict).toBe('complete')
        },
      ),
      { numRuns: SOAK ? 2_000 : 80 },
    )
  })
})

describe('resuming', () => {
  test('goes on from what was written down, whatever came and went meanwhile', async () => {
    for (const change of [
      (items: Item[]) => items,
      (items: Item[]) => items.slice(60),
      (items: Item[]) => [
        ...newestFirst(170).map(({ id, at }) => ({ id: `n${id}`, at: (at as number) + 1_000_000 })),
        ...items,
      ],
    ]) {
      const model = makeModel(newestFirst(200))
      const first = await cutOff(model, 12)
      model.items = change(model.items)
      const rest = await walkModel(model, { resume: first.resume, marks: first.met })
      expect(rest.result.verdict).toBe('complete')
      expect(model.items.filter(({ id }) => id.startsWith('t') && !rest.met.has(id))).toEqual([])
    }
  })

  test('counts a run that was left before it could be counted', async () => {
    const items = newestFirst(60)
    const run = items.slice(20, 45).map(({ id }, index) => ({ id, at: items[20]?.at as number, index }))
    const swapped = run.toSorted((one, other) => (one.index ^ 1) - (other.index ^ 1))
    const model = makeModel([...items.slice(0, 20), ...swapped, ...items.slice(45)])
    for (let windows = 1; windows <= 12; windows += 1) {
      const first = await cutOff(model, windows)
      const rest = await walkModel(model, { resume: first.resume, marks: first.met })
      expect(rest.result, `after ${windows}`).toMatchObject({ verdict: 'complete' })
    }
  })
})

/** A walk that is killed after `windows` windows. */
async function cutOff(model: ReturnType<typeof makeModel>, windows: number) {
  const met = new Set<string>()
  let last: unknown = null
  let firstWindow: { ids: string[]; moments: (number | null)[] } | null = null
  await walkModel(model, {
    marks: met,
    onTake: (step) => {
      last = JSON.parse(JSON.stringify(step.state))
      firstWindow ??= step.firstWindow ?? null
      windows -= 1
      return windows > 0
    },
  })
  return { met, resume: { state: last as never, firstWindow } }
}

function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

test.each([
  [95, 10, 2, 80],
  [3000, 100, 2, 80],
  [3000, 100, 4, 80],
])(
  '%i tasks, %i a window, of which %i come in front with every request: the end is found within %i requests',
  async (tasks, window, inserts, most) => {
    const model = makeModel(newestFirst(tasks), {
      before(request, { items }) {
        for (let one = 0; one < inserts; one += 1)
          items.unshift({ id: `n${request}-${one}`, at: 10_000_000 + 1_000 * (request * inserts + one) })
      },
    })
    const walked = await walkModel(model, { window })
    expect(walked.result.reason).toBeNull()
    expectAllMet(walked)
    expect(walked.requests).toBeLessThanOrEqual(most)
  },
)
