// The figures of `status` after real runs.
import { expect, test } from 'vitest'
import { withReader } from '../../src/mirror/open.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { runInside } from '../support/cli.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const statusOf = (path: string) => withReader(path, readStatus)

test('status tells the last walk of each kind with its range, verdict and age', async () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  await using simulator = await startSimulator({ tasks: 300, openFraction: 0 })
  const context = makeRunContext(simulator.url, path)
  await runSync(context, { command: 'sync' })
  simulator.account.insert(3)
  await runSync(context, { command: 'sync' })
  const since = Date.now() - 7 * 86_400_000
  await runSync(context, { command: 'backfill', since })
  const { walks, total, order, freshAt } = statusOf(path)
  expect(walks).toMatchObject([
    { kind: 'range', verdict: 'complete', rangeSince: since, rangeUntil: null },
    { kind: 'head', verdict: 'complete', rangeSince: null },
    { kind: 'full', verdict: 'complete', met: 300 },
  ])
  // The head walk did not come to the end.
  expect({ total, order }).toEqual({ total: 300, order: 'created_desc' })
  // A range walk makes nothing fresh that lies outside of it.
  expect(freshAt).toBe(walks[1]!.startedAt)

  const { stdout } = await runInside(['status'], { cwd: scratch.dir })
  expect(stdout).toContain('300 items when its end was last proven')
  expect(stdout).toMatch(/range +complete +\S.* ago +from 20\d\d-/)
  expect(stdout).toMatch(/head +complete +\S.* ago +what is new/)
  expect(stdout).toMatch(/full +complete +\S.* ago +everything +300/)
})

test('a full walk that was cut off stands first, until another one has ended', async () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  await using simulator = await startSimulator({ tasks: 300, openFraction: 0 })
  const context = makeRunContext(simulator.url, path, {
    random: () => 0,
    sync: { window: 50 },
    service: { concurrency: 1 },
  })
  await runSync(context, { command: 'sync' })
  let lists = 0
  simulator.setFaults(({ operation }) => {
    lists += operation === 'list' ? 1 : 0
    return lists > 4 ? { status: 429, retryAfter: 4000 } : null
  })
  await runSync(context, { command: 'backfill', full: true })
  expect(statusOf(path).walks).toMatchObject([
    { kind: 'full', verdict: null },
    { kind: 'full', verdict: 'complete' },
  ])
  expect((await runInside(['status'], { cwd: scratch.dir })).stdout).toMatch(
    /full +under way or cut off +last window .* ago +everything/,
  )
  simulator.setFaults(undefined)
  await runSync(context, { command: 'backfill', full: true, ignoreNotBefore: true })
  expect(statusOf(path).walks).toMatchObject([{ kind: 'full', verdict: 'complete', met: 300 }])
})
