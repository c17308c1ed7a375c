// The column `host`: written with the task, filled by the migration, and the same for readers of a mirror that has none.
import { copyFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openCut } from '../../src/export/read/rows.ts'
import { hostOf } from '../../src/host.ts'
import { openReader, openWriter } from '../../src/mirror/open.ts'
import { contentHash } from '../../src/mirror/row-bytes.ts'
import { shapeTask } from '../../src/mirror/shape.ts'
import { readFigures } from '../../src/mirror/shown/figures.ts'
import { readRecent } from '../../src/mirror/shown/recent.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { TaskTable } from '../../src/mirror/tables/tasks.ts'
import type { TaskRow } from '../../src/task.ts'
import { batchesOf } from '../export/mirror.ts'
import { makeScratch } from '../support/scratch.ts'

const OPTIONS = { busyTimeoutMs: 1000, fileMode: 0o600 }
const GOLDEN = new URL('../golden/0.1.0.sqlite', import.meta.url).pathname
const SECRET = 'https://bob:p@sSECRET@one.example:8443/a?b'

const hashes = (row: TaskRow) => ({ contentHash: contentHash(row), listHash: null })
const rowOf = (url: string) => shapeTask({ id: 'a', createdAt: 1, data: { url } })

test('a task has the host of its URL from when it is taken in, also when that changes', () => {
  using scratch = makeScratch()
  const db = openWriter(scratch.path('m.sqlite'), OPTIONS)
  const tasks = new TaskTable(db)
  const host = db.prepare('SELECT host FROM tasks').pluck()
  const row = rowOf(SECRET)
  const seq = tasks.insert(row, hashes(row), { readAt: 1, now: 1 })
  expect(host.get()).toBe('one.example:8443')
  const other = rowOf('https://evil.example\\@good.example/')
  tasks.replace(seq, other, hashes(other), { readAt: 2, now: 2 })
  expect(host.get()).toBe('evil.example')
  const none = shapeTask({ id: 'a' })
  tasks.replace(seq, none, hashes(none), { readAt: 3, now: 3 })
  expect(host.get()).toBeNull()
  db.close()
})

test('status of a mirror of 0.1.0 is read as it stands, and of what runs did', () => {
  using scratch = makeScratch()
  copyFileSync(GOLDEN, scratch.path('m.sqlite'))
  const reader = openReader(scratch.path('m.sqlite'))
  expect(readStatus(reader)).toMatchObject({ freshAt: expect.any(Number), tasks: { late: null } })
  expect(readRecent(reader).runs.length).toBeGreaterThan(1)
  reader.close()
})

test('a mirror of 0.1.0 has hosts after its migration, and before it for readers', () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  copyFileSync(GOLDEN, path)
  const plant = new Database(path)
  plant.prepare('UPDATE tasks SET data_url = ? WHERE seq = 1').run(SECRET)
  plant.close()

  const read = () => {
    const reader = openReader(path)
    const figures = JSON.stringify(readFigures(reader, 0).hosts)
    reader.close()
    const cut = openCut(path, {})
    const rows = batchesOf(cut).flat()
    cut.close()
    return { figures, hosts: rows.map((row) => row.at(-1)) }
  }
  const before = read()
  expect(before.figures).toContain('one.example:8443')
  expect(before.figures).not.toContain('SECRET')

  const db = openWriter(path, OPTIONS)
  const all = db.prepare('SELECT data_url, host FROM tasks').raw().all() as [string | null, string | null][]
  expect(all.length).toBeGreaterThan(10)
  for (const [url, host] of all) expect(host).toBe(hostOf(url))
  const plan = db.prepare("EXPLAIN QUERY PLAN SELECT count(*) FROM tasks WHERE host = 'one.example'").all()
  expect(JSON.stringify(plan)).toContain('tasks_outcomes')
  expect(db.prepare("SELECT host FROM task_overview WHERE url LIKE '%SECRET%'").pluck().all()).toEqual([
    'one.example:8443',
  ])
  expect(db.prepare('SELECT count(*) FROM host_outcomes').pluck().get()).toBeGreaterThan(1)
  db.close()
  expect(read()).toEqual(before)
})
