// What was set aside and comes whole later: `rejected` lists what is still missing, and nothing else.
import { expect, test } from 'vitest'
import { openReader } from '../../src/mirror/open.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { readSetAside } from '../../src/mirror/tables/set-aside.ts'
import { refreshTask } from '../../src/sync/one-off/refresh.ts'
import { runSync } from '../../src/sync/run.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { plainTasks } from '../support/plain-tasks.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'
import { serveTexts } from '../support/text-service.ts'

const TASKS = plainTasks(40)
const whole = (index: number) => JSON.stringify(TASKS[index])
const deep = (index: number) => whole(index).replace('null', `${'['.repeat(501)}${']'.repeat(501)}`)

/**
 * A service of `TASKS`, but for the texts that stand in `list` by index, and in `details` by id; an answer of 500 where they are empty,
 * and to windows that reach beyond `end.index`.
 */
async function startService() {
  const end = { index: Number.POSITIVE_INFINITY }
  const list = new Map<number, string>()
  const details = new Map<string, string>()
  const service = await serveTexts({
    list(skip, take) {
      const items = TASKS.map((_, index) => list.get(index) ?? whole(index)).slice(skip, skip + take)
      return items.includes('') || skip + take > end.index ? null : items
    },
    detail(id) {
      const index = TASKS.findIndex((task) => task.id === id)
      return details.get(id) ?? (index === -1 ? undefined : whole(index))
    },
  })
  return Object.assign(service, { list, details, end })
}

/** What `rejected` lists, and that `status` counts the same. */
function listed(path: string): [string, string | null][] {
  const db = openReader(path)
  const { total, items } = readSetAside(db, { limit: 99, withRaw: false })
  expect(readStatus(db).tasks.setAside).toBe(total)
  db.close()
  return items.map(({ reason, taskId }): [string, string | null] => [reason, taskId]).sort()
}

test('a complete full walk that meets set-aside items no more, or whole, ends with them settled; others wait', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using service = await startService()
  const context = makeRunContext(service.url, path, { random: () => 0 })
  const full = async () => {
    const { exitCode, summary } = await runSync(context, { command: 'sync', full: true })
    return [exitCode, summary.verdict, summary.rejected]
  }
  expect(await full()).toEqual([0, 'complete', 0])
  const before = { id: 'x'.repeat(513) }
  service.list
    .set(5, deep(5))
    .set(9, 'null')
    .set(12, '{"n":1}')
    .set(20, '')
    .set(30, whole(30).replace('"userId":"u"', '"userId":"v"'))
    .set(33, JSON.stringify(before))
  const all = [
    ['id-too-long', null],
    ['no-id', null],
    ['not-an-object', null],
    ['other-identity', 'task-30'],
    ['too-deep', 'task-05'],
    ['unreadable', null],
  ]
  expect(await full()).toEqual([3, 'complete', 6])
  expect(listed(path)).toEqual(all)
  // Met again by a complete walk, and whole by one over a range: neither tells that it is over.
  expect(await full()).toEqual([0, 'complete', 0])
  expect(listed(path)).toEqual(all)

  service.list.clear()
  await runSync(context, { command: 'backfill', since: 0, until: 1_790_000_000_001 })
  expect(listed(path)).toEqual(all)
  expect(await full()).toEqual([0, 'complete', 0])
  // Its text holds an id, which a later version may be able to take in.
  expect(listed(path)).toEqual([['id-too-long', null]])
  // What comes back is news.
  service.list.set(5, deep(5))
  expect(await full()).toEqual([3, 'complete', 1])
})

test('a full walk that is partial settles nothing', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using service = await startService()
  const context = makeRunContext(service.url, path, { random: () => 0 })
  service.list.set(5, 'null').set(9, deep(9))
  await runSync(context, { command: 'sync' })
  service.list.clear()
  // Nothing is answered from there on.
  service.end.index = 20
  expect((await runSync(context, { command: 'sync', full: true })).summary.verdict).toBe('partial')
  expect(listed(path)).toContainEqual(['not-an-object', null])
})

test('a detail that was set aside is settled by one that shows what the mirror holds already', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using service = await startService()
  const context = makeRunContext(service.url, path, { random: () => 0 })
  await runSync(context, { command: 'sync' })
  service.details.set('task-07', whole(8))
  expect(await refreshTask(context, 'task-07')).toContain('was set aside')
  expect(listed(path)).toEqual([['other-id', 'task-07']])
  service.details.clear()
  await refreshTask(context, 'task-07')
  expect(listed(path)).toEqual([])
})

test('a look-up that is set aside each time alarms for a day, and again once the list shows a change', async () => {
  using scratch = makeScratch()
  await using service = await startService()
  const summaryOf = (index: number, change: object) =>
    JSON.stringify({ ...TASKS[index], data: { method: 'GET' }, ...change })
  TASKS.forEach((_, index) => void service.list.set(index, summaryOf(index, {})))
  const path = scratch.path('m.sqlite')
  const context = makeRunContext(service.url, path, { random: () => 0 })
  const sync = async () => (await runSync(context, { command: 'sync', full: true })).exitCode
  expect(await sync()).toBe(0)
  service.details.set('task-07', whole(8))
  for (const accuracy of ['DAY', 'MONTH']) {
    service.list.set(7, summaryOf(7, { accuracy }))
    expect([await sync(), await sync()]).toEqual([3, 3])
    changeMirror(path, 'UPDATE open_checks SET owed_at = owed_at - 90000000, attempts = 5')
    expect(await sync()).toBe(0)
  }
})

test('a look-up that shows nothing of a task but its id empties no row', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using service = await startService()
  const context = makeRunContext(service.url, path, { random: () => 0 })
  await runSync(context, { command: 'sync' })
  service.details.set('task-07', '{"id":"task-07","deleted":true}')
  expect(await refreshTask(context, 'task-07')).toContain('was set aside')
  expect(listed(path)).toEqual([['other-identity', 'task-07']])
  const db = openReader(path)
  expect(db.prepare("SELECT created_at, extra FROM tasks WHERE id = 'task-07'").get()).toEqual({
    created_at: TASKS[7]?.createdAt,
    extra: null,
  })
  db.close()
})

test('an item without an id directly behind a place that cannot be read is set aside, and stays so', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using service = await startService()
  const context = makeRunContext(service.url, path, { random: () => 0 })
  service.list.set(20, '').set(21, '{"n":1}')
  for (const rejected of [2, 0]) {
    const { summary } = await runSync(context, { command: 'sync', full: true })
    expect(summary).toMatchObject({ verdict: 'complete', rejected })
    expect(listed(path)).toEqual([
      ['no-id', null],
      ['unreadable', null],
    ])
  }
})
