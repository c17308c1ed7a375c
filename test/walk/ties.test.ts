// Walks through a run of equal createdAt, whose items may come in another order with every answer: a run is met as a whole,
// or the walk does not say `complete`.
import { describe, expect, test } from 'vitest'
import { type Random, seeded, shuffle } from '../../src/simulator/random.ts'
import { type Item, type Model, makeModel, newestFirst, walkModel } from './model.ts'

const WINDOW = 10
/** Items in front of a run, and behind it. */
const AROUND = 20
const SEEDS = 12

interface World {
  /** Items of the run. */
  length: number
  front?: number
  behind?: number
  /** Each answer has the run in another order; else it stands in one order, which is not that of its ids. */
  shuffles?: boolean
  /** Before each request. */
  change?: (request: number, items: Item[]) => void
  answer?: Model['answer']
}

function shuffleRun(items: Item[], moment: number, random: Random): void {
  const run = items.filter(({ at }) => at === moment)
  shuffle(run, random)
  for (const [index, { at }] of items.entries()) if (at === moment) items[index] = run.pop() as Item
}

/** Walks the world of one seed; `passedOver` were listed throughout. */
async function walkRun(seed: number, world: World) {
  const { length, front = AROUND, behind = AROUND, shuffles = false, change, answer } = world
  const random = seeded(seed, 0x71e5)
  const plain = newestFirst(front + length + behind)
  const moment = plain[front]?.at as number
  const items = plain.map((item, at) => (at >= front && at < front + length ? { ...item, at: moment } : item))
  shuffleRun(items, moment, random)
  const model = makeModel(items, {
    before(request, { items: listed }) {
      if (shuffles) shuffleRun(listed, moment, random)
      change?.(request, listed)
    },
    ...(answer === undefined ? {} : { answer }),
  })
  const { result, met, listedThroughout, requests, unreadable } = await walkModel(model, { window: WINDOW })
  return { result, passedOver: [...listedThroughout.difference(met)].sort(), requests, unreadable }
}

/** What the seeds come to: how many are complete, why others are not, and the most requests of one. */
async function walkSeeds(world: World, unreadable: string[] = []) {
  const reasons = new Set<string>()
  let complete = 0
  let most = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { result, passedOver, requests } = await walkRun(seed, world)
    most = Math.max(most, requests)
    if (result.verdict === 'partial') reasons.add(result.reason as string)
    else {
      complete += 1
      expect(passedOver, `seed ${seed}`).toEqual(unreadable)
    }
  }
  return { complete, reasons: [...reasons], most }
}

const front = (request: number): Item => ({ id: `n${request}`, at: 1_000_000 + request * 1000 })
const idAt = (index: number): string => `t${String(index).padStart(5, '0')}`

/** An item that fails every window that it is in. */
const failing =
  (...bad: string[]): Model['answer'] =>
  (skip, take, { items }) =>
    items.slice(skip, skip + take).some(({ id }) => bad.includes(id)) ? 'failed' : null

const cutTo =
  (most: (skip: number) => number): Model['answer'] =>
  (skip, take, { items }) =>
    items.slice(skip, skip + Math.min(take, most(skip)))

test.each<[string, World, number]>([
  ['in the middle', { length: 3 }, 15],
  ['in the middle, as long as a window almost,', { length: 8 }, 16],
  ['at the end of the list', { length: 3, behind: 0 }, 12],
  ['at the beginning', { length: 3, front: 0 }, 12],
  ['that is the list', { length: 9, front: 0, behind: 0 }, 13],
])('a run %s that one answer shows whole costs little, shuffled or not', async (_, world, requests) => {
  for (const shuffles of [false, true]) {
    const { most, ...walked } = await walkSeeds({ ...world, shuffles })
    expect(walked).toEqual({ complete: SEEDS, reasons: [] })
    expect(most).toBeLessThanOrEqual(requests)
  }
})

describe('a run longer than a window is counted', () => {
  test.each<[string, World]>([
    ['in the middle', { length: 15 }],
    ['in the middle, by one item longer than an answer shows with its neighbours,', { length: 9 }],
    ['in the middle, several windows long,', { length: 40 }],
    ['at the end of the list', { length: 15, behind: 0 }],
    ['at the end, several windows long,', { length: 25, behind: 0 }],
    ['at the beginning', { length: 15, front: 0 }],
    ['that is the list', { length: 25, front: 0, behind: 0 }],
  ])('%s', async (_, world) => {
    const inOneOrder = await walkSeeds(world)
    expect(inOneOrder).toMatchObject({ complete: SEEDS, reasons: [] })
    expect(inOneOrder.most).toBeLessThanOrEqual(25)
    // What is shuffled has to be read until chance has shown the last of it.
    const shuffled = await walkSeeds({ ...world, shuffles: true })
    expect(shuffled).toMatchObject({ complete: SEEDS, reasons: [] })
    expect(shuffled.most).toBeLessThanOrEqual(120)
  })
})

describe('while the list moves, a run', () => {
  const once = 15
  test.each<[string, World['change']]>([
    ['that items in front are deleted before', (request, items) => void (request < once && items.shift())],
    [
      'that items in front are inserted before',
      (request, items) => void (request < once && items.unshift(front(request))),
    ],
    ['that loses an item', (request, items) => void (request === 4 && removeFrom(items, idAt(AROUND + 1)))],
    [
      'that jumps back by seven',
      (request, items) => {
        if (request === 5) items.splice(0, 7)
      },
    ],
  ])('%s is met as a whole', async (_, change) => {
    for (const length of [3, 15]) {
      for (const shuffles of [false, true]) {
        const { complete, reasons, most } = await walkSeeds({ length, shuffles, change: change as World['change'] })
        expect(complete).toBeGreaterThanOrEqual(SEEDS - 2)
        expect(['', 'ties']).toContain(reasons.join())
        expect(most).toBeLessThan(100)
      }
    }
  })

  test('shorter than a window is shown, however long something comes in front', async () => {
    const change = (request: number, items: Item[]) => void (request < 300 && items.unshift(front(request)))
    expect(await walkSeeds({ length: 3, shuffles: true, change })).toMatchObject({ complete: SEEDS, reasons: [] })
  })

  test.each([15, 25])('of %i items is not proven, where something comes in front of every answer', async (length) => {
    const change = (_: number, items: Item[]) => void items.unshift(front(items.length))
    for (const shuffles of [false, true]) {
      const { complete, reasons, most } = await walkSeeds({ length, shuffles, change })
      expect(complete).toBe(0)
      expect(reasons.filter((reason) => reason !== 'ties' && reason !== 'end-keeps-moving')).toEqual([])
      expect(most).toBeLessThan(720)
    }
  })
})

function removeFrom(items: Item[], id: string): void {
  const at = items.findIndex((item) => item.id === id)
  if (at >= 0) items.splice(at, 1)
}

describe('answers that end within a run', () => {
  test.each<[string, Model['answer']]>([
    ['always hold four', cutTo(() => 4)],
    ['hold five to nine, by where they begin,', cutTo((skip) => 5 + ((7 * skip) % 5))],
    [
      'are cut once only',
      (skip, take, { items, requests }) => (requests.length === 3 ? items.slice(skip, skip + take - 3) : null),
    ],
  ])('%s: all of it is met', async (_, answer) => {
    for (const length of [3, 15]) {
      for (const shuffles of [false, true]) {
        const { complete, reasons, most } = await walkSeeds({ length, shuffles, answer })
        expect({ length, shuffles, complete, reasons }).toEqual({ length, shuffles, complete: SEEDS, reasons: [] })
        expect(most).toBeLessThan(150)
      }
    }
  })
})

describe('an item that cannot be read', () => {
  test.each<[string, (length: number) => string[]]>([
    ['directly before the run', () => [idAt(AROUND - 1)]],
    ['directly behind it', (length) => [idAt(AROUND + length)]],
    ['on both sides', (length) => [idAt(AROUND - 1), idAt(AROUND + length)]],
    ['within it', () => [idAt(AROUND + 1)]],
  ])('%s is passed, and nothing else', async (_, badOf) => {
    for (const length of [3, 15]) {
      const bad = badOf(length)
      // In one order, and shuffled: then what stands at its place may be another one, and the walk may have to give up.
      const fixed = await walkSeeds({ length, answer: failing(...bad) }, bad)
      const shuffled = await walkSeeds({ length, shuffles: true, answer: failing(...bad) }, bad)
      if (!bad.includes(idAt(AROUND + 1))) expect(fixed).toMatchObject({ complete: SEEDS, reasons: [] })
      expect(Math.max(fixed.most, shuffled.most)).toBeLessThan(520)
    }
  })
})

test('a run of which one item is never shown is never proven, within bounded requests', async () => {
  const hidden = idAt(AROUND + 7)
  const instead = { ...(newestFirst(2 * AROUND + 15)[AROUND] as Item), id: idAt(AROUND + 8) }
  const answer: Model['answer'] = (skip, take, { items }) =>
    items.slice(skip, skip + take).map((item) => (item.id === hidden ? instead : item))
  for (const shuffles of [false, true]) {
    const { complete, reasons, most } = await walkSeeds({ length: 15, shuffles, answer })
    expect({ complete, reasons }).toEqual({ complete: 0, reasons: ['ties'] })
    expect(most).toBeLessThan(400)
  }
})

test('in a list by its ids one createdAt may stand in many places: every run is told from the others', async () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = seeded(seed, 0x77)
    const moments = 1 + random.int(3)
    const items = Array.from({ length: random.int(40) }, (_, at) => ({
      id: `i${9999 - at}`,
      at: 1000 * random.int(moments + 1),
    }))
    const cap = 2 + random.int(5)
    const answer: Model['answer'] = (skip, take, { items: listed }) => listed.slice(skip, skip + Math.min(take, cap))
    const walked = await walkModel(makeModel(items, { answer }), {
      window: cap + random.int(3),
      overlap: 1 + random.int(3),
    })
    expect(walked.result.reason, `seed ${seed}`).toBeNull()
    expect(walked.met.size).toBe(items.length)
  }
})

test('several runs one behind the other, each in another order at every read, in windows of three', async () => {
  const lengths = [3, 3, 6, 11, 15, 3, 1, 1]
  const items = lengths.flatMap((length, run) =>
    Array.from({ length }, (_, index) => ({ id: `r${run}-${index}`, at: 1000 * (lengths.length - run) })),
  )
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = seeded(seed, 0x2a5)
    const before: Model['before'] = (_, { items: listed }) => {
      for (const run of lengths.keys()) shuffleRun(listed, 1000 * (lengths.length - run), random)
    }
    const settings = { window: 3, overlap: 2, settleMs: 60_000, maxRequests: 5_000 }
    const { result, met } = await walkModel(makeModel(items, { before }), { settings })
    expect({ seed, reason: result.reason, met: met.size }).toEqual({ seed, reason: null, met: items.length })
  }
})

test('a run at the end, in another order at every read, of which two are shown at once: the end is mostly shown, and is the whole list', async () => {
  let complete = 0
  for (let seed = 1; seed <= 40; seed += 1) {
    const [front, length] = [10, 15]
    const answer: Model['answer'] = (skip, take, { items }) =>
      take > 2 || skip >= items.length ? 'refused' : items.slice(skip, skip + take)
    const { result, passedOver } = await walkRun(seed, { front, length, behind: 0, shuffles: true, answer })
    expect({ seed, passedOver }).toEqual({ seed, passedOver: [] })
    if (result.verdict === 'partial') continue
    expect({ seed, total: result.total }).toEqual({ seed, total: front + length })
    complete += 1
  }
  expect(complete).toBeGreaterThanOrEqual(30)
})

test('every list of four with three createdAt, where all is refused behind the end and more than two at once', async () => {
  const answer: Model['answer'] = (skip, take, { items }) => (take > 2 || skip >= items.length ? 'refused' : null)
  for (let code = 0; code < 3 ** 4; code += 1) {
    const items = [0, 1, 2, 3].map((at) => ({ id: `i${at}`, at: 5 + (Math.floor(code / 3 ** at) % 3) }))
    for (const window of [3, 6]) {
      const settings = { window, overlap: 2, settleMs: 60_000, maxRequests: 5_000 }
      const { result, met } = await walkModel(makeModel(items, { answer }), { settings })
      const list = items.map(({ at }) => at).join('')
      expect({ list, window, reason: result.reason, met: met.size }).toEqual({ list, window, reason: null, met: 4 })
    }
  }
})

test('where the first of many runs cannot be counted, the list is read to its end all the same', async () => {
  for (let seed = 8; seed <= 11; seed += 1) {
    const random = seeded(seed, 1)
    const items = newestFirst(400).map(({ id }, index) => ({ id, at: 1000 * (400 - Math.floor(index / 25)) }))
    const model = makeModel(items, {
      before(_, { items: listed }) {
        for (const { at } of listed.filter((__, index) => index % 25 === 0)) shuffleRun(listed, at as number, random)
      },
      answer: (skip, take, { items: listed }) => listed.slice(skip, skip + Math.min(2, take)),
    })
    const { result, met } = await walkModel(model)
    expect({ seed, verdict: result.verdict }).toEqual({ seed, verdict: 'partial' })
    // In each answer of a run there are two at random, some of them once more.
    expect({ seed, met: met.size }).toSatisfy(({ met: number }) => number > 250)
  }
})

test('where nothing moves, a run at the end that cannot be counted is not read twelve times', async () => {
  for (const length of [2, 3, 5, 8]) {
    const items = Array.from({ length }, (_, index) => ({ id: `t${(7 * index) % 10}`, at: 1000 }))
    // One at a time, and behind the last one it refuses, as it might in front of more.
    const model = makeModel(items, { answer: (skip) => (skip < length ? items.slice(skip, skip + 1) : 'refused') })
    const { result, met, requests } = await walkModel(model, { window: WINDOW })
    expect({ reason: result.reason, met: met.size }).toEqual({ reason: 'ties', met: length })
    expect(requests).toBeLessThan(60 + 5 * length)
  }
})

test('no deletion makes another run of a createdAt look like the one that is counted, whenever it comes', async () => {
  const ids = 'ambbafacbcavajanalapakaoayagaqaiatawaebfazaubabebdahaaabasaradax'.match(/../g) as string[]
  const items = [...'............MMMM...MM..MMM......'].map(
    (place, index): Item => ({ id: ids[index] as string, at: place === 'M' ? 1_000_000 : 2_000_000 + 1000 * index }),
  )
  for (let moment = 1; moment < 43; moment += 1) {
    const model = makeModel(items, {
      before(request, { items: listed }) {
        if (request === moment) listed.splice(4, 5)
      },
    })
    const { result, met } = await walkModel(model, { window: 3, overlap: 1, beyond: true, lap: 'always' })
    const missed = model.items.filter(({ id }) => !met.has(id)).map(({ id }) => id)
    if (result.verdict === 'complete') expect({ moment, missed }).toEqual({ moment, missed: [] })
  }
})

test('where another run of its createdAt stands in front of the one that is owed, that one is found behind it', async () => {
  for (let seed = 1; seed <= 3; seed += 1) {
    const items = Array.from({ length: 40 }, (_, index) => ({ id: `t${index}`, at: 1000 * Math.floor(index / 20) }))
    shuffle(items, seeded(seed))
    for (let first = 2; first < 10; first += 1) {
      const model = makeModel(items, {
        // Answers hold five, for a while only one, and then eight.
        answer(skip, take, { requests: { length } }) {
          const cap = length < first ? 5 : length < first + 40 ? 1 : 8
          return items.slice(skip, skip + Math.min(take, cap))
        },
      })
      const { result, met } = await walkModel(model, { window: 20, overlap: 3 })
      expect({ seed, first, reason: result.reason, met: met.size }).toEqual({ seed, first, reason: null, met: 40 })
    }
  }
})

test('pages of one whose pairs of equal createdAt change places say nothing of how skip counts', async () => {
  for (const seed of [12, 26, 40]) {
    const random = seeded(seed)
    const items = newestFirst(30).map(({ id }, index) => ({ id, at: 1000 * (30 - Math.floor(index / 2)) }))
    const model = makeModel(items, {
      before(_, { items: listed }) {
        for (let at = 0; at < 30; at += 2)
          if (random.int(2) === 0) listed.splice(at, 2, ...listed.slice(at, at + 2).reverse())
      },
      answer: (skip, _, { items: listed }) => listed.slice(skip, skip + 1),
    })
    const { result } = await walkModel(model, { window: 20, overlap: 3 })
    expect({ seed, reason: result.reason }).not.toMatchObject({ reason: 'skip-ignored' })
  }
})

test('a list of ties whose answers hold one item each once its first window was read is complete, its head seen again', async () => {
  const items = newestFirst(60).map(({ id }, index) => ({ id, at: (60 - (index >> 1)) * 1000 }))
  const model = makeModel(items, {
    answer: (skip, take, { items: listed, requests }) =>
      listed.slice(skip, skip + Math.min(take, requests.length > 1 ? 1 : 20)),
  })
  const { result, met } = await walkModel(model, { window: 20, overlap: 10 })
  expect(result).toMatchObject({ verdict: 'complete', reason: null })
  expect(met.size).toBe(60)
})
