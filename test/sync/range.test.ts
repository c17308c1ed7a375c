// A range walk of a list whose order was misread: it looked newest created first, but is newest written first, so that
// tasks of any age may come to its front.
import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import type { RunResult } from '../../src/sync/conclude.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

/** A mirror of 60 tasks that nobody had written to yet, and a backfill of the newer half. */
async function makeMisread() {
  const scratch = makeScratch()
  onTestFinished(() => scratch[Symbol.dispose]())
  const simulator = await startSimulator({ order: 'updated_desc', tasks: 60, openFraction: 0, compression: 'none' })
  onTestFinished(() => simulator.close())
  const { account } = simulator
  const ids = account.ids()
  const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 4, overlap: 2 } })
  const { summary } = await runSync(context, { command: 'sync' })
  expect(summary).toMatchObject({ verdict: 'complete', order: 'created_desc' })
  const { createdAt } = JSON.parse(account.get(ids[30] as string) as string) as { createdAt: number }
  return { account, ids, backfill: () => runSync(context, { command: 'backfill', since: createdAt }) }
}

function expectUnproven({ summary, notes }: RunResult): void {
  expect(summary).toMatchObject({ verdict: 'partial', plan: ['range', 'details'] })
  expect(notes).toEqual([expect.stringContaining('the order of the list is not proven')])
}

test('a few old tasks behind a new one do not end it: it goes on and sees the order broken', async () => {
  const { account, ids, backfill } = await makeMisread()
  // Oldest last, as in a list that is newest created first.
  account.move([44, 42, 40].map((index) => ids[index] as string))
  account.insert(1, { openShare: 0 })
  expectUnproven(await backfill())
})

test('old tasks at the front do not end it, many as they are, before it came by what is known to be new', async () => {
  const { account, ids, backfill } = await makeMisread()
  account.move(ids.slice(40, 55).reverse())
  expectUnproven(await backfill())
})

test('two tasks are too few to show an order, but enough to show that it is another', async () => {
  const { account, ids, backfill } = await makeMisread()
  account.remove(ids.filter((_, index) => index !== 10 && index !== 20))
  account.move([ids[20] as string])
  expectUnproven(await backfill())
})
