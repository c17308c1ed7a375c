// Items that show nothing of themselves, such as null: each is told from the others by what stands before it.
import { expect, test } from 'vitest'
import { runSync } from '../../src/sync/run.ts'
import { plainTasks } from '../support/plain-tasks.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'
import { serveTexts } from '../support/text-service.ts'

const TASKS = plainTasks(40)

/** A service that lists null in place of the tasks in `nulls`. */
function startService(nulls: Set<number>) {
  const texts = TASKS.map((task) => JSON.stringify(task))
  return serveTexts({
    list: (skip, take) => texts.map((text, index) => (nulls.has(index) ? 'null' : text)).slice(skip, skip + take),
    detail: (id) => texts[TASKS.findIndex((task) => task.id === id)],
  })
}

test('each of several is set aside, and one that comes later is told as well', async () => {
  using scratch = makeScratch()
  const nulls = new Set([5, 6, 7, 20])
  await using service = await startService(nulls)
  const context = makeRunContext(service.url, scratch.path('task-mirror.sqlite'))
  const rejected = async () => (await runSync(context, { command: 'sync', full: true })).summary.rejected
  expect(await rejected()).toBe(4)
  expect(await rejected()).toBe(0)
  nulls.clear()
  nulls.add(30)
  expect(await rejected()).toBe(1)
})

test('neighbours, no more than windows share, are told once each, wherever windows begin', async () => {
  using scratch = makeScratch()
  await using service = await startService(new Set([14, 15, 16]))
  for (const window of [8, 9, 10, 11, 12]) {
    const given = { sync: { window, overlap: 3 } }
    const context = makeRunContext(service.url, scratch.path('task-mirror.sqlite'), given)
    const { summary } = await runSync(context, { command: 'sync', full: true })
    expect([window, summary.verdict, summary.rejected]).toEqual([window, 'complete', window === 8 ? 3 : 0])
  }
})
