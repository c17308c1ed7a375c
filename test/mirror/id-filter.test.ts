// The filter never says no to an id it was given.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IdFilter } from '../../src/mirror/id-filter.ts'

test('has every id that was added, also after it has grown', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 300 }), (ids) => {
      const filter = new IdFilter()
      for (const id of ids) filter.add(id)
      expect(ids.filter((id) => !filter.mayHave(id))).toEqual([])
    }),
  )
  const filter = new IdFilter()
  for (let at = 0; at < 50_000; at += 1) filter.add(`task-${at}`)
  for (let at = 0; at < 50_000; at += 1) if (!filter.mayHave(`task-${at}`)) throw new Error(`task-${at} was lost`)
  expect(filter.mayHave('task-49999')).toBe(true)
})

test('says no to nearly all others', () => {
  const filter = new IdFilter()
  for (let at = 0; at < 20_000; at += 1) filter.add(`task-${at}`)
  let wrong = 0
  for (let at = 0; at < 20_000; at += 1) if (filter.mayHave(`other-${at}`)) wrong += 1
  expect(wrong).toBeLessThan(20)
})
