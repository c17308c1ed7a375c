// A task that a run has seen is not deleted by that run: one server may not have yet what another one shows.
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const HOUR = 3_600_000

test('what a full walk does not meet, nor a look-up find, though the run has listed it, is left to the next full walk', async () => {
  using scratch = makeScratch()
  let at = Date.parse('2026-07-01')
  const now = () => {
    at += 1
    return at
  }
  await using simulator = await startSimulator({
    tasks: 300,
    newest: at,
    openFraction: 0,
    listCarries: 'noResult',
    now,
  })
  const sync = async (hours: number) => {
    at += hours * HOUR
    const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 50 }, now })
    const { summary } = await runSync(context, { command: 'sync' })
    return { full: summary.plan.includes('full'), deleted: summary.deleted }
  }
  await sync(0)
  const fresh = simulator.account.insert(1, { openShare: 0 })
  const stop = simulator.onBeforeRequest(({ operation }) => {
    if (operation !== 'get') return
    stop()
    simulator.account.remove(fresh)
  })
  expect(await sync(2)).toEqual({ full: true, deleted: 0 })
  expect(await sync(24)).toEqual({ full: true, deleted: 1 })
})
