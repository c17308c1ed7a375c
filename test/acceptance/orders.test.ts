// Lists whose order is not plainly createdAt: stamped by several servers, by last update, by completion, in none at all.
// What everyday services do must end with 0, cost little, and lose nothing.
import { describe, expect, test } from 'vitest'
import type { Account } from '../../src/simulator/account.ts'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { few, SOAK } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { makeStage, missingFrom, type Stage } from './stage.ts'

const WINDOW = 100
const SMALL = { TASK_MIRROR_SYNC_WINDOW: `${WINDOW}` }
const FEW = 600
const TASKS = SOAK ? 10_000 : FEW
const RUNS = SOAK ? 3 : 2
/** Few enough to stand in one window with what is new behind them: the front is one answer. */
const FEW_OPEN = 12 / TASKS

/** No open task is due again only because this machine is slow. */
const stepMs = 100

/** Of lists by completion in which nothing is open yet, where open tasks will stand. */
const NONE_OPEN_YET = [
  ['behind', { tasks: TASKS, order: 'completed_desc', openTasksStand: 'behind', openFraction: 0 }],
  ['in front', { tasks: TASKS, order: 'completed_asc', openTasksStand: 'front', openFraction: 0 }],
] as const

/** Runs `sync`, five minutes after the run before; fails unless it is complete and all that is listed is in the mirror. */
async function expectComplete(stage: Stage, ...flags: string[]): Promise<{ plan: string[]; lists: number }> {
  stage.pass(300_000)
  const listed = stage.simulator.account.ids()
  const { code, summary, asked } = await stage.runJson(['sync', ...flags], SMALL)
  expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
  expect(missingFrom(stage, listed)).toBe(0)
  return { plan: summary.plan, lists: asked.filter(({ operation }) => operation === 'list').length }
}

describe.concurrent('stamped by several servers some tenths of a second apart', () => {
  test.for(few(['created_desc', 'created_asc'] as const, (_, n) => n === 0))(
    '%s: known once, it is not doubted again',
    async (order) => {
      const options = { tasks: TASKS, order, spanDays: (TASKS / 10 / 86_400) * 5, stampJitterMs: 400, openFraction: 0 }
      await using stage = await makeStage({ stepMs, ...options })
      await expectComplete(stage)
      for (const inserts of few([0, 3, 30], (n) => n > 0)) {
        stage.simulator.account.insert(inserts, { openShare: 0 })
        expect((await expectComplete(stage)).plan).not.toContain('full')
      }
      await expectComplete(stage, '--full')
      await expectExactCopy(stage)
    },
  )
})

type Life = (account: Account) => void
const TOUCHING: Life = (account) => {
  account.update(20)
  account.finish(5)
  account.insert(10)
}
const COMPLETING: Life = (account) => {
  account.finish(10)
  account.insert(10)
}

describe.concurrent('what is new or was written to comes to the front', () => {
  const lists: [what: string, options: Partial<SimulatorOptions>, life: Life, most: number][] = [
    ['by last update', { order: 'updated_desc', openFraction: FEW_OPEN }, TOUCHING, 3],
    ['by last update, nothing open', { order: 'updated_desc', openFraction: 0, openInserts: 0 }, TOUCHING, 4],
    ['by completion, open ones in front', { order: 'completed_desc', openFraction: FEW_OPEN }, COMPLETING, 3],
    [
      'by completion, open ones behind',
      { order: 'completed_desc', openTasksStand: 'behind', openFraction: FEW_OPEN },
      COMPLETING,
      5,
    ],
  ]
  test.for(few(lists, (_, n) => n !== 1))(
    '%s: once learned, a run reads the front alone',
    async ([, options, life, most]) => {
      await using stage = await makeStage({ stepMs, tasks: TASKS, ...options })
      await expectComplete(stage)
      life(stage.simulator.account)
      await expectComplete(stage)
      for (let run = 0; run < RUNS; run += 1) {
        life(stage.simulator.account)
        const { plan, lists } = await expectComplete(stage)
        expect(plan).not.toContain('full')
        expect(lists).toBeLessThanOrEqual(most)
      }
      await expectComplete(stage, '--full')
      await expectExactCopy(stage)
    },
  )

  test('by completion, open ones behind: where the last of them ends no full walk is due for that', async () => {
    const options = { order: 'completed_desc', openTasksStand: 'behind', openFraction: FEW_OPEN } as const
    await using stage = await makeStage({ stepMs, tasks: TASKS, ...options })
    const { account } = stage.simulator
    await expectComplete(stage)
    COMPLETING(account)
    await expectComplete(stage)
    for (let run = 0; run < 2; run += 1) {
      account.finish(account.ids().slice(-2))
      account.insert(1)
      stage.pass(3_600_000)
      expect((await expectComplete(stage)).plan).not.toContain('full')
    }
  })

  test.for(few(NONE_OPEN_YET, ([where]) => where === 'behind'))(
    'by completion, nothing open yet, as if by createdAt: what is open comes %s, and is found',
    async ([, options]) => {
      await using stage = await makeStage({ stepMs, ...options })
      await expectComplete(stage)
      for (let run = 0; run < RUNS; run += 1) {
        stage.simulator.account.insert(8, { openShare: 1 })
        stage.simulator.account.remove(1, { where: 'middle' })
        await expectComplete(stage)
      }
    },
  )

  test('the same, and answers are cut by bytes: the end is found all the same', async () => {
    await using stage = await makeStage({ stepMs, ...NONE_OPEN_YET[0][1], capBytes: 20_000 })
    await expectComplete(stage)
    for (let run = 0; run < 2; run += 1) {
      stage.simulator.account.insert(8, { openShare: 1 })
      expect((await expectComplete(stage)).plan).not.toContain('full')
    }
  })

  test.for(few([0, 20_000], (capBytes) => capBytes > 0))(
    'the same, and items are left out: no full walk is needed to see that nothing open stands behind (cut at %i bytes)',
    async (capBytes) => {
      // Among many more some fill an answer alone, beside what is left out: such a list is never complete (docs/limits.md).
      const tasks = capBytes === 0 ? TASKS : FEW
      await using stage = await makeStage({ stepMs, ...NONE_OPEN_YET[0][1], tasks, hiddenFraction: 0.05, capBytes })
      await expectComplete(stage)
      const { plan, lists } = await expectComplete(stage)
      expect(plan).not.toContain('full')
      expect(lists).toBeLessThanOrEqual(capBytes === 0 ? 4 : 12)
      for (let run = 0; run < 2; run += 1) {
        stage.simulator.account.insert(8, { openShare: 1 })
        await expectComplete(stage)
      }
    },
  )

  test.for(few(NONE_OPEN_YET, ([where]) => where === 'in front'))(
    'the same, and only a range is asked for: what is open comes %s, and is found',
    async ([, options]) => {
      await using stage = await makeStage({ stepMs, ...options })
      const { account } = stage.simulator
      await expectComplete(stage)
      const createdAt = account
        .ids()
        .map((id) => (JSON.parse(account.get(id) as string) as { createdAt: number }).createdAt)
      // More than a search for the range looks at.
      account.insert(25, { where: Math.min(...createdAt), openShare: 1 })
      account.insert(8, { openShare: 1 })
      const { code, summary } = await stage.runJson(
        ['backfill', '--since', `${Math.max(...createdAt) - 60_000}`],
        SMALL,
      )
      expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
      expect(missingFrom(stage, account.ids())).toBe(0)
    },
  )

  test('more was touched than one answer shows: it is read again until one does', async () => {
    await using stage = await makeStage({ stepMs, tasks: TASKS, order: 'updated_desc', openFraction: FEW_OPEN })
    await expectComplete(stage)
    TOUCHING(stage.simulator.account)
    await expectComplete(stage)
    stage.simulator.account.update(150)
    let lists = 0
    stage.simulator.onBeforeRequest(({ operation }, account) => {
      if (operation === 'list' && lists++ < 3) account.move(5)
    })
    await expectComplete(stage)
    await expectComplete(stage, '--full')
    await expectExactCopy(stage)
  })
})

/** By last update, and known to be. */
async function makeTouched({ openFraction = 0, first = (_: Account): void => {} } = {}): Promise<Stage> {
  const stage = await makeStage({ stepMs, window: WINDOW, tasks: 4 * WINDOW, order: 'updated_desc', openFraction })
  first(stage.simulator.account)
  for (let run = 0; run < 3; run += 1) {
    await expectComplete(stage)
    stage.simulator.account.update(5)
  }
  expect((await expectComplete(stage)).plan).not.toContain('full')
  return stage
}

describe.concurrent('by last update', () => {
  test('what stands in front is written to while the rest is read, and stands there as it did: it is shown as it is', async () => {
    await using stage = await makeTouched()
    const { account } = stage.simulator
    const front = account.ids().slice(0, WINDOW + 30)
    const off = stage.simulator.onBeforeRequest(({ operation, skip }) => {
      // The head walk of that run looks at the end.
      if (operation !== 'list' || skip == null || skip < 2 * WINDOW || skip > 3 * WINDOW) return
      off()
      account.update(front.toReversed())
    })
    await expectComplete(stage, '--full')
    expect(account.ids().slice(0, front.length)).toEqual(front)
    await expectComplete(stage)
    await expectExactCopy(stage)
  })

  test.each([0, FEW_OPEN])(
    'what comes in elsewhere is met, and shows that it is another list (%f open)',
    async (openFraction) => {
      let hidden: string[] = []
      await using stage = await makeTouched({
        openFraction,
        first: (account) => {
          hidden = account.delist(6, { where: 'middle' })
        },
      })
      const { account } = stage.simulator
      account.restore(hidden.slice(0, 3))
      expect((await expectComplete(stage)).plan.slice(0, 2)).toEqual(['head', 'full'])
      // As in a list by status, most of which has one: the newest of that one came in front, and what has moved.
      account.update(1)
      account.restore(hidden.slice(3))
      expect((await expectComplete(stage)).plan[0]).toBe('full')
    },
  )

  test('a full walk in parts does not forget it', async () => {
    await using stage = await makeTouched()
    const { simulator } = stage
    simulator.setFaults(({ skip }) => (skip! > WINDOW && skip! < 3 * WINDOW ? { status: 401 } : null))
    await stage.runJson(['sync', '--full'], SMALL)
    simulator.setFaults(undefined)
    expect(stage.value('SELECT count(*) FROM walks WHERE finished_at IS NULL AND next_skip > 0')).toBe(1)
    expect((await expectComplete(stage)).plan).toContain('full')
    stage.simulator.account.update(5)
    expect((await expectComplete(stage)).plan).not.toContain('full')
  })

  test('the order is not learned from what is new alone, however quickly runs follow one another', async () => {
    await using stage = await makeStage({
      ...{ stepMs, window: WINDOW, tasks: 4 * WINDOW, spanDays: 30 / 86_400, stampJitterMs: 400, openFraction: 0 },
    })
    for (let run = 0; run < 4; run += 1) {
      stage.pass(20_000)
      expect((await stage.runJson(['sync'], SMALL)).summary).toMatchObject({ verdict: 'complete', order: 'none' })
      stage.simulator.account.insert(run === 0 ? 5 : 0, { openShare: 0 })
    }
  })

  test('what was written to is listed later, within sync.settleMs, behind more than an answer holds', async () => {
    await using stage = await makeTouched()
    const { account } = stage.simulator
    const [late] = account.update(1) as [string]
    account.delist([late])
    account.update(WINDOW + 20)
    expect((await stage.runJson(['sync'], SMALL)).summary.verdict).toBe('complete')
    account.restore([late])
    expect(account.ids().indexOf(late)).toBe(WINDOW + 20)
    const { plan } = await expectComplete(stage)
    expect(plan).not.toContain('full')
    await expectExactCopy(stage)
  })

  test('where the end cannot be read no one knows what stands there: a full walk follows', async () => {
    await using stage = await makeTouched()
    let failed = 0
    stage.simulator.setFaults(({ operation, skip }) =>
      operation === 'list' && skip! > 2 * WINDOW && failed++ === 0 ? { status: 500 } : null,
    )
    stage.pass(300_000)
    const { code, summary } = await stage.runJson(['sync'], { ...SMALL, TASK_MIRROR_SERVICE_MAX_RETRIES: '0' })
    expect({ code, plan: summary.plan.slice(0, 2) }).toEqual({ code: 0, plan: ['head', 'full'] })
  })

  test('a cache shows the front as it was: what moved since is not known', async () => {
    await using stage = await makeTouched()
    const { port, account } = stage.simulator
    await stage.simulator.close()
    await using cached = await startSimulator({ account, port, cacheMs: 3_600_000, cacheHeeds: false })
    cached.onBeforeRequest(() => stage.pass(2_000))
    account.update(WINDOW + 20)
    stage.pass(300_000)
    const { code, summary } = await stage.runJson(['sync'], SMALL)
    expect({ code, plan: summary.plan[0], verdict: summary.verdict }).toEqual({
      code: 3,
      plan: 'head',
      verdict: 'partial',
    })
  })

  test('what was deleted further down brings the next full walk forward, hourly at most', async () => {
    await using stage = await makeStage({
      stepMs,
      window: WINDOW,
      tasks: 4 * WINDOW,
      order: 'updated_desc',
      openFraction: 0.02,
    })
    const { account } = stage.simulator
    for (let run = 0; run < 3; run += 1) {
      await expectComplete(stage)
      account.update(5)
    }
    stage.pass(3_600_000)
    expect((await expectComplete(stage)).plan).not.toContain('full')
    account.remove(3, { where: 'behind' })
    expect((await expectComplete(stage)).plan).toContain('full')
    account.remove(3, { where: 'behind' })
    expect((await expectComplete(stage)).plan).not.toContain('full')
  })
})

/** By last update, oldest first: all that is there was written to, the newest task first. */
async function makeReversed(openTasks: number, options: Partial<SimulatorOptions> = {}): Promise<Stage> {
  const stage = await makeStage({ stepMs, tasks: 300, order: 'updated_asc', openFraction: 0, ...options })
  const { account } = stage.simulator
  account.insert(openTasks, { openShare: 1 })
  for (const id of account.ids().reverse()) account.update([id])
  await expectComplete(stage)
  expect(stage.value(`SELECT value FROM service_facts WHERE key = 'order'`)).toBe('"created_desc"')
  return stage
}

describe.concurrent('by last update, oldest first, as if by createdAt, newest first', () => {
  const cases: [what: string, open: number, fresh: number, options?: Partial<SimulatorOptions>][] = [
    ['one new task', 2, 1],
    ['more new ones than a window holds', 2, 150],
    ['the same, nothing open', 0, 350],
    ['a new one, answers are cut by bytes', 2, 1, { capBytes: 20_000 }],
  ]
  test.for(cases)('%s: what is new comes last, and is found', async ([, open, fresh, options]) => {
    await using stage = await makeReversed(open, options)
    const { account } = stage.simulator
    const last = account.ids().at(-1) as string
    account.insert(fresh, { openShare: 0 })
    // It stands last again.
    account.update([last])
    expect((await expectComplete(stage)).plan).toContain('full')
  })
})

test('by last update, oldest first, as if by createdAt: what is new stands in front of what was written to since, and is found', async () => {
  await using stage = await makeStage({ stepMs, tasks: 300, order: 'updated_asc', openFraction: 0 })
  const { account } = stage.simulator
  await expectComplete(stage)
  expect(stage.value(`SELECT value FROM service_facts WHERE key = 'order'`)).toBe('"created_asc"')
  const old = account.ids()
  account.insert(5, { openShare: 0 })
  for (const id of old.slice(0, 60)) account.update([id])
  // No longer than it was.
  account.remove(old.slice(100, 105))
  expect((await expectComplete(stage)).plan.slice(0, 2)).toEqual(['tail', 'full'])
})

test.each(['updated_asc', 'updated_desc'] as const)(
  'order %s, as if by createdAt: a job that writes to old tasks in their order does not hide what came in before it',
  async (order) => {
    await using stage = await makeStage({ stepMs, window: 200, tasks: 600, order, openFraction: 0 })
    const { account } = stage.simulator
    expect((await stage.sync()).code).toBe(0)
    const old = account.ids()
    if (order === 'updated_desc') old.reverse()
    account.insert(5, { openShare: 0 })
    for (const id of old.slice(0, 400)) account.update([id])
    account.remove(old.slice(500, 505))
    stage.pass(300_000)
    expect((await stage.sync()).code).toBe(0)
    expect(missingFrom(stage, account.ids())).toBe(0)
  },
)

test('the same, and only a range is asked for: it is partial where what is new comes elsewhere', async () => {
  await using stage = await makeReversed(2)
  const backfill = () =>
    stage.runJson(['backfill', '--since', `${stage.value('SELECT max(created_at) - 864000000 FROM tasks')}`], SMALL)
  expect((await backfill()).summary.verdict).toBe('complete')
  stage.simulator.account.insert(1, { openShare: 0 })
  const { code, summary } = await backfill()
  expect({ code, verdict: summary.verdict }).toEqual({ code: 3, verdict: 'partial' })
})

describe.concurrent('newest first, with open tasks', () => {
  test('what comes in while it is read is not taken for what stands elsewhere, nor what was deleted', async () => {
    await using stage = await makeStage({ stepMs, tasks: 300, openFraction: 0.05, pastEnd: '400' })
    const { account } = stage.simulator
    await expectComplete(stage)
    let quiet = await expectComplete(stage)
    expect(quiet.plan).not.toContain('full')
    let lists = 0
    stage.simulator.onBeforeRequest(({ operation }) => {
      if (operation === 'list' && ++lists % 2 === 0) account.insert(1, { openShare: 0 })
    })
    for (let run = 0; run < 3; run += 1) expect((await expectComplete(stage)).plan).not.toContain('full')
    account.remove(3, { where: 'behind' })
    account.remove(5, { where: 'middle' })
    quiet = await expectComplete(stage)
    expect(quiet.plan).not.toContain('full')
  })

  test('a full walk tells where the first position cannot be read', async () => {
    await using stage = await makeStage({ stepMs, tasks: 300, openFraction: 0.05, poison: ['0'] })
    const { account } = stage.simulator
    const sync = async () => (await stage.runJson(['sync'], { TASK_MIRROR_SERVICE_MAX_RETRIES: '0' })).summary
    await sync()
    stage.simulator.onBeforeRequest(({ operation }) => {
      if (operation === 'list') account.insert(1, { openShare: 0 })
    })
    for (let run = 0; run < 2; run += 1) expect((await sync()).plan).toContain('full')
  })

  test('a second run with nothing new takes three requests for the list', async () => {
    await using stage = await makeStage({ stepMs, tasks: 300, openFraction: 0.01 })
    await expectComplete(stage)
    expect((await expectComplete(stage)).lists).toBeLessThanOrEqual(3)
  })
})

test.concurrent.for(few([7, 8], (seed) => seed === 7))(
  'in random order (seed %i): partial soon, and nothing that was shown is missing',
  async (seed) => {
    await using stage = await makeStage({ stepMs, tasks: TASKS, order: 'shuffled', openFraction: 0, seed })
    const { account } = stage.simulator
    const shown = new Set<string>()
    const list = account.list.bind(account)
    account.list = (skip, take) => {
      const answer = list(skip, take)
      if (answer.kind === 'window') for (const text of answer.texts) shown.add((JSON.parse(text) as { id: string }).id)
      return answer
    }
    for (let run = 0; run < 2; run += 1) {
      const { code, asked } = await stage.runJson(['sync'], SMALL)
      expect(code).toBe(3)
      expect(asked.length).toBeLessThanOrEqual(2 * (TASKS / 100) + 20)
      expect(missingFrom(stage, shown)).toBe(0)
    }
  },
)

test('by id, while tasks come in anywhere: the walk after the one that passed some over meets them, and both speak of the same', async () => {
  const options = { tasks: 300, order: 'id_asc', openFraction: 0, openInserts: 0, insertsPerRequest: 0.5 } as const
  await using stage = await makeStage({ stepMs, window: 50, ...options })
  const { code, summary } = await stage.runJson(['sync'], { TASK_MIRROR_SERVICE_CONCURRENCY: '1' })
  expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
  const walks = stage.rows<{ reason: string | null }>('SELECT reason, started_at FROM walks ORDER BY id')
  expect(walks.map(({ reason }) => reason)).toEqual(['not-counted', null])
  expect(stage.value('SELECT count(DISTINCT started_at) FROM walks')).toBe(1)
})

test('half of the list came in at one moment, in another order at every read: all of thirty windows is counted', async () => {
  await using stage = await makeStage({
    stepMs,
    tasks: TASKS,
    order: 'created_desc',
    openFraction: 0,
    shuffleTies: true,
  })
  const { account } = stage.simulator
  account.insert(TASKS, { where: account.now() - 10 * 86_400_000, openShare: 0 })
  const { code, summary } = await stage.runJson(['sync'], { TASK_MIRROR_SYNC_WINDOW: `${Math.ceil(TASKS / 30)}` })
  expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
  await expectExactCopy(stage)
})

test('a list that shows every task in another form each time: what is new is found at its front, also where what stood there is deleted', async () => {
  await using stage = await makeStage({ stepMs, window: 150, tasks: 900, openFraction: 0 })
  const { account } = stage.simulator
  stage.simulator.onBeforeRequest(({ n }) => {
    for (const id of account.ids()) {
      const text = account.get(id) as string
      account.replaceText(id, text.replace(/(,"views":\d+)?\}$/, `,"views":${n}}`))
    }
  })
  expect((await stage.sync()).code).toBe(0)
  const front = async (): Promise<number> => {
    account.insert(3, { openShare: 0 })
    stage.pass(300_000)
    const { code, summary } = await stage.sync()
    expect(code).toBe(0)
    expect(summary.plan[0]).toBe('head')
    expect(missingFrom(stage, account.ids())).toBe(0)
    return summary.windows
  }
  expect(await front()).toBeLessThanOrEqual(5)
  account.remove(account.ids().slice(1, 6))
  stage.pass(300_000)
  expect((await stage.sync('--full')).code).toBe(0)
  expect(await front()).toBeLessThanOrEqual(5)
})
