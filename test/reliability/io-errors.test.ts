// Issue 5: the disk fails at a chosen system call: EIO or ENOSPC, once or from then on. Exit 7 with a sentence, nothing
// half-written, old data readable, and the same command works when the disk does.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeStage, type Stage, stateSeenByAnotherProcess } from '../acceptance/stage.ts'
import { few, SOAK } from '../support/soak.ts'
import { expectExactLines, leftOvers } from './crash.ts'
import { runTraced, type Traced, tracingMissing } from './tracing.ts'

const ENV = { TASK_MIRROR_SYNC_WINDOW: '60' }

async function smallStage(): Promise<Stage> {
  return makeStage({ tasks: 300, openFraction: 0, order: 'created_asc', compression: 'none' })
}

function failing(stage: Stage, args: readonly string[], inject: string, paths: string[] = []): Promise<Traced> {
  return runTraced([...args], {
    cwd: stage.dir,
    env: { TASK_MIRROR_BASE_URL: stage.simulator.url, ...ENV },
    inject,
    paths: paths.map((name) => join(stage.dir, name)),
  })
}

/** Exit 7 and the last sentence of the log, which says what is wrong and what to do. */
function expectTold({ code, stderr }: Traced, what: RegExp): void {
  expect(code, stderr).toBe(7)
  const told = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string; code?: string; hint?: string; msg: string })
    .filter(({ level }) => level === 'error')
  expect(told, stderr).toHaveLength(1)
  expect(told[0]).toMatchObject({ msg: expect.stringMatching(what), hint: expect.stringMatching(/\w/) })
  expect(told[0]!.code).not.toBe('bug')
}

interface Fault {
  what: string
  inject: string
  paths?: string[]
  says: RegExp
}

const DISK = /is full|cannot be (read or )?written/

const SYNC_FAULTS: Fault[] = [
  { what: 'EIO at the first sync of the WAL of a new mirror', inject: 'fsync:error=EIO:when=5', says: DISK },
  { what: 'EIO at the checkpoint of a new mirror', inject: 'fsync:error=EIO:when=7', says: DISK },
  { what: 'ENOSPC at the rename of a new mirror', inject: 'rename:error=ENOSPC:when=1', says: DISK },
  {
    what: 'ENOSPC when the lock is written',
    inject: 'write:error=ENOSPC',
    paths: ['task-mirror.sqlite.holder'],
    says: DISK,
  },
  {
    what: 'ENOSPC from the tenth write of the WAL on',
    inject: 'pwrite64:error=ENOSPC:when=10+',
    paths: ['task-mirror.sqlite-wal'],
    says: DISK,
  },
  {
    what: 'EIO at one write of the WAL',
    inject: 'pwrite64:error=EIO:when=30',
    paths: ['task-mirror.sqlite-wal'],
    says: DISK,
  },
  {
    what: 'ENOSPC at the checkpoint',
    inject: 'pwrite64:error=ENOSPC:when=3+',
    paths: ['task-mirror.sqlite'],
    says: DISK,
  },
  { what: 'EIO at the sync of the checkpoint', inject: 'fsync:error=EIO', paths: ['task-mirror.sqlite'], says: DISK },
]

describe.skipIf(tracingMissing !== null)(`a disk that fails (${tracingMissing ?? 'by strace'})`, () => {
  test.concurrent.for(few(SYNC_FAULTS, (_, n) => n === 3 || n === 5 || n === 7))(
    'during a sync, $what: exit 7, what was committed stays, the next run ends it',
    async ({ inject, paths, says }) => {
      await using stage = await smallStage()
      expectTold(await failing(stage, ['sync'], inject, paths), says)
      const state = await stateSeenByAnotherProcess(stage)
      if (state !== null) {
        expect(state).toMatchObject({ integrity: 'ok', tasks: state.met })
        expect((await stage.runHere(['status'])).code).toBe(0)
      }
      expect(leftOvers(stage.dir)).toEqual([])
      const next = await stage.sync()
      expect(next.summary).toMatchObject({ outcome: 'ok', verdict: 'complete' })
      const exported = await stage.runHere(['export', '--out', '-', '--no-redact', '--quiet'])
      expectExactLines(stage, exported.stdout)
    },
  )

  // SQLite repeats some by itself: then all is well.
  test.runIf(SOAK)(
    'each sync of a first run fails once: the mirror is whole, or exit 7 and the next run makes it so',
    {
      timeout: 900_000,
    },
    async () => {
      await using count = await smallStage()
      const whole = await runTraced(['sync', '--quiet'], {
        cwd: count.dir,
        env: { TASK_MIRROR_BASE_URL: count.simulator.url, ...ENV },
      })
      const syncs = whole.points.filter(({ call }) => call === 'fsync').length
      const codes: (number | null)[] = []
      for (let nth = 1; nth <= syncs; nth += 1) {
        await using stage = await smallStage()
        const run = await failing(stage, ['sync'], `fsync:error=EIO:when=${nth}`)
        codes.push(run.code)
        if (run.code !== 0) expectTold(run, DISK)
        expect((await stateSeenByAnotherProcess(stage))?.integrity ?? 'ok').toBe('ok')
        const next = await stage.sync()
        expect(next.summary).toMatchObject({ outcome: 'ok', verdict: 'complete' })
        expect(stage.value('SELECT count(*) FROM live_tasks')).toBe(300)
      }
      console.log(`each of ${syncs} syncs failed once: exit ${codes.join(' ')}`)
    },
  )

  const EXPORT_FAULTS: { what: string; args: string[]; inject: string }[] = [
    { what: 'EIO at the sync of a file', args: ['--out', 'out.parquet'], inject: 'fsync:error=EIO:when=1' },
    { what: 'EIO at the rename of a file', args: ['--out', 'out.parquet'], inject: 'rename:error=EIO:when=1' },
    { what: 'EIO at the sync of a manifest', args: ['--out', 'lake/'], inject: 'fsync:error=EIO:when=2' },
    { what: 'ENOSPC at the rename of a dataset', args: ['--out', 'lake/'], inject: 'rename:error=ENOSPC:when=1' },
    { what: 'EIO at the rename of latest.json', args: ['--out', 'lake/'], inject: 'rename:error=EIO:when=2' },
  ]

  test('during an export: exit 7, what was there before is untouched, no file is left', async () => {
    await using stage = await smallStage()
    expect((await stage.sync()).code).toBe(0)
    expect((await stage.runHere(['export', '--out', join(stage.dir, 'lake/')])).code).toBe(0)
    const before = filesIn(stage.dir)
    for (const { what, args, inject } of few(EXPORT_FAULTS, (_, n) => n === 0 || n === 4)) {
      const out = join(stage.dir, args[1]!)
      const isFile = !args[1]!.endsWith('/')
      if (isFile) writeFileSync(out, 'what was there before')
      const told = await failing(stage, ['export', ...args, '--quiet'], inject)
      expect({ what, code: told.code, err: told.stderr }).toMatchObject({ what, code: 7 })
      expect(told.stderr).toMatch(DISK)
      if (isFile) {
        expect(readFileSync(out, 'utf8')).toBe('what was there before')
        rmSync(out)
      }
      expect(leftOvers(stage.dir), what).toEqual([])
      if (isFile) expect(filesIn(stage.dir)).toEqual(before)
      else
        expect(await stage.runHere(['verify', '--snapshot', join(stage.dir, 'lake')]), what).toMatchObject({ code: 0 })
      expect(await stage.runHere(['export', '--out', out]), what).toMatchObject({ code: 0 })
      if (isFile) rmSync(out)
    }
  })
})

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^\.trace-|-(wal|shm)$/.test(name))
    .sort()
}
