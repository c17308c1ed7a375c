// Issue 12: a cache on the way may answer in the service's place. It is asked not to; where it does all the same and shows it,
// nothing is proven by its answers, and freshness counts from when they were made.
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { expectExactCopy } from './copy.ts'
import { makeStage, WINDOW } from './stage.ts'

const HOUR = 3_600_000

test.concurrent('a cache that heeds no-cache is no cache', async () => {
  await using stage = await makeStage({ window: WINDOW, tasks: 1.5 * WINDOW, openFraction: 0, cacheMs: HOUR })
  await stage.sync()
  stage.simulator.account.insert(3, { openShare: 0 })
  const { code, summary, stderr } = await stage.sync()
  expect({ code, inserted: summary.inserted }).toEqual({ code: 0, inserted: 3 })
  expect(stderr).not.toContain('cache')
  await expectExactCopy(stage)
})

test.concurrent.for(['age', 'x-cache'] as const)(
  'one that does not, and shows it by %s: no lap or look-up by it proves anything, and it is told once',
  async (cacheSigns) => {
    let ahead = 0
    const now = () => Date.now() + ahead
    await using stage = await makeStage({
      window: WINDOW,
      tasks: 1.5 * WINDOW,
      openFraction: 0,
      cacheMs: HOUR,
      cacheSigns,
      cacheHeeds: false,
      now,
    })
    // The lap of the very first walk reads the first window again.
    const first = await stage.sync()
    expect({ code: first.code, verdict: first.summary.verdict }).toEqual({ code: 3, verdict: 'partial' })
    expect(first.stderr).toMatch(/a cache on the way answered what had to be asked anew/)
    expect(first.stderr.match(/Answers came from a cache on the way/g)).toHaveLength(1)
    const gone = stage.simulator.account.remove(5)
    ahead = HOUR / 2
    const { code, summary } = await stage.sync('--full')
    expect({ code, verdict: summary.verdict, deleted: summary.deleted }).toEqual({
      code: 3,
      verdict: 'partial',
      deleted: 0,
    })
    expect(stage.value('SELECT count(*) FROM live_tasks')).toBe(1.5 * WINDOW)
    expect(gone).toHaveLength(5)
  },
)

test.concurrent('what is fresh is so as of when the oldest answer was made', async () => {
  // Stands still during a run: ages tell whole seconds, and of two that round differently nobody knows which answer is older.
  await using stage = await makeStage({ tasks: 300, openFraction: 0, stepMs: 0 })
  expect((await stage.sync()).code).toBe(0)
  const { port, account } = stage.simulator
  await stage.simulator.close()
  await using _ = await startSimulator({ account, port, compression: 'none', cacheMs: HOUR, cacheHeeds: false })
  const freshFor = async () => stage.now() - JSON.parse((await stage.runHere(['status', '--json'])).stdout).freshAt
  stage.pass(10_000)
  expect((await stage.runHere(['sync'])).code).toBe(0)
  expect(await freshFor()).toBeLessThan(HOUR / 4)
  stage.pass(HOUR / 2 + 10_000)
  const { code, stdout } = await stage.runHere(['sync'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/up to 18\d\d s old/) })
  expect(await freshFor()).toBeGreaterThanOrEqual(HOUR / 2)
  expect((await stage.runHere(['status', '--max-age', '15m'])).code).toBe(3)
})

test.concurrent('a task that was open when the front was read, and has ended since, is not passed over', async () => {
  const options = { tasks: 300, order: 'completed_desc', openTasksStand: 'behind', openFraction: 0 } as const
  await using stage = await makeStage({ ...options, stepMs: 100, window: 50 })
  expect((await stage.sync()).code).toBe(0)
  const { port, account } = stage.simulator
  await stage.simulator.close()
  await using cached = await startSimulator({ account, port, compression: 'none', cacheMs: HOUR, cacheHeeds: false })
  const [open] = account.insert(1, { openShare: 1 }) as [string]
  // Somebody else reads the front while it is open.
  await fetch(`${cached.url}/tasks/list`, {
    method: 'POST',
    body: JSON.stringify({ take: 50, skip: 0 }),
    headers: { 'content-type': 'application/json' },
  })
  stage.pass(300_000)
  account.finish([open])
  account.remove(1, { where: 'middle' })
  const { code, summary } = await stage.sync()
  expect({ code, verdict: summary.verdict }).toEqual({ code: 3, verdict: 'partial' })
  expect(stage.value("SELECT reason FROM walks WHERE kind = 'head'")).toBe('open-behind')
})
