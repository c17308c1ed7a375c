// `doctor` as built: on a mirror, without one, without a service, and with services that stall or lie.
import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Check } from '../../src/doctor/check.ts'
import { lend } from '../../src/mirror/connect.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { CLI, runCli, runInside } from '../support/cli.ts'
import { freePort } from '../support/listening.ts'
import { type Behaviour, rawServer, says, saysJson, silent } from '../support/raw-server.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'

const KEY = 'a-made-up-key'

function folder(): Scratch {
  const scratch = makeScratch()
  writeFileSync(scratch.path('key'), `${KEY}\n`, { mode: 0o600 })
  return scratch
}

async function doctor(scratch: Scratch, env: Record<string, string> = {}, run = runInside) {
  const given = { TASK_MIRROR_API_KEY_FILE: scratch.path('key'), ...env }
  const { code, stdout, stderr } = await run(['doctor', '--json'], { cwd: scratch.dir, env: given })
  const { checks, ...rest } = JSON.parse(stdout) as { schemaVersion: number; ok: boolean; checks: Check[] }
  const of = (name: Check['name']) => checks.find((check) => check.name === name)!
  expect(rest).toEqual({ schemaVersion: 1, ok: code === 0 })
  expect(checks.length).toBe(14)
  return { code, stdout, stderr, checks, of, wrong: checks.filter(({ state }) => state === 'wrong') }
}

test('where all is well every line is ok, exit 0, and the mirror stays as it is', async () => {
  using scratch = folder()
  await using simulator = await startSimulator({ tasks: 50, key: KEY })
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_API_KEY_FILE: scratch.path('key') }
  expect(await runInside(['sync'], { cwd: scratch.dir, env })).toMatchObject({ code: 0 })
  const bytes = () => readFileSync(scratch.path('task-mirror.sqlite'))
  const before = bytes()
  const asked = simulator.requests
  const { code, checks, wrong } = await doctor(scratch, env)
  expect({ code, wrong }).toEqual({ code: 0, wrong: [] })
  // The file system is this machine's.
  expect(checks.filter(({ state, name }) => state !== 'ok' && name !== 'file system')).toEqual([])
  expect(simulator.requests - asked).toBe(2)
  expect(bytes().equals(before)).toBe(true)
  const text = await runCli(['doctor'], { cwd: scratch.dir, env })
  expect(text).toMatchObject({ code: 0, stderr: '' })
  expect(text.stdout).toMatch(/^ok +node .*\nok +configuration [\s\S]*\nok +verdict .*\n\nNothing is wrong\.\n$/)
})

test('a table that is damaged makes the mirror wrong, whatever else can be read', async () => {
  using scratch = folder()
  await using simulator = await startSimulator({ tasks: 50, key: KEY })
  const env = { TASK_MIRROR_BASE_URL: simulator.url }
  const asked = { TASK_MIRROR_API_KEY_FILE: scratch.path('key'), ...env }
  expect(await runInside(['sync'], { cwd: scratch.dir, env: asked })).toMatchObject({ code: 0 })
  const path = scratch.path('task-mirror.sqlite')
  const { size, root } = lend(new Database(path), (db) => ({
    size: db.pragma('page_size', { simple: true }) as number,
    root: db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'tasks'").pluck().get() as number,
  }))
  writeFileSync(path, readFileSync(path).fill(0, size * (root - 1), size * root))
  const { code, of } = await doctor(scratch, env)
  expect({ code, mirror: of('mirror').state }).toEqual({ code: 3, mirror: 'wrong' })
})

test.each([
  ['not-mounted.sqlite', 'ok'],
  // To make the folder would hide that its disk is not there.
  ['not-mounted/m.sqlite', 'note'],
])(
  'a link to %s, which is not there, makes the mirror wrong, as no run would make one, and its folder is not to be made',
  async (target, folderState) => {
    using scratch = folder()
    await using simulator = await startSimulator({ tasks: 5, key: KEY })
    symlinkSync(target, scratch.path('task-mirror.sqlite'))
    const { code, of } = await doctor(scratch, { TASK_MIRROR_BASE_URL: simulator.url })
    expect({ code, ...of('mirror') }).toMatchObject({
      code: 3,
      state: 'wrong',
      todo: expect.stringContaining('mend the link'),
    })
    expect(of('folder')).toMatchObject({ state: folderState, todo: null })
  },
)

test("tables of the operator's own do not make the mirror wrong, whatever their names and modules", async () => {
  using scratch = folder()
  await using simulator = await startSimulator({ tasks: 5, key: KEY })
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_API_KEY_FILE: scratch.path('key') }
  await runInside(['sync'], { cwd: scratch.dir, env })
  lend(new Database(scratch.path('task-mirror.sqlite')).unsafeMode(), (db) => {
    db.exec(`CREATE TABLE "my ""own""" (x); PRAGMA writable_schema = ON;
      INSERT INTO sqlite_schema VALUES ('table', 'g', 'g', 0, 'CREATE VIRTUAL TABLE g USING elsewhere (a)')`)
  })
  expect((await doctor(scratch, env)).of('mirror')).toMatchObject({ state: 'ok' })
})

test('what an operator got wrong is named with what to do, exit 3', async () => {
  using scratch = folder()
  await using simulator = await startSimulator({ tasks: 50, key: 'another-key' })
  const env = { TASK_MIRROR_BASE_URL: simulator.url }
  const key = scratch.path('key')
  await runInside(['sync'], { cwd: scratch.dir, env: { ...env, TASK_MIRROR_API_KEY: 'another-key' } })
  await runInside(['sync', '--full'], { cwd: scratch.dir, env: { ...env, TASK_MIRROR_API_KEY: 'wrong' } })
  chmodSync(key, 0o644)
  chmodSync(scratch.path('task-mirror.sqlite'), 0o644)
  chmodSync(scratch.dir, 0o777)
  const { code, of, wrong } = await doctor(scratch, env)
  expect(code).toBe(3)
  expect(wrong.map(({ name }) => name)).toEqual(['key file', 'folder', 'mirror', 'key', 'last run'])
  expect(of('key file').todo).toBe(`chmod o-r ${key}`)
  expect(of('folder').todo).toContain(`chmod o-w ${scratch.dir}`)
  expect(of('last run').found).toContain('exit 5')
  // What it says to do is done, and mends it.
  expect(spawnSync('sh', ['-c', of('key file').todo!]).status).toBe(0)
  expect(spawnSync('sh', ['-c', of('mirror').todo!]).status).toBe(0)
  chmodSync(scratch.dir, 0o755)
  const again = await doctor(scratch, env)
  expect(again.wrong.map(({ name }) => name)).toEqual(['key', 'last run'])
})

test('with no mirror, no key and nobody at the address it says so', async () => {
  using scratch = folder()
  const { code, of, wrong } = await doctor(scratch, {
    TASK_MIRROR_BASE_URL: `http://127.0.0.1:${await freePort()}`,
    TASK_MIRROR_API_KEY_FILE: '',
  })
  expect({ code, wrong: wrong.map(({ name }) => name) }).toEqual({ code: 3, wrong: ['service'] })
  expect(of('service').found).toContain('ECONNREFUSED')
  expect(of('mirror')).toMatchObject({ state: 'note', found: expect.stringContaining('there is none') })
  expect(of('verdict').found).toBe('not checked: there is no mirror')
  expect(readdirSync(scratch.dir)).toEqual(['key'])
})

test('a run that its own limit of time ended is no fault; of one that set nothing aside nothing is listed', async () => {
  using scratch = folder()
  await using simulator = await startSimulator({ tasks: 50, key: KEY, latencyMs: 50 })
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_API_KEY_FILE: scratch.path('key') }
  expect(await runInside(['sync', '--max-duration', '20ms'], { cwd: scratch.dir, env })).toMatchObject({ code: 4 })
  expect((await doctor(scratch, env)).of('last run')).toMatchObject({ state: 'note', todo: 'The next run goes on.' })
  expect(await runInside(['backfill', '--id', 'nope'], { cwd: scratch.dir, env })).toMatchObject({ code: 3 })
  const { todo } = (await doctor(scratch, env)).of('last run')
  expect(todo).toBe('Run `task-mirror sync` and read its notes.')
})

test('of a folder that is missing nobody says how much room it has', async () => {
  using scratch = folder()
  const { of } = await doctor(scratch, { TASK_MIRROR_DB: 'none/task-mirror.sqlite' })
  expect(of('folder').state).toBe('wrong')
  expect(of('disk').found).toBe('not checked: there is no folder')
})

test('each fault of a configuration is a line, and nothing is asked', async () => {
  using scratch = folder()
  writeFileSync(scratch.path('task-mirror.json'), '{"service":{"baseUlr":"http://127.0.0.1:1","concurrency":0}}')
  const { code, stdout } = await runInside(['doctor', '--json'], { cwd: scratch.dir })
  const wrong = (JSON.parse(stdout).checks as Check[]).filter(({ state }) => state === 'wrong')
  expect({ code, wrong: wrong.map(({ name }) => name) }).toEqual({ code: 3, wrong: ['configuration', 'configuration'] })
  expect(wrong.map(({ found }) => found)).toEqual([
    'task-mirror.json: service.concurrency: expected a whole number from 1 to 64, got 0',
    expect.stringMatching(/did you mean service\.baseUrl\?$/),
  ])
})

const OK = { statusCode: 200, message: 'OK', body: { items: [] } }
test.each<[string, Behaviour, Check['name'], RegExp]>([
  ['stalls', silent, 'service', /no complete answer within 300 ms/],
  ['asks to wait for an hour', saysJson(429, {}, { 'retry-after': '3600' }), 'service', /asks to wait 3600 s/],
  [
    'forges lines and colours',
    saysJson(500, { message: '\u001b[2Jno\nok     key  accepted\u202e' }),
    'service',
    /HTTP 500/,
  ],
  ['says the key back', saysJson(400, { message: `what is ${KEY}?` }), 'service', /HTTP 400: what is/],
  ['answers with a page', says(200, '<html>'), 'service', /a web page instead of JSON/],
  ['redirects', says(302, '', { location: 'http://127.0.0.1:1/' }), 'service', /redirects/],
  ['refuses the key', saysJson(401, { message: 'no' }), 'key', /refuses the key \(HTTP 401/],
  ['has another time', saysJson(200, OK, { date: 'Sun, 01 Nov 2020 00:00:00 GMT' }), 'clock', /ahead of the service/],
])('a service that %s', async (_, behaviour, name, found) => {
  using scratch = folder()
  await using server = await rawServer([behaviour])
  const result = await doctor(scratch, {
    TASK_MIRROR_BASE_URL: server.url,
    // Only where it is waited for: a busy machine may take longer to answer.
    ...(behaviour === silent && { TASK_MIRROR_SERVICE_REQUEST_TIMEOUT_MS: '300' }),
  })
  expect({ code: result.code, wrong: result.wrong.map((check) => check.name) }).toEqual({ code: 3, wrong: [name] })
  expect(result.of(name).found).toMatch(found)
  expect(result.stdout + result.stderr).not.toMatch(/[\u0000-\u0009\u001b\u202e]|a-made-up-key/)
  expect(result.stdout.trimEnd()).not.toContain('\n')
  expect(server.requests.length).toBeLessThanOrEqual(2)
})

test('whoever keeps the WAL from being folded back is named', async () => {
  using scratch = folder()
  await using simulator = await startSimulator({ tasks: 50, key: KEY })
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_API_KEY_FILE: scratch.path('key') }
  await runInside(['sync'], { cwd: scratch.dir, env })
  const reader = new Database(scratch.path('task-mirror.sqlite'), { readonly: true })
  try {
    reader.exec('BEGIN; SELECT count(*) FROM tasks')
    truncateSync(scratch.path('task-mirror.sqlite-wal'), 70e6)
    // Another process than the one that reads.
    const { of, wrong } = await doctor(scratch, env, runCli)
    expect(wrong.map(({ name }) => name)).toEqual(['WAL'])
    if (process.platform === 'linux') {
      const name = readFileSync('/proc/self/comm', 'utf8').trim()
      expect(of('WAL').found).toContain(`${name} (process ${process.pid})`)
    }
  } finally {
    reader.close()
  }
})

test('a mirror that is none, and a service that asked for peace, are told without asking', async () => {
  using scratch = folder()
  await using server = await rawServer([saysJson(503, {}, { 'retry-after': '7200' })])
  const env = { TASK_MIRROR_BASE_URL: server.url, TASK_MIRROR_API_KEY_FILE: scratch.path('key') }
  await runInside(['sync'], { cwd: scratch.dir, env })
  const asked = server.requests.length
  const { of, code } = await doctor(scratch, env)
  expect(code).toBe(3)
  expect(of('service')).toMatchObject({ state: 'note', found: expect.stringContaining('asked to be left alone until') })
  expect(server.requests.length).toBe(asked)
  writeFileSync(scratch.path('letter.txt'), 'dear diary')
  const foreign = await doctor(scratch, { ...env, TASK_MIRROR_DB: 'letter.txt' })
  expect(foreign.of('mirror')).toMatchObject({
    state: 'wrong',
    found: expect.stringContaining('not a SQLite database'),
  })
  expect(readFileSync(scratch.path('letter.txt'), 'utf8')).toBe('dear diary')
})

test('its lines fit a narrow terminal', () => {
  using scratch = folder()
  if (process.platform !== 'linux' || spawnSync('script', ['--version']).status !== 0) return
  const { PATH = '', HOME = '' } = process.env
  const command = `stty cols 60; exec '${process.execPath}' '${CLI}' doctor --base-url http://127.0.0.1:9`
  const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: scratch.dir,
    env: { PATH, HOME, TERM: 'xterm', NO_COLOR: '1' },
    encoding: 'utf8',
  })
  expect(stdout).toContain('to do:')
  // A path is one word: it may be longer.
  const lines = stdout.split('\r\n').filter((line) => !line.includes('/'))
  expect(lines.length).toBeGreaterThan(14)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(60)
})
