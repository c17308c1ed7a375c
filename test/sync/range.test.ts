// A range walk does not take the word of a list whose order was misread: newest created first, while it is really newest
// written first, and tasks of any age come to the front.
import { expect, onTestFinished, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

/** A mirror of a list by last update that looked like one by `createdAt` when it was walked. */
async function makeMisread(tasks: number) {
  const scratch = makeScratch()
  onTestFinished(() => scratch[Symbol.dispose]())
  const simulator = await startSimulator({ order: 'updated_desc', tasks, openFraction: 0, compression: 'none' })
  onTestFinished(() => simulator.close())
  const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 4, overlap: 2 } })
  const { summary } = await runSync(context, { command: 'sync' })
  expect(summary).toMatchObject({ verdict: 'complete', order: 'created_desc' })
  const { account } = simulator
  const createdAt = (index: number): number => JSON.parse(account.get(account.idAt(index)) as string).createdAt
  return { account, createdAt, sync: runSync.bind(null, context) }
}

test('debug', async () => {
  const { account, createdAt, sync } = await makeMisread(60)
  const since = createdAt(30)
  account.move([40,42,44].map((index) => account.idAt(index)))
  account.insert(1)
  const { summary, notes } = await sync({ command: 'backfill', since })
  console.log(summary, notes)
})
