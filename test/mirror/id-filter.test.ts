// The filter never says no to an id it was given.

import { expect, test } from 'vitest'
import { IdFilter } from '../../src/mirror/tables/id-filter.ts'
import fc from '../support/fc.ts'

test('has every id that was added', () => {
  const filter = new IdFilter()
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 300 }), (ids) => {
      for (const id of ids) filter.add(id)
      expect(ids.filter((id) => !filter.mayHave(id))).toEqual([])
    }),
  )
})

test.each([
  ['numbered', (at: number) => `task-${at}`],
  ['hexadecimal', (at: number) => (at * 2654435761).toString(16).padStart(24, '0')],
  ['decimal', (at: number) => String(at)],
])('says no to nearly all other ids, which are %s', (_, idOf) => {
  const filter = new IdFilter()
  const [added, others] = [300_000, 20_000]
  for (let at = 0; at < added; at += 1) filter.add(idOf(at))
  let wrong = 0
  for (let at = added; at < added + others; at += 1) if (filter.mayHave(idOf(at))) wrong += 1
  expect(wrong).toBeLessThan(others / 500)
})
