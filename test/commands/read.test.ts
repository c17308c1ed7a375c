// Commands that only read, run as built on a mirror made here.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseExact } from '../../src/json.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { contentHash } from '../../src/mirror/row-bytes.ts'
import { shapeTask } from '../../src/mirror/shape.ts'
import { OwedTable } from '../../src/mirror/tables/owed.ts'
import { setAsideTable } from '../../src/mirror/tables/set-aside.ts'
import { TaskTable } from '../../src/mirror/tables/tasks.ts'
import { walkTable } from '../../src/mirror/tables/walks.ts'
import type { Task } from '../../src/task.ts'
import { CLI, runInside, startCli } from '../support/cli.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'

test.each([['status'], ['verify'], ['get', 'a'], ['export', '--out', '-', '--format', 'ndjson']])(
  'where the mirror is a link that leads nowhere, %s says so: its disk may not be mounted',
  async (...args) => {
    using scratch = makeScratch()
    symlinkSync('not-mounted.sqlite', scratch.path('task-mirror.sqlite'))
    expect(await runInside(args, { cwd: scratch.dir })).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(/symbolic link to .*not-mounted.sqlite, which does not exist/),
    })
  },
)

const MINUTE = 60_000
const PRECISE = '{"id":"precise","createdAt":1700000000000,"amount":12345678901234567890,"ratio":1.0}'

function makeMirror(scratch: Scratch, { walkedAgoMs = 5 * MINUTE, tasks = 3 } = {}): void {
  const now = Date.now()
  const db = openWriter(scratch.path('task-mirror.sqlite'), { busyTimeoutMs: 1000, fileMode: 0o600 })
  try {
    const table = new TaskTable(db)
    const take = (text: string) => {
      const row = shapeTask(parseExact(text) as Task)
      return table.insert(row, { contentHash: contentHash(row), listHash: null }, { readAt: now, now })
    }
    db.transaction(() => {
      take(PRECISE)
      for (let index = 1; index < tasks; index++)
        take(`{"id":"t${index}","systemStatus":"PENDING","createdAt":${index}}`)
      table.markDeleted(2, { readAt: now, now })
      new OwedTable(db, 0).owe('t2', 'open', now)
      setAsideTable(db, 1000).add(
        { source: 'list', skip: 4, taskId: null, reason: 'no-id', message: 'It has no id', raw: '{"a":1.0}' },
        1,
        now,
      )
      const walks = walkTable(db)
      const startedAt = now - walkedAgoMs
      const walk = walks.begin(
        { runId: 1, kind: 'full', rangeSince: null, rangeUntil: null, maxSeqAtStart: 0 },
        startedAt,
      )
      walks.end(walk, { verdict: 'complete', reason: null, ordering: 'created_desc' }, startedAt + 1)
    }).immediate()
  } finally {
    db.close()
  }
}

test('get prints a task digit for digit, on one line with --json', async () => {
  using scratch = makeScratch()
  makeMirror(scratch)
  const plain = await runInside(['get', 'precise'], { cwd: scratch.dir })
  expect(plain).toMatchObject({ code: 0, stderr: '' })
  expect(plain.stdout).toBe(
    '{\n  "id": "precise",\n  "createdAt": 1700000000000,\n  "amount": 12345678901234567890,\n  "ratio": 1.0\n}\n',
  )
  const json = await runInside(['get', 'precise', '--json', '--with-meta'], { cwd: scratch.dir })
  expect(json.stdout.startsWith(`${PRECISE.slice(0, -1)},"_mirror":{"changeSeq":1,`)).toBe(true)
  expect(json.stdout.trimEnd()).not.toContain('\n')
})

test('get of an id the mirror does not hold is exit 3', async () => {
  using scratch = makeScratch()
  makeMirror(scratch)
  const { code, stdout, stderr } = await runInside(['get', 'nobody'], { cwd: scratch.dir })
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
  expect(stderr).toContain('not-in-mirror')
})

test('status counts what the mirror holds and is a health check with --max-age', async () => {
  using scratch = makeScratch()
  makeMirror(scratch)
  const { code, stdout } = await runInside(['status', '--json'], { cwd: scratch.dir })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    tasks: { live: 2, open: 1, deleted: 1, setAside: 1 },
    lastFullWalk: { verdict: 'complete' },
    stale: false,
  })
  const text = await runInside(['status', '--max-age', '15m'], { cwd: scratch.dir })
  expect(text.code).toBe(0)
  expect(text.stdout).toMatch(/fresh {6}as of 5m( \ds)? ago, within 15m/)
  const stale = await runInside(['status'], { cwd: scratch.dir, env: { TASK_MIRROR_MAX_AGE: '1m' } })
  expect(stale.code).toBe(3)
  expect(stale.stdout).toContain('older than 1m')
})

test('rejected lists what was set aside, with its raw text where asked for', async () => {
  using scratch = makeScratch()
  makeMirror(scratch)
  const text = await runInside(['rejected'], { cwd: scratch.dir })
  expect(text).toMatchObject({ code: 0, stdout: expect.stringMatching(/list at 4 .* no-id +9/) })
  const { stdout } = await runInside(['rejected', '--raw', '--json'], { cwd: scratch.dir })
  expect(JSON.parse(stdout)).toMatchObject({ total: 1, items: [{ reason: 'no-id', raw: '{"a":1.0}' }] })
})

test('export publishes a dataset into export.dir, or data alone to stdout', async () => {
  using scratch = makeScratch()
  makeMirror(scratch)
  const file = await runInside(['export', '--json', '--format', 'ndjson', '--compression', 'none'], {
    cwd: scratch.dir,
  })
  expect(file.code).toBe(0)
  expect(JSON.parse(file.stdout)).toMatchObject({
    rows: 2,
    format: 'ndjson',
    files: 1,
    path: expect.stringMatching(/snapshots\/\d{8}T\d{9}Z-4-[0-9a-f]{6}$/),
  })
  const out = await runInside(['export', '--out', '-', '--since', '2020-01-01'], { cwd: scratch.dir })
  expect(out).toMatchObject({ code: 0, stdout: `${PRECISE}\n` })
  // Whose figures are told once.
  expect(
    out.stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([expect.objectContaining({ msg: 'Run ended', rows: 1, cut: 4 })])
})

test('a reader that closes stdout early is an ordinary end', async () => {
  using scratch = makeScratch()
  makeMirror(scratch, { tasks: 10_000 })
  const child = spawn(process.execPath, [CLI, 'export', '--out', '-', '-q'], {
    cwd: scratch.dir,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdout.once('data', () => child.stdout.destroy())
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test('a reader that has stopped reading does not hold up a signal', async () => {
  using scratch = makeScratch()
  makeMirror(scratch, { tasks: 20_000 })
  const child = spawn(process.execPath, [CLI, 'export', '--out', '-'], {
    cwd: scratch.dir,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  await once(child.stdout, 'readable')
  // It is stuck once two answers to SIGUSR2 tell the same count.
  for (let before = -1; ; ) {
    child.kill('SIGUSR2')
    const [line] = await once(child.stderr, 'data')
    const { done } = JSON.parse(String(line).split('\n')[0]!)
    if (done === before) break
    before = done
    await delay(50)
  }
  child.kill('SIGTERM')
  // Nobody reads on: it would wait for ever.
  const [code] = await once(child, 'exit')
  expect(code).toBe(143)
  child.stdout.destroy()
})

test('simulate serves until it is told to stop, which is its ordinary end', async () => {
  using scratch = makeScratch()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const running = startCli(['simulate', '--tasks', '5', '--json'], { cwd: scratch.dir })
    const { url } = JSON.parse(await running.untilStdout(/\n/))
    const answer = await fetch(`${url}/tasks/list`, { method: 'POST', body: '{"take":9,"skip":0}' })
    expect(((await answer.json()) as { body: { items: unknown[] } }).body.items).toHaveLength(5)
    running.process.kill(signal)
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
  }
})
