// `export` to datasets, `copy` and `datasette-config` as built.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli, runInside } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'

/** A mirror of the built-in simulator is more than these need: rows by plain SQL. */
async function makeMirror(folder: string, tasks: number): Promise<void> {
  const { openWriter } = await import('../../src/mirror/open.ts')
  const db = openWriter(join(folder, 'task-mirror.sqlite'), { busyTimeoutMs: 1_000, fileMode: 0o600 })
  const insert =
    db.prepare(`INSERT INTO tasks (id, system_status, created_at, data_header, first_seen_at, changed_at, read_at, change_seq)
    VALUES (?, 'DONE', ?, '{"cookie":"secret"}', 1, 1, 1, ?)`)
  for (let i = 1; i <= tasks; i++) insert.run(`t${i}`, 1_790_000_000_000 + i * 86_400_000, i)
  db.close()
}

test('a dataset, its feed and verify, by month', async () => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 60)
  const full = await runInside(['export', '--out', 'lake/', '--partition-by', 'month', '--keep', '3', '--json'], {
    cwd: scratch.dir,
  })
  const published = JSON.parse(full.stdout)
  expect(full.code).toBe(0)
  expect(published).toMatchObject({
    kind: 'full',
    rows: 60,
    files: 3,
    manifest: expect.stringContaining('_manifest.json'),
  })
  expect(readdirSync(published.path)).toContain('created_month=2026-10')
  const feed = await runInside(['export', '--out', 'lake', '--changes'], { cwd: scratch.dir })
  expect(feed.stdout).toMatch(/changes +since change 60, tombstones included\ncontent +0 tasks/)
  const checked = await runInside(['verify', '--snapshot', 'lake', '--deep'], { cwd: scratch.dir })
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing wrong') })
  writeFileSync(join(published.path, 'created_month=2026-10/part-00000.parquet'), 'x')
  expect((await runInside(['verify', '--snapshot', 'lake'], { cwd: scratch.dir })).code).toBe(7)
})

test.each([
  ['last', { kind: 'changes', sinceSeq: 3 }],
  ['true', { kind: 'changes', sinceSeq: 3 }],
  ['1', { kind: 'changes', sinceSeq: 1 }],
  ['no', { kind: 'full', sinceSeq: null }],
])('TASK_MIRROR_CHANGES=%s is what --changes takes, with or without its value', async (TASK_MIRROR_CHANGES, is) => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 3)
  await runInside(['export', '--out', 'lake/'], { cwd: scratch.dir })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_CHANGES } }
  const { stdout } = await runInside(['export', '--out', 'lake/', '--json'], options)
  expect(JSON.parse(stdout)).toMatchObject(is)
})

test('columns, engine, fixed partitions and rows per file', async () => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 10)
  const args = [
    'export',
    '--out',
    'lake/',
    '--columns',
    'id,created_at',
    '--engine',
    'parquetjs-lite',
    '--rows-per-file',
    '4',
  ]
  const { stdout } = await runInside([...args, '--partition-value', 'account=acme', '--json'], { cwd: scratch.dir })
  const manifest = JSON.parse(readFileSync(JSON.parse(stdout).manifest, 'utf8'))
  expect(manifest).toMatchObject({
    engine: 'parquetjs-lite',
    compression: 'gzip',
    partitionValues: { account: 'acme' },
    schema: [{ name: 'id' }, { name: 'created_at' }],
  })
  expect(manifest.files.map(({ rows }: { rows: number }) => rows)).toEqual([4, 4, 2])
  expect(existsSync(join(scratch.dir, 'lake/account=acme/latest.json'))).toBe(true)
})

test.each([
  [['--changes', 'yesterday'], 'is neither'],
  [['--partition-value', 'acme'], 'not a name and a value'],
  [['--out', 'lake/', '--partition-value', 'account=a', 'account=b'], 'account is given twice'],
  [['--out', 'a.ndjson', '--redact-header', ''], 'cannot be the name of a header'],
  [['--since', '2d', '--until', '2d'], 'Let --until be later.'],
  [['--partition-by', 'hour'], 'not one of none, month, day'],
  [['--out', 'a.parquet', '--keep', '2'], '--keep cannot be used here'],
  [['--out', 'a.ndjson', '--engine', 'hyparquet'], '--engine cannot be used here'],
  [['--out', 'a.csv', '--format', 'parquet'], 'ends in .csv does not go with --format parquet'],
  [['--out', 'a.ndjson', '--status', 'DONE,FAILED'], 'Several are written --status DONE FAILED.'],
  [['--out', 's3://Bucket/x'], 'not a place in object storage'],
])('export %j is wrong usage', async (args, words) => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 1)
  const { code, stderr } = await runInside(['export', ...args], { cwd: scratch.dir })
  expect(stderr).toContain(words)
  expect(code).toBe(2)
})

test.each([
  ['export', '--out', 's3://AKIA:sEc/rEt@bucket/x'],
  ['export', '--out', 's3:AKIA:sEc/rEt@bucket/x'],
  ['export', '--out', 'https://me:sEc/rEt@host/x'],
  ['verify', '--snapshot', 's3://AKIA:sEc/rEt@bucket/x'],
  ['verify', '--snapshot', 'https://me:sEc/rEt@host/x'],
  ['copy', '--out', 'https://me:sEc/rEt@host/x'],
  ['restore', 'https://me:sEc/rEt@host/x'],
  ['status', '--config', 'https://me:sEc/rEt@host/x'],
  ['copy', 'https://me:sEc/rEt@host/x'],
])('%s %s %s is refused without a word of the password in it', async (...args) => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 1)
  const { code, stdout, stderr } = await runInside(args, { cwd: scratch.dir })
  expect(stderr).toMatch(/[a-z0-9]+:\/\/\[masked\]@(bucket|host)\/x/)
  expect(stdout + stderr).not.toMatch(/sEc|rEt/)
  expect(code).toBe(2)
})

test.each([
  [['export', '--out', 'a.csv']],
  [['export', '--out', 'lake/']],
  [['copy', '--out', 'copy.sqlite']],
  [['report']],
  [['prune', '--deleted-before', '1d']],
])('%j says nothing of what it has done with --quiet, and with --json all the same', async (args) => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 1)
  const run = (...more: string[]) => runInside([...args, ...more], { cwd: scratch.dir })
  expect((await run()).stdout).not.toBe('')
  expect(await run('--quiet')).toMatchObject({ code: 0, stdout: '' })
  expect(JSON.parse((await run('--quiet', '--json')).stdout)).toMatchObject({ schemaVersion: 1 })
})

test('what --out - asks for is printed with --quiet, too', async () => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 1)
  const run = (...args: string[]) => runInside([...args, '--out', '-', '--quiet'], { cwd: scratch.dir })
  expect((await run('export', '--columns', 'id', '--format', 'csv')).stdout).toBe('id\r\nt1\r\n')
  expect((await run('report')).stdout).toMatch(/^<!doctype html>/)
})

test('names of headers and columns, which hold no commas, may stand between commas', async () => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 1)
  const args = ['export', '--out', 'a.csv', '--columns', 'id,host', '--redact-header', 'x-mine,x-yours', '--json']
  const { stdout } = await runInside(args, { cwd: scratch.dir })
  expect(JSON.parse(stdout).redacted.names).toEqual(expect.arrayContaining(['x-mine', 'x-yours']))
  expect(readFileSync(scratch.path('a.csv'), 'utf8')).toBe('id,host\r\nt1,\r\n')
})

test.each([' ', ','])(
  'TASK_MIRROR_STATUS=%j is as good as not set, not a snapshot of nothing',
  async (TASK_MIRROR_STATUS) => {
    using scratch = makeScratch()
    await makeMirror(scratch.dir, 2)
    const options = { cwd: scratch.dir, env: { TASK_MIRROR_STATUS } }
    const { stdout } = await runInside(['export', '--out', 'a.ndjson', '--json'], options)
    expect(JSON.parse(stdout)).toMatchObject({ rows: 2 })
  },
)

// Processes of their own, which can be ended: Node's mkdir for a whole path never gives up there.
test.runIf(process.platform === 'linux').each([
  ['export', '/proc/none/lake/', '/proc/none/lake cannot be written'],
  ['demo', '/proc/none', '/proc/none/demo-mirror.sqlite cannot be written'],
])('%s to %s, below a folder that takes no folders, ends and says so', async (command, out, words) => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 1)
  const { code, stderr } = await runCli([command, '--out', out], { cwd: scratch.dir, timeoutMs: 20_000 })
  expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringContaining(words) })
})

test('changes since a number that the mirror never had are refused as what they are', async () => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 1)
  const { code, stderr } = await runInside(['export', '--out', 'lake/', '--changes', '999'], { cwd: scratch.dir })
  expect({ code, stderr }).toEqual({
    code: 7,
    stderr: expect.stringContaining('--changes 999: the mirror has changes up to 1'),
  })
})

test('copy makes one file, and says what is in it', async () => {
  using scratch = makeScratch()
  await makeMirror(scratch.dir, 7)
  const copied = await runInside(['copy', '--out', 'copy.sqlite', '--json'], { cwd: scratch.dir })
  expect(JSON.parse(copied.stdout)).toMatchObject({ schemaVersion: 1, tasks: 7, cut: 7 })
  expect(statSync(join(scratch.dir, 'copy.sqlite')).mode & 0o777).toBe(0o600)
  const status = await runInside(['status', '--db', 'copy.sqlite', '--json'], { cwd: scratch.dir })
  expect(JSON.parse(status.stdout)).toMatchObject({ tasks: { live: 7 } })
  expect((await runInside(['copy'], { cwd: scratch.dir })).code).toBe(2)
})

test('datasette-config names the database as Datasette does', async () => {
  using scratch = makeScratch()
  const { code, stdout } = await runInside(['datasette-config', '--db', 'tasks.v1.sqlite'], { cwd: scratch.dir })
  expect([code, stdout]).toEqual([0, expect.stringContaining('databases:\n  "tasks.v1":\n')])
})
