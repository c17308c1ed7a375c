// Issue 3: a task is marked deleted on proof only, and what it held stays.
import { describe, expect, test } from 'vitest'
import { few, SOAK } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { LARGE_WINDOW, makeStage, type Stage, WINDOW } from './stage.ts'

const ORDERS = ['created_desc', 'created_asc', 'id_asc'] as const
/** Of an account that is emptied; of fewer than a hundred no deletion needs to be allowed. */
const ALL = SOAK ? 300 : 120
const NOT_FOUND = ['404', '400', '204', 'item-null', 'item-absent', 'envelope-404'] as const
const PAYLOAD =
  'id, user_id, system_status, timeframe, created_at, completed_at, data_url, data_body, data_header, result_body, extra'

const tombstones = (stage: Stage) => stage.value<number>('SELECT count(*) FROM tasks WHERE deleted_at IS NOT NULL')
const askedById = (asked: { operation: string; id: string | null }[]) =>
  new Set(asked.filter(({ operation }) => operation === 'get').map(({ id }) => id))

/** More than are decided without a pause. */
const GONE = SOAK ? 50 : 20
const CASES = NOT_FOUND.flatMap((notFound, index) =>
  few(ORDERS, (_, place) => index % ORDERS.length === place).map((order) => ({
    notFound,
    order,
    tasks: SOAK || index === 0 ? 3 * WINDOW : 1.5 * WINDOW,
  })),
)

test.concurrent.for(CASES)(
  `${GONE} of $tasks deleted, $order, "not found" is $notFound: exactly ${GONE} tombstones, payload kept, each asked for by id`,
  async ({ tasks, order, notFound }) => {
    await using stage = await makeStage({ window: WINDOW, tasks, order, notFound })
    await stage.sync()
    const before = new Map(stage.rows<{ id: string }>(`SELECT ${PAYLOAD} FROM tasks`).map((row) => [row.id, row]))
    const gone = stage.simulator.account.remove(GONE)
    const { code, summary, asked } = await stage.sync('--full')
    expect({ code, verdict: summary.verdict, deleted: summary.deleted }).toEqual({
      code: 0,
      verdict: 'complete',
      deleted: GONE,
    })
    const rows = stage.rows<{ id: string }>(`SELECT ${PAYLOAD} FROM tasks WHERE deleted_at IS NOT NULL`)
    expect(rows.map(({ id }) => id).sort()).toEqual(gone.sort())
    for (const row of rows) expect(row).toEqual(before.get(row.id))
    expect([...askedById(asked)]).toEqual(expect.arrayContaining(gone))
    await expectExactCopy(stage)
  },
)

test.concurrent('a task that is listed again is restored, and counts as deleted no more', async () => {
  await using stage = await makeStage({ window: WINDOW, tasks: 1.5 * WINDOW })
  await stage.sync()
  const gone = stage.simulator.account.remove(20)
  expect((await stage.sync('--full')).summary.deleted).toBe(20)
  stage.simulator.account.restore(gone.slice(0, 5))
  expect((await stage.sync('--full')).summary).toMatchObject({ restored: 5, deleted: 0 })
  expect(tombstones(stage)).toBe(15)
  await expectExactCopy(stage)
})

describe.concurrent('without proof nothing is marked', () => {
  test.for(few(ORDERS, (order) => order === 'created_desc'))(
    'an emptied account, %s: no tombstone and exit 3, until --allow-mass-delete',
    async (order) => {
      await using stage = await makeStage({ tasks: ALL, order })
      await stage.sync()
      stage.simulator.account.remove(ALL)
      const refused = await stage.sync('--full')
      expect({ code: refused.code, deleted: refused.summary.deleted }).toEqual({ code: 3, deleted: 0 })
      expect(refused.stderr).toContain('--allow-mass-delete')
      expect(tombstones(stage)).toBe(0)
      const allowed = await stage.sync('--full', '--allow-mass-delete')
      expect({ code: allowed.code, deleted: allowed.summary.deleted }).toEqual({ code: 0, deleted: ALL })
      expect(stage.value('SELECT count(*) FROM tasks WHERE result_body IS NOT NULL')).toBeGreaterThan(0.8 * ALL)
      await expectExactCopy(stage)
    },
  )

  test('more than a tenth of the account: refused with exit 3, nobody asked for, until --allow-mass-delete', async () => {
    await using stage = await makeStage({ window: LARGE_WINDOW, tasks: 1.5 * LARGE_WINDOW, openFraction: 0 })
    await stage.sync()
    const gone = new Set(stage.simulator.account.remove(0.6 * LARGE_WINDOW))
    const refused = await stage.sync('--full')
    expect({ code: refused.code, asked: askedById(refused.asked).intersection(gone).size }).toEqual({
      code: 3,
      asked: 0,
    })
    expect(tombstones(stage)).toBe(0)
    const allowed = await stage.sync('--full', '--allow-mass-delete')
    expect({ code: allowed.code, deleted: allowed.summary.deleted }).toEqual({ code: 0, deleted: 0.6 * LARGE_WINDOW })
    await expectExactCopy(stage)
  })

  test('a look-up that answers 404 to everything: none, exit 3; the next run decides', async () => {
    await using stage = await makeStage({ window: WINDOW, tasks: 1.5 * WINDOW })
    await stage.sync()
    const gone = stage.simulator.account.remove(20)
    stage.simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 404 } : null))
    const blind = await stage.sync('--full')
    expect({ code: blind.code, deleted: blind.summary.deleted }).toEqual({ code: 3, deleted: 0 })
    expect(tombstones(stage)).toBe(0)
    stage.simulator.setFaults(undefined)
    expect((await stage.sync('--full')).summary.deleted).toBe(gone.length)
    await expectExactCopy(stage)
  })

  test('an empty list that is whole again while a look-up knows nothing: none, whatever is allowed', async () => {
    await using stage = await makeStage({ tasks: ALL, openFraction: 0 })
    await stage.sync()
    const { account } = stage.simulator
    const gone = account.remove(ALL)
    expect((await stage.sync('--full')).code).toBe(3)
    account.detail = () => null
    let looks = 0
    stage.simulator.onBeforeRequest(({ operation, take }) => {
      // Before anybody is asked for, and once all were.
      if (operation === 'list' && take === 1 && ++looks === 2) account.restore(gone)
    })
    const { code, summary } = await stage.sync('--full', '--allow-mass-delete')
    expect({ code, deleted: summary.deleted, listed: account.ids().length }).toEqual({
      code: 3,
      deleted: 0,
      listed: ALL,
    })
    expect(tombstones(stage)).toBe(0)
  })

  test('tasks that are no longer listed but still answer by id stay, with exit 0', async () => {
    await using stage = await makeStage({ window: WINDOW, tasks: 1.5 * WINDOW })
    await stage.sync()
    stage.simulator.account.delist(20)
    const { code, summary, asked } = await stage.sync('--full')
    expect({ code, deleted: summary.deleted }).toEqual({ code: 0, deleted: 0 })
    expect(askedById(asked).size).toBeGreaterThanOrEqual(20)
    expect(stage.value('SELECT count(*) FROM live_tasks')).toBe(1.5 * WINDOW)
  })

  test('a list that shows others than before: refused only where those before are gone by id, which a few tell', async () => {
    const some = 0.6 * LARGE_WINDOW
    await using stage = await makeStage({ window: LARGE_WINDOW, tasks: 1.5 * LARGE_WINDOW, openFraction: 0 })
    await stage.sync()
    const { account } = stage.simulator
    account.insert(some, { openShare: 0 })
    account.delist(some, { where: 'behind' })
    expect(await stage.sync('--full')).toMatchObject({ code: 0, summary: { verdict: 'complete', deleted: 0 } })
    expect(stage.value('SELECT count(*) FROM live_tasks')).toBe(1.5 * LARGE_WINDOW + some)

    account.insert(some, { openShare: 0 })
    const gone = new Set(account.remove(some, { where: 'behind' }))
    const refused = await stage.sync('--full')
    expect(refused).toMatchObject({ code: 3, summary: { verdict: 'complete', deleted: 0 } })
    expect(askedById(refused.asked).intersection(gone).size).toBe(10)
    expect(await stage.sync('--full', '--allow-mass-delete')).toMatchObject({ code: 0, summary: { deleted: some } })
  })

  test('what is hidden is asked for ever more rarely, is no mass, and is missed in the end', async () => {
    const tasks = 1.5 * LARGE_WINDOW
    const some = 60
    await using stage = await makeStage({ window: LARGE_WINDOW, tasks, openFraction: 0, stepMs: 1 })
    const { account } = stage.simulator
    const detail = account.detail.bind(account)
    const gone = new Set<string>()
    account.detail = (id) => (gone.has(id) ? null : detail(id))
    await stage.sync()
    const hidden: string[] = []
    const looked: number[] = []
    let deleted = 0
    for (let run = 1; run <= 14; run += 1) {
      stage.pass(5 * 86_400_000)
      // All in all more than may be missing, each time fewer.
      if (run <= 3) hidden.push(...account.delist(some))
      if (run === 8) for (const id of hidden.slice(1, 11)) gone.add(id)
      if (run === 12) account.restore([hidden[0] as string])
      const { code, summary, asked } = await stage.sync()
      expect({ run, code, verdict: summary.verdict }).toEqual({ run, code: 0, verdict: 'complete' })
      if (run < 12 && askedById(asked).has(hidden[0] as string)) looked.push(run)
      deleted += summary.deleted
    }
    expect(looked.slice(0, 2)).toEqual([1, 2])
    expect(looked.length).toBeLessThanOrEqual(4)
    expect(deleted).toBe(10)
    expect(stage.value('SELECT count(*) FROM live_tasks')).toBe(tasks - 10)
    expect(stage.value("SELECT count(*) FROM open_checks WHERE reason = 'candidate'")).toBe(3 * some - 11)
    expect(JSON.parse((await stage.runHere(['status', '--json'])).stdout).owed.candidates).toBe(0)
    // Once listed again it is missed at once.
    account.delist(hidden.slice(0, 1))
    gone.add(hidden[0] as string)
    stage.pass(5 * 86_400_000)
    expect((await stage.sync()).summary.deleted).toBe(1)
  })

  test('a partial walk marks nobody', async () => {
    await using stage = await makeStage({ tasks: SOAK ? 1500 : 300 })
    await stage.sync()
    stage.simulator.account.remove(20)
    const endless = stage.simulator.onBeforeRequest((request, account) => {
      if (request.operation === 'list') account.remove(40, { where: 'middle' })
    })
    const { summary } = await stage.sync('--full')
    endless()
    if (summary.verdict === 'partial') expect(tombstones(stage)).toBe(0)
    expect((await stage.sync('--full', '--allow-mass-delete')).code).toBe(0)
    await expectExactCopy(stage)
  })
})

/** Answers "not found" to the look-ups `from` to `to`, counted from 0. */
function blindBetween(stage: Stage, from: number, to: number): void {
  let lookUps = -1
  stage.simulator.setFaults(({ operation }) => {
    if (operation !== 'get') return null
    lookUps += 1
    return lookUps >= from && lookUps < to ? { status: 404 } : null
  })
}

describe.concurrent('a look-up by id that fails for a short time', () => {
  test.for([
    // The made-up id and two witnesses come before the first ten of them.
    { what: 'for the first ten, which are found the second time', from: 3, to: 13, code: 0 },
    { what: 'for all of them and the witnesses between', from: 3, to: 27, code: 3 },
    { what: 'until they are asked for again', from: 3, to: 40, code: 3 },
  ])('$what: none of 20 tasks that the list hides is marked', async ({ from, to, code }) => {
    await using stage = await makeStage({ tasks: 200, openFraction: 0 })
    await stage.sync()
    stage.simulator.account.delist(20)
    blindBetween(stage, from, to)
    const blind = await stage.sync('--full')
    expect({ code: blind.code, deleted: blind.summary.deleted }).toEqual({ code, deleted: 0 })
    if (code === 3) expect(blind.stderr).toMatch(/deletion not proven/)
    stage.simulator.setFaults(undefined)
    expect(await stage.sync('--full')).toMatchObject({ code: 0, summary: { deleted: 0 } })
    expect(tombstones(stage)).toBe(0)
  })

  test('what was marked and answers again is restored by the next full walk, listed or not', async () => {
    await using stage = await makeStage({ tasks: 200, openFraction: 0 })
    const { account } = stage.simulator
    await stage.sync()
    const gone = account.remove(30)
    expect((await stage.sync('--full')).summary.deleted).toBe(30)
    // Back, but not in the list.
    account.restore(gone.slice(0, 20))
    account.delist(gone.slice(0, 20))
    const plain = await stage.sync()
    expect(askedById(plain.asked).size).toBe(0)
    const full = await stage.sync('--full')
    expect(full).toMatchObject({ code: 0, summary: { restored: 20, deleted: 0 } })
    expect(tombstones(stage)).toBe(10)
    expect((await stage.runHere(['verify'])).code).toBe(0)
  })
})

test.concurrent.each([
  ['no task', () => '{"deleted":true}'],
  ['another task', (stage: Stage) => stage.simulator.account.get(stage.simulator.account.idAt(5))!],
])('a task that is listed no more, and whose look-up brings %s, is not settled by that', async (_, answer) => {
  await using stage = await makeStage({ window: WINDOW, tasks: WINDOW, openFraction: 0 })
  const { account } = stage.simulator
  await stage.sync()
  const id = account.idAt(0)
  account.delist([id])
  account.replaceText(id, '', answer(stage))
  for (let run = 0; run < 3; run += 1) {
    const { code, stderr } = await stage.sync('--full')
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('1 task no longer listed') })
  }
  expect(tombstones(stage)).toBe(0)
})
