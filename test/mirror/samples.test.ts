// Which live tasks stand for all of them.
import { expect, test } from 'vitest'
import { openWriter } from '../../src/mirror/open.ts'
import { sampleLiveIds } from '../../src/mirror/shown/sample.ts'
import { TaskTable } from '../../src/mirror/tables/tasks.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeMirror, ordinaryRows } from '../export/mirror.ts'
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

test('a sample is of live tasks, all where they are few, and gives up where chance meets tombstones only', () => {
  const { db } = makeMirror(...ordinaryRows(10).map((row, i) => ({ ...row, deleted_at: i < 6 ? 5 : null })))
  const live = db.prepare('SELECT id FROM tasks WHERE deleted_at IS NULL ORDER BY seq').pluck().all() as string[]
  expect(sampleLiveIds(db, 4, () => 0)).toEqual(live)
  let step = 0
  expect(sampleLiveIds(db, 3, () => (step++ % 10) / 10)).toEqual(live.slice(0, 3))
  let asked = 0
  expect(sampleLiveIds(db, 3, () => (++asked > 1_000 ? (asked % 10) / 10 : 0))).toEqual([])
})
