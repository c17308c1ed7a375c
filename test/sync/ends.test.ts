// How a run ends when the mirror fails it: the exit code and the sentence are true, and the run's row is closed where it
// can be.
import { closeSync, copyFileSync, existsSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { explain } from '../../src/mirror/explain.ts'
import { verifyMirror } from '../../src/mirror/maintenance/verify.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const FULL = { command: 'sync', full: true } as const

/** A mirror of `tasks` tasks at `path`; `sync` walks the whole list again. */
async function makeMirrored(tasks: number) {
  const scratch = makeScratch()
  onTestFinished(() => scratch[Symbol.dispose]())
  const simulator = await startSimulator({ tasks, openFraction: 0, compression: 'none' })
  onTestFinished(() => simulator.close())
  const path = scratch.path('mirror.sqlite')
  const sync = () => runSync(makeRunContext(simulator.url, path), FULL)
  await sync()
  return { path, sync, simulator }
}

test('a mirror that turns out to be damaged where it is only read is called damaged', async () => {
  const { path, sync } = await makeMirrored(300)
  const db = new Database(path)
  const page = db.pragma('page_size', { simple: true }) as number
  const root = db.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_tasks_1'`).pluck().get()
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(page, 0xff), 0, page, ((root as number) - 1) * page)
  closeSync(file)
  const { exitCode, error } = await sync()
  expect(exitCode).toBe(7)
  expect(error).toMatchObject({ code: 'mirror-damaged', hint: expect.any(String) })
})

test('what a step fell short in is told once, where a later one of its kind falls short as well', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 300, openFraction: 0, compression: 'none' })
  const cut = new AbortController()
  const given = { sync: { window: 50 } }
  const off = simulator.onBeforeRequest(({ operation, skip }) => {
    if (operation === 'list' && skip !== null && skip >= 150) cut.abort()
  })
  const path = scratch.path('mirror.sqlite')
  await runSync(makeRunContext(simulator.url, path, { ...given, signal: cut.signal }), FULL)
  off()
  simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 404 } : null))
  const { exitCode, summary, notes } = await runSync(makeRunContext(simulator.url, path, given), FULL)
  const after = ['full', 'deletions', 'details']
  expect({ exitCode, plan: summary.plan }).toEqual({ exitCode: 3, plan: ['open', ...after, ...after] })
  expect(notes).toEqual([expect.stringContaining('could not be compared')])
})

test('a run whose mirror is taken away under it has failed', async () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  let asked = 0
  await using simulator = await startSimulator({
    tasks: 300,
    openFraction: 0,
    compression: 'none',
    onBeforeRequest() {
      asked += 1
      if (asked === 3) for (const part of ['', '-wal', '-shm']) rmSync(path + part, { force: true })
    },
  })
  const context = makeRunContext(simulator.url, path, { sync: { window: 50 } })
  const { exitCode, error, summary } = await runSync(context, FULL)
  expect({ exitCode, outcome: summary.outcome }).toEqual({ exitCode: 7, outcome: 'failed' })
  expect(error).toMatchObject({ code: 'mirror-unreadable', message: expect.stringContaining('removed or replaced') })
  expect(await runSync(context, FULL)).toMatchObject({ exitCode: 0, summary: { inserted: 300 } })
})

test('a mirror that is laid in the place of the one that a run writes to stays whole', async () => {
  const { path, sync, simulator } = await makeMirrored(300)
  const other = `${path}.other`
  const earlier = new Database(path)
  earlier.pragma('wal_checkpoint(TRUNCATE)')
  earlier.close()
  copyFileSync(path, other)
  simulator.account.update(300)
  let asked = 0
  const off = simulator.onBeforeRequest(() => {
    asked += 1
    if (asked !== 3) return
    renameSync(other, path)
    off()
  })
  const { exitCode, error } = await sync()
  expect(exitCode).toBe(7)
  expect(error).toMatchObject({ message: expect.stringContaining('removed or replaced') })
  // What the run had written there is kept beside it, and nothing plays it into the other one.
  expect(existsSync(`${path}-wal`)).toBe(false)
  expect(readdirSync(dirname(path)).filter((name) => name.includes('-wal.left-')).length).toBe(1)
  expect(await sync()).toMatchObject({ exitCode: 0, summary: { updated: 300 } })
  expect((await verifyMirror(path, { signal: new AbortController().signal })).faults).toEqual([])
})

test('a run whose lock was removed ends before it writes beside another one', async () => {
  const { path, sync, simulator } = await makeMirrored(300)
  simulator.account.update(300)
  let asked = 0
  let other: ReturnType<typeof sync> | null = null
  const off = simulator.onBeforeRequest(async () => {
    asked += 1
    if (asked !== 3) return
    off()
    rmSync(`${path}.lock`)
    other = sync()
    await other
  })
  const { exitCode, error } = await sync()
  expect(exitCode).toBe(7)
  expect(error).toMatchObject({ code: 'mirror-unwritable', facts: { path: `${path}.lock` } })
  expect(await other).toMatchObject({ exitCode: 0 })
  expect((await verifyMirror(path, { signal: new AbortController().signal })).faults).toEqual([])
})

test.each([
  ['-wal', 'WAL'],
  ['-shm', 'WAL'],
  // As `copy` writes it.
  ['-wal', 'DELETE'],
  ['-shm', 'DELETE'],
])(
  'a run whose %s was removed ends before it writes beside whoever makes a new one, found in journal mode %s',
  async (name, mode) => {
    const { path, sync, simulator } = await makeMirrored(300)
    const db = new Database(path)
    db.pragma(`journal_mode = ${mode}`)
    db.close()
    simulator.account.update(300)
    let asked = 0
    const off = simulator.onBeforeRequest(() => {
      asked += 1
      if (asked !== 3) return
      off()
      rmSync(path + name)
    })
    const { exitCode, error } = await sync()
    expect(exitCode).toBe(7)
    expect(error).toMatchObject({ code: 'mirror-unreadable', message: expect.stringContaining(`${name} was removed`) })
    expect(await sync()).toMatchObject({ exitCode: 0 })
    expect((await verifyMirror(path, { signal: new AbortController().signal })).faults).toEqual([])
  },
)

test('where SQLite itself says that the file was moved, so does the run', () => {
  const thrown = Object.assign(new Error('attempt to write a readonly database'), { code: 'SQLITE_READONLY_DBMOVED' })
  expect(explain('mirror.sqlite', thrown)).toMatchObject({ message: expect.stringContaining('removed or replaced') })
})

test('a run whose end cannot be written down has failed', async () => {
  const { path, sync, simulator } = await makeMirrored(30)
  // Once the mirror has been opened: it would be refused with somebody else's trigger on it.
  const off = simulator.onBeforeRequest(() => {
    off()
    changeMirror(
      path,
      `CREATE TRIGGER stops BEFORE UPDATE OF finished_at ON runs BEGIN SELECT raise(ABORT, 'no end'); END`,
    )
  })
  const { exitCode, error, summary } = await sync()
  expect({ exitCode, outcome: summary.outcome }).toEqual({ exitCode: 1, outcome: 'failed' })
  expect(String(error)).toContain('no end')
})
