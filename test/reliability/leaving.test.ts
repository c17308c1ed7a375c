// Issue 5: stopping in the middle of a statement that takes SQLite minutes, the second signal, and the lock of a holder
// that was killed.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { makeStage, type Stage, stateSeenByAnotherProcess } from '../acceptance/stage.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { startCli } from '../support/cli.ts'
import { few, SOAK } from '../support/soak.ts'

/** Makes every insert of a task take SQLite minutes, in one statement. */
function slowDown(stage: Stage): void {
  changeMirror(
    stage.mirrorPath,
    `CREATE VIEW minutes AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900000000)
    SELECT count(*) AS n FROM n;
    CREATE TRIGGER slow BEFORE INSERT ON tasks BEGIN SELECT n FROM minutes; END`,
  )
}

function speedUp(stage: Stage): void {
  changeMirror(stage.mirrorPath, 'DROP TRIGGER slow; DROP VIEW minutes')
}

const LOOKS = 50

/**
 * Resolves when the write lock was held in every one of so many looks. Whoever holds it for a few milliseconds of work is as
 * slow as this process is.
 */
async function untilLongHeld(path: string): Promise<void> {
  const db = new Database(path, { timeout: 0 })
  const isHeld = () => {
    try {
      db.exec('BEGIN IMMEDIATE; ROLLBACK')
      return false
    } catch {
      return true
    }
  }
  for (let held = 0; held < LOOKS; held = isHeld() ? held + 1 : 0) await sleep(5)
  db.close()
}

/** A `sync` that new tasks have brought into such a statement. */
async function startLongStatement(stage: Stage) {
  expect((await stage.sync()).code).toBe(0)
  stage.simulator.account.insert(20, { openShare: 0 })
  // Once the mirror has been opened: it would be refused with somebody else's trigger on it.
  const off = stage.simulator.onBeforeRequest(() => {
    off()
    slowDown(stage)
  })
  const running = await stage.startUntilAsked(1, ['sync'])
  await untilLongHeld(stage.mirrorPath)
  return running
}

// The statement burns a core until the process leaves, so one signal has to do; both take the same way (signals.test.ts).
const SIGNALS = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const

test.concurrent.for(few(SIGNALS, ([signal]) => signal === 'SIGTERM'))(
  '%s during a long SQLite statement is exit %i within 5 s, and the statement is as if it had never been',
  async ([signal, exit]) => {
    await using stage = await makeStage({ tasks: 600, openFraction: 0 })
    const running = await startLongStatement(stage)
    const began = Date.now()
    running.process.kill(signal)
    const { code, signal: by } = await running.ended
    expect({ code, by }).toEqual({ code: exit, by: null })
    // The grace of 4 s, and nothing else: the statement goes on for minutes, and is slow where this machine is.
    expect(Date.now() - began).toBeGreaterThan(3900)
    expect(await stateSeenByAnotherProcess(stage)).toMatchObject({ integrity: 'ok', tasks: 600 })
    speedUp(stage)
    expect((await stage.sync()).summary).toMatchObject({ outcome: 'ok', inserted: 20 })
  },
)

test.concurrent('a second signal during a long SQLite statement stops at once', async () => {
  await using stage = await makeStage({ tasks: 600, openFraction: 0 })
  const running = await startLongStatement(stage)
  running.process.kill('SIGTERM')
  // It has been heard once what came after it is answered.
  running.process.kill('SIGUSR2')
  await running.untilStderr(/Progress: /)
  running.process.kill('SIGINT')
  // After the grace of the first it would be that one's code.
  expect((await running.ended).code).toBe(130)
  expect(await stateSeenByAnotherProcess(stage)).toMatchObject({ integrity: 'ok', tasks: 600 })
})

test.concurrent('a first dry run that is killed leaves nothing of what the service sent', async () => {
  await using stage = await makeStage({ tasks: 600, latencyMs: 200 })
  const temporary = join(stage.dir, 'temporary')
  mkdirSync(temporary)
  const env = { TASK_MIRROR_BASE_URL: stage.simulator.url, TMPDIR: temporary }
  const running = startCli(['sync', '--dry-run'], { cwd: stage.dir, env })
  await running.untilStderr(/Run begins/)
  running.process.kill('SIGKILL')
  expect((await running.ended).signal).toBe('SIGKILL')
  expect(readdirSync(temporary)).toEqual([])
})

/** A `verify` whose check takes for ever: it is stopped at its beginning. */
async function stopCheck(stage: Stage) {
  for (;;) {
    const running = startCli(['verify', '--db', stage.mirrorPath], { cwd: stage.dir })
    const { pid } = running.process
    const find = () => {
      try {
        const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
        // Not before it is a program of its own: its parent waits for that.
        return children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'latin1').includes('statement-worker'))
      } catch {
        return undefined
      }
    }
    while (running.process.exitCode === null) {
      const checking = find()
      if (checking !== undefined) {
        process.kill(Number(checking), 'SIGSTOP')
        return { running, checking }
      }
      await sleep(1)
    }
    // It was over before this process, which has other things to do, had looked: again.
  }
}

// Other systems do not tell who started whom.
test
  .skipIf(process.platform !== 'linux')
  .concurrent(
    'a signal ends the check of a file at once, however long it takes: it runs in a process of its own',
    async () => {
      await using stage = await makeStage({ tasks: 600, openFraction: 0 })
      expect((await stage.sync()).code).toBe(0)
      const { running, checking } = await stopCheck(stage)
      running.process.kill('SIGTERM')
      const { code, stdout, stderr } = await running.ended
      expect({ code, stdout }).toEqual({ code: 143, stdout: '' })
      expect(stderr).toContain('Stopped by SIGTERM: The check was interrupted')
      // The grace would have left it behind.
      expect(existsSync(`/proc/${checking}`)).toBe(false)
    },
  )

test.skipIf(process.platform !== 'linux').concurrent('a process whose parent is gone ends without a word', async () => {
  await using stage = await makeStage({ tasks: 600, openFraction: 0 })
  expect((await stage.sync()).code).toBe(0)
  const { running, checking } = await stopCheck(stage)
  running.process.kill('SIGKILL')
  process.kill(Number(checking), 'SIGCONT')
  // It has the same stderr, which ends with the last of the two.
  expect(await running.ended).toMatchObject({ signal: 'SIGKILL', stderr: '' })
})

test.concurrent('the second of two runs leaves with 6 at once, names the holder and sends nothing', async () => {
  await using stage = await makeStage({ tasks: 1500, faults: ({ n }) => (n >= 2 ? { hang: true } : null) })
  // Whoever waited for the lock as for a statement, or for the holder, would do so for ever.
  writeFileSync(
    join(stage.dir, 'task-mirror.json'),
    '{"service": {"concurrency": 1, "requestTimeoutMs": 3600000}, "mirror": {"busyTimeoutMs": 3600000}}',
  )
  const holder = await stage.startUntilAsked(3, ['sync'])
  const asked = stage.simulator.requests
  for (const args of [['sync'], ['backfill'], ['prune', '--deleted-before', '1d']]) {
    const { code, stderr } = await (args[0] === 'sync' || SOAK ? stage.run(args) : stage.runHere(args))
    expect({ args, code }).toEqual({ args, code: 6 })
    expect(stderr).toMatch(/Another run holds the mirror .* \(pid \d+, sync, since 20[-\d]{8} [\d:]{8} UTC\)/)
  }
  expect(stage.simulator.requests).toBe(asked)
  holder.process.kill('SIGKILL')
  await holder.ended

  // What it wrote beside the mirror stays, and keeps nobody out.
  expect(existsSync(`${stage.mirrorPath}.holder`)).toBe(true)
  expect(await stage.runHere(['prune', '--deleted-before', '1d'])).toMatchObject({ code: 0 })
  expect(existsSync(`${stage.mirrorPath}.holder`)).toBe(false)
})

test.concurrent('a lock and a holder of a machine that lost its power keep nobody out', async () => {
  await using stage = await makeStage({ tasks: 200, openFraction: 0 })
  writeFileSync(`${stage.mirrorPath}.lock`, '')
  writeFileSync(`${stage.mirrorPath}.holder`, 'pid 1, sync, since 2020-01-01T00:00:00.000Z\n')
  expect(await stage.sync()).toMatchObject({ code: 0 })
})
