// How many pieces of work go on at once, and what becomes of the others where one fails.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { forEachConcurrently } from '../../src/sync/concurrently.ts'

test.for([
  [1, 1],
  [3, 3],
  [50, 9],
])('with a concurrency of %i, %i of nine are under way at once, and all are done', async ([concurrency, most]) => {
  const done: number[] = []
  let underWay = 0
  let highest = 0
  await forEachConcurrently([1, 2, 3, 4, 5, 6, 7, 8, 9], concurrency as number, async (item) => {
    underWay += 1
    highest = Math.max(highest, underWay)
    await turn()
    underWay -= 1
    done.push(item)
  })
  expect({ highest, done: done.toSorted() }).toEqual({ highest: most, done: [1, 2, 3, 4, 5, 6, 7, 8, 9] })
})

test('where one fails, what is under way ends before the error is thrown, and nothing else is begun', async () => {
  const begun: number[] = []
  const done: number[] = []
  const failing = forEachConcurrently([1, 2, 3, 4, 5, 6], 3, async (item) => {
    begun.push(item)
    await turn()
    if (item === 2) throw new Error('the second')
    for (let turns = 0; turns < 5; turns += 1) await turn()
    if (item === 3) throw new Error('the third')
    done.push(item)
  })
  await expect(failing).rejects.toThrow('the second')
  expect({ begun, done }).toEqual({ begun: [1, 2, 3], done: [1] })
})
