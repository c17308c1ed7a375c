// Issue 5: a disk that is full. Exit 7 with a sentence that names the disk, no partial file, what was there stays readable,
// and the same command works once there is room.
import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeStage, type Stage, stateSeenByAnotherProcess } from '../acceptance/stage.ts'
import { CLI, HANGS_MS } from '../support/cli.ts'
import { few, SOAK } from '../support/soak.ts'
import { expectExactLines, leftOvers } from './crash.ts'
import { makeSmallDisk, smallDiskMissing } from './small-disk.ts'

/** More than the disk has room for. */
const TASKS = SOAK ? 6_000 : 4_500

describe.skipIf(smallDiskMissing !== null)(`a small disk (${smallDiskMissing ?? 'tmpfs'})`, () => {
  test.concurrent('that a sync fills keeps what was committed; with more room the next run goes on from there', async () => {
    using disk = makeSmallDisk('5m')
    await using stage = await makeStage({ tasks: TASKS, openFraction: 0, order: 'created_asc' })
    const db = disk.path('mirror.sqlite')
    const first = await stage.runHere(['sync', '--db', db, '--json'])
    expectTold(first, db)
    const { seen, outcome } = JSON.parse(first.stdout) as { seen: number; outcome: string }
    expect(outcome).toBe('failed')
    expect(seen).toBeGreaterThan(900)

    expect(await stateSeenByAnotherProcess({ ...stage, mirrorPath: db })).toMatchObject({
      integrity: 'ok',
      tasks: seen,
    })
    const status = await stage.runHere(['status', '--db', db, '--json'])
    expect(JSON.parse(status.stdout)).toMatchObject({ tasks: { live: seen } })
    // Still full: the same sentence again, and nothing gets worse. A window may still find room.
    const second = await stage.runHere(['sync', '--db', db, '--json'])
    expectTold(second, db)
    const more = (JSON.parse(second.stdout) as { inserted: number }).inserted

    disk.resize('64m')
    const next = await stage.runJson(['sync', '--db', db])
    expect(next.summary).toMatchObject({ outcome: 'ok', verdict: 'complete', inserted: TASKS - seen - more })
    const exported = await stage.runHere(['export', '--db', db, '--out', '-', '--no-redact', '--quiet'])
    expectExactLines(stage, exported.stdout)
  })

  test.concurrent.for(few(['0k', '100k', '400k'], (room) => room !== '100k'))(
    'with %s left has no room for a new mirror: nothing of it stays',
    async (room) => {
      using disk = makeSmallDisk('2m')
      await using stage = await makeStage({ tasks: 300 })
      writeFileSync(disk.path('room'), Buffer.alloc(Number.parseInt(room, 10) * 1024))
      disk.fill()
      writeFileSync(disk.path('room'), '')
      const db = disk.path('mirror.sqlite')
      expectTold(await stage.runHere(['sync', '--db', db]), `The disk of ${db} is full`)
      expect(readdirSync(disk.dir).filter((name) => /new-|holder|journal/.test(name))).toEqual([])
      disk.resize('64m')
      expect(await stage.runHere(['sync', '--db', db])).toMatchObject({ code: 0 })
    },
  )

  test.concurrent('has no room for an export, a copy, a restored mirror or a report: what was there stays, and nothing else', async () => {
    using disk = makeSmallDisk(SOAK ? '2m' : '1m')
    await using stage = await makeStage({ tasks: SOAK ? 2000 : 1000, openFraction: 0 })
    expect((await stage.sync()).code).toBe(0)
    writeFileSync(disk.path('tasks.ndjson'), 'what was there before')
    writeFileSync(disk.path('copy.sqlite'), 'what was there before')
    writeFileSync(disk.path('report.html'), 'what was there before')
    const args: string[][] = [
      ['export', '--no-redact', '--out', disk.path('tasks.ndjson')],
      ['export', '--format', 'ndjson', '--compression', 'none', '--out', `${disk.path('lake')}/`],
      ['copy', '--out', disk.path('copy.sqlite')],
      ['restore', stage.mirrorPath, '--db', disk.path('restored.sqlite')],
      ['report', '--out', disk.path('report.html')],
    ]
    // All but the report are larger than the disk; it gets a full one.
    for (const each of args) {
      if (each[0] === 'report') disk.fill()
      expectTold(await stage.runHere(each), disk.dir)
      for (const name of ['tasks.ndjson', 'copy.sqlite', 'report.html']) {
        expect(readFileSync(disk.path(name), 'utf8')).toBe('what was there before')
      }
      const lake = each[0] === 'export' && each.includes(`${disk.path('lake')}/`) ? readdirSync(disk.path('lake')) : []
      expect([...leftOvers(disk.dir), ...lake]).toEqual([])
      expect(existsSync(disk.path('restored.sqlite'))).toBe(false)
    }
    disk.resize('64m')
    for (const each of args) expect(await stage.runHere(each), each.join(' ')).toMatchObject({ code: 0 })
  })

  test.concurrent('that has no room for the holder’s name gives the lock back', async () => {
    using disk = makeSmallDisk('8m')
    await using stage = await makeStage({ tasks: 300, openFraction: 0 })
    const db = disk.path('mirror.sqlite')
    expect(await stage.runHere(['sync', '--db', db])).toMatchObject({ code: 0 })
    disk.fill()
    expectTold(await stage.runHere(['sync', '--db', db]), `The disk of ${db} is full`)
    disk.resize('64m')
    expect(await stage.runHere(['sync', '--db', db])).toMatchObject({ code: 0 })
  })
})

// /dev/full takes nothing, as a disk without room does.
test
  .skipIf(process.platform !== 'linux')
  .concurrent(
    'a log that cannot be written ends no run: the work is done, and exit 7 tells of the lost lines',
    async () => {
      await using stage = await makeStage({ tasks: 300, openFraction: 0 })
      expect(await runInto(stage, ['sync'], { stderr: '/dev/full' })).toBe(7)
      expect(stage.rows('SELECT outcome, exit_code FROM runs')).toEqual([{ outcome: 'ok', exit_code: 0 }])
      expect(stage.value('SELECT count(*) FROM tasks')).toBe(300)
      // Where there is nothing to be told, nothing is lost.
      expect(await runInto(stage, ['status'], { stderr: '/dev/full' })).toBe(0)
    },
  )

test.skipIf(process.platform === 'win32').concurrent('nor does a log into a pipe that nobody reads', async () => {
  await using stage = await makeStage({ tasks: 300, openFraction: 0 })
  const pipe = join(stage.dir, 'pipe')
  execFileSync('mkfifo', [pipe])
  const full = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  expect(() => {
    for (;;) writeSync(full, Buffer.alloc(4096))
  }).toThrow('EAGAIN')
  expect(await runInto(stage, ['sync'], { stderr: pipe })).toBe(7)
  expect(stage.rows('SELECT outcome, exit_code FROM runs')).toEqual([{ outcome: 'ok', exit_code: 0 }])
  closeSync(full)
})

test
  .skipIf(process.platform !== 'linux')
  .concurrent.for(
    few(
      [['status'], ['status', '--json'], ['export', '--out', '-'], ['config', 'show'], ['get', 'ID']],
      (_, n) => n > 0 && n < 3,
    ),
  )('stdout on a full disk is exit 7 for %j', async (args) => {
  await using stage = await makeStage({ tasks: 300, openFraction: 0 })
  expect((await stage.sync()).code).toBe(0)
  const id = stage.value<string>('SELECT id FROM tasks LIMIT 1')
  const stderr = join(stage.dir, 'stderr')
  const code = await runInto(
    stage,
    args.map((arg) => (arg === 'ID' ? id : arg)),
    { stdout: '/dev/full', stderr },
  )
  expect({ code, stderr: readFileSync(stderr, 'utf8') }).toEqual({
    code: 7,
    stderr: expect.stringMatching(/full|ENOSPC/),
  })
})

/** Exit 7, and one error that names what is full and what to do. */
function expectTold({ code, stderr }: { code: number | null; stderr: string }, place: string): void {
  expect(code, stderr).toBe(7)
  const errors = stderr.split('\n').filter((line) => line.includes('"level":"error"'))
  expect(errors, stderr).toHaveLength(1)
  expect(JSON.parse(errors[0]!)).toMatchObject({
    code: 'disk-full',
    msg: expect.stringContaining(place),
    hint: 'Free some space and run the same command again.',
  })
}

/** Runs with the streams on these files; gives the exit code. */
function runInto(
  stage: Stage,
  args: readonly string[],
  files: { stdout?: string; stderr?: string },
): Promise<number | null> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const [stdout, stderr] = [files.stdout, files.stderr].map((path) => openSync(path ?? '/dev/null', 'w')) as [
    number,
    number,
  ]
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: stage.dir,
    env: { PATH, HOME, NODE_COMPILE_CACHE, TASK_MIRROR_BASE_URL: stage.simulator.url },
    stdio: ['ignore', stdout, stderr],
    timeout: HANGS_MS,
    killSignal: 'SIGKILL',
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      closeSync(stdout)
      closeSync(stderr)
      resolve(code)
    })
  })
}
