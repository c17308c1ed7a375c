// `verify --service` against the simulator over HTTP.
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { verifyService } from '../../src/sync/one-off/verify.ts'
import { runSync } from '../../src/sync/run.ts'
import { runInside } from '../support/cli.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

test('an equal mirror is exit 0: the whole sample digit for digit, and the number of tasks', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 200, oddities: 0.5, openFraction: 0, listCarries: 'noResult' })
  const context = makeRunContext(simulator.url, path, { random: Math.random })
  await runSync(context, { command: 'sync' })
  expect(await verifyService(context, 50)).toMatchObject({
    sampled: 50,
    equal: 50,
    different: [],
    missing: [],
    unanswered: [],
    total: { service: 200, mirror: 200, hidden: 0, setAside: 0 },
    problems: [],
  })
  // A sample beyond the mirror is the whole mirror.
  expect(await verifyService(context, 5000)).toMatchObject({ sampled: 200, equal: 200, differAtMost: 0, problems: [] })
})

test('what differs is told by id and by the names of fields, what is missing by its answer, with exit 3', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 40, openFraction: 0.5 })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url } }
  await runInside(['sync'], options)
  const { account } = simulator
  const finals = account.ids().filter((id) => JSON.parse(account.get(id)!).completedAt !== undefined)
  const [updated, gone] = [finals[0]!, finals[1]!]
  const before = JSON.parse(account.get(updated)!)
  account.update([updated])
  account.remove([gone])
  account.finish(1)
  const { code, stdout, stderr } = await runInside(['verify', '--service', '--json'], options)
  expect(code).toBe(3)
  const { service } = JSON.parse(stdout)
  expect(service).toMatchObject({ sampled: 40, equal: 37, total: { service: 39, mirror: 40 } })
  expect(service.problems).toEqual([
    "2 tasks differ from the service's",
    'the service does not have 1 task of the mirror',
    'the service lists 1 task fewer than the mirror holds',
  ])
  expect(JSON.parse(stderr.trim().split('\n').at(-1)!)).toMatchObject({
    code: 'partial',
    hint: expect.stringContaining('sync --full'),
  })
  expect(service.missing).toEqual([{ id: gone, answer: 'HTTP 404: Task not found' }])
  const after = JSON.parse(account.get(updated)!)
  const changed = service.different.find(({ id }: { id: string }) => id === updated)
  expect(changed).toMatchObject({ wasOpen: false })
  for (const field of changed.fields) {
    const [outer, inner] = field.split('.')
    const of = (task: typeof before) => (inner === undefined ? task[outer] : task[outer][inner])
    expect(of(after)).not.toEqual(of(before))
  }
  expect(service.different.find(({ id }: { id: string }) => id !== updated)).toMatchObject({ wasOpen: true })

  const text = await runInside(['verify', '--service'], options)
  expect(text.stdout).toContain(gone)
  expect(text.stdout).toContain('1 of them open in the mirror')
  expect(text.stdout).not.toContain(before.data.url)
})

test('a total that cannot be proven is said and fails nothing; one that differs does, and a list that cannot be read', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 300, openFraction: 0 })
  const context = makeRunContext(simulator.url, path, { random: Math.random })
  await runSync(context, { command: 'sync' })
  simulator.options.wrap = true
  expect(await verifyService(context, 5)).toMatchObject({ total: { service: null }, problems: [] })
  simulator.options.wrap = false
  simulator.setFaults(({ operation }) => (operation === 'list' ? { status: 500 } : null))
  expect(await verifyService(context, 5)).toMatchObject({
    ...{ equal: 5, total: { service: null } },
    problems: [expect.stringMatching(/^the list cannot be read: /)],
  })
  simulator.setFaults(() => null)
  simulator.account.insert(2)
  expect(await verifyService(context, 5)).toMatchObject({
    equal: 5,
    total: { service: 302 },
    problems: [expect.any(String)],
  })
})

test('that the service lists more than the mirror holds is said with exit 3, and what to do', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 40, openFraction: 0 })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url } }
  await runInside(['sync'], options)
  simulator.account.insert(2)
  const { code, stdout, stderr } = await runInside(['verify', '--service', '--json'], options)
  const problem = 'the service lists 2 items more than the mirror holds or has set aside'
  expect({ code, problems: JSON.parse(stdout).service.problems }).toEqual({ code: 3, problems: [problem] })
  expect(JSON.parse(stderr.trim().split('\n').at(-1)!)).toMatchObject({
    level: 'error',
    code: 'partial',
    msg: `The mirror is not equal to the service: ${problem}`,
    hint: expect.stringContaining('task-mirror sync --full'),
  })
})

test('nor is a mirror equal that holds less than was seen of a list whose end cannot be proven', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 40, openFraction: 0 })
  const context = makeRunContext(simulator.url, scratch.path('m.sqlite'), { random: Math.random })
  await runSync(context, { command: 'sync' })
  simulator.account.insert(2)
  simulator.options.wrap = true
  expect(await verifyService(context, 40)).toMatchObject({
    ...{ equal: 40, total: { service: null, mirror: 40 } },
    problems: ['the service lists at least 2 items more than the mirror holds or has set aside'],
  })
})

test('tasks that the service fails to answer for are unanswered, not missing; a verify without a mirror makes none', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 10, openFraction: 0 })
  const context = makeRunContext(simulator.url, path, { random: () => 0 })
  await expect(verifyService(context, 5)).rejects.toMatchObject({ code: 'mirror-missing' })
  await runSync(context, { command: 'sync' })
  simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 500 } : null))
  const problems = ['the service gave no usable answer for 10 tasks']
  expect(await verifyService(context, 10)).toMatchObject({ equal: 0, missing: [], problems })
  simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 403 } : null))
  const { unanswered } = await verifyService(context, 10)
  expect(unanswered).toHaveLength(10)
})

test('where the service answers no look-ups, verify soon asks for no more, and calls all of them unanswered', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 150, openFraction: 0 })
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_SERVICE_MAX_RETRIES: '0' }
  const options = { cwd: scratch.dir, env }
  await runInside(['sync'], options)
  simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 500 } : null))
  const before = simulator.log.length
  const { code, stdout } = await runInside(['verify', '--service', '--sample', '150', '--json'], options)
  const { unanswered, missing } = JSON.parse(stdout).service
  expect({ code, unanswered: unanswered.length, missing }).toEqual({ code: 3, unanswered: 150, missing: [] })
  expect(simulator.log.slice(before).filter(({ operation }) => operation === 'get').length).toBeLessThan(25)
})

test('tasks that the list shows no more and that are found by id are no problem, and told apart', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 60, openFraction: 0 })
  const context = makeRunContext(simulator.url, path)
  await runSync(context, { command: 'sync' })
  simulator.account.delist(5)
  await runSync(context, { command: 'sync', full: true })
  expect(await verifyService(context, 60)).toMatchObject({
    equal: 60,
    total: { service: 55, mirror: 60, hidden: 5 },
    problems: [],
  })
  simulator.account.remove(2)
  expect((await verifyService(context, 60)).problems).toContain('the service lists 2 tasks fewer than the mirror holds')
})
