// `probe` against the simulator over HTTP, with every misbehaviour it has: honest answers within 60 requests.
import { expect, test } from 'vitest'
import { openReader, withReader } from '../../src/mirror/open.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { readFacts } from '../../src/mirror/tables/facts.ts'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { MOST_REQUESTS, type ProbeResult, probeService, QUESTIONS } from '../../src/sync/probe/probe.ts'
import { runSync } from '../../src/sync/run.ts'
import { runInside } from '../support/cli.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'
import { few, SOAK } from '../support/soak.ts'

/** More than one answer may hold, and than is asked for beyond that. */
const TASKS = SOAK ? 2500 : 1300

type Values = Partial<Record<keyof ProbeResult['answers'], unknown>>

const factsOf = (path: string) => withReader(path, (db) => readFacts(db))

const HONEST: Values = {
  listNeedsKey: false,
  detailNeedsKey: false,
  order: 'created_desc',
  takeCap: 'none',
  takeBeyond1000: 'refused',
  pastEnd: 'empty',
  total: TASKS,
  listWhole: true,
  notFound: 'HTTP 404',
  badId: 'HTTP 404',
  badWindow: 'HTTP 400',
  timeframe: true,
  date: true,
  clockSkewMs: 0,
  compression: 'gzip',
  limits: null,
}

const CASES: [title: string, options: Partial<SimulatorOptions>, values: Values][] = [
  ['an ordinary service', {}, HONEST],
  ['a list in order of id', { order: 'id_asc' }, { order: 'id_asc', total: TASKS }],
  ['the oldest first', { order: 'created_asc' }, { order: 'created_asc' }],
  ['no order', { order: 'shuffled' }, { order: 'none', total: null }],
  ['a cap by count', { capItems: 300 }, { takeCap: 300, total: TASKS }],
  ['a cap by bytes', { capBytes: 200_000 }, { takeCap: 'by size', total: TASKS }],
  ['answers that are short', { shortBy: 7 }, { takeCap: '7 short', total: TASKS }],
  ['pages filtered after paging', { hiddenFraction: 0.1 }, { takeCap: 'filtered after paging', total: null }],
  ['one item at a time', { pageOfOne: true }, { takeCap: 1, total: null, order: null }],
  ['a limit on take', { takeLimit: 250 }, { takeCap: 250, takeBeyond1000: 'refused', total: TASKS }],
  ['a generous limit on take', { takeLimit: 5000 }, { takeCap: 'none', takeBeyond1000: 'answered' }],
  ['a limit on skip', { skipLimit: 0.6 * TASKS }, { pastEnd: 'refused', total: null }],
  ['400 past the end', { pastEnd: '400' }, { pastEnd: 'refused', total: TASKS }],
  ['skip ignored', { ignoreSkip: true }, { pastEnd: 'skip-ignored', total: null, takeCap: 'none' }],
  ['a list that wraps', { wrap: true }, { pastEnd: 'wraps', total: null }],
  ['a last window that repeats', { repeatLast: true }, { pastEnd: 'repeats', total: TASKS }],
  ['an item that fails at the front', { poison: ['17'] }, { takeCap: null, takeBeyond1000: null, total: TASKS }],
  ['an item that fails near the end', { poison: [`${TASKS - 10}`] }, { takeCap: 'none', total: TASKS }],
  ['a first item that fails', { poison: ['0'] }, { total: null }],
  ['faults now and then', { faultRate: 0.2, faultKinds: ['500', 'reset', 'truncate', 'html', 'empty'] }, {}],
  ['a list that grows as it is read', { insertsPerRequest: 1 }, { total: null, order: 'created_desc' }],
  ['a list that shrinks as it is read', { deletesPerRequest: 1 }, { total: null }],
  ['a list without results', { listCarries: 'noResult' }, { listWhole: false }],
  ['a list without bodies', { listOmits: ['result.body'] }, { listWhole: false }],
  ['a list that cuts long bodies', { listBodyBytes: 100 }, { listWhole: false }],
  ['a bare list', { listCarries: 'bare' }, { listWhole: false }],
  ['a list without timeframe', { listOmits: ['timeframe'] }, { timeframe: null }],
  ['only open tasks', { openFraction: 1 }, { listWhole: null, timeframe: null }],
  [
    'unknown ids answered with an empty success',
    { notFound: 'item-null' },
    { notFound: 'HTTP 200, statusCode 200, no item' },
  ],
  ['unknown ids told in the envelope', { notFound: 'envelope-404' }, { notFound: 'HTTP 200, statusCode 404' }],
  [
    'no Date header',
    { dateHeader: false, compression: 'none' },
    { date: false, clockSkewMs: null, compression: 'none' },
  ],
  ['an empty list', { tasks: 0 }, { total: 0, order: null, detailNeedsKey: null, listWhole: null, takeCap: null }],
  ['a list of one', { tasks: 1 }, { total: 1, order: null, takeCap: null }],
  ['a list of two that wraps', { tasks: 2, wrap: true }, { total: null, pastEnd: 'wraps', order: null }],
]

/** What they answer is told by others as well. */
const MORE = [
  'the oldest first',
  'a limit on skip',
  '400 past the end',
  'an item that fails near the end',
  'a list that grows as it is read',
  'a list that shrinks as it is read',
  'a list without bodies',
  'a bare list',
  'a list without timeframe',
  'unknown ids told in the envelope',
  'a list of one',
]

test.each(few(CASES, ([title]) => !MORE.includes(title)))('probe answers honestly: %s', async (_, options, values) => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({
    tasks: TASKS,
    compression: values === HONEST ? 'gzip' : 'none',
    ...options,
  })
  const path = scratch.path('m.sqlite')
  // An item that fails at 0 fails at every size: nothing can be listed.
  const context = makeRunContext(simulator.url, path, { random: () => 0 })
  if (options.poison?.includes('0')) {
    await expect(probeService(context)).rejects.toMatchObject({ code: 'service-failing' })
    return
  }
  const { result, exitCode } = await probeService(context)
  expect(Object.fromEntries(Object.keys(values).map((name) => [name, result.answers[name as 'order'].value]))).toEqual(
    values,
  )
  expect(exitCode).toBe(0)
  expect(result.requests).toBe(simulator.requests)
  expect(simulator.requests).toBeLessThanOrEqual(MOST_REQUESTS)
  expect(Object.keys(result.answers).sort()).toEqual(Object.keys(QUESTIONS).sort())
})

test('with a key, probe asks without it as well, and 401 or 403 is an answer', async () => {
  using scratch = makeScratch()
  for (const keyRefusal of ['401', '403'] as const) {
    await using all = await startSimulator({ tasks: 30, key: 'k3y', keyRefusal })
    const context = makeRunContext(all.url, scratch.path(`all-${keyRefusal}.sqlite`), { apiKey: 'k3y' })
    const { answers } = (await probeService(context)).result
    expect(answers).toMatchObject({ listNeedsKey: { value: true }, detailNeedsKey: { value: true } })
    expect(answers.listNeedsKey.seen).toBe(`HTTP ${keyRefusal} without the key`)
  }
  await using details = await startSimulator({ tasks: 30, key: 'k3y', keyOn: 'detail' })
  const context = makeRunContext(details.url, scratch.path('detail.sqlite'), { apiKey: 'k3y' })
  const { result, exitCode } = await probeService(context)
  expect(result.answers).toMatchObject({ listNeedsKey: { value: false }, detailNeedsKey: { value: true } })
  expect(exitCode).toBe(0)
})

test('a key that only single tasks want is found missing without exit 5; a wrong one is exit 5 with all other answers', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 30, key: 'k3y', keyOn: 'detail' })
  const keyless = await probeService(makeRunContext(simulator.url, scratch.path('none.sqlite')))
  expect(keyless.exitCode).toBe(0)
  expect(keyless.result.answers.detailNeedsKey).toEqual({ value: true, seen: 'HTTP 401 without the key' })

  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_API_KEY: 'hunter2' }
  const { code, stdout, stderr } = await runInside(['probe', '--json'], { cwd: scratch.dir, env })
  expect(code).toBe(5)
  expect(JSON.parse(stdout).answers).toMatchObject({ total: { value: 30 }, notFound: { value: null } })
  expect(stdout + stderr).not.toContain('hunter2')
  const listed = await startSimulator({ tasks: 30, key: 'k3y' })
  const refused = await runInside(['probe'], {
    cwd: scratch.dir,
    env: { ...env, TASK_MIRROR_BASE_URL: listed.url, TASK_MIRROR_DB: 'other.sqlite' },
  })
  expect(refused).toMatchObject({ code: 5, stdout: '' })
  await listed.close()
})

test('probe stores its answers and what they prove, never order or frontier, and no total that walks would stumble over', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 900, capItems: 300, openFraction: 0 })
  const context = makeRunContext(simulator.url, path)
  await probeService(context)
  const first = factsOf(path)
  expect(first).toMatchObject({ page_cap: 300, total: 900, last_id: simulator.account.idAt(899) })
  expect(first.probe).toMatchObject({ answers: { order: { value: 'created_desc' } } })
  expect(first).not.toHaveProperty('order')
  expect(first).not.toHaveProperty('frontier')

  await runSync(context, { command: 'sync' })
  simulator.account.insert(20)
  const { result } = await probeService(context)
  expect(result.answers.total.value).toBe(920)
  expect(factsOf(path).total).toBe(900)
  const { summary } = await runSync(context, { command: 'sync' })
  expect(summary).toMatchObject({ plan: ['head', 'open', 'deletions', 'details'], inserted: 20 })
  simulator.account.insert(1, { where: 'middle' })
  expect((await runSync(context, { command: 'sync' })).summary).toMatchObject({ verdict: 'complete', inserted: 1 })
  const db = openReader(path)
  expect(readStatus(db).runs.map(({ command, outcome }) => [command, outcome])).toContainEqual(['probe', 'ok'])
  db.close()
})

test('headers that tell of limits are shown', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 30 })
  simulator.setFaults([{ status: 429, retryAfter: 0 }])
  const { result } = await probeService(makeRunContext(simulator.url, scratch.path('m.sqlite')))
  expect(result.answers.limits.value).toBe('retry-after: 0')
})

test('the text names every question', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 30 })
  const { code, stdout } = await runInside(['probe', '--base-url', simulator.url], { cwd: scratch.dir })
  expect(code).toBe(0)
  for (const question of Object.values(QUESTIONS)) expect(stdout).toContain(question)
  expect(stdout).toContain('cannot tell')
})

test('an end that moves at every look is not looked for long', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 300, insertsPerRequest: 1 })
  const { answers, requests } = (await probeService(makeRunContext(simulator.url, scratch.path('m.sqlite')))).result
  expect(answers.total).toMatchObject({ seen: expect.stringMatching(/the list moved while its end was looked for/) })
  expect(requests).toBeLessThan(40)
})

test('a list that moves for a moment is not taken for one whose pages are filtered', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 300, openFraction: 0 })
  const added: string[] = []
  let isOver = false
  simulator.onBeforeRequest(({ skip }, account) => {
    if (added.length > 0 && !isOver) isOver = account.remove(added).length > 0
    else if (skip === 300 && !isOver) added.push(...account.insert(1))
  })
  const path = scratch.path('m.sqlite')
  const { answers } = (await probeService(makeRunContext(simulator.url, path))).result
  expect(answers.takeCap).toEqual({ value: null, seen: 'the list moved while it was looked at' })
  expect(factsOf(path)).not.toHaveProperty('filtered_pages')
})
