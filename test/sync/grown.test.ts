// A list that grows elsewhere than at its newest end is walked in full: also where it leaves out as many tasks of the
// mirror, grew while a walk over the newest tasks read it to its end, grows at its newest end as well with every look at
// it, or was read to its end by a walk over old tasks.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { withReader } from '../../src/mirror/open.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import type { Run } from '../../src/sync/context.ts'
import type { SyncRequest } from '../../src/sync/plan.ts'
import { runSync } from '../../src/sync/run.ts'
import { hasGrownElsewhere } from '../../src/sync/steps/grown.ts'
import type { WalkDone } from '../../src/sync/steps/walking.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const idsIn = (path: string): Set<string> => {
  const db = new Database(path, { readonly: true })
  const ids = db.prepare('SELECT id FROM tasks').pluck().all() as string[]
  db.close()
  return new Set(ids)
}

const DAY = 86_400_000
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

test('open tasks that are no longer listed, but found by their checks, do not hide others that came in', async () => {
  using scratch = makeScratch()
  let at = Date.parse('2026-07-01')
  const now = () => {
    at += 1
    return at
  }
  await using simulator = await startSimulator({ tasks: 300, newest: at, openFraction: 0.05, now })
  const { account } = simulator
  const path = scratch.path('mirror.sqlite')
  const sync = async (ms: number) => {
    at += ms
    const context = makeRunContext(simulator.url, path, { sync: { window: 50 }, now })
    const { exitCode, summary } = await runSync(context, { command: 'sync' })
    const { hidden } = withReader(path, readStatus).tasks
    return { exitCode, inserted: summary.inserted, full: summary.plan.includes('full'), hidden }
  }
  await sync(0)
  const open = account.ids().filter((id) => JSON.parse(account.get(id) as string).completedAt === undefined)
  account.delist(open.slice(-2))
  // The full walk makes them candidates, and then they are due as open tasks.
  expect(await sync(DAY)).toEqual({ exitCode: 0, inserted: 0, full: true, hidden: 2 })
  account.insert(2, { where: MIDDLE, openShare: 0 })
  expect(await sync(60_000)).toEqual({ exitCode: 0, inserted: 2, full: true, hidden: 2 })
})

test('tasks that a full walk met before it was cut off are listed for the run that goes on with it', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 300, openFraction: 0, compression: 'none' })
  const { account } = simulator
  const path = scratch.path('mirror.sqlite')
  const sync = async (full: boolean, signal = new AbortController().signal) => {
    const given = { service: { concurrency: 1 }, sync: { window: 50 }, signal }
    const { summary } = await runSync(makeRunContext(simulator.url, path, given), { command: 'sync', full })
    return { full: summary.plan.includes('full'), hidden: withReader(path, readStatus).tasks.hidden }
  }
  await sync(false)
  const hidden = account.ids().slice(100, 103)
  account.delist(hidden)
  await sync(true)
  account.restore(hidden)
  const cut = new AbortController()
  let skips: (number | null)[] = []
  simulator.onBeforeRequest(({ skip }) => {
    skips.push(skip)
    if (skip === 200) cut.abort()
  })
  expect(await sync(true, cut.signal)).toEqual({ full: true, hidden: 3 })
  skips = []
  expect(await sync(false)).toEqual({ full: true, hidden: 0 })
  // It did go on: 80 is where those three stand.
  expect(skips).toContain(200)
  expect(skips).not.toContain(80)
})

test('tasks that are gone from a list whose end was proven since leave no room for others that come in', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 300, order: 'created_asc', openFraction: 0 })
  const { account } = simulator
  const sync = async () => {
    const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 50 } })
    const { plan, verdict, inserted, deleted } = (await runSync(context, { command: 'sync' })).summary
    return { verdict, inserted, deleted, full: plan.includes('full') }
  }
  await sync()
  account.remove(account.ids().slice(100, 105))
  account.insert(2, { openShare: 0 })
  // A full walk has just been made: the deletions are left to the next one that is due.
  expect(await sync()).toEqual({ verdict: 'complete', inserted: 2, deleted: 0, full: false })
  account.insert(1, { where: 'middle', openShare: 0 })
  account.insert(2, { openShare: 0 })
  expect(await sync()).toEqual({ verdict: 'complete', inserted: 3, deleted: 5, full: true })
})

test('tasks that were never listed, but found by id, do not hide others that came in', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 300, openFraction: 0, compression: 'none' })
  const { account } = simulator
  const run = async (request: Partial<SyncRequest>) => {
    const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 50 } })
    const { plan, inserted } = (await runSync(context, { command: 'sync', ...request })).summary
    return { inserted, full: plan.includes('full') }
  }
  const hidden = account.delist(20, { where: 'behind' })
  await run({})
  const [fresh] = account.insert(1, { openShare: 0 })
  await run({ command: 'backfill', ids: [...hidden, fresh as string] })
  expect(await run({})).toEqual({ inserted: 0, full: false })
  account.insert(5, { where: 'middle', openShare: 0 })
  account.insert(1, { openShare: 0 })
  expect(await run({})).toEqual({ inserted: 6, full: true })
})

test.each([
  { every: 1, middle: 1, full: true },
  { every: 2, middle: 1, full: true },
  { every: 2, middle: 0, full: false },
  { every: 3, middle: 0, full: false },
])(
  'one comes in at the front with every request whose number $every divides, and $middle came into the middle: full is $full',
  async ({ every, middle, full }) => {
    using scratch = makeScratch()
    await using simulator = await startSimulator({ tasks: 300, openFraction: 0, compression: 'none' })
    const { account } = simulator
    const sync = async () => {
      const given = { service: { concurrency: 1 }, sync: { window: 50 } }
      const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), given)
      return (await runSync(context, { command: 'sync' })).summary
    }
    await sync()
    let lists = 0
    simulator.onBeforeRequest(({ operation }) => {
      if (operation !== 'list') return
      lists += 1
      if (lists % every === 0) account.insert(1, { openShare: 0 })
    })
    for (let run = 1; run <= 4; run += 1) {
      // In every run, what comes in with the requests begins at another one of them.
      lists = run
      if (middle > 0) account.insert(middle, { where: 'middle', openShare: 0 })
      const before = account.ids()
      const { plan, verdict } = await sync()
      expect({ run, full: plan.includes('full'), verdict }).toEqual({ run, full, verdict: 'complete' })
      const mirrored = idsIn(scratch.path('mirror.sqlite'))
      expect(before.filter((id) => !mirrored.has(id))).toEqual([])
    }
  },
)

test.each([
  ['one came into the middle and one at the end once that was shown', { total: 101, behind: [1], tookNew: true }, true],
  ['all that was taken in had come in before the end was shown', { total: 101, behind: [], tookNew: true }, false],
  ['what stands behind has just come in', { total: 101, behind: [0, 0], tookNew: true }, false],
  ['the walk has met all that was taken in', { total: 101, behind: [1], tookNew: false }, false],
  ['two came in elsewhere', { total: 102, behind: [], tookNew: false }, true],
])('a walk to the end, after which one was taken in: %s', async (_, { total, behind, tookNew }, isGrown) => {
  const asked: unknown[] = []
  const run = {
    facts: { total: 100, order: 'created_asc' },
    opened: { liveTasks: 100 },
    config: { sync: { window: 50, overlap: 10 }, service: { maxBytesInFlight: 1e9 } },
    now: () => 0,
    account: { saw: async () => {} },
    service: {
      costs: () => ({ windows: { items: 0, bytes: 0 } }),
      async list(window: unknown) {
        asked.push(window)
        return { kind: 'ok', startedAt: 0, value: { handle: 1, ids: behind.map(String), count: behind.length } }
      },
    },
    writer: {
      counts: async () => ({ inserted: 1, restored: 0 }),
      // What the mirror held before the answer: 0 stands for nothing.
      knownState: async () => ({ seqs: Float64Array.from(behind) }),
      view: async () => ({ ids: behind.map(String) }),
      takeIn: async () => {},
    },
  } as unknown as Run
  const done = { result: { total, filtered: false }, tookNew: () => tookNew } as unknown as WalkDone
  expect(await hasGrownElsewhere(run, done)).toBe(isGrown)
  expect(asked).toEqual(tookNew ? [{ skip: 101, take: 20 }] : [])
})

test.each([0, 1])(
  'one came into the middle, where the last answers are cut by size, and %i at the front as the end is looked at',
  async (late) => {
    using scratch = makeScratch()
    const given = { tasks: 300, openFraction: 0.02, compression: 'none', capBytes: 60_000 } as const
    await using simulator = await startSimulator(given)
    const { account } = simulator
    for (const id of account.ids().slice(-2)) {
      const task = JSON.parse(account.detail(id) as string)
      account.replaceText(id, JSON.stringify({ ...task, data: { ...task.data, body: 'x'.repeat(50_000) } }))
    }
    const sync = async () => {
      const config = { service: { concurrency: 1 }, sync: { window: 50 } }
      const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), config)
      const { plan, verdict, inserted } = (await runSync(context, { command: 'sync' })).summary
      return { verdict, inserted, full: plan.includes('full') }
    }
    await sync()
    expect(await sync()).toEqual({ verdict: 'complete', inserted: 0, full: false })
    account.insert(1, { where: 'middle', openShare: 0 })
    let isInserted = false
    simulator.onBeforeRequest(({ skip }) => {
      // The last task was looked at where it stood, at 299.
      if (skip !== 300 || isInserted) return
      isInserted = true
      account.insert(late, { openShare: 0 })
    })
    expect(await sync()).toEqual({ verdict: 'complete', inserted: 1 + late, full: true })
    expect(isInserted).toBe(true)
  },
)

test('the last known task is looked at behind all that came in since its place was proven: no full walk is due for it', async () => {
  using scratch = makeScratch()
  let at = Date.parse('2026-07-01')
  const now = () => {
    at += 1
    return at
  }
  await using simulator = await startSimulator({ tasks: 300, newest: at, openFraction: 0.02, now })
  const sync = async () => {
    at += 2 * 3_600_000
    const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 50 }, now })
    const { plan, verdict, inserted } = (await runSync(context, { command: 'sync' })).summary
    return { verdict, inserted, full: plan.includes('full') }
  }
  await sync()
  for (let run = 0; run < 3; run += 1) {
    simulator.account.insert(4, { openShare: 0 })
    expect(await sync()).toEqual({ verdict: 'complete', inserted: 4, full: false })
  }
})

test.each([0, 1])(
  'two servers answer in turn, one of which does not have yet what has just come in: no full walk is due for it (turn %i)',
  async (first) => {
    using scratch = makeScratch()
    let at = Date.parse('2026-07-01')
    const now = () => {
      at += 1
      return at
    }
    await using simulator = await startSimulator({ tasks: 300, newest: at, openFraction: 0.02, now })
    const { account } = simulator
    const list = account.list.bind(account)
    let behind: string[] = []
    let turn = first
    account.list = (skip, take) => {
      turn += 1
      return turn % 2 === 0 ? list(skip, take) : { kind: 'window', texts: behind.slice(skip, skip + take) }
    }
    const sync = async (fresh: number) => {
      at += 2 * 3_600_000
      const shown = list(0, 1000)
      behind = shown.kind === 'window' ? shown.texts : []
      account.insert(fresh, { openShare: 0 })
      const given = { service: { concurrency: 1 }, sync: { window: 50 } }
      const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { ...given, now })
      const { plan, verdict } = (await runSync(context, { command: 'sync' })).summary
      return { verdict, full: plan.includes('full') }
    }
    await sync(0)
    for (let run = 0; run < 3; run += 1) expect(await sync(1)).toEqual({ verdict: 'complete', full: false })
    const mirrored = idsIn(scratch.path('mirror.sqlite'))
    expect(behind.filter((text) => !mirrored.has(JSON.parse(text).id))).toEqual([])
  },
)

test('what comes in behind a head walk that reads the whole list is found by the next run', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 90, openFraction: 0, compression: 'none' })
  const { account } = simulator
  const sync = async () => {
    const given = { service: { concurrency: 1 }, sync: { window: 20 } }
    const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), given)
    const { plan, verdict, inserted } = (await runSync(context, { command: 'sync' })).summary
    return { verdict, inserted, full: plan.includes('full') }
  }
  await sync()
  // Where all tasks have changed, a walk finds none that stands as it stood.
  account.update(account.ids())
  let late: string[] = []
  let hasPassed = false
  const off = simulator.onBeforeRequest(({ skip }) => {
    if (skip === null) return
    hasPassed ||= skip >= 50 && skip < 70
    if (hasPassed && skip >= 70 && late.length === 0) late = account.insert(5, { where: 'middle', openShare: 0 })
  })
  expect(await sync()).toEqual({ verdict: 'complete', inserted: 0, full: false })
  off()
  expect(late).toHaveLength(5)
  expect(await sync()).toEqual({ verdict: 'complete', inserted: 5, full: true })
})

test.each([
  ['created_desc', { until: Date.parse('2026-04-01') }],
  ['created_asc', { since: Date.parse('2026-06-20') }],
] as const)('a walk over a range does not count what came in outside of it: %s', async (order, range) => {
  using scratch = makeScratch()
  const newest = Date.parse('2026-07-01')
  await using simulator = await startSimulator({ tasks: 300, order, newest, openFraction: 0, compression: 'none' })
  const run = async (request: SyncRequest) => {
    const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 20 } })
    const { plan, inserted } = (await runSync(context, request)).summary
    return { inserted, full: plan.includes('full') }
  }
  await run({ command: 'sync' })
  const late = simulator.account.insert(50, { where: MIDDLE, openShare: 0 })
  const { inserted } = await run({ command: 'backfill', ...range })
  expect(inserted).toBeLessThan(late.length)
  expect(await run({ command: 'sync' })).toEqual({ inserted: late.length - inserted, full: true })
})
