// Issue 12: an empty or suddenly much shorter list is no list to believe, whatever the plan.
import { describe, expect, test } from 'vitest'
import { few } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { LARGE_WINDOW, makeStage, type Stage } from './stage.ts'

const ORDERS = ['created_desc', 'created_asc', 'id_asc'] as const
const live = (stage: Stage) => stage.value<number>('SELECT count(*) FROM live_tasks')
const lastWalk = (stage: Stage) =>
  stage.rows<{ verdict: string; reason: string }>('SELECT verdict, reason FROM walks ORDER BY id DESC LIMIT 1')[0]

const TASKS = 2.5 * LARGE_WINDOW
const CASES = [0, 0.25 * LARGE_WINDOW, 1.2 * LARGE_WINDOW].flatMap((left, index) =>
  few(ORDERS, (_, place) => index === place).map((order) => ({ left, order })),
)

describe.concurrent(`a list of ${TASKS} tasks that suddenly holds fewer`, () => {
  test.for(CASES)('$left, $order: partial and 3 until it is whole again', async ({ left, order }) => {
    await using stage = await makeStage({ window: LARGE_WINDOW, tasks: TASKS, order, openFraction: 0 })
    const { account } = stage.simulator
    expect((await stage.sync()).code).toBe(0)
    const hidden = account.delist(TASKS - left, { where: order === 'created_asc' ? 'front' : 'behind' })
    for (const args of [['sync'], ['sync'], ['backfill', '--since', '400d'], ['sync', '--full']]) {
      const { code, summary, stderr, asked } = await stage.runJson(args)
      expect({ args, code, verdict: summary.verdict, deleted: summary.deleted }).toEqual({
        args,
        code: 3,
        verdict: 'partial',
        deleted: 0,
      })
      if (args[1] !== '--since') expect(stderr).toMatch(/empty or suddenly much shorter/)
      // Where no window shows a known task, some are looked up for whose they are; nobody asks whether they are gone.
      // A full walk compares six of them with the list.
      expect(asked.filter(({ operation }) => operation === 'get').length).toBeLessThanOrEqual(5 + 6)
    }
    expect(lastWalk(stage)).toEqual({ verdict: 'partial', reason: 'list-shrunk' })
    expect(live(stage)).toBe(TASKS)
    account.restore(hidden)
    const whole = await stage.sync()
    expect({ code: whole.code, verdict: whole.summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
    await expectExactCopy(stage)
  })
})

test('two answers without tasks, each at another place, are no shorter list', async () => {
  await using stage = await makeStage({ window: LARGE_WINDOW, tasks: TASKS, openFraction: 0.02, openInserts: 0 })
  expect((await stage.sync()).code).toBe(0)
  const { account } = stage.simulator
  const list = account.list.bind(account)
  let empty = 0
  account.list = (skip, take) => {
    const answer = list(skip, take)
    if (answer.kind !== 'window' || skip < LARGE_WINDOW || empty === 2) return answer
    empty += 1
    return { ...answer, texts: [] }
  }
  const { code, summary } = await stage.sync()
  expect({ empty, code, plan: summary.plan, verdict: summary.verdict }).toMatchObject({
    empty: 2,
    code: 0,
    verdict: 'complete',
  })
})

test('a list that shows only so many of the newest has not become shorter by what left it', async () => {
  await using stage = await makeStage({ window: LARGE_WINDOW, tasks: TASKS, openFraction: 0 })
  const { account } = stage.simulator
  expect((await stage.sync()).code).toBe(0)
  for (const args of [['sync'], ['sync'], ['sync'], ['sync', '--full'], ['sync']]) {
    // Until the full walk more than may be missing of it.
    const came = account.insert(0.25 * LARGE_WINDOW)
    account.delist(came.length, { where: 'behind' })
    expect((await stage.runJson(args)).summary.verdict).toBe('complete')
    expect(stage.rows('SELECT * FROM walks WHERE reason IS NOT NULL')).toEqual([])
  }
  account.delist(0.6 * LARGE_WINDOW)
  await stage.sync('--full')
  expect(lastWalk(stage)).toEqual({ verdict: 'partial', reason: 'list-shrunk' })
})

describe.concurrent('an account that was really emptied', () => {
  const tasks = 1.5 * LARGE_WINDOW
  test.for(few([0, 0.7 * LARGE_WINDOW], (left) => left > 0))(
    `to %i of ${tasks} is accepted by --allow-mass-delete, and is no news afterwards`,
    async (left) => {
      await using stage = await makeStage({ window: LARGE_WINDOW, tasks, openFraction: 0 })
      expect((await stage.sync()).code).toBe(0)
      stage.simulator.account.remove(tasks - left, { where: 'behind' })
      expect((await stage.sync()).code).toBe(3)
      // Of how long the list is a range says nothing.
      if (left > 0) expect((await stage.runJson(['backfill', '--since', '10d'])).code).toBe(0)
      const accepted = await stage.sync('--allow-mass-delete')
      expect({ code: accepted.code, deleted: accepted.summary.deleted }).toEqual({ code: 0, deleted: tasks - left })
      const next = await stage.sync()
      expect({ code: next.code, verdict: next.summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
      await expectExactCopy(stage)
    },
  )
})

test('a service that hides tasks and refuses windows of the configured size has not lost those that stand behind', async () => {
  await using stage = await makeStage({
    ...{ window: 20, tasks: 200, order: 'created_desc', openFraction: 0.1, hiddenFraction: 0.3, takeLimit: 10 },
  })
  for (let run = 0; run < 3; run += 1) await stage.sync()
  expect(stage.rows('SELECT kind, reason FROM walks ORDER BY id')).toEqual(
    ['full', 'head', 'head'].map((kind) => ({ kind, reason: null })),
  )
})
