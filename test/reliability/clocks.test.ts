// Clocks that are wrong, or jump: nothing may look fresh, or not be due, because a moment was stored in the future.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { exportSnapshot } from '../../src/export/export.ts'
import type { Log } from '../../src/log.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { believedFacts, writeFacts } from '../../src/mirror/tables/facts.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { replaySetAside } from '../../src/sync/one-off/replay.ts'
import { runSync } from '../../src/sync/run.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { runHere, startCli } from '../support/cli.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const DAY = 86_400_000
const AHEAD = 400 * DAY

/** Moves everything the mirror has stored of its own clock by `ms`, as if the clock had been wrong all the time. */
function shiftClock(path: string, ms: number): void {
  const db = new Database(path)
  for (const [table, columns] of Object.entries({
    walks: ['started_at', 'updated_at', 'finished_at'],
    runs: ['started_at', 'finished_at'],
    open_checks: ['checked_at', 'next_check_at'],
    service_facts: ['observed_at'],
    snapshots: ['published_at'],
  })) {
    db.exec(`UPDATE ${table} SET ${columns.map((name) => `${name} = ${name} + ${ms}`).join(', ')}`)
  }
  db.close()
}

function collecting() {
  const warned: string[] = []
  const nothing = () => undefined
  const log: Log = { debug: nothing, info: nothing, error: nothing, warn: (_, text) => void warned.push(text) }
  return { log, warned }
}

test('after a run under a clock 400 days ahead, deletions are seen and open checks come, and it is told once', async () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  await using simulator = await startSimulator({ tasks: 120, openFraction: 0.1 })
  const { log, warned } = collecting()
  const run = (ahead: number) =>
    runSync(makeRunContext(simulator.url, path, { log, now: () => Date.now() + ahead }), { command: 'sync' })
  await run(AHEAD)
  simulator.account.remove(3)
  simulator.account.finish(2)
  expect((await runHere(['status', '--max-age', '1s', '--db', path], {})).code).toBe(3)
  const { summary } = await run(0)
  expect(summary).toMatchObject({ outcome: 'ok', deleted: 3, updated: 2 })
  expect(warned.filter((text) => text.includes('the clock was wrong'))).toHaveLength(1)
  const next = await run(0)
  expect(next.summary.plan).not.toContain('full')
  expect(warned.filter((text) => text.includes('the clock was wrong'))).toHaveLength(1)
  expect((await runHere(['status', '--max-age', '1m', '--db', path], {})).code).toBe(0)
})

test.each([
  [-DAY, /^This machine's clock is 1d behind the service's: .*NTP/],
  [2 * DAY, /^This machine's clock is 2d ahead of the service's: .*NTP/],
  [20_000, null],
])('a run whose clock is %d ms off says so once, and ends as it would have', async (ahead, says) => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 120, openFraction: 0 })
  const context = makeRunContext(simulator.url, scratch.path('m.sqlite'), { now: () => Date.now() + ahead })
  const { exitCode, notes } = await runSync(context, { command: 'sync' })
  expect({ exitCode, notes }).toEqual({ exitCode: 0, notes: says === null ? [] : [expect.stringMatching(says)] })
})

test('an open task that was checked in the future is asked for again, though no full walk meets it', async () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  // Oldest ones open: beyond the reach of a head walk.
  await using simulator = await startSimulator({ tasks: 60, openFraction: 0.2 })
  const context = makeRunContext(simulator.url, path, { sync: { window: 5, overlap: 2 } })
  await runSync(context, { command: 'sync' })
  await runSync(context, { command: 'sync' })
  changeMirror(
    path,
    `UPDATE open_checks SET checked_at = ${Date.now() + AHEAD}, next_check_at = ${Date.now() + AHEAD + 60_000}`,
  )
  const finished = simulator.account.finish(100)
  const { summary } = await runSync(context, { command: 'sync' })
  expect(summary.plan).not.toContain('full')
  expect(summary).toMatchObject({ updated: finished.length, openTasks: 0 })
})

test('a wait that was stored under a clock ahead, or from before it was set back, keeps no run away for long', async () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  await using simulator = await startSimulator({ tasks: 20 })
  const context = makeRunContext(simulator.url, path)
  await runSync(context, { command: 'sync' })
  const store = (untilMs: number, observedMs: number) => {
    const db = new Database(path)
    db.prepare("INSERT OR REPLACE INTO service_facts (key, value, observed_at) VALUES ('not_before', ?, ?)").run(
      String(Date.now() + untilMs),
      Date.now() + observedMs,
    )
    db.close()
  }
  store(DAY / 2, 0)
  expect((await runSync(context, { command: 'sync' })).error).toMatchObject({ code: 'not-before' })
  for (const [until, observed] of [
    [AHEAD, AHEAD - 1000],
    [DAY / 2, DAY / 2 - 1000],
    [2 * DAY, -1000],
  ] as const) {
    store(until, observed)
    expect((await runSync(context, { command: 'sync' })).summary.outcome).toBe('ok')
  }
})

test('`status --max-age`, /healthz, /metrics and the report know no age of a mirror from the future, service gone', async () => {
  using scratch = makeScratch()
  const simulator = await startSimulator({ tasks: 30 })
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_SERVICE_MAX_RETRIES: '0' }
  await runHere(['sync'], { ...env, TASK_MIRROR_DB: scratch.path('task-mirror.sqlite') })
  await simulator.close()
  shiftClock(scratch.path('task-mirror.sqlite'), AHEAD)
  const path = scratch.path('task-mirror.sqlite')
  const here = (...args: string[]) => runHere([...args, '--db', path], env)
  const status = await here('status', '--max-age', '1s', '--json')
  expect([status.code, JSON.parse(status.stdout)]).toMatchObject([3, { ageMs: null, stale: true }])
  const text = await here('status')
  expect(text.stdout).toContain('not known: the last walk is dated in the future')
  const report = await here('report', '--out', '-')
  expect(report.stdout).toContain('in the future: the clock was wrong')
  const running = startCli(['schedule', '--listen', '127.0.0.1:0', '--json'], { cwd: scratch.dir, env })
  const { url } = JSON.parse(await running.untilStdout(/\n/))
  const health = await fetch(`${url}/healthz`)
  expect([health.status, await health.json()]).toMatchObject([503, { reason: /dated in the future/ }])
  expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^task_mirror_fresh_timestamp_seconds 0$/m)
  running.process.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

test('a schedule that starts on a mirror from the future syncs at once, walks fully and is well', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 30 })
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_SCHEDULE_JITTER_MS: '0' }
  await runHere(['sync'], { ...env, TASK_MIRROR_DB: scratch.path('task-mirror.sqlite') })
  shiftClock(scratch.path('task-mirror.sqlite'), AHEAD)
  simulator.account.remove(2)
  // Once a year: only the moments that have passed make it due.
  const args = ['schedule', '--listen', '127.0.0.1:0', '--json', '--sync', '0 0 1 1 *']
  const running = startCli(args, { cwd: scratch.dir, env })
  const { url } = JSON.parse(await running.untilStdout(/\n/))
  expect(await running.untilStderr(/"Run ended"/)).toMatch(/"deleted":2/)
  await expect.poll(async () => (await fetch(`${url}/healthz`)).status).toBe(200)
  running.process.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

test('of published snapshots one from the future does not stand for the newest', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 10 })
  const path = scratch.path('task-mirror.sqlite')
  const out = scratch.path('out/')
  await runSync(makeRunContext(simulator.url, path), { command: 'sync' })
  const publish = (ahead: number) =>
    exportSnapshot({ dbPath: path, out, redact: [], toolVersion: '0', keep: 2, now: () => Date.now() + ahead })
  const future = await publish(AHEAD)
  const second = await publish(0)
  const third = await publish(0)
  expect(second.removed).toEqual([])
  expect(third.removed).toEqual([future.snapshotId])
  const feed = await exportSnapshot({ dbPath: path, out, redact: [], toolVersion: '0', changes: 'last' })
  expect(feed).toMatchObject({ rows: 0, sinceSeq: third.cut })
})

test('an unreadable place is not taken for read by a full walk from the future', async () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  await using simulator = await startSimulator({ tasks: 10 })
  await runSync(makeRunContext(simulator.url, path), { command: 'sync' })
  shiftClock(path, AHEAD)
  changeMirror(
    path,
    `INSERT INTO rejected_items (run_id, source, skip, reason, message, raw, raw_hash, seen_at)
    VALUES (1, 'list', 3, 'unreadable', 'HTTP 500', '', x'00', ${Date.now()})`,
  )
  const replay = (now: () => number) => replaySetAside(makeRunContext(simulator.url, path, { now }))
  expect(await replay(Date.now)).toMatchObject({ settled: 0, left: 1 })
  expect(await replay(() => Date.now() + AHEAD + DAY)).toMatchObject({ settled: 1, left: 0 })
})

/** The context of a run under a clock that is `ahead` ms ahead; `onWalkEnd` is called with the end of each walk. */
function contextAhead(url: string, path: string, ahead: number, onWalkEnd: () => void = () => undefined) {
  const nothing = () => undefined
  const info: Log['info'] = (_, text) => {
    if (text === 'Walk ended') onWalkEnd()
  }
  return makeRunContext(url, path, {
    now: () => Date.now() + ahead,
    log: { debug: nothing, warn: nothing, error: nothing, info },
  })
}

test('what was stored under a clock ahead is no newer than what a run is shown between two of its walks', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 60, openFraction: 0 })
  const { account } = simulator
  await runSync(contextAhead(simulator.url, path, AHEAD), { command: 'sync' })
  await runSync(contextAhead(simulator.url, path, 0), { command: 'sync' })
  const newest = account.idAt(0)
  let ended = 0
  const context = contextAhead(simulator.url, path, 0, () => {
    ended += 1
    if (ended === 1) account.update([newest])
  })
  const { exitCode, summary } = await runSync(context, { command: 'sync', full: true })
  expect({ exitCode, plan: summary.plan.slice(0, 2), updated: summary.updated }).toEqual({
    exitCode: 0,
    plan: ['head', 'full'],
    updated: 1,
  })
})

test('a text that was set aside is not dropped as older than what was stored under a clock ahead', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 10, openFraction: 0 })
  await runSync(contextAhead(simulator.url, path, AHEAD), { command: 'sync' })
  const id = simulator.account.idAt(0)
  simulator.account.update([id])
  const db = new Database(path)
  db.prepare(
    `INSERT INTO rejected_items (run_id, source, skip, reason, message, raw, raw_hash, seen_at)
     VALUES (1, 'list', 0, 'not-an-object', '', ?, x'00', ?)`,
  ).run(simulator.account.get(id), Date.now())
  db.close()
  expect(await replaySetAside(contextAhead(simulator.url, path, 0))).toMatchObject({ taken: 0, left: 1 })
})

test('a result that was owed first under a clock ahead is waited for no longer than any other', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 10, openFraction: 0 })
  const { account } = simulator
  const id = account.idAt(0)
  const { result: _, ...rest } = JSON.parse(account.get(id) as string)
  account.replaceText(id, JSON.stringify(rest))
  const run = async (ahead: number) =>
    (await runSync(contextAhead(simulator.url, path, ahead), { command: 'sync' })).exitCode
  expect(await run(AHEAD)).toBe(3)
  for (const days of [1, 2, 3]) await run(AHEAD + days * DAY)
  await run(2 * DAY)
  expect(await run(2 * DAY + 1000)).toBe(0)
})

test('a front that was read under a clock ahead does not end a walk by last update', () => {
  using scratch = makeScratch()
  const db = openWriter(scratch.path('m.sqlite'), { busyTimeoutMs: 1000, fileMode: 0o600 })
  const now = Date.now()
  writeFacts(db, { front: ['a'], front_at: now + AHEAD, order: 'updated_desc' }, now)
  expect(believedFacts(db, now, 60_000)).toEqual({ order: 'updated_desc' })
  expect(believedFacts(db, now + AHEAD, 60_000)).toMatchObject({ front: ['a'] })
  db.close()
})

test('what was set aside under a clock ahead is over once a complete full walk finds it in order', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 10, openFraction: 0 })
  const { account } = simulator
  const id = account.idAt(4)
  const whole = account.get(id) as string
  account.replaceText(id, '["no task"]')
  const run = (ahead: number) => runSync(contextAhead(simulator.url, path, ahead), { command: 'sync', full: true })
  const waiting = () => {
    const db = new Database(path)
    const count = db.prepare('SELECT count(*) FROM rejected_items WHERE replayed_at IS NULL').pluck().get()
    db.close()
    return count
  }
  expect((await run(AHEAD)).exitCode).toBe(3)
  // The walk that meets it again does not take it for over.
  expect([(await run(0)).exitCode, waiting()]).toEqual([0, 1])
  await run(AHEAD)
  account.replaceText(id, whole)
  expect([(await run(0)).exitCode, waiting()]).toEqual([0, 0])
})
