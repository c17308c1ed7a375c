// A range walk of a list whose order was misread: it looked newest created first, but is newest written first, so that
// tasks of any age may come to its front.
import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

/** A mirror of so many tasks that nobody had written to yet, and a backfill of what was created since the `index`th. */
async function makeMisread(tasks: number) {
  const scratch = makeScratch()
  onTestFinished(() => scratch[Symbol.dispose]())
  const simulator = await startSimulator({ order: 'updated_desc', tasks, openFraction: 0, compression: 'none' })
  onTestFinished(() => simulator.close())
  const { account } = simulator
  const ids = account.ids()
  const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 4, overlap: 2 } })
  const { summary } = await runSync(context, { command: 'sync' })
  expect(summary).toMatchObject({ verdict: 'complete', order: 'created_desc' })
  const { createdAt: at } = JSON.parse(account.get(ids[30] as string) as string) as { createdAt: number }
  return { account, ids, at, backfill: (since: number) => runSync(context, { command: 'backfill', since }) }
}

const PARTIAL = { verdict: 'partial', plan: ['range', 'details'] }

test('a few old tasks at the front do not end it: it goes on and sees the order broken', async () => {
  const { account, ids, at, backfill } = await makeMisread(60)
  // Oldest last, as in a list that is newest created first.
  account.move([44, 42, 40].map((index) => ids[index] as string))
  account.insert(1, { openShare: 0 })
  const { summary, notes } = await backfill(at)
  expect(summary).toMatchObject(PARTIAL)
  expect(notes).toEqual([expect.stringContaining('the order of the list is not proven')])
})

test('two tasks are too few to show an order, but enough to show that it is another', async () => {
  const { account, ids, at, backfill } = await makeMisread(60)
  account.remove(ids.filter((_, index) => index !== 10 && index !== 20))
  account.move([ids[20] as string])
  const { summary, notes } = await backfill(at)
  expect(summary).toMatchObject(PARTIAL)
  expect(notes).toEqual([expect.stringContaining('the order of the list is not proven')])
})
