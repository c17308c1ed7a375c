// The built command line as people and scripts meet it before anything is sent: help, usage, configuration, exit codes.
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLI, runCli, runInside } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'

test('--version prints the version alone', async () => {
  using scratch = makeScratch()
  const { code, stdout, stderr } = await runCli(['--version'], { cwd: scratch.dir })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test.each([[['--help']], [['sync', '--help']], [['help', 'sync']], [['config', 'show', '-h']]])(
  '%j prints help with usage first and examples last, on stdout, without colour codes',
  async (args) => {
    using scratch = makeScratch()
    const { code, stdout, stderr } = await runCli(args, { cwd: scratch.dir })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Usage: task-mirror .*\nExamples:\n( {2}task-mirror .*\n)+$/s)
    expect(stdout).not.toContain('\u001b')
  },
)

test.each([
  [['snyc'], 'Did you mean sync? `task-mirror --help` says what there is.'],
  [['frob'], '`task-mirror --help` says what there is.'],
  [['sync', '--url', 'x'], 'Did you mean --full? `task-mirror sync --help` says what there is.'],
  [['sync', '--ful'], 'Did you mean --full?'],
  [['sync', '--fast'], '`task-mirror sync --help` says what there is.'],
  [['sync', '--api-key=hunter2'], 'never from a flag'],
  [['simulate', '--api-key', 'x'], '`task-mirror simulate --help` says what there is.'],
  [['simulate', '--keys', 'x'], 'Did you mean --key?'],
  [['config', 'shw'], 'Did you mean show?'],
  [['get'], "missing required argument 'id'"],
  [['get', 'a', 'b'], 'too many arguments'],
  [['export', 'x.ndjson'], 'Where to write is said by --out: `task-mirror export --out tasks.parquet`.'],
  [['report', 'x.html'], '`task-mirror report --out /var/www/tasks.html --db tasks.sqlite`.'],
  [['export', '--fast'], '`task-mirror export --help` says what there is.'],
  [['sync', '--max-duration', 'long'], '--max-duration: "long" is not a duration'],
  [['sync', '--max-duration', '0s'], '--max-duration: "0s" is not between 1ms and 24d'],
  [['sync', '--max-duration', '30d'], '--max-duration: "30d" is not between 1ms and 24d'],
  [['sync', '--details', 'sometimes'], '--details: expected "auto", "always" or "never"'],
  [['backfill', '--since', '2d', '--until', '3d'], '--since is not before --until'],
  [['backfill', '--since', '1700000000'], 'looks like seconds'],
  [['export', '--since', '20261101'], '--since: "20261101" is not a moment'],
  [['prune', '--deleted-before', '2999-01-01'], '--deleted-before: "2999-01-01" is in the future'],
  [['backfill', '--id', 'a', '--since', '1d'], '--id cannot be combined'],
  [['sync', '--db', '~/m.sqlite'], '--db: expected the whole path, as "~" is not expanded here'],
  [['export', '--out', '~/t.parquet'], '--out: expected the whole path, as "~" is not expanded here'],
  [['copy', '--out', '~/c.sqlite'], '--out: expected the whole path, as "~" is not expanded here'],
  [['demo', '--out', '~/demo'], '--out: expected the whole path, as "~" is not expanded here'],
  [['export', '--format', 'xml'], '--format: "xml" is not one of parquet, ndjson, csv'],
  [['status', '--log-level', 'loud'], 'is not one of debug, info, warn, error, silent'],
  [['rejected', '--limit', '0'], '"0" is not a whole number from 1 to 999999999'],
  [['verify', '--sample', 'some'], '"some" is neither a whole number from 1 to 999999999 nor all'],
  [['verify', '--sample', '5'], 'Add --service.'],
  [['verify', '--deep'], 'Add --snapshot FOLDER.'],
  [['copy', '--out', ''], '--out: "" is not the name of a file'],
  [['copy', '--out', '-'], '--out: "-" is not the name of a file'],
  [['copy', '--out', 's3://bucket/x.sqlite'], 'is not the name of a file'],
  [['copy', '--out', 'gs://bucket/x.sqlite'], 'is not the name of a file'],
  [['report', '--out', 'reports/'], '--out: "reports/" is not the name of a file'],
  [['copy', '--out', 't.csv.gz'], '--out: "t.csv.gz" is the name of an export'],
  [['report', '--out', 'T.Parquet'], '--out: "T.Parquet" is the name of an export'],
  [['report', '--out', 's3://bucket/x.html'], 'is not the name of a file'],
  [['demo', '--out', ''], '--out is empty'],
  [['export', '--out', 's3://ab/tasks', '--log-level', 'error'], 'a bucket has 3 to 63 small letters'],
  [['help', 'snyc'], 'Did you mean sync?'],
  [['sync'], 'service.baseUrl is not set'],
  [
    ['sync', '--base-url', ''],
    '--base-url: expected a valid URL that begins with http:// or https://, such as https://tasks.example.com, got an empty text',
  ],
  [['schedule', '--sync', ''], '--sync: expected text or null, got an empty text'],
  [
    ['schedule', '--timezone', ''],
    '--timezone: expected a time zone such as "UTC" or "Europe/Berlin", got an empty text',
  ],
  [['sync', '--json=maybe'], "unknown option '--json=...'"],
  [['simulate', '--host', '203.0.113.1'], 'Choose another --host'],
  [
    ['sync', '--base-url', '127.0.0.1:18080'],
    '--base-url: expected a valid URL that begins with http:// or https://, such as https://tasks.example.com, got text (not shown: it may hold a secret)',
  ],
  [['sync', '--config', 'missing.json'], 'missing.json cannot be read: no such file or directory'],
  [['simulate', '--tasks', 'many'], '--tasks'],
])('%j is wrong usage: exit 2, stdout empty, one line of the log says why', async (args, says) => {
  using scratch = makeScratch()
  const { code, stdout, stderr } = await runInside(args, { cwd: scratch.dir })
  // A run that could read its configuration tells others how it ended.
  const lines = stderr.trimEnd().split('\n')
  const told = lines.filter((line) => !line.includes('"msg":"Run ended"'))
  const { level, command, code: kind, msg, hint = '', cause } = JSON.parse(told.join('\n'))
  // Nothing is told twice.
  expect(msg).not.toContain(cause ?? 'never said')
  expect(`${msg} ${hint}`).toContain(says)
  expect({ level, kind }).toEqual({ level: 'error', kind: expect.stringMatching(/^(usage|config)-invalid$/) })
  expect([args[0], undefined]).toContain(command)
  expect(stderr).not.toContain('hunter2')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})

test.each([[[]], [['config']]])('%j is wrong usage: exit 2, help on stderr', async (args) => {
  using scratch = makeScratch()
  const { code, stdout, stderr } = await runInside(args, { cwd: scratch.dir })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^Usage: task-mirror /)
})

test('a flag has an environment twin, and the flag wins', async () => {
  using scratch = makeScratch()
  const env = { TASK_MIRROR_JSON: '1', TASK_MIRROR_DB: 'env.sqlite', TASK_MIRROR_BASE_URL: 'https://env.example.com' }
  const { stdout } = await runCli(['config', 'show', '--db', 'flag.sqlite'], { cwd: scratch.dir, env })
  const { keys } = JSON.parse(stdout)
  expect(keys).toContainEqual({ key: 'mirror.path', value: 'flag.sqlite', origin: '--db' })
  expect(keys).toContainEqual({
    key: 'service.baseUrl',
    value: 'https://env.example.com',
    origin: 'TASK_MIRROR_BASE_URL',
  })
})

test('a switch in the environment is true or false, nothing else', async () => {
  using scratch = makeScratch()
  const run = (value: string) => runCli(['config', 'show'], { cwd: scratch.dir, env: { TASK_MIRROR_JSON: value } })
  expect((await run('false')).stdout).toMatch(/^key /)
  expect(await run('maybe')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('TASK_MIRROR_JSON: expected true'),
  })
})

test.each([
  [['--config', 'missing.json'], 'config-invalid', '--config'],
  [['--fast'], 'usage-invalid', '`task-mirror config show --help` says what there is.'],
])('an error of config show %j names the whole command', async (args, code, says) => {
  using scratch = makeScratch()
  const { stderr } = await runInside(['config', 'show', ...args], { cwd: scratch.dir })
  expect(JSON.parse(stderr)).toMatchObject({ command: 'config show', code, hint: expect.stringContaining(says) })
})

test('config show reads ./task-mirror.json and masks what is secret', async () => {
  using scratch = makeScratch()
  writeFileSync(
    scratch.path('task-mirror.json'),
    JSON.stringify({
      service: { proxy: 'http://me:hunter2@proxy:1' },
      notify: {
        healthcheckUrl: 'https://hc.example.com/hunter2',
        exportHealthcheckUrl: 'https://export.example.com/hunter2',
      },
    }),
  )
  const env = { TASK_MIRROR_API_KEY: 'hunter2' }
  for (const args of [
    ['config', 'show'],
    ['config', 'show', '--json'],
  ]) {
    const { code, stdout, stderr } = await runCli(args, { cwd: scratch.dir, env })
    expect(code).toBe(0)
    expect(stderr).toMatch(/^\{[^\n]*"msg":"Configuration file in use"\}\n$/)
    expect(stdout + stderr).not.toContain('hunter2')
    expect(stdout).toContain('http://[masked]@proxy:1')
    expect(stdout).toContain('https://hc.example.com/[masked]')
    expect(stdout).toContain('https://export.example.com/[masked]')
    expect(stdout).toContain('TASK_MIRROR_API_KEY')
    expect(stdout).toContain('task-mirror.json')
  }
})

test('an error in the log is one line of JSON with command, code, message and hint', async () => {
  using scratch = makeScratch()
  const { code, stderr } = await runCli(['status'], { cwd: scratch.dir })
  expect(code).toBe(3)
  expect(stderr.trimEnd()).not.toContain('\n')
  expect(JSON.parse(stderr)).toMatchObject({
    level: 'error',
    command: 'status',
    code: 'mirror-missing',
    msg: 'There is no mirror at task-mirror.sqlite',
    hint: expect.stringContaining('task-mirror sync'),
  })
})

test.skipIf(!existsSync('/dev/full'))('a result that stdout has no room for is no success: exit 7', () => {
  using scratch = makeScratch()
  const full = openSync('/dev/full', 'w')
  try {
    const { status, stderr } = spawnSync(process.execPath, [CLI, 'config', 'show'], {
      cwd: scratch.dir,
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    expect(stderr).toContain('stdout cannot be written: no space left on device')
    expect(status).toBe(7)
  } finally {
    closeSync(full)
  }
})
