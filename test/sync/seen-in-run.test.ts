// A task that a run has seen is not deleted by that run: one server may not have yet what another one shows.
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

test.each([
  { task: 'is gone', returns: false, deleted: 1 },
  { task: 'was not there yet', returns: true, deleted: 0 },
])(
  'what a full walk and a look-up do not find, though the run has listed it, is left to a later run: it $task',
  async ({ returns, deleted }) => {
    using scratch = makeScratch()
    let at = Date.parse('2026-07-01')
    const now = () => {
      at += 1
      return at
    }
    await using simulator = await startSimulator({
      // So few that all of them are witnesses.
      tasks: 4,
      newest: at,
      openFraction: 0,
      listCarries: 'noResult',
      now,
    })
    const sync = async (ms: number) => {
      at += ms
      const path = scratch.path('mirror.sqlite')
      const context = makeRunContext(simulator.url, path, { sync: { window: 10, settleMs: MINUTE }, now })
      const { summary, exitCode } = await runSync(context, { command: 'sync' })
      return { full: summary.plan.includes('full'), deleted: summary.deleted, exitCode }
    }
    await sync(0)
    // That run decides this one all the same: what it leaves to a later run is no witness.
    simulator.account.remove(1, { where: 'behind' })
    const fresh = simulator.account.insert(1, { openShare: 0 })
    const stop = simulator.onBeforeRequest(({ operation }) => {
      if (operation !== 'get') return
      stop()
      simulator.account.remove(fresh)
    })
    expect(await sync(120 * MINUTE)).toEqual({ full: true, deleted: 1, exitCode: 3 })
    expect(await sync(MINUTE / 2)).toEqual({ full: false, deleted: 0, exitCode: 3 })
    if (returns) simulator.account.restore(fresh)
    expect(await sync(10 * MINUTE)).toEqual({ full: false, deleted, exitCode: 0 })
    expect(await sync(DAY)).toEqual({ full: true, deleted: 0, exitCode: 0 })
  },
)
