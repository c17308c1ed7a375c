// What neighbouring pairs show of the order, inversions included.

import { expect, test } from 'vitest'
import { contradicts, missNeighbour, noOrderSeen, observe, orderKept, orderShown } from '../../src/walk/order.ts'
import fc from '../support/fc.ts'

const SETTLE = 60_000

function shown(moments: (number | null)[], ids = moments.map((_, index) => `${(index * 7) % 10}-${index}`)) {
  const orderSeen = noOrderSeen()
  observe(orderSeen, ids, moments, 0)
  return orderShown(orderSeen, SETTLE)
}

test.each<[string, (number | null)[], string | null, number]>([
  ['falling', [9e6, 8e6, 7e6], 'created_desc', 0],
  ['rising', [7e6, 8e6, 9e6], 'created_asc', 0],
  ['falling with ties', [9e6, 9e6, 8e6, 7e6, 7e6], 'created_desc', 0],
  ['falling with an inversion up to the settling time', [9e6, 8e6, 8.06e6, 7e6], 'created_desc', 60_000],
  ['falling with a larger inversion', [9e6, 8e6, 8.061e6, 7e6], 'none', 0],
  ['many small steps back add up', [9e6, 1e6, 1.05e6, 1.1e6, 0.5e6, 0.4e6, 0.3e6], 'none', 0],
  ['items without createdAt are skipped', [9e6, null, 8e6, null, 7e6], 'created_desc', 0],
  ['two distinct values are too few', [9e6, 8e6], null, 0],
  ['but not where they go back and forth', [9e6, 8e6, 9e6], 'none', 0],
  ['all alike', [5, 5, 5, 5], null, 0],
  ['without order', [5e6, 9e6, 1e6, 7e6], 'none', 0],
])('%s', (_, moments, order, inversionMs) => {
  expect(shown(moments)).toEqual({ order, inversionMs })
})

test.each<[string, number[][], string]>([
  ['most of them: they are in order', [[9e6, 8e6, 7e6, 6e6], [5e6, 4e6], [3e6]], 'created_desc'],
  ['few of them: that is chance', [[9e6, 8e6], [7e6], [6e6], [5e6], [4e6], [3e6]], 'none'],
  [
    'few, but those between them are ties: a run that comes in any order',
    [[9e6, 8e6, 7e6], [7e6], [7e6], [7e6]],
    'created_desc',
  ],
])('neighbours that were seen side by side are %s', (_, stretches, order) => {
  const orderSeen = noOrderSeen()
  for (const [at, moments] of stretches.entries()) {
    if (at > 0) missNeighbour(orderSeen)
    observe(
      orderSeen,
      moments.map((_, index) => `${(7 * at + 3 * index) % 10}-${at}-${index}`),
      moments,
      0,
    )
  }
  expect(orderShown(orderSeen, SETTLE).order).toBe(order)
})

test('ids in order count where createdAt does not', () => {
  expect(shown([5e6, 9e6, 1e6, 7e6], ['a', 'b', 'c', 'd']).order).toBe('id_asc')
  expect(shown([5e6, 9e6, 1e6, 7e6], ['d', 'c', 'b', 'a']).order).toBe('id_desc')
})

test('pairs run across windows: the order of the whole is that of its parts laid together', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(10_000_000), { minLength: 1, maxLength: 60 }), fc.nat(59), (moments, cut) => {
      const ids = moments.map((_, index) => `i${index}`)
      const whole = noOrderSeen()
      observe(whole, ids, moments, 0)
      const parts = noOrderSeen()
      const at = Math.min(cut, moments.length)
      observe(parts, ids.slice(0, at), moments.slice(0, at), 0)
      observe(parts, ids.slice(at), moments.slice(at), 0)
      expect(parts).toEqual(whole)
    }),
  )
})

test('a list that was seen in two different orders has none', () => {
  const orderSeen = { ...noOrderSeen(), unstable: true }
  observe(orderSeen, ['a', 'b', 'c'], [3, 2, 1], 0)
  expect(orderShown(orderSeen, SETTLE).order).toBe('none')
})

const DESC = { order: 'created_desc', inversionMs: 0 } as const

test.each<[string, (number | null)[], boolean, boolean, string | null]>([
  [
    'a step back within the tolerance, all within two minutes',
    [9e6, 8.99e6, 8.995e6, 8.98e6],
    false,
    false,
    'created_desc',
  ],
  ['a step back beyond it', [9e6, 8e6, 8.061e6, 7e6], false, true, 'none'],
  ['two items that changed places', [9e6, 8e6, 7e6], true, true, 'none'],
  ['the opposite one, all within two minutes', [8.98e6, 8.99e6, 8.995e6, 9e6], false, true, 'created_asc'],
  ['a single task', [9e6], false, false, 'created_desc'],
])('a known order and %s: only a contradiction ends it', (_, moments, unstable, contradicted, order) => {
  const orderSeen = noOrderSeen()
  observe(
    orderSeen,
    moments.map((_, index) => `${(index * 7) % 10}-${index}`),
    moments,
    0,
  )
  orderSeen.unstable = unstable
  expect(contradicts(orderSeen, DESC, SETTLE)).toBe(contradicted)
  expect(orderKept(orderSeen, DESC, SETTLE).order).toBe(order)
})

test('a step back that was seen before is no contradiction, however small the tolerance is now', () => {
  const orderSeen = noOrderSeen()
  observe(orderSeen, ['b', 'a', 'd', 'c'], [9e6, 8e6, 8.061e6, 7e6], 0)
  expect(contradicts(orderSeen, { order: 'created_desc', inversionMs: 61_000 }, 0)).toBe(false)
})
