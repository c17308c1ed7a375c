// The built command: runs against the simulator until it is told to stop.
import { existsSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { openReader } from '../../src/mirror/open.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runInside, startCli } from '../support/cli.ts'
import { samplesOf } from '../support/prometheus.ts'
import { makeScratch } from '../support/scratch.ts'

const EVERY_SECOND = '* * * * * *'
const EVERY_OTHER_SECOND = '*/2 * * * * *'

async function until<T>(look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== null) return found
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
}

/** What a process has open, by path. */
function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)]
    } catch {
      return []
    }
  })
}

test('keeps a changing account mirrored and published, tells how it is, and ends with 0 on SIGTERM', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 300 })
  const env = {
    TASK_MIRROR_SCHEDULE_SYNC: EVERY_SECOND,
    TASK_MIRROR_SCHEDULE_EXPORT: EVERY_OTHER_SECOND,
    TASK_MIRROR_SCHEDULE_LISTEN: '127.0.0.1:0',
    TASK_MIRROR_BASE_URL: simulator.url,
    TASK_MIRROR_JSON: 'true',
  }
  const running = startCli(['schedule'], { cwd: scratch.dir, env })
  const ready = JSON.parse(await running.untilStdout(/\n/))
  const get = (path: string) => fetch(`${ready.url}${path}`)
  const samples = async () => samplesOf(await (await get('/metrics')).text())
  await until(async () => ((await get('/healthz')).ok ? true : null))
  simulator.account.insert(5)
  const figures = await until(async () => {
    const found = await samples()
    const isExported = (found.get('task_mirror_last_run_rows export') ?? 0) >= 305
    return found.get('task_mirror_tasks live') === 305 && isExported ? found : null
  })
  expect(figures.get('task_mirror_schedule_runs_total sync 0')).toBeGreaterThan(1)
  expect(figures.get('task_mirror_last_run_exit_code sync')).toBe(0)
  if (process.platform === 'linux') {
    // Whatever a run opens it closes: the scheduler stays up for months.
    await until(async () => ((await samples()).get('task_mirror_schedule_runs_total sync 0')! >= 5 ? true : null))
    expect(openFiles(running.process.pid!).filter((path) => path.endsWith('.sqlite')).length).toBeLessThan(6)
  }
  running.process.kill('SIGTERM')
  const { code, stderr } = await running.ended
  expect({ code, errors: stderr.split('\n').filter((line) => line.includes('"level":"error"')) }).toEqual({
    code: 0,
    errors: [],
  })
  expect(readdirSync(scratch.path('snapshots')).length).toBeGreaterThan(0)
  const db = openReader(scratch.path('task-mirror.sqlite'))
  expect(readStatus(db).tasks.live).toBe(simulator.account.listed)
  db.close()
})

test('a failed run is told and counted and does not end it; a key file that is replaced is read', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 20, key: 'right' })
  writeFileSync(scratch.path('key'), 'wrong')
  const env = {
    TASK_MIRROR_SYNC: EVERY_SECOND,
    TASK_MIRROR_LISTEN: '127.0.0.1:0',
    TASK_MIRROR_BASE_URL: simulator.url,
    TASK_MIRROR_API_KEY_FILE: 'key',
  }
  const running = startCli(['schedule', '--json'], { cwd: scratch.dir, env })
  const { url } = JSON.parse(await running.untilStdout(/\n/))
  await running.untilStderr(/key-refused/)
  const health = await fetch(`${url}/healthz`)
  expect([health.status, await health.json()]).toMatchObject([503, { ok: false }])
  const shows = (text: RegExp) => until(async () => (text.test(await (await fetch(url)).text()) ? true : null))
  await shows(
    /<p class="unwell"><b>Last error:<\/b> run \d+ \(sync\), failed, exit 5, .* No run has ended well since\./,
  )
  writeFileSync(scratch.path('key'), 'right\n')
  await until(async () => ((await fetch(`${url}/healthz`)).ok ? true : null))
  await shows(/<p class="past"><b>Last error:<\/b> .* ended well since\./)
  running.process.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

test('an export that fails stands on the status page until one ends well', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 20 })
  writeFileSync(scratch.path('lake'), 'no folder')
  const env = {
    TASK_MIRROR_SCHEDULE_SYNC: EVERY_SECOND,
    TASK_MIRROR_SCHEDULE_EXPORT: EVERY_SECOND,
    TASK_MIRROR_SCHEDULE_LISTEN: '127.0.0.1:0',
    TASK_MIRROR_EXPORT_DIR: 'lake/',
    TASK_MIRROR_BASE_URL: simulator.url,
  }
  const running = startCli(['schedule', '--json'], { cwd: scratch.dir, env })
  const { url } = JSON.parse(await running.untilStdout(/\n/))
  const page = async () => (await fetch(url)).text()
  await until(async () => (/<b>Last export:<\/b> failed .* is not a folder/.test(await page()) ? true : null))
  rmSync(scratch.path('lake'))
  await until(async () => (/<dt>Last export<\/dt><dd><b>20 rows/.test(await page()) ? true : null))
  await until(async () => (/Last export:/.test(await page()) ? null : true))
  running.process.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})

test('an address that is taken is named as it was given: by flag, variable or key', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 1 })
  const { host } = new URL(simulator.url)
  writeFileSync(scratch.path('task-mirror.json'), JSON.stringify({ schedule: { listen: host } }))
  const said = async (args: string[], env: Record<string, string> = {}) => {
    const given = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url, ...env } }
    const { code, stderr } = await runInside(['schedule', ...args], given)
    expect(code).toBe(2)
    return /"msg":"(.*?): .* cannot be listened on/.exec(stderr)?.[1]
  }
  expect(await said(['--listen', host])).toBe('--listen')
  expect(await said([], { TASK_MIRROR_LISTEN: host })).toBe('TASK_MIRROR_LISTEN')
  expect(await said([])).toBe('schedule.listen')

  rmSync(scratch.path('task-mirror.json'))
  // Somebody else's listening there will do as well.
  const other = createServer().on('error', () => undefined)
  await new Promise((resolve) => other.listen(8080, '127.0.0.1').once('listening', resolve).once('error', resolve))
  expect(await said([])).toBe('schedule.listen')
  other.close()
})

test.each([
  [['--sync', 'sometimes'], '--sync: \\"sometimes\\" is not a cron expression'],
  [['--timezone', 'Mars/Olympus'], '--timezone: expected a time zone'],
  [['--listen', 'here'], '--listen: expected an address'],
])('%j is wrong configuration: exit 2 before anything runs', async (args, message) => {
  using scratch = makeScratch()
  const env = { TASK_MIRROR_BASE_URL: 'http://127.0.0.1:1' }
  const { code, stderr } = await runInside(['schedule', ...args], { cwd: scratch.dir, env })
  expect(stderr).toContain(message)
  expect(stderr).not.toContain('"cause"')
  expect(code).toBe(2)
  expect(existsSync(scratch.path('task-mirror.sqlite'))).toBe(false)
})
