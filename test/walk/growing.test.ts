// Lists that grow while they are read: read up to an index at which there was nothing a moment ago, and not for ever.

import { describe, expect, test } from 'vitest'
import { seeded } from '../../src/simulator/random.ts'
import fc from '../support/fc.ts'
import { few, SOAK } from '../support/soak.ts'
import { type Item, type Model, makeModel, missedIn, newestFirst, type Walked, walkModel } from './model.ts'

const oldestFirst = (count: number): Item[] => newestFirst(count).reverse()

function missing({ met, listedThroughout }: Walked): string[] {
  return [...listedThroughout].filter((id) => !met.has(id))
}

/** Before every request so many are appended and deleted, a fraction of one every so often; `phase` shifts when. */
function growth(perRequest: number, { deleted = 0, phase = 0 } = {}): NonNullable<Model['before']> {
  let owed = phase
  let due = phase
  let added = 0
  return (_, { items }) => {
    for (owed += perRequest; owed >= 1; owed -= 1) {
      added += 1
      items.push({ id: `n${added}`, at: 1e9 + 100 * added })
    }
    for (due += deleted; due >= 1; due -= 1) items.splice((7919 * added + 31 * items.length) % (items.length - 1), 1)
  }
}

const PHASES = few([0, 0.3, 0.6], (phase) => phase === 0.3)

describe('oldest first', () => {
  test.each([
    // Four windows; at 300 ms an answer these are one, two, three and ten a second, and one to thirty with every request.
    { cap: 1_000, count: 3_500, most: 4 + 20, rates: [0.05, 0.3, 0.5, 0.9, 1, 2, 3, 10, 30] },
    { cap: 100, count: 2_000, most: 23 + 40, rates: [0.05, 0.3, 1, 3, 10] },
    { cap: 10, count: 300, most: 60 + 53, rates: [0.05, 0.3, 1] },
  ])('$cap in an answer: complete after $most requests, however fast it grows', async ({ cap, count, most, rates }) => {
    for (const rate of rates) {
      for (const phase of PHASES) {
        const model = makeModel(oldestFirst(count), {
          before: growth(rate, { phase }),
          answer: (skip, take, { items }) => items.slice(skip, skip + Math.min(cap, take)),
        })
        const walked = await walkModel(model, { window: 1_000, overlap: 10 })
        expect({ rate, phase, ...walked.result }).toMatchObject({ rate, phase, verdict: 'complete', reason: null })
        expect(missing(walked)).toEqual([])
        expect(walked.requests, `${rate} with every request`).toBeLessThanOrEqual(most)
      }
    }
  })

  test.each([1_000, 20])(
    'short answers at its end do not count as cut at so many items, windows of %d',
    async (window) => {
      for (const rate of [0.3, 1, 3]) {
        const model = makeModel(oldestFirst(3 * window), { before: growth(rate) })
        const walked = await walkModel(model, { window, overlap: 10 })
        expect({ rate, holds: walked.result.pageCap ?? window }).toEqual({ rate, holds: window })
      }
    },
  )

  test.each([0.2, 1])('and %d deleted with every request', async (deleted) => {
    for (const rate of [0.05, 0.3, 1, 3]) {
      for (const phase of PHASES) {
        const model = makeModel(oldestFirst(3_500), { before: growth(rate, { deleted, phase }) })
        const walked = await walkModel(model, { window: 1_000, overlap: 10 })
        expect({ rate, ...walked.result }).toMatchObject({ rate, verdict: 'complete', reason: null })
        expect(missing(walked)).toEqual([])
        // Where a deletion meets every look at the end, ten more.
        expect(walked.requests).toBeLessThanOrEqual(4 + (phase === 0.6 ? 32 : 22))
      }
    }
  })

  test.each([true, false])('and one answer is empty by mistake, looked further on: %s', async (beyond) => {
    let complete = 0
    for (let mistaken = 0; mistaken < 40; mistaken += 1) {
      const model = makeModel(oldestFirst(300), {
        before: growth(1),
        answer: (skip, take, { items, requests }) =>
          requests.length - 1 === mistaken ? [] : items.slice(skip, skip + Math.min(30, take)),
      })
      const walked = await walkModel(model, { window: 30, overlap: 10, beyond })
      if (walked.result.verdict !== 'complete') continue
      complete += 1
      expect({ mistaken, missing: missing(walked) }).toEqual({ mistaken, missing: [] })
    }
    expect(complete).toBeGreaterThanOrEqual(30)
  })

  test('equal createdAt at the end, in another order at every read', async () => {
    for (const rate of [0.3, 1, 3]) {
      let added = 0
      const grow = growth(rate)
      const model = makeModel(oldestFirst(3_500), {
        before: (request, it) => {
          const { length } = it.items
          grow(request, it)
          // Three of each createdAt, turned round each time.
          for (const item of it.items.slice(length)) item.at = 1e9 + 1_000 * Math.floor(added++ / 3)
          const last = it.items.filter(({ at }) => (at as number) >= 1e9)
          const turned = last.toSorted(
            (one, other) => (one.at as number) - (other.at as number) || (request % 2 ? 1 : -1),
          )
          it.items.splice(it.items.length - last.length, last.length, ...turned)
        },
      })
      const walked = await walkModel(model, { window: 1_000, overlap: 10 })
      expect(missing(walked)).toEqual([])
      expect({ rate, ...walked.result }).toMatchObject({ rate, verdict: 'complete' })
      expect(walked.requests).toBeLessThanOrEqual(4 + 48)
    }
  })

  test('a task dated in the future stays behind those that come: it is met', async () => {
    for (const cap of [1_000, 100]) {
      const future = { id: 'future', at: 1e12 }
      const model = makeModel([...oldestFirst(1_500), future], {
        before: (request, { items }) => void items.splice(-1, 0, { id: `n${request}`, at: 1e9 + 100 * request }),
        answer: (skip, take, { items }) => items.slice(skip, skip + Math.min(cap, take)),
      })
      const { result, met } = await walkModel(model, { window: 1_000, overlap: 10 })
      expect(result.verdict).toBe('complete')
      expect(met.has('future')).toBe(true)
    }
  })

  test.each([1, 2, 3, 4])('such a task that is too large to stand beside another, %i before it', async (many) => {
    let added = 0
    const model = makeModel([...oldestFirst(25), { id: 'future', at: 1e12 }], {
      before: (_, { items }) =>
        void items.splice(-1, 0, ...Array.from({ length: many }, () => ({ id: `n${added++}`, at: 1e9 + 100 * added }))),
      answer: (skip, take, { items }) => {
        const window = items.slice(skip, skip + take)
        return window.length > 1 && window.at(-1)?.id === 'future' ? window.slice(0, -1) : window
      },
    })
    const { result, met } = await walkModel(model, {
      settings: { window: 10, overlap: 3, settleMs: 60_000, maxRequests: 300 },
    })
    expect(result.verdict === 'partial' || met.has('future')).toBe(true)
  })

  test('by more than can be read: it ends with its reason', async () => {
    const model = makeModel(oldestFirst(300), {
      before: growth(0.5, { deleted: 1 }),
      answer: (skip, _, { items }) => items.slice(skip, skip + 10),
    })
    const walked = await walkModel(model, { window: 1_000, overlap: 10 })
    expect(walked.requests).toBeLessThanOrEqual(2 * 300 + 20)
  })
})

test('whatever comes and goes: complete means complete', async () => {
  const change = fc.record({
    request: fc.nat(40),
    kind: fc.constantFrom('append' as const, 'append' as const, 'delete' as const, 'insert' as const),
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    many: fc.integer({ min: 1, max: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 3, max: 40 }),
      fc.array(change, { maxLength: 25 }),
      fc.constantFrom(0, 0.3, 1, 2),
      fc.integer({ min: 3, max: 12 }),
      fc.constantFrom('whole' as const, 'capped' as const, 'future' as const),
      async (count, plan, rate, window, kind) => {
        let serial = 0
        const end = kind === 'future' ? 1 : 0
        const start = Array.from({ length: count }, (_, index) => ({ id: `t${index}`, at: 1e6 * (index + 1) }))
        if (end === 1) start.push({ id: 'future', at: 1e15 })
        const grow = growth(rate)
        const model = makeModel(start, {
          before: (request, it) => {
            const tail = it.items.splice(it.items.length - end, end)
            grow(request, it)
            for (const { kind: what, place, many } of plan.filter((one) => one.request === request)) {
              const at = what === 'append' ? it.items.length : Math.floor(place * it.items.length)
              if (what === 'delete') it.items.splice(at, many)
              const low = (it.items[at - 1]?.at ?? 0) as number
              const high = (it.items[at]?.at ?? low + 1e6) as number
              const fresh = Array.from({ length: what === 'delete' ? 0 : many }, (_, index) => ({
                id: `i${serial++}`,
                at: low + ((high - low) * (index + 1)) / (many + 1),
              }))
              it.items.splice(at, 0, ...fresh)
            }
            it.items.push(...tail)
          },
          answer: (skip, take, { items }) => items.slice(skip, skip + (kind === 'capped' ? Math.min(take, 4) : take)),
          seen: { listings: new Map(), viewed: [] },
        })
        const settings = { window, overlap: Math.max(1, Math.floor(window / 3)), settleMs: 60_000, maxRequests: 600 }
        const walked = await walkModel(model, { settings })
        expect(missedIn(model, walked)).toEqual([])
      },
    ),
    { numRuns: SOAK ? 1_000 : 40 },
  )
})

test('a list that grows faster than its end is looked at is not read for ever', async () => {
  const cases = [
    { count: 3000, cap: 1000, rate: 1, last: true, most: 2500 },
    { count: 300, cap: 100, rate: 10, last: false, most: 1200 },
  ]
  for (const { count, cap, rate, last, most } of cases) {
    const model = makeModel(oldestFirst(count), {
      before: growth(rate),
      answer: (skip, take, { items }) => {
        // Behind its end the service gives the last item again, or refuses.
        if (skip >= items.length) return last ? items.slice(-1) : 'refused'
        return items.slice(skip, skip + Math.min(cap, take))
      },
    })
    const walked = await walkModel(model, {
      settings: { window: 1000, overlap: 10, settleMs: 60_000, maxRequests: 20_000 },
    })
    expect({ count, reason: walked.result.reason }).toEqual({ count, reason: 'end-keeps-moving' })
    expect(walked.requests).toBeLessThan(most)
  }
})

test('what is asked for ahead is bounded, too, in a list that grows and begins again behind its end', async () => {
  const random = seeded(29)
  const sizes = new Map<string, number>()
  const sizeOf = (id: string): number => sizes.get(id) ?? (sizes.set(id, 1 + random.int(7)).get(id) as number)
  const model = makeModel(newestFirst(3).reverse(), {
    before(request, { items: listed }) {
      listed.push({ id: `n${request}`, at: 10_000 + 1000 * request })
    },
    answer(skip, take, { items: listed }) {
      let size = 0
      const from = listed.slice(skip % listed.length).slice(0, take)
      return from.filter(({ id }, index) => {
        size += sizeOf(id)
        return index === 0 || size < 25
      })
    },
  })
  const settings = { window: 50, overlap: 10, settleMs: 60_000, maxRequests: 1000 }
  const { result, requests } = await walkModel(model, { settings, beyond: true, lap: 'never' })
  expect(result.verdict).toBe('partial')
  expect(requests).toBeLessThan(1_100)
})
