// Listed tasks compared with their details, where a run has little of either.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { readFacts } from '../../src/mirror/tables/facts.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

test.each([
  { tasks: 1, others: 0 },
  { tasks: 30, others: 0 },
  { tasks: 4, others: 1 },
])(
  '$tasks tasks of a run that was cut off, listed no more, and $others others: what the list showed is not taken for all',
  async ({ tasks, others }) => {
    using scratch = makeScratch()
    const path = scratch.path('m.sqlite')
    await using simulator = await startSimulator({ tasks, openFraction: 0, listOmits: ['result.body'] })
    const cut = new AbortController()
    const isEnd = simulator.onBeforeRequest(({ operation, skip }) => {
      if (operation === 'list' && skip === tasks) cut.abort()
    })
    expect(
      (await runSync(makeRunContext(simulator.url, path, { signal: cut.signal }), { command: 'sync' })).summary,
    ).toMatchObject({
      inserted: tasks,
      verdict: null,
    })
    isEnd()
    simulator.account.delist(tasks)
    simulator.account.insert(others, { openShare: 1 })
    const { exitCode } = await runSync(makeRunContext(simulator.url, path), { command: 'sync' })
    const db = new Database(path, { readonly: true })
    const cutTasks = db
      .prepare('SELECT count(*) FROM tasks WHERE completed_at IS NOT NULL AND result_body IS NULL')
      .pluck()
      .get()
    db.close()
    expect({ exitCode, cutTasks }).toEqual({ exitCode: 3, cutTasks: 0 })
  },
)

test('a run that was cut off has taken in all final tasks, and the next one meets open ones alone: final ones are compared', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({
    ...{ tasks: 60, openFraction: 1, order: 'created_asc', listOmits: ['result.body'] },
  })
  simulator.account.insert(10, { openShare: 0 })
  simulator.account.insert(200, { openShare: 1 })
  const cut = new AbortController()
  const isEnd = simulator.onBeforeRequest(({ operation, skip }) => {
    if (operation === 'list' && (skip ?? 0) >= 200) cut.abort()
  })
  const run = (signal: AbortSignal) =>
    runSync(makeRunContext(simulator.url, path, { signal, service: { concurrency: 1 }, sync: { window: 50 } }), {
      command: 'sync',
    })
  await run(cut.signal)
  isEnd()
  const { exitCode } = await run(new AbortController().signal)
  const db = new Database(path, { readonly: true })
  const cutTasks = db.prepare('SELECT count(*) FROM tasks WHERE completed_at > 0 AND result_body IS NULL').pluck().get()
  db.close()
  expect({ exitCode, cutTasks }).toEqual({ exitCode: 0, cutTasks: 0 })
})

test('all final tasks are gone when they are to be compared, and the open ones are not: that says nothing of final ones', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 30, openFraction: 0.3, listOmits: ['result.body'] })
  const { account } = simulator
  const isOver = simulator.onBeforeRequest(({ operation }) => {
    if (operation !== 'get') return
    isOver()
    account.remove(account.ids().filter((id) => /"completedAt":\d/.test(account.get(id) ?? '')))
  })
  const { exitCode, summary, notes } = await runSync(makeRunContext(simulator.url, scratch.path('m.sqlite')), {
    command: 'sync',
  })
  expect({ exitCode, verdict: summary?.verdict }).toEqual({ exitCode: 3, verdict: 'complete' })
  expect(notes.join()).toMatch('could not be compared')
})

test.each([
  { silent: 'open', exitCode: 0 },
  { silent: 'final', exitCode: 3 },
])(
  'look-ups that do not find tasks that are $silent, most of those compared: exit $exitCode',
  async ({ silent, exitCode }) => {
    using scratch = makeScratch()
    await using simulator = await startSimulator({ tasks: 8, openFraction: silent === 'open' ? 0.8 : 0.3 })
    const { account } = simulator
    const isOpen = (id: string): boolean => !/"completedAt":\d/.test(account.get(id) ?? '')
    simulator.setFaults(({ operation, id }) =>
      operation === 'get' && id !== null && account.get(id) !== null && isOpen(id) === (silent === 'open')
        ? { status: 404 }
        : null,
    )
    const run = await runSync(makeRunContext(simulator.url, scratch.path('m.sqlite')), { command: 'sync' })
    expect(run.exitCode).toBe(exitCode)
  },
)

/** Whether a run could compare the tasks of a list, of which look-ups find only those of `found`. */
async function isCompared(openFraction: number, found: (isOpen: boolean, nth: number) => boolean): Promise<boolean> {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 8, openFraction })
  const { account } = simulator
  const isOpen = (id: string): boolean => !/"completedAt":\d/.test(account.get(id) ?? '')
  const [opens, finals] = [true, false].map((open) => account.ids().filter((id) => isOpen(id) === open))
  simulator.setFaults(({ operation, id }) => {
    if (operation !== 'get' || id === null || account.get(id) === null) return null
    const of = isOpen(id) ? opens! : finals!
    return found(isOpen(id), of.indexOf(id)) ? null : { status: 404 }
  })
  const { notes } = await runSync(makeRunContext(simulator.url, scratch.path('m.sqlite')), { command: 'sync' })
  return !notes.join().includes('could not be compared')
}

test('where all tasks are open, those tell whether look-ups find what is listed', async () => {
  expect(await isCompared(1, (_, nth) => nth < 1)).toBe(false)
  expect(await isCompared(1, (_, nth) => nth > 1)).toBe(true)
})

test('open tasks that are found tell nothing of final ones that are not', async () => {
  expect(await isCompared(0.8, (isOpen, nth) => isOpen || nth < 1)).toBe(false)
})

/** Full walks of 30 tasks; `show` is told which one, and gives what list and detail add to a task. */
async function afterWalks(walks: number, show: (walk: number, index: number) => { list: object; detail: object }) {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 30, openFraction: 0 })
  const { account } = simulator
  const tasks = account.ids().map((id) => [id, JSON.parse(account.get(id)!) as object] as const)
  const runs = []
  for (let walk = 0; walk < walks; walk += 1) {
    tasks.forEach(([id, task], index) => {
      const { list, detail } = show(walk, index)
      account.replaceText(id, JSON.stringify({ ...task, ...list }), JSON.stringify({ ...task, ...detail }))
    })
    const { exitCode, summary } = await runSync(makeRunContext(simulator.url, path), {
      command: 'sync',
      full: true,
    })
    runs.push({ exitCode, verdict: summary?.verdict })
  }
  const db = new Database(path, { readonly: true })
  const timeframes = db.prepare('SELECT DISTINCT timeframe FROM tasks').pluck().all()
  const accuracies = db.prepare('SELECT DISTINCT accuracy FROM tasks ORDER BY 1').pluck().all()
  const { summary_fields: summary } = readFacts(db)
  db.close()
  return { runs, timeframes, accuracies, summary }
}

test('look-ups that lagged behind an edit of many tasks look like a list that shows something else: that is over as soon as both agree', async () => {
  const edited = { timeframe: 2 }
  const { runs, timeframes, summary } = await afterWalks(3, (walk) => ({
    list: walk === 0 ? { timeframe: 1 } : edited,
    detail: walk < 2 ? { timeframe: 1 } : edited,
  }))
  expect(runs.at(-1)).toEqual({ exitCode: 0, verdict: 'complete' })
  expect({ timeframes, summary }).toEqual({ timeframes: [2], summary: [] })
})

test('look-ups that lagged behind texts that were emptied look like a list that leaves them out: that is over as soon as both agree', async () => {
  const { runs, accuracies, summary } = await afterWalks(4, (walk, index) => ({
    list: { accuracy: walk > 0 && [5, 9, 19].includes(index) ? '' : 'DAY' },
    detail: { accuracy: walk > 1 && [5, 9, 19].includes(index) ? '' : 'DAY' },
  }))
  expect(runs.at(-1)).toEqual({ exitCode: 0, verdict: 'complete' })
  expect({ accuracies, summary }).toEqual({ accuracies: ['', 'DAY'], summary: [] })
})

test('a list that shows something else of a few tasks is known to do so, whatever others show', async () => {
  const { runs, timeframes, summary } = await afterWalks(5, (walk, index) => ({
    list: { timeframe: walk === 0 || index === 9 || index === 19 ? 9 : 1 },
    detail: { timeframe: 1 },
  }))
  expect(runs.slice(1)).toEqual(Array(4).fill({ exitCode: 0, verdict: 'complete' }))
  expect({ timeframes, summary }).toEqual({ timeframes: [1], summary: [{ path: ['timeframe'], how: 'replaced' }] })
})

test('a list that leaves something out of all tasks has a full walk compare no more tasks than its sample', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 60, openFraction: 0, listOmits: ['result.body'] })
  const context = makeRunContext(simulator.url, scratch.path('m.sqlite'))
  const lookedUp = async () => {
    const before = simulator.log.length
    await runSync(context, { command: 'sync', full: true })
    return new Set(simulator.log.slice(before).flatMap(({ operation, id }) => (operation === 'get' ? [id] : []))).size
  }
  await lookedUp()
  // What differs is asked for twice.
  expect([await lookedUp(), await lookedUp()]).toEqual([7, 7])
})

test('tasks too heavy for windows of the usual size are listed again in windows as small as the walk had', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({
    tasks: 1000,
    taskBytes: 20_000,
    openFraction: 0,
    listOmits: ['accuracy'],
  })
  const context = makeRunContext(simulator.url, scratch.path('m.sqlite'), { service: { maxResponseBytes: 4_000_000 } })
  const { exitCode, notes } = await runSync(context, { command: 'sync' })
  expect({ exitCode, notes }).toEqual({ exitCode: 0, notes: [] })
})

test('of the tasks that are compared only those that differ are asked for twice', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 6, openFraction: 0 })
  const { account } = simulator
  const [id = ''] = account.ids()
  const listed = account.get(id)!
  account.replaceText(id, listed, JSON.stringify({ ...JSON.parse(listed), note: 'x' }))
  await runSync(makeRunContext(simulator.url, scratch.path('m.sqlite')), { command: 'sync' })
  const asked = simulator.log.flatMap((each) => (each.operation === 'get' && each.id !== null ? each.id : []))
  const twice = account.ids().filter((each) => asked.filter((other) => other === each).length > 1)
  expect(twice).toEqual([id])
})

test.each<[string, (task: Record<string, unknown>) => object]>([
  ['spells each status otherwise', ({ systemStatus }) => ({ systemStatus: `${systemStatus}`.toLowerCase() })],
  ['rounds completedAt up to seconds', ({ completedAt }) => ({ completedAt: inSeconds(completedAt, Math.ceil) })],
  ['writes completedAt as text', ({ completedAt }) => ({ completedAt: completedAt && `${completedAt} ms` })],
  ['rounds createdAt to seconds', ({ createdAt }) => ({ createdAt: inSeconds(createdAt, Math.floor) })],
])('a list that %s: the mirror holds what look-ups show, and says so', async (_, listed) => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 40, openFraction: 0.2 })
  const { account } = simulator
  const truth = new Map(account.ids().map((id) => [id, JSON.parse(account.get(id)!) as Record<string, unknown>]))
  for (const [id, task] of truth)
    account.replaceText(id, JSON.stringify({ ...task, ...listed(task) }), JSON.stringify(task))
  const runs = []
  for (const full of [false, false, true]) {
    const before = simulator.requests
    const { exitCode } = await runSync(makeRunContext(simulator.url, path), { command: 'sync', full })
    runs.push({ exitCode, isQuiet: simulator.requests - before < 30 })
  }
  const db = new Database(path, { readonly: true })
  const held = db.prepare('SELECT id, system_status, created_at, completed_at FROM tasks').all()
  const aside = db.prepare('SELECT count(*) FROM rejected_items').pluck().get()
  db.close()
  expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
  expect(runs[1]).toMatchObject({ isQuiet: true })
  const told = ({ id, systemStatus, createdAt, completedAt = null }: Record<string, unknown>) => ({
    id,
    system_status: systemStatus,
    created_at: createdAt,
    completed_at: completedAt,
  })
  expect(new Set(held)).toEqual(new Set([...truth.values()].map(told)))
  expect(aside).toBe(0)
})

test('what look-ups bring under an id is another task where it was created a minute later: it teaches nothing of the list', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 40, openFraction: 0.2 })
  const { account } = simulator
  for (const id of account.ids()) {
    const text = account.get(id) as string
    const task = JSON.parse(text)
    account.replaceText(id, text, JSON.stringify({ ...task, createdAt: task.createdAt + 60_000 }))
  }
  await runSync(makeRunContext(simulator.url, path), { command: 'sync' })
  const db = new Database(path, { readonly: true })
  const { summary_fields = [] } = readFacts(db)
  db.close()
  expect(summary_fields).toEqual([])
})

function inSeconds(moment: unknown, round: (seconds: number) => number): number | undefined {
  return typeof moment === 'number' ? 1000 * round(moment / 1000) : undefined
}
