// Look-ups that were made before other windows were taken in, brought up to date.
import { expect, test } from 'vitest'
import { RecentlyTaken } from '../../src/sync/writer/window-relay.ts'

function metNow(taken: RecentlyTaken, ids: string[], walkId: number, after: number): number[] {
  const met = new Uint8Array(ids.length)
  taken.bringUpToDate(met, ids, { walkId, after })
  return [...met]
}

test('met is what the same walk took in after the look-up', () => {
  const taken = new RecentlyTaken()
  taken.add(1, ['a', 'b'])
  const after = taken.count
  taken.add(1, ['b', 'c'])
  expect(metNow(taken, ['a', 'b', 'c', 'd'], 1, after)).toEqual([0, 1, 1, 0])
  expect(metNow(taken, ['a', 'b', 'c', 'd'], 1, 0)).toEqual([1, 1, 1, 0])
  expect(metNow(taken, ['a', 'b'], 2, 0)).toEqual([0, 0])
})

test('another walk begins with nothing', () => {
  const taken = new RecentlyTaken()
  taken.add(1, ['a'])
  taken.add(2, ['b'])
  expect(metNow(taken, ['a', 'b'], 2, 0)).toEqual([0, 1])
  expect(metNow(taken, ['a', 'b'], 1, 0)).toEqual([0, 0])
})

test('what is forgotten is that of windows before; an id that came again since is kept', () => {
  const taken = new RecentlyTaken()
  taken.add(1, ['a', 'b'])
  taken.add(1, ['b', 'c'])
  taken.forgetBefore(1)
  expect(metNow(taken, ['a', 'b', 'c'], 1, 0)).toEqual([0, 1, 1])
})
