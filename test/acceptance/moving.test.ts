// Issue 3: the list moves while it is read. Whatever was listed throughout is in the mirror; a walk that cannot prove so
// much says `partial`, and ends all the same.
import { describe, expect, test } from 'vitest'
import type { Account } from '../../src/simulator/account.ts'
import type { SimulatedRequest } from '../../src/simulator/faults.ts'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { few, SOAK } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { makeStage, missingFrom, type Stage, WINDOW } from './stage.ts'

const ORDERS = ['created_desc', 'created_asc', 'id_asc'] as const
const EACH = SOAK ? 30 : 12
const TASKS = 3 * WINDOW

/** Once the service stands still, one full walk makes both equal. */
async function expectEqualAtRest(stage: Stage): Promise<void> {
  const { code, summary } = await stage.sync('--full', '--allow-mass-delete')
  expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
  await expectExactCopy(stage)
}

type Churn = (account: Account, request: SimulatedRequest) => void
type Where = 'front' | 'middle' | 'behind'

/** What happens before every request. */
const CHURNS: Record<string, Churn> = {}
for (const where of ['front', 'middle', 'behind'] as const satisfies Where[]) {
  CHURNS[`inserts, ${where}`] = (account) => void account.insert(EACH, { where })
  CHURNS[`deletes, ${where}`] = (account) => void account.remove(EACH, { where })
  CHURNS[`inserts and deletes, ${where}`] = (account) => {
    account.insert(EACH, { where })
    account.remove(EACH, { where })
  }
}
const insertInside: Churn = (account, { skip }) => {
  const at = (skip ?? 0) + WINDOW / 2
  if (at >= account.listed) return
  const beside = JSON.parse(account.get(account.idAt(at))!) as { createdAt: number }
  for (let place = 1; place <= EACH; place += 1) account.insert(1, { where: beside.createdAt + place })
}
const deleteInside: Churn = (account, { skip }) => {
  const from = Math.min((skip ?? 0) + WINDOW / 2, Math.max(0, account.listed - EACH))
  const ids = Array.from({ length: Math.min(EACH, account.listed - from) }, (_, place) => account.idAt(from + place))
  account.remove(ids)
}
CHURNS['inserts, inside the window'] = insertInside
CHURNS['deletes, inside the window'] = deleteInside
CHURNS['inserts and deletes, inside the window'] = (account, request) => {
  deleteInside(account, request)
  insertInside(account, request)
}

/** Both at once, and each alone where the walk looks first. */
const ENOUGH = /^(inserts and deletes, .*|inserts, (front|inside the window)|deletes, front)$/
const CASES = few(Object.keys(CHURNS), (what) => ENOUGH.test(what)).flatMap((what, index) =>
  few(ORDERS, (_, place) => index % ORDERS.length === place).map((order) => ({ what, order })),
)

test.concurrent.for(CASES)(
  `${EACH} before every request, $what, $order: nothing that stayed is missing, and it ends`,
  async ({ what, order }) => {
    await using stage = await makeStage({ window: WINDOW, tasks: TASKS, order, openFraction: 0, openInserts: 0 })
    const churn = CHURNS[what]!
    const stop = stage.simulator.onBeforeRequest((request, account) => {
      if (request.operation === 'list' && account.listed > EACH) churn(account, request)
    })
    const stayed = stage.listedThroughout()
    const { code, summary, asked, stderr } = await stage.sync()
    stop()
    expect(missingFrom(stage, stayed())).toBe(0)
    // Where most of the tasks are gone before they can be compared with their details, the run says so.
    const isCompared = !stderr.includes('whether the list shows all of them is unknown')
    expect(code).toBe(summary.verdict === 'complete' && isCompared ? 0 : 3)
    expect(asked.length).toBeLessThan(3000)
    if (SOAK) await expectEqualAtRest(stage)
  },
)

const BURSTS = [0.9 * WINDOW, 2.5 * WINDOW].flatMap((burst, row) =>
  (['front', 'middle', 'behind'] as const).flatMap((where, column) =>
    few(ORDERS, (_, place) => place === (row === 0 ? column : column === 1 ? 0 : -1)).map((order) => ({
      burst,
      where,
      order,
    })),
  ),
)

test.concurrent.for(BURSTS)(
  'a burst of $burst deletes, $where, between two windows, $order: complete, and nothing that stayed is missing',
  async ({ burst, where, order }) => {
    await using stage = await makeStage({ window: WINDOW, tasks: 6 * WINDOW, order, openFraction: 0 })
    let lists = 0
    stage.simulator.onBeforeRequest(({ operation }, account) => {
      if (operation === 'list') lists += 1
      if (operation === 'list' && lists === 5) account.remove(burst, { where })
    })
    const stayed = stage.listedThroughout()
    const { code, summary, asked } = await stage.sync()
    expect(missingFrom(stage, stayed())).toBe(0)
    expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
    expect(asked.length).toBeLessThan(200)
    if (SOAK || burst > WINDOW) await expectEqualAtRest(stage)
  },
)

describe.concurrent('an account that lives at an ordinary pace is proven complete', () => {
  const lives: Partial<SimulatorOptions>[] = [
    { order: 'created_desc', insertsPerRequest: 2 },
    { order: 'created_asc', insertsPerRequest: 0.5 },
    { order: 'created_asc', insertsPerRequest: 2 },
    {
      order: 'created_desc',
      insertsPerRequest: 1,
      deletesPerRequest: 0.2,
      finishesPerRequest: 1,
      updatesPerRequest: 1,
    },
    { order: 'created_asc', insertsPerRequest: 1, deletesPerRequest: 0.2, finishesPerRequest: 1, updatesPerRequest: 1 },
  ]
  test.for(few(lives, (_, n) => n === 0 || n === 4).map((options) => ({ what: JSON.stringify(options), options })))(
    '$what',
    async ({ options }) => {
      const where = options.order === 'created_desc' ? 'front' : 'behind'
      await using stage = await makeStage({ window: WINDOW, tasks: 1.5 * WINDOW, openInserts: 0.05, where, ...options })
      for (const run of ['first', 'second']) {
        const stayed = stage.listedThroughout()
        const { code, summary, asked } = await stage.sync()
        expect(missingFrom(stage, stayed()), run).toBe(0)
        expect({ run, code, verdict: summary.verdict }).toEqual({ run, code: 0, verdict: 'complete' })
        expect(asked.length, run).toBeLessThan(120)
      }
    },
  )
})
