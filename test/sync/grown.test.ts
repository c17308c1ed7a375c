// A list that leaves out tasks of the mirror has room for no new ones: one that grows elsewhere than at its newest end
// is walked in full, however many tasks it shows no more.
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const MIDDLE = Date.parse('2026-06-01')

test.each(['created_desc', 'created_asc'] as const)(
  'tasks that are no longer listed, but found by id, do not hide others that came in: %s',
  async (order) => {
    using scratch = makeScratch()
    const newest = Date.parse('2026-07-01')
    await using simulator = await startSimulator({ tasks: 300, order, newest, openFraction: 0, compression: 'none' })
    const sync = async (full: boolean) => {
      const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 100 } })
      const { plan, verdict, inserted } = (await runSync(context, { command: 'sync', full })).summary
      return { verdict, inserted, full: plan.includes('full') }
    }
    await sync(false)
    const hidden = simulator.account.delist(20, { where: order === 'created_desc' ? 'behind' : 'front' })
    await sync(true)
    expect(await sync(false)).toEqual({ verdict: 'complete', inserted: 0, full: false })
    simulator.account.insert(5, { where: MIDDLE, openShare: 0 })
    expect(await sync(false)).toEqual({ verdict: 'complete', inserted: 5, full: true })
    // Those that a run meets again are no news.
    simulator.account.restore(hidden.slice(0, 3))
    expect(await sync(false)).toEqual({ verdict: 'complete', inserted: 0, full: false })
  },
)
