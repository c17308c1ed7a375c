// Lists that move at every request, by little: the walk has to end, complete, and with everything that stayed.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'
import { few } from '../support/soak.ts'

const idsIn = (path: string): Set<string> => {
  const db = new Database(path, { readonly: true })
  const ids = db.prepare('SELECT id FROM tasks').pluck().all() as string[]
  db.close()
  return new Set(ids)
}

const REMOVED = [
  { tasks: 400, window: 10, every: 1, order: 'created_desc' },
  { tasks: 400, window: 10, every: 3, order: 'created_desc' },
  { tasks: 400, window: 10, every: 3, order: 'created_asc' },
  { tasks: 2000, window: 100, every: 3, order: 'created_asc' },
] as const

test.each(few(REMOVED, (_, n) => n === 0 || n === 2))(
  'one of $tasks is removed before every request whose number $every divides, windows of $window, $order',
  async ({ tasks, window, every, order }) => {
    for (const seed of few([1, 2, 3], (n) => n === 1)) {
      using scratch = makeScratch()
      await using simulator = await startSimulator({ tasks, seed, order, openFraction: 0, compression: 'none' })
      simulator.onBeforeRequest(({ n }) => {
        if (n % every === 0) simulator.account.remove(1)
      })
      const path = scratch.path('m.sqlite')
      const { summary, notes } = await runSync(makeRunContext(simulator.url, path, { sync: { window } }), {
        command: 'backfill',
      })
      expect({ seed, verdict: summary.verdict, notes }).toEqual({ seed, verdict: 'complete', notes: [] })
      const mirrored = idsIn(path)
      expect(simulator.account.ids().filter((id) => !mirrored.has(id))).toEqual([])
    }
  },
)

const INSERTED = [
  { tasks: 300, window: 10, inserts: 1 },
  { tasks: 1000, window: 100, inserts: 5 },
  { tasks: 2000, window: 100, inserts: 30 },
]

test.each(few(INSERTED, (_, n) => n < 2))(
  '$inserts inserted in front of $tasks before every request, windows of $window',
  async (given) => {
    const { tasks, window, inserts } = given
    using scratch = makeScratch()
    await using simulator = await startSimulator({
      tasks,
      insertsPerRequest: inserts,
      openFraction: 0,
      compression: 'none',
    })
    const before = simulator.account.ids()
    const path = scratch.path('m.sqlite')
    const { summary, notes } = await runSync(makeRunContext(simulator.url, path, { sync: { window } }), {
      command: 'backfill',
    })
    expect({ verdict: summary.verdict, notes }).toEqual({ verdict: 'complete', notes: [] })
    const mirrored = idsIn(path)
    expect(before.filter((id) => !mirrored.has(id))).toEqual([])
  },
)

/** Shows `account`'s list in the order of `rankOf` its ids. */
function reorder(account: Simulator['account'], rankOf: (id: string) => string | number): void {
  const list = account.list.bind(account)
  const rank = (text: string) => rankOf(JSON.parse(text).id)
  account.list = (skip, take) => {
    const all = list(0, 1000)
    if (all.kind !== 'window') return all
    const texts = all.texts.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
    return { ...all, texts: texts.slice(skip, skip + take) }
  }
}

test('in a list by something unknown one is removed and one comes in before every third request: two walks agree', async () => {
  using scratch = makeScratch()
  let now = Date.now()
  await using simulator = await startSimulator({ tasks: 300, openFraction: 0, compression: 'none', now: () => now })
  const { account } = simulator
  reorder(account, (id) => id.slice(-12))
  const before = account.ids()
  simulator.onBeforeRequest(({ n }) => {
    now += 1000
    if (n % 3 !== 0) return
    account.remove(1)
    account.insert(1)
  })
  const path = scratch.path('m.sqlite')
  const { summary, notes } = await runSync(makeRunContext(simulator.url, path, { sync: { window: 100 } }), {
    command: 'backfill',
  })
  expect({ verdict: summary.verdict, notes }).toEqual({ verdict: 'complete', notes: [] })
  const mirrored = idsIn(path)
  const listed = new Set(account.ids())
  expect(before.filter((id) => listed.has(id) && !mirrored.has(id))).toEqual([])
})

test.each([
  { which: 'all', spanDays: 30, what: 'one of them moves before every request', verdict: 'partial', notes: [/no two/] },
  {
    which: 'half',
    spanDays: 800,
    what: 'one of them moves before every request',
    verdict: 'partial',
    notes: [/no two/],
  },
  { which: 'all', spanDays: 30, what: 'nothing moves', verdict: 'complete', notes: [] },
])(
  '$which of the tasks dated in the future, by something unknown: where $what, two walks make it $verdict',
  async (given) => {
    using scratch = makeScratch()
    let now = Date.now()
    const dated = { tasks: 300, openFraction: 0, compression: 'none', newest: now + 400 * 86_400_000 } as const
    await using simulator = await startSimulator({ ...dated, spanDays: given.spanDays, now: () => now })
    const { account } = simulator
    const ids = account.ids()
    const late = ids.filter((id) => JSON.parse(account.get(id) as string).createdAt > now)
    const ranks = new Map(ids.map((id) => [id, Number.parseInt(id.slice(-6), 16)]))
    reorder(account, (id) => ranks.get(id) as number)
    simulator.onBeforeRequest(({ n }) => {
      now += 1000
      if (given.verdict === 'complete') return
      ranks.set(
        late[(n * 89) % late.length] as string,
        Number.parseInt((ids[(n * 37) % 300] as string).slice(-6), 16) + 0.5,
      )
    })
    const run = makeRunContext(simulator.url, scratch.path('m.sqlite'), { sync: { window: 60 } })
    const { summary, notes } = await runSync(run, { command: 'backfill' })
    expect({ verdict: summary.verdict, notes }).toMatchObject({
      verdict: given.verdict,
      notes: given.notes.map((note) => expect.stringMatching(note)),
    })
  },
)

test.each([
  { what: 'moves to the front', verdict: 'complete', notes: [] },
  { what: 'dated long ago comes in behind the first answer', verdict: 'partial', notes: [/no two walks/] },
])(
  'in a list by something unknown a task $what before every third request: two walks make it $verdict',
  async (given) => {
    using scratch = makeScratch()
    let now = Date.now()
    await using simulator = await startSimulator({ tasks: 300, openFraction: 0, compression: 'none', now: () => now })
    const { account } = simulator
    const before = account.ids()
    const ranks = new Map(before.map((id) => [id, Number.parseInt(id.slice(-6), 16)]))
    reorder(account, (id) => ranks.get(id) as number)
    simulator.onBeforeRequest(({ n }) => {
      now += 1000
      if (n % 3 !== 0) return
      if (given.verdict === 'complete') return void ranks.set(before[(n * 89) % 300] as string, -n)
      account.insert(1)
      const id = account.ids().find((each) => !ranks.has(each)) as string
      account.replaceText(
        id,
        JSON.stringify({ ...JSON.parse(account.get(id) as string), createdAt: 1_600_000_000_000 }),
      )
      ranks.set(id, 0x680000 + n)
    })
    const path = scratch.path('m.sqlite')
    const run = makeRunContext(simulator.url, path, { sync: { window: 100 } })
    const { summary, notes } = await runSync(run, { command: 'backfill' })
    expect({ verdict: summary.verdict, notes }).toMatchObject({
      verdict: given.verdict,
      notes: given.notes.map((note) => expect.stringMatching(note)),
    })
    const mirrored = idsIn(path)
    expect(before.filter((id) => !mirrored.has(id))).toEqual([])
  },
)
