// Issue 5: stopping in the middle of a statement that takes SQLite minutes, the second signal, and the lock of a holder
// that was killed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { makeStage, SOAK, type Stage, stateSeenByAnotherProcess } from '../acceptance/stage.ts'
import { startCli } from '../support/cli.ts'

/** Makes every insert of a task take SQLite minutes, in one statement. */
function slowDown(stage: Stage): void {
  const db = new Database(stage.mirrorPath)
  db.exec(`CREATE VIEW minutes AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900000000)
    SELECT count(*) AS n FROM n;
    CREATE TRIGGER slow BEFORE INSERT ON tasks BEGIN SELECT n FROM minutes; END`)
  db.close()
}

function speedUp(stage: Stage): void {
  const db = new Database(stage.mirrorPath)
  db.exec('DROP TRIGGER slow; DROP VIEW minutes')
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
  // The answer is on its way: give the statement the time to begin.
  await new Promise((resolve) => setTimeout(resolve, 700))
  return running
}

// The statement burns a core until the process leaves, so one signal has to do; both take the same way (signals.test.ts).
const SIGNALS = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const

test.concurrent.for(SIGNALS.slice(0, SOAK ? 2 : 1))(
  '%s during a long SQLite statement is exit %i within 5 s, and the statement is as if it had never been',
  async ([signal, exit]) => {
    await using stage = await makeStage({ tasks: 600, openFraction: 0 })
    const running = await startLongStatement(stage)
    const began = Date.now()
    running.process.kill(signal)
    const { code, signal: by } = await running.ended
    expect({ code, by }).toEqual({ code: exit, by: null })
    expect(Date.now() - began).toBeGreaterThan(1000)
    expect(Date.now() - began).toBeLessThan(5500)
    expect(await stateSeenByAnotherProcess(stage)).toMatchObject({ integrity: 'ok', tasks: 600 })
    speedUp(stage)
    expect((await stage.sync()).summary).toMatchObject({ outcome: 'ok', inserted: 20 })
  },
)

test.concurrent('a second signal during a long SQLite statement stops at once', async () => {
  await using stage = await makeStage({ tasks: 600, openFraction: 0 })
  const running = await startLongStatement(stage)
  const began = Date.now()
  running.process.kill('SIGTERM')
  running.process.kill('SIGINT')
  const { code } = await running.ended
  expect([130, 143]).toContain(code)
  expect(Date.now() - began).toBeLessThan(2000)
  expect(await stateSeenByAnotherProcess(stage)).toMatchObject({ integrity: 'ok', tasks: 600 })
})

test.concurrent('a signal ends the check of a large file at once: it runs in a process of its own', async () => {
  await using stage = await makeStage({ tasks: 600, openFraction: 0 })
  expect((await stage.sync()).code).toBe(0)
  // Pages of one table in the wrong order are a long way for integrity_check; here an index over an expression is.
  const db = new Database(stage.mirrorPath)
  db.exec(`CREATE TABLE large (n INTEGER PRIMARY KEY, t TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 400000) INSERT INTO large SELECT i, hex(i) FROM n;
    CREATE INDEX large_t ON large (t); CREATE INDEX large_tn ON large (t, n); CREATE INDEX large_nt ON large (n, t)`)
  db.close()
  const running = startCli(['verify', '--db', stage.mirrorPath], {
    cwd: stage.dir,
    env: { TASK_MIRROR_LOG_LEVEL: 'debug' },
  })
  // That process is there: the signal comes while it works.
  const { pid } = running.process
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  if (process.platform === 'linux') await vi.waitUntil(() => children() !== '', { timeout: 20_000 })
  else await new Promise((resolve) => setTimeout(resolve, 600))
  const began = Date.now()
  running.process.kill('SIGTERM')
  const { code, stdout } = await running.ended
  expect({ code, stdout }).toEqual({ code: 143, stdout: '' })
  expect(Date.now() - began).toBeLessThan(1500)
})

test.concurrent('the second of two runs leaves with 6 in less than 2 s, names the holder and sends nothing', async () => {
  await using stage = await makeStage({ tasks: 3000, faults: ({ n }) => (n >= 2 ? { hang: true } : null) })
  writeFileSync(join(stage.dir, 'task-mirror.json'), '{"service": {"concurrency": 1}}')
  const holder = await stage.startUntilAsked(3, ['sync'])
  const asked = stage.simulator.requests
  const tookMs: number[] = []
  for (const args of [['sync'], ['backfill'], ['prune', '--deleted-before', '1d']]) {
    const began = Date.now()
    const { code, stderr } = await stage.run(args)
    expect({ args, code }).toEqual({ args, code: 6 })
    tookMs.push(Date.now() - began)
    expect(stderr).toMatch(/Another run holds the mirror .* \(pid \d+, sync, since 20/)
  }
  // The quickest: a machine that has much else to do makes the start of a process long.
  expect(Math.min(...tookMs)).toBeLessThan(2000)
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
