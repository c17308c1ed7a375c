// Runs of the built command with a monitor beside it: a real HTTP server that writes down what it is told.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { beforeEach, expect, test } from 'vitest'
import { configSchema } from '../../src/config/schema.ts'
import { MirrorError } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { ping, pingUrl } from '../../src/notify/healthcheck.ts'
import { withNotice } from '../../src/notify/run-notice.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runInside, startCli } from '../support/cli.ts'
import { listening } from '../support/listening.ts'
import { samplesOf } from '../support/prometheus.ts'
import { makeScratch } from '../support/scratch.ts'

let told: { path: string; rid: string | null; body: string }[] = []
let status = 200
let url = ''
beforeEach(async () => {
  told = []
  status = 200
  const monitor = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const url = new URL(request.url ?? '', 'http://monitor')
    told.push({ path: url.pathname, rid: url.searchParams.get('rid'), body })
    response.writeHead(status).end('OK')
  })
  const listens = await listening(monitor)
  url = `${listens.url}/secret-uuid`
  return () => listens[Symbol.asyncDispose]()
})

async function syncWith(tasks: number, more: Record<string, string> = {}, key?: string) {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks, ...(key === undefined ? {} : { key }) })
  const env = {
    TASK_MIRROR_BASE_URL: simulator.url,
    TASK_MIRROR_NOTIFY_HEALTHCHECK_URL: url,
    TASK_MIRROR_NOTIFY_METRICS_FILE: 'mirror.prom',
    ...more,
  }
  const result = await runInside(['sync', '--json'], { cwd: scratch.dir, env })
  const metrics = (() => {
    try {
      return samplesOf(readFileSync(scratch.path('mirror.prom'), 'utf8'))
    } catch {
      return null
    }
  })()
  return { ...result, metrics }
}

test('a run tells the monitor that it starts and that it succeeded, under one run id', async () => {
  const { code, metrics, stderr } = await syncWith(30)
  expect(code).toBe(0)
  expect(told.map(({ path }) => path)).toEqual(['/secret-uuid/start', '/secret-uuid'])
  expect(told[0]?.rid).toMatch(/^[0-9a-f-]{36}$/)
  expect(told[1]?.rid).toBe(told[0]?.rid)
  expect(JSON.parse(told[1]?.body.split('\n')[0] as string)).toMatchObject({
    command: 'sync',
    exitCode: 0,
    inserted: 30,
  })
  expect(metrics?.get('task_mirror_last_run_inserted sync')).toBe(30)
  expect(metrics?.get('task_mirror_tasks live')).toBe(30)
  expect(stderr).not.toContain('secret-uuid')
})

test('a failed run is told with its exit code, its reason and the last lines of the log', async () => {
  const { code, metrics, stderr } = await syncWith(30, { TASK_MIRROR_API_KEY: 'wrong' }, 'right')
  expect(code).toBe(5)
  expect(told.map(({ path }) => path)).toEqual(['/secret-uuid/start', '/secret-uuid/5'])
  expect(told[1]?.body).toContain('"error":"key-refused"')
  expect(told[1]?.body).toContain('Run begins')
  expect(told[1]?.body).not.toContain('wrong')
  const error = stderr.split('\n').find((line) => line.includes('"level":"error"'))
  expect(JSON.parse(error as string)).toMatchObject({ command: 'sync', runId: 1, code: 'key-refused' })
  expect(metrics?.get('task_mirror_last_run_exit_code sync')).toBe(5)
})

test.each([
  ['a key file that is gone', { TASK_MIRROR_API_KEY_FILE: 'gone' }],
  ['no address', { TASK_MIRROR_BASE_URL: '' }],
])('a run that cannot begin is told, too: %s', async (_, env) => {
  const { code, metrics, stderr } = await syncWith(5, env)
  expect(code).toBe(2)
  expect(told.map(({ path }) => path)).toEqual(['/secret-uuid/start', '/secret-uuid/2'])
  expect(metrics?.get('task_mirror_last_run_exit_code sync')).toBe(2)
  expect(stderr.match(/"level":"error"/g)).toHaveLength(1)
})

test('the log has one line per run with the figures under the names of --json', async () => {
  const { stdout, stderr } = await syncWith(30)
  const line = stderr.split('\n').find((text) => text.includes('"Run ended"'))
  const summary = JSON.parse(stdout)
  const { command, runId, outcome, verdict, inserted, requests, openTasks } = summary
  const expected = { exitCode: 0, command, runId, outcome, verdict, inserted, requests, openTasks }
  expect(JSON.parse(line as string)).toMatchObject(expected)
})

test('a monitor that is down, and a metrics file that cannot be written, are said and change nothing', async () => {
  status = 500
  const { code, stderr } = await syncWith(30, { TASK_MIRROR_NOTIFY_METRICS_FILE: 'missing/mirror.prom' })
  expect(code).toBe(0)
  expect(stderr).toContain('notify.healthcheckUrl could not be told: it answered 500')
  expect(stderr).toContain('notify.metricsFile could not be written: ')
  expect(stderr).not.toContain('secret-uuid')
})

test('a dry run tells nobody', async () => {
  const { code, metrics } = await syncWith(30, { TASK_MIRROR_DRY_RUN: 'true' })
  expect({ code, told, metrics }).toEqual({ code: 0, told: [], metrics: null })
})

test('a run that is stopped tells its exit code', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 5000, latencyMs: 300 })
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_NOTIFY_HEALTHCHECK_URL: url }
  const running = startCli(['sync', '--json'], { cwd: scratch.dir, env })
  await running.untilStderr(/Run begins/)
  running.process.kill('SIGTERM')
  expect((await running.ended).code).toBe(143)
  expect(told.map(({ path }) => path)).toEqual(['/secret-uuid/start', '/secret-uuid/143'])
})

test.each([
  ['https://hc.example.com/uuid', 'start', 'https://hc.example.com/uuid/start?rid=r'],
  ['https://hc.example.com/uuid/', 0, 'https://hc.example.com/uuid/?rid=r'],
  ['https://hc.example.com/ping/key/slug?create=1', 3, 'https://hc.example.com/ping/key/slug/3?create=1&rid=r'],
] as const)('%s with %s is asked as %s', (base, signal, expected) => {
  expect(pingUrl(base, signal, 'r')).toBe(expected)
})

test('of a long log the end is sent, whole characters only', async () => {
  const body = `${'ä'.repeat(60_000)}end`
  expect(await ping({ url, signal: 0, runId: 'r', body, timeoutMs: 300_000, tries: 1 })).toBeNull()
  expect(told[0]?.body).toMatch(/^ä+end$/)
  expect(Buffer.byteLength(told[0]?.body as string)).toBeLessThanOrEqual(100_000)
})

test('an export has a check of its own: it cannot turn that of a failing sync green', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 30 })
  const env = {
    TASK_MIRROR_BASE_URL: simulator.url,
    TASK_MIRROR_NOTIFY_HEALTHCHECK_URL: `${url}/sync`,
    TASK_MIRROR_NOTIFY_EXPORT_HEALTHCHECK_URL: `${url}/export`,
    TASK_MIRROR_JSON: '1',
  }
  const run = (...args: string[]) => runInside(args, { cwd: scratch.dir, env })
  await run('backfill', '--since', '1h')
  const { code } = await run('export', '--out', 'tasks.ndjson', '--require-complete')
  expect(code).toBe(3)
  expect(told.map(({ path }) => path.replace('/secret-uuid', ''))).toEqual([
    ...['/sync/start', '/sync/3'],
    ...['/export/start', '/export/3'],
  ])
  expect(told[3]?.body).toContain('"command":"export"')
  told = []
  const onlySync = { ...env, TASK_MIRROR_NOTIFY_EXPORT_HEALTHCHECK_URL: '' }
  await runInside(['export', '--out', 'tasks.ndjson'], { cwd: scratch.dir, env: onlySync })
  expect(told).toEqual([])
})

test.each([
  // As the process does where a pipe is closed: `export --out - | head -1`.
  ['a reader that has gone is no failure', 0, 'interrupted', { exitCode: 0, error: undefined }, ''],
  ['a reader that has gone hides no failure', 0, 'disk-full', { exitCode: 7, error: 'disk-full' }, '/7'],
  ['a signal is one', 143, 'interrupted', { exitCode: 143, error: 'interrupted' }, '/143'],
] as const)('what ends a run is told as its exit code tells it: %s', async (_, stopCode, code, expected, path) => {
  const { notify, mirror } = configSchema.parse({ notify: { exportHealthcheckUrl: url } })
  const ended: object[] = []
  const log = { debug: () => {}, info: (line: object) => void ended.push(line), warn: () => {}, error: () => {} }
  const signal = AbortSignal.abort(new MirrorError('interrupted', 'Stopped', { facts: { exitCode: stopCode } }))
  const context = { config: { notify, mirror }, log, toolVersion: '0', inUse: [], signal, now: Date.now }
  const work = () => Promise.reject(new MirrorError(code, 'The export has ended'))
  await expect(withNotice(context, 'export', work, () => ({ exitCode: 0, fields: {} }))).rejects.toThrow('has ended')
  expect(ended).toEqual([{ command: 'export', durationMs: expect.any(Number), ...expected }])
  expect(told.at(-1)?.path).toBe(`/secret-uuid${path}`)
})

test('the monitor gets the lines of its run and no others, whatever the log shows', async () => {
  const calm = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const { notify, mirror } = configSchema.parse({
    notify: { healthcheckUrl: `${url}/sync`, exportHealthcheckUrl: `${url}/export` },
  })
  const shared = { config: { notify, mirror }, log: calm, toolVersion: '0', inUse: [] }
  const context = { ...shared, signal: new AbortController().signal, now: Date.now }
  // Two at once, as in `schedule`: each logs while the other is under way.
  const both = Promise.withResolvers<void>()
  const work = (name: string) => async (log: Log) => {
    log.info({ of: name }, 'first')
    if (name === 'export') both.resolve()
    await both.promise
    for (let n = 0; n < 60; n++) log.warn({ n }, `line of ${name}`)
  }
  const describe = () => ({ exitCode: 0, fields: {} })
  await Promise.all(['sync', 'export'].map((name) => withNotice(context, name, work(name), describe)))
  const bodies = told.filter(({ path }) => !path.endsWith('/start'))
  expect(bodies.map(({ path }) => path).sort()).toEqual(['/secret-uuid/export', '/secret-uuid/sync'])
  for (const { path, body } of bodies) {
    const name = path.split('/').at(-1)
    const [end, ...lines] = body.split('\n').map((line) => JSON.parse(line))
    expect(end).toMatchObject({ command: name, exitCode: 0 })
    // The last fifty.
    expect(lines.map(({ n }) => n)).toEqual(Array.from({ length: 50 }, (_, index) => index + 10))
    for (const line of lines) expect(line).toMatchObject({ level: 'warn', msg: `line of ${name}` })
  }
})
