// What hidden tasks and tombstones are owed: both are asked for ever more rarely, unless something tells of them.
import { expect, test } from 'vitest'
import { withReader } from '../../src/mirror/open.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import type { SyncRequest } from '../../src/sync/plan.ts'
import { runSync } from '../../src/sync/run.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

test.each([false, true])(
  'the detail of a hidden task is owed, and not found: the next run proves its deletion (row of an earlier version: %s)',
  async (isOld) => {
    using scratch = makeScratch()
    let at = Date.parse('2026-07-01')
    const now = () => {
      at += 1
      return at
    }
    await using simulator = await startSimulator({ tasks: 12, newest: at, openFraction: 0, now })
    const { account } = simulator
    const path = scratch.path('mirror.sqlite')
    const run = async (ms: number, request: Partial<SyncRequest> = {}) => {
      at += ms
      const context = makeRunContext(simulator.url, path, { now })
      const { summary, exitCode } = await runSync(context, { command: 'sync', ...request })
      return { deleted: summary.deleted, exitCode }
    }
    await run(0)
    const hidden = account.delist(1, { where: 'behind' })
    for (let days = 1; days <= 8; days *= 2) await run(days * DAY)
    account.restore(hidden)
    account.remove(hidden)
    // Some rows of earlier versions do not say since when.
    if (isOld) changeMirror(path, 'UPDATE open_checks SET owed_at = NULL')
    expect(await run(DAY)).toEqual({ deleted: 0, exitCode: 0 })
    expect(await run(HOUR, { command: 'backfill', refetch: true, since: 0 })).toEqual({ deleted: 0, exitCode: 3 })
    expect(await run(HOUR)).toEqual({ deleted: 1, exitCode: 0 })
  },
)

const NO_DETAILS = { sync: { details: 'never' } } as const

test('a tombstone that was asked for and is listed again is owed no look-up any more', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 12, openFraction: 0 })
  const { account } = simulator
  const path = scratch.path('mirror.sqlite')
  const full = async () => {
    const { summary } = await runSync(makeRunContext(simulator.url, path, NO_DETAILS), { command: 'sync', full: true })
    const owed = withReader(path, (db) => db.prepare('SELECT reason FROM open_checks').pluck().all())
    return { deleted: summary.deleted, restored: summary.restored, owed }
  }
  await full()
  const gone = account.remove(1)
  expect(await full()).toEqual({ deleted: 1, restored: 0, owed: [] })
  expect(await full()).toEqual({ deleted: 0, restored: 0, owed: ['deleted'] })
  account.restore(gone)
  expect(await full()).toEqual({ deleted: 0, restored: 1, owed: [] })
})
