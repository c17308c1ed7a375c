// Services that write `completedAt` for a task that has not ended: 0 or less, an empty text, where null or nothing
// would say it.
import { expect, test } from 'vitest'
import { parseExact } from '../../src/json.ts'
import { withReader } from '../../src/mirror/open.ts'
import { hasEnded, shapeTask, taskText } from '../../src/mirror/shape.ts'
import { runSync } from '../../src/sync/run.ts'
import type { Task } from '../../src/task.ts'
import { plainTasks } from '../support/plain-tasks.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'
import { serveTexts } from '../support/text-service.ts'

const MINUTE_MS = 60_000
// The last one is what Go's zero time is in milliseconds.
const NOT_YET = ['0', '-0', '0.0', '""', 'null', 'false', '-62135596800000']

test.each(NOT_YET)('a task with completedAt %s is open: how it ends is known minutes later', async (completedAt) => {
  using scratch = makeScratch()
  const tasks = plainTasks(20)
  const texts = tasks.map((task) => JSON.stringify(task))
  const ended = JSON.stringify({ ...tasks[10], systemStatus: 'FAILED' })
  texts[10] = ended.replace(/"completedAt":\d+/, `"completedAt":${completedAt}`).replace('FAILED', 'RUNNING')
  await using service = await serveTexts({
    list: (skip, take) => texts.slice(skip, skip + take),
    detail: (id) => texts[tasks.findIndex((task) => task.id === id)],
  })
  let now = tasks[0]!.createdAt + MINUTE_MS
  const given = { now: () => now, sync: { window: 6, overlap: 3 } }
  const path = scratch.path('task-mirror.sqlite')
  const sync = async () => (await runSync(makeRunContext(service.url, path, given), { command: 'sync' })).summary
  const sql = 'SELECT system_status, is_final FROM task_overview WHERE id = ?'
  const overview = () => withReader(path, (db) => db.prepare(sql).raw().get(tasks.at(-10)!.id))

  expect(await sync()).toMatchObject({ outcome: 'ok', openTasks: 1 })
  expect(overview()).toEqual(['RUNNING', 0])
  // Behind twenty new tasks and ten known ones no walk meets it.
  const newer = plainTasks(20).map((task) => ({ ...task, id: `new-${task.id}`, createdAt: task.createdAt + 30_000 }))
  tasks.unshift(...newer)
  texts[10] = ended
  texts.unshift(...newer.map((task) => JSON.stringify(task)))
  now += 10 * MINUTE_MS
  expect(await sync()).toMatchObject({ outcome: 'ok', openTasks: 0 })
  expect(overview()).toEqual(['FAILED', 1])
})

test.each([...NOT_YET, '1', '9007199254740993', '"yesterday"'])(
  'completedAt %s comes back as it was',
  (completedAt) => {
    const task = parseExact(`{"id":"a","completedAt":${completedAt}}`) as Task
    const row = shapeTask(task)
    expect(taskText(row)).toBe(`{"id":"a","completedAt":${completedAt}}`)
    expect(row.completed_at).toBe(completedAt === '1' ? 1 : null)
    expect(hasEnded(task)).toBe(!NOT_YET.includes(completedAt))
  },
)
