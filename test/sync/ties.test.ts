// Tasks of equal createdAt that stand in the order of their ids, and others that do not.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { runSync } from '../../src/sync/run.ts'
import { plainTasks } from '../support/plain-tasks.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'
import { serveTexts } from '../support/text-service.ts'

test('where ties stand in the order of their ids, and further down do not, the list is read once more, and counted; later walks count at once', async () => {
  using scratch = makeScratch()
  const createdAt = 1_790_000_000_000
  const tasks = plainTasks(90).map((task, index) => ({ ...task, createdAt: createdAt - Math.floor(index / 45) }))
  // Two of the second run change places.
  tasks.splice(80, 2, tasks[81]!, tasks[80]!)
  const texts = tasks.map((task) => JSON.stringify(task))
  await using service = await serveTexts({
    list: (skip, take) => texts.slice(skip, skip + take),
    detail: (id) => texts.find((text) => text.includes(id)),
  })
  const path = scratch.path('mirror.sqlite')
  const sync = async () => {
    const context = makeRunContext(service.url, path, { sync: { window: 20, overlap: 5 } })
    const { runId, seen } = (await runSync(context, { command: 'sync', full: true })).summary
    const db = new Database(path, { readonly: true })
    const walks = db
      .prepare("SELECT verdict, reason FROM walks WHERE run_id = ? AND kind = 'full' ORDER BY id")
      .all(runId)
    db.close()
    return { seen, walks }
  }
  const counted = { verdict: 'complete', reason: null }
  expect(await sync()).toEqual({ seen: 90, walks: [{ verdict: 'partial', reason: 'ties-unordered' }, counted] })
  expect(await sync()).toEqual({ seen: 90, walks: [counted] })
})
