// The built command line against a simulated service: results, exit codes, signals.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { runCli, runInside, startCli } from '../support/cli.ts'
import { freePort } from '../support/listening.ts'
import { makeScratch } from '../support/scratch.ts'

const KEYS_OF_SUMMARY = (
  'schemaVersion runId command plan outcome verdict range lastFullWalk order requests retries windows details seen ' +
  'inserted updated unchanged deleted restored rejected openTasks drift bytes durationMs waitedMs notBefore'
).split(' ')

test('sync fills the mirror, the next one finds nothing new, status and get read it', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 1200, key: 'k', openFraction: 0 })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_API_KEY: 'k', TASK_MIRROR_BASE_URL: simulator.url } }
  const first = await runCli(['sync', '--json'], options)
  expect(first.code).toBe(0)
  expect(first.stdout.match(/\n/g)).toHaveLength(1)
  const summary = JSON.parse(first.stdout)
  expect(Object.keys(summary)).toEqual(KEYS_OF_SUMMARY)
  expect(summary).toMatchObject({ outcome: 'ok', verdict: 'complete', seen: 1200, inserted: 1200 })

  const second = await runInside(['sync'], options)
  expect(second.code).toBe(0)
  expect(second.stdout).toMatch(/^run +2 \(sync: /)
  expect(second.stdout).toContain('outcome   ok, verdict complete')

  const status = await runInside(['status', '--json', '--max-age', '10m'], options)
  expect(status.code).toBe(0)
  expect(JSON.parse(status.stdout)).toMatchObject({
    tasks: { live: 1200, open: 0 },
    order: 'created_desc',
    baseUrl: simulator.url,
  })

  const id = simulator.account.idAt(7)
  const task = await runInside(['get', id, '--json'], options)
  expect(JSON.parse(task.stdout)).toEqual(JSON.parse(simulator.account.get(id)!))

  const quiet = await runCli(['sync', '-q'], options)
  expect(quiet).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

test('why a run is incomplete stands on stderr, also where stdout has the summary', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 30, wrap: true })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_WINDOW: '10' } }
  for (const flags of [[], ['--quiet'], ['--json']]) {
    const { code, stdout, stderr } = await runInside(['sync', '--full', ...flags], options)
    const warned = stderr.split('\n').filter((line) => line.includes('"warn"'))
    expect({ code, warned }).toEqual({ code: 3, warned: [expect.stringContaining('starts again from the top')] })
    if (flags.length === 0) expect(stdout).toContain('starts again from the top')
  }
})

test('get --refresh asks the service first', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 20, openFraction: 0 })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url } }
  await runInside(['sync'], options)
  const id = simulator.account.idAt(3)
  simulator.account.update([id])
  const { code, stdout } = await runInside(['get', id, '--refresh', '--json'], options)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual(JSON.parse(simulator.account.get(id)!))
})

test('a dry run says what would change and writes nothing', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 30 })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url } }
  await runInside(['sync'], options)
  simulator.account.insert(5)
  const dry = await runInside(['sync', '--dry-run', '--json'], options)
  expect(JSON.parse(dry.stdout)).toMatchObject({ inserted: 5, dryRun: true })
  const { stdout: text } = await runInside(['sync', '--dry-run'], options)
  expect(text).toMatch(/^run +dry \(sync: .*as it was: this was a dry run$/ms)
  const late = await runInside(['sync', '--dry-run', '--quiet', '--max-duration', '1ms'], options)
  expect(JSON.parse(late.stderr)).toMatchObject({
    msg: expect.stringMatching(/max-duration: a dry run writes nothing$/),
  })
  expect(late).toMatchObject({ code: 4, stderr: expect.not.stringContaining('hint') })
  const { stdout } = await runInside(['status', '--json'], options)
  expect(JSON.parse(stdout).tasks.live).toBe(30)
})

test('a list that is not found is exit 4, and the address that was asked is told', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 5 })
  const env = { TASK_MIRROR_BASE_URL: `${simulator.url}/nope`, TASK_MIRROR_API_KEY: 'hunter2' }
  const { code, stderr } = await runInside(['sync', '--quiet'], { cwd: scratch.dir, env })
  expect({ code, stderr }).toEqual({
    code: 4,
    stderr: expect.stringContaining(`POST ${simulator.url}/nope/tasks/list`),
  })
  expect(stderr).not.toContain('hunter2')
})

test('a refused key is exit 5, and the key is in no output', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 5, key: 'right' })
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_API_KEY: 'hunter2' }
  const { code, stdout, stderr } = await runInside(['sync', '--log-level', 'debug'], { cwd: scratch.dir, env })
  expect(code).toBe(5)
  expect(stdout + stderr).not.toContain('hunter2')
})

test('a service that cannot be reached is exit 4', async () => {
  using scratch = makeScratch()
  const env = { TASK_MIRROR_SERVICE_MAX_RETRIES: '0' }
  const args = ['sync', '--base-url', `http://127.0.0.1:${await freePort()}`]
  expect(await runInside(args, { cwd: scratch.dir, env })).toMatchObject({ code: 4 })
})

test('another spelling of the base URL is no other service', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 5 })
  const inside = (url: string, ...args: string[]) =>
    runInside([...args, '--base-url', url], { cwd: scratch.dir, env: { TASK_MIRROR_API_KEY: 'k' } })
  expect(await inside(simulator.url, 'sync')).toMatchObject({ code: 0 })
  const keep = (url: string) => {
    const db = new Database(scratch.path('task-mirror.sqlite'))
    db.prepare("UPDATE service_facts SET value = ? WHERE key = 'base_url'").run(JSON.stringify(url))
    db.close()
  }
  keep(`${simulator.url}/.`)
  const spelt = `${simulator.url.replace('http', 'HTTP')}//`
  expect(await inside(spelt, 'doctor')).toMatchObject({ stdout: expect.not.stringContaining('belongs to') })
  expect(await inside(spelt, 'sync')).toMatchObject({ code: 0 })
  expect(await inside(spelt, 'status', '--json')).toMatchObject({
    stdout: expect.stringContaining(`"baseUrl":"${simulator.url}"`),
  })
  keep('no URL')
  expect(await inside(simulator.url, 'sync')).toMatchObject({
    code: 7,
    stderr: expect.stringMatching(/belongs to no URL, not to/),
  })
})

test('a mirror of another service is exit 7, until --rebind', async () => {
  using scratch = makeScratch()
  await using first = await startSimulator({ tasks: 5 })
  await using second = await startSimulator({ tasks: 5 })
  const sync = (url: string, ...more: string[]) => runInside(['sync', '--base-url', url, ...more], { cwd: scratch.dir })
  expect(await sync(first.url)).toMatchObject({ code: 0 })
  expect(await sync(second.url)).toMatchObject({
    code: 7,
    stdout: '',
    stderr: expect.stringContaining('other-service'),
  })
  expect(second.requests).toBe(0)
  // Where it stays in the environment, another account would be accepted without a word.
  const told = 'accepted already'
  expect(await sync(second.url, '--rebind')).toMatchObject({ code: 0, stderr: expect.not.stringContaining(told) })
  expect(await sync(second.url, '--rebind')).toMatchObject({ code: 0, stderr: expect.stringContaining(told) })
})

test('a second run at the same time is exit 6, and a signal ends the first with its code', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 5000, latencyMs: 60_000 })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url } }
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const asked = new Promise<void>((resolve) => {
      const off = simulator.onBeforeRequest(() => {
        off()
        resolve()
      })
    })
    const running = startCli(['sync'], options)
    await asked
    expect(await runCli(['sync'], options)).toMatchObject({ code: 6, stdout: '' })
    running.process.kill(signal)
    // A process that is ended after its grace of 4 s says nothing.
    expect(await running.ended).toMatchObject({ code, signal: null, stderr: expect.stringContaining(signal) })
  }
})

test('SIGUSR2 prints progress at once', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 5000, latencyMs: 60_000 })
  const asked = new Promise<void>((resolve) => void simulator.onBeforeRequest(() => resolve()))
  const running = startCli(['sync', '--base-url', simulator.url], { cwd: scratch.dir })
  await asked
  running.process.kill('SIGUSR2')
  await running.untilStderr(/Progress: /)
  running.process.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 143 })
})
