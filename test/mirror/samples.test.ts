// Which live tasks stand for all of them.
import { expect, test } from 'vitest'
import { openWriter } from '../../src/mirror/open.ts'
import { TaskTable } from '../../src/mirror/tables/tasks.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

test.each([1, 2, 5])('parts spread over a mirror of %i tasks meet each of them, the last one too', async (tasks) => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks })
  const path = scratch.path('task-mirror.sqlite')
  await runSync(makeRunContext(simulator.url, path), { command: 'sync' })
  const db = openWriter(path, { busyTimeoutMs: 0, fileMode: 0o600 })
  const table = new TaskTable(db)
  const met = [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => table.liveIdNear(part))
  db.close()
  expect(new Set(met).size).toBe(tasks)
})
