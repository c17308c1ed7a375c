// A task that is deleted while a run goes on, after the run has seen it: no later run waits a day for the next full walk.
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const MINUTE = 60_000

/** A new task is listed in a run that begins `after` minutes, and deleted before it is first asked for by id. */
async function deleteInRun(after: number) {
  using scratch = makeScratch()
  let at = Date.parse('2026-07-01')
  const now = () => {
    at += 1
    return at
  }
  const account = { tasks: 300, newest: at, openFraction: 0, listCarries: 'noResult' } as const
  await using simulator = await startSimulator({ ...account, now })
  const sync = async () => {
    const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 50 }, now })
    const { summary, exitCode } = await runSync(context, { command: 'sync' })
    return { full: summary.plan.includes('full'), deleted: summary.deleted, exitCode }
  }
  await sync()
  at += after * MINUTE
  const fresh = simulator.account.insert(1, { openShare: 0 })
  const stop = simulator.onBeforeRequest(({ operation }) => {
    if (operation !== 'get') return
    stop()
    simulator.account.remove(fresh)
  })
  const first = await sync()
  at += 70 * MINUTE
  return [first, await sync()]
}

test('where nothing but its look-up shows that it is gone, the full walk that follows proves it', async () => {
  expect(await deleteInRun(120)).toEqual([
    { full: true, deleted: 1, exitCode: 0 },
    { full: false, deleted: 0, exitCode: 0 },
  ])
})
