// `prune` as built, on mirrors filled from the simulator.
import { expect, test } from 'vitest'
import { withReader } from '../../src/mirror/open.ts'
import { contentHash } from '../../src/mirror/row-bytes.ts'

import { readTask } from '../../src/mirror/tables/tasks.ts'
import { CARRIES } from '../../src/simulator/options.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { runInside } from '../support/cli.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

function task(path: string, id: string) {
  return withReader(path, (db) => {
    const hash = db.prepare('SELECT content_hash FROM tasks WHERE id = ?').pluck().get(id) as Buffer
    return { ...readTask(db, id)!, hash }
  })
}

test('prune removes the payloads of old tombstones only, and keeps what says that the task was there', async () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  await using simulator = await startSimulator({ tasks: 40, openFraction: 0, oddities: 1 })
  let now = Date.now() - 120_000
  const context = makeRunContext(simulator.url, path, { now: () => now })
  await runSync(context, { command: 'sync' })
  const [old, recent, alive] = [3, 8, 9].map((index) => simulator.account.idAt(index)) as [string, string, string]
  simulator.account.remove([old])
  await runSync(context, { command: 'sync', full: true })
  const between = now + 1000
  now += 60_000
  simulator.account.remove([recent])
  await runSync(context, { command: 'sync', full: true })
  const before = { old: task(path, old), recent: task(path, recent), alive: task(path, alive) }
  expect(before.recent.deletedAt).toBeGreaterThan(between)

  const prune = (...more: string[]) =>
    runInside(['prune', '--deleted-before', String(between), '--json', ...more], { cwd: scratch.dir })
  const dry = await prune('--dry-run')
  expect(dry.code).toBe(0)
  expect(JSON.parse(dry.stdout)).toMatchObject({ schemaVersion: 1, dryRun: true, rows: 1, deletedBefore: between })
  expect(task(path, old)).toEqual(before.old)

  const { code, stdout } = await prune()
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ rows: 1, bytes: JSON.parse(dry.stdout).bytes })
  expect(task(path, recent)).toEqual(before.recent)
  expect(task(path, alive)).toEqual(before.alive)
  const pruned = task(path, old)
  const { id, user_id, created_at, completed_at, system_status, ...rest } = pruned.row
  expect({ id, user_id, created_at, completed_at, system_status }).toEqual({
    id: old,
    user_id: before.old.row.user_id,
    created_at: before.old.row.created_at,
    completed_at: before.old.row.completed_at,
    system_status: before.old.row.system_status,
  })
  const left = Object.entries(rest).filter(([, value]) => value !== null)
  expect(left.map(([name]) => name).filter((name) => /^(data_|result_|extra)/.test(name))).toEqual([])
  expect(pruned.deletedAt).toBe(before.old.deletedAt)
  expect(pruned.changeSeq).toBeGreaterThan(before.recent.changeSeq)
  expect(pruned.hash.equals(contentHash(pruned.row))).toBe(true)

  expect(JSON.parse((await prune()).stdout)).toMatchObject({ rows: 0, bytes: 0 })
  expect(task(path, old)).toEqual(pruned)
})

test.each(CARRIES)('a pruned task that is listed again (%s) is restored with its content', async (listCarries) => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  const options = { tasks: 30, openFraction: 0, listCarries, newest: Date.now() }
  await using simulator = await startSimulator(options)
  const context = makeRunContext(simulator.url, path)
  await runSync(context, { command: 'sync' })
  const id = simulator.account.idAt(4)
  const before = task(path, id)
  const text = simulator.account.get(id)!
  simulator.account.remove([id])
  await runSync(context, { command: 'sync', full: true })
  await runInside(['prune', '--deleted-before', '0d'], { cwd: scratch.dir })
  expect(task(path, id).row.data_url).toBeNull()

  await simulator.close()
  // The same account once more, with the task in it.
  await using again = await startSimulator({ ...options, port: simulator.port })
  expect(again.account.get(id)).toBe(text)
  await runSync(context, { command: 'sync', full: true })
  const restored = task(path, id)
  expect(restored.row).toEqual(before.row)
  expect(restored.deletedAt).toBeNull()
})

test('an open task that is deleted, and listed again as it was, is asked for again', async () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  const options = { tasks: 30, openFraction: 1, newest: Date.now() }
  await using simulator = await startSimulator(options)
  const context = makeRunContext(simulator.url, path)
  await runSync(context, { command: 'sync' })
  const id = simulator.account.idAt(4)
  simulator.account.remove([id])
  await runSync(context, { command: 'sync', full: true })
  await simulator.close()
  await using again = await startSimulator({ ...options, port: simulator.port })
  const { summary } = await runSync(context, { command: 'sync', full: true })
  expect(summary).toMatchObject({ restored: 1, openTasks: again.account.listed })
})

test('prune without a moment is exit 2, without a mirror exit 3, beside a run exit 6', async () => {
  using scratch = makeScratch()
  expect(await runInside(['prune'], { cwd: scratch.dir })).toMatchObject({ code: 2 })
  expect(await runInside(['prune', '--deleted-before', '1d'], { cwd: scratch.dir })).toMatchObject({ code: 3 })
  const path = scratch.path('task-mirror.sqlite')
  await using simulator = await startSimulator({ tasks: 5 })
  let inside: unknown = null
  await runSync(makeRunContext(simulator.url, path), { command: 'sync' })
  simulator.onBeforeRequest(async () => {
    inside ??= await runInside(['prune', '--deleted-before', '1d'], { cwd: scratch.dir })
  })
  await runSync(makeRunContext(simulator.url, path), { command: 'sync' })
  expect(inside).toMatchObject({ code: 6 })
})
