// `verify` of the mirror itself: sound ones, damaged files, and every invariant broken on purpose.
import { closeSync, copyFileSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { lend } from '../../src/mirror/connect.ts'
import { verifyMirror } from '../../src/mirror/maintenance/verify.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { runInside } from '../support/cli.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'

const TASKS = 400
let made: Scratch
let sound: string

beforeAll(async () => {
  made = makeScratch()
  sound = made.path('sound.sqlite')
  await using simulator = await startSimulator({ tasks: TASKS, oddities: 0.5, openFraction: 0.1 })
  const context = makeRunContext(simulator.url, sound)
  await runSync(context, { command: 'sync' })
  simulator.account.remove([simulator.account.idAt(7)])
  await runSync(context, { command: 'sync', full: true })
  return () => made[Symbol.dispose]()
})

function copyOf(scratch: Scratch): string {
  const path = scratch.path('task-mirror.sqlite')
  copyFileSync(sound, path)
  return path
}

const check = (path: string) => verifyMirror(path, { signal: new AbortController().signal })

test('a mirror that a run has left is sound', async () => {
  expect(await check(sound)).toEqual({ path: sound, rows: TASKS, tombstones: 1, faults: [] })
})

type Damage = [what: string, check: string, sql: string, count: number]

/** What stands together here is done to one mirror: each is another check, and none counts what another one has done. */
const DAMAGES: Damage[][] = [
  [
    ['a changed column', 'content-hash', "UPDATE tasks SET data_url = data_url || 'x' WHERE seq IN (3, 5)", 2],
    ['a change number used twice', 'change-seq', 'UPDATE tasks SET change_seq = 4 WHERE seq = 3', 1],
    [
      'something owed of a tombstone',
      'owed-tombstone',
      "INSERT INTO open_checks (task_id, reason, next_check_at) SELECT id, 'detail', 1 FROM tasks WHERE deleted_at IS NOT NULL",
      1,
    ],
    ['marks of no walk', 'walk-marks', 'INSERT INTO walk_marks VALUES (99, 0, zeroblob(1024))', 1],
    [
      'a snapshot of a later state',
      'snapshot-cut',
      "INSERT INTO snapshots (id, cut, path, format, files, rows, bytes, filters, published_at) VALUES ('s', 999999, '', 'ndjson', 1, 1, 1, '{}', 1)",
      1,
    ],
  ],
  [
    ['a changed integer', 'content-hash', 'UPDATE tasks SET created_at = created_at + 1 WHERE seq = 3', 1],
    ['a change number of 0', 'change-seq', 'UPDATE tasks SET change_seq = 0 WHERE seq = 3', 1],
    [
      'something owed of nobody',
      'owed-unknown',
      "INSERT INTO open_checks (task_id, reason, next_check_at) VALUES ('nobody', 'open', 1)",
      1,
    ],
    [
      'marks of the wrong length',
      'walk-marks',
      'UPDATE walk_marks SET bits = zeroblob(10) WHERE (walk_id, chunk) = (SELECT max(walk_id), 0 FROM walk_marks)',
      1,
    ],
  ],
  [
    ['a missing hash', 'content-hash', 'UPDATE tasks SET content_hash = NULL WHERE seq = 3', 1],
    [
      'marks of rows that are not there',
      'walk-marks',
      `INSERT INTO walk_marks VALUES (1, 7, x'${'01'.repeat(1024)}')`,
      1,
    ],
    ['a fact that is no JSON', 'json', "UPDATE service_facts SET value = 'x' WHERE key = 'order'", 1],
  ],
  [['a header that is no JSON', 'json', "UPDATE tasks SET data_header = '{' WHERE seq = 3", 1]],
  [['extra that is no object', 'json', "UPDATE tasks SET extra = '[1]' WHERE seq = 3", 1]],
]

test.each(DAMAGES.map((damages) => ({ what: damages.map(([what]) => what).join('; '), damages })))(
  '$what: found',
  async ({ damages }) => {
    using scratch = makeScratch()
    const path = copyOf(scratch)
    for (const [, , sql] of damages) changeMirror(path, sql)
    const { faults } = await check(path)
    for (const [what, name, , count] of damages) {
      expect(faults, what).toContainEqual(expect.objectContaining({ check: name, count }))
      expect(faults.find((fault) => fault.check === name)!.examples, what).toHaveLength(count)
    }
  },
)

test('an answer counts that comes together with the end of the process that gave it', async () => {
  for (let round = 0; round < 3; round += 1) {
    const answer = check(sound)
    // Meanwhile the process answers and ends, if this machine is not too slow.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
    expect(await answer).toMatchObject({ faults: [] })
  }
})

test('a fault names five rows at most', async () => {
  using scratch = makeScratch()
  const path = copyOf(scratch)
  changeMirror(path, "UPDATE tasks SET accuracy = 'CENTURY'")
  const [fault] = (await check(path)).faults
  expect(fault).toMatchObject({ check: 'content-hash', count: TASKS })
  expect(fault!.examples).toHaveLength(5)
})

test('verify is exit 0 for a sound mirror and exit 7 for a broken one, with what is broken', async () => {
  using scratch = makeScratch()
  const path = copyOf(scratch)
  const good = await runInside(['verify', '--json'], { cwd: scratch.dir })
  expect(good).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(good.stdout)).toMatchObject({ schemaVersion: 1, mirror: { rows: TASKS, faults: [] } })
  changeMirror(path, "UPDATE tasks SET data_url = 'x' WHERE seq = 3")
  const bad = await runInside(['verify'], { cwd: scratch.dir })
  expect(bad.code).toBe(7)
  expect(bad.stdout).toContain('1 invariant does not hold')
  expect(bad.stdout).toContain('content-hash')
  expect(bad.stderr).toContain('mirror-damaged')
})

test('a damaged page is exit 7 with a sentence, nothing on stdout', async () => {
  using scratch = makeScratch()
  const path = copyOf(scratch)
  const file = openSync(path, 'r+')
  for (let at = 16_384 * 3; at < statSync(path).size; at += 16_384)
    writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, at)
  closeSync(file)
  const { code, stdout, stderr } = await runInside(['verify'], { cwd: scratch.dir })
  expect({ code, stdout }).toEqual({ code: 7, stdout: '' })
  expect(stderr).toMatch(/mirror-damaged.*is damaged/)
})

test('whatever reads a damaged table says that the mirror is damaged, exit 7', async () => {
  using scratch = makeScratch()
  const path = copyOf(scratch)
  changeMirror(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
  const whole = readFileSync(path)
  const { size, roots } = lend(new Database(path, { readonly: true }), (db) => ({
    size: db.pragma('page_size', { simple: true }) as number,
    roots: new Map(db.prepare('SELECT name, rootpage FROM sqlite_schema').raw().all() as [string, number][]),
  }))
  for (const [damaged, ...command] of [
    ['tasks', 'status', '--max-age', '1h'],
    ['snapshots', 'status'],
    ['rejected_items', 'rejected'],
    ['tasks', 'report'],
    ['sqlite_autoindex_tasks_1', 'get', 'any'],
  ] as [string, ...string[]][]) {
    const at = size * ((roots.get(damaged) as number) - 1)
    writeFileSync(path, Buffer.from(whole).fill(0, at, at + size))
    const { code, stderr } = await runInside(command, { cwd: scratch.dir })
    const isSaid = stderr.includes('mirror-damaged')
    expect({ damaged, command, code, isSaid }).toEqual({ damaged, command, code: 7, isSaid: true })
  }
})

test('verify without a mirror is exit 3, of another file exit 7, and --sample alone exit 2', async () => {
  using scratch = makeScratch()
  expect(await runInside(['verify'], { cwd: scratch.dir })).toMatchObject({ code: 3, stdout: '' })
  changeMirror(scratch.path('other.sqlite'), 'CREATE TABLE t (x)')
  expect(await runInside(['verify', '--db', 'other.sqlite'], { cwd: scratch.dir })).toMatchObject({ code: 7 })
  expect(await runInside(['verify', '--sample', '5'], { cwd: scratch.dir })).toMatchObject({ code: 2 })
})
