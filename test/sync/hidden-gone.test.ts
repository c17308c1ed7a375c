// A hidden task, which is asked for ever more rarely, is asked for soon once a look-up for another reason finds it no more.
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import type { SyncRequest } from '../../src/sync/plan.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

test('the detail of a hidden task is owed, and not found: the next run proves its deletion', async () => {
  using scratch = makeScratch()
  let at = Date.parse('2026-07-01')
  const now = () => {
    at += 1
    return at
  }
  await using simulator = await startSimulator({ tasks: 12, newest: at, openFraction: 0, now })
  const { account } = simulator
  const run = async (ms: number, request: Partial<SyncRequest> = {}) => {
    at += ms
    const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { now })
    const { summary, exitCode } = await runSync(context, { command: 'sync', ...request })
    return { deleted: summary.deleted, exitCode }
  }
  await run(0)
  const hidden = account.delist(1, { where: 'behind' })
  for (let days = 1; days <= 8; days *= 2) await run(days * DAY)
  account.restore(hidden)
  account.remove(hidden)
  expect(await run(DAY)).toEqual({ deleted: 0, exitCode: 0 })
  expect(await run(HOUR, { command: 'backfill', refetch: true, since: 0 })).toEqual({ deleted: 0, exitCode: 3 })
  expect(await run(HOUR)).toEqual({ deleted: 1, exitCode: 0 })
})
