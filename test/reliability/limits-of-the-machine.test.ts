// What the machine gives and what grows on it: open files, the environment of child processes, the WAL, publications.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exitCodeOf, fileLimitOr } from '../../src/errors.ts'
import { diskUse } from '../../src/export/publish/disk-use.ts'
import { closeWriter, openReader, openWriter } from '../../src/mirror/open.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { publications, recordSnapshot, type SnapshotRow } from '../../src/mirror/tables/snapshots.ts'
import { LARGE_WAL_BYTES, walBytes } from '../../src/mirror/wal.ts'
import { metricsText } from '../../src/notify/metrics.ts'
import { makeMirror, ordinaryRows } from '../export/mirror.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { CLI, runHere, runInside } from '../support/cli.ts'
import { samplesOf } from '../support/prometheus.ts'
import { makeScratch } from '../support/scratch.ts'
import { few } from '../support/soak.ts'

const OPTIONS = { busyTimeoutMs: 100, fileMode: 0o600 }

test('the limit of open files is exit 7 wherever it is met, with what to do', async () => {
  const limit = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
  const within = new Error('fetch failed', { cause: new Error('connect', { cause: limit }) })
  for (const error of [limit, within]) {
    expect(exitCodeOf(error)).toBe(7)
    expect(fileLimitOr(error)).toMatchObject({ code: 'too-many-files', hint: expect.stringContaining('ulimit -n') })
  }
  expect(exitCodeOf(new Error('linux-x64.node: cannot open shared object file: Too many open files'))).toBe(7)
  expect(exitCodeOf(new Error('other', { cause: new Error('no code') }))).toBe(1)
})

const LONG = 'a'.repeat(256)

test.each([
  ['status', '--db', LONG],
  ['sync', '--db', 'b'.repeat(250)],
  ['export', '--db', 'm.sqlite', '--out', `${'\u00e9'.repeat(127)}.csv`],
  ['export', '--db', 'm.sqlite', '--out', `${LONG}/`],
  ['export', '--db', 'm.sqlite', '--out', `${LONG}.parquet`],
  ['copy', '--db', 'm.sqlite', '--out', LONG],
  ['report', '--db', 'm.sqlite', '--out', LONG],
  ['verify', '--snapshot', LONG],
  ['restore', LONG],
  ['restore', 'm.sqlite', '--db', LONG],
  ['status', '--db', 'm.sqlite', '--config', LONG],
  ['status', '--db', 'c/'.repeat(2_100)],
])('a name that is too long is wrong usage: %s %s %s', async (...args) => {
  using scratch = makeScratch()
  openWriter(scratch.path('m.sqlite'), OPTIONS).close()
  const { code, stderr } = await runInside(args, { cwd: scratch.dir, env: { TASK_MIRROR_API_KEY: 'k' } })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/"code":"(usage|config)-invalid"/) })
})

test.each([
  ['status', '--db', 'loop'],
  ['sync', '--db', 'loop', '--base-url', 'http://127.0.0.1:9'],
  ['sync', '--db', 'file/m.sqlite', '--base-url', 'http://127.0.0.1:9'],
  ['verify', '--db', 'loop'],
  ['export', '--db', 'loop', '--out', '-'],
  ['report', '--db', 'loop', '--out', 'r.html'],
  ['prune', '--db', 'loop', '--deleted-before', '1d'],
  ['restore', 'loop'],
  ['restore', 'file', '--db', 'loop'],
])('a path that leads nowhere is no bug: %s %s %s', async (...args) => {
  using scratch = makeScratch()
  symlinkSync('loop', scratch.path('loop'))
  writeFileSync(scratch.path('file'), '')
  const { code, stderr } = await runInside(args, { cwd: scratch.dir, env: { TASK_MIRROR_API_KEY: 'k' } })
  expect({ code, stderr }).toEqual({
    code: 7,
    stderr: expect.stringMatching(/"code":"mirror-unreadable".*(ELOOP|ENOTDIR)/),
  })
})

test.each(['sync --base-url http://127.0.0.1:9', 'export --out x/', 'doctor'])(
  'a working folder that is gone is no bug: %s',
  (command) => {
    using scratch = makeScratch()
    openWriter(scratch.path('m.sqlite'), OPTIONS).close()
    mkdirSync(scratch.path('gone'))
    const script = `cd gone && rmdir ../gone && "${process.execPath}" "${CLI}" ${command}`
    const { status, stderr } = spawnSync('bash', ['-c', script], { cwd: scratch.dir, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/"usage-invalid".*does not exist any more/),
    })
  },
)

test.each(few([22, 26, 30], (files) => files !== 30))('a run with %i files at most does not call it a bug', (files) => {
  using scratch = makeScratch()
  openWriter(scratch.path('task-mirror.sqlite'), OPTIONS).close()
  const script = `ulimit -n ${files}; "${process.execPath}" "${CLI}" verify; echo "exit $?"`
  // In a group of its own: a signal to process number 0 would reach this one too.
  const said = execFileSync('setsid', ['--wait', 'bash', '-c', `${script} 2>&1`], {
    cwd: scratch.dir,
    encoding: 'utf8',
  })
  expect(said).toMatch(/exit [07]$/m)
})

test.each([
  ['copy --out c.sqlite', /The copy in \S+ cannot be written \(SQLITE_IOERR_WRITE\)/],
  ['restore backup.sqlite --db other.sqlite', /The copy in \S+ cannot be written \(SQLITE_IOERR_WRITE\)/],
  ['sync --db new.sqlite --base-url http://127.0.0.1:9', /new\.sqlite cannot be written: .+ \(SQLITE_IOERR_WRITE\)/],
  ['export --out t.ndjson', /t\.ndjson would be larger than a file may be/],
])('%s beyond the limit of file sizes names what cannot be written', (command, words) => {
  const mirror = makeMirror(...ordinaryRows(500))
  mirror.db.pragma('wal_checkpoint(TRUNCATE)')
  copyFileSync(mirror.path, join(mirror.folder, 'backup.sqlite'))
  const env = { PATH: process.env.PATH, TASK_MIRROR_DB: mirror.path }
  const script = `ulimit -f 64; exec "${process.execPath}" "${CLI}" ${command}`
  const { status, stderr } = spawnSync('bash', ['-c', script], { cwd: mirror.folder, env, encoding: 'utf8' })
  expect(stderr).toMatch(words)
  expect(stderr).toContain('ulimit -f')
  expect(status).toBe(7)
})

test('the processes of verify and copy get neither the key nor credentials', () => {
  using scratch = makeScratch()
  openWriter(scratch.path('task-mirror.sqlite'), OPTIONS).close()
  const spy = scratch.path('spy.cjs')
  // Loaded by every Node: tells what a process that can talk to its parent was given.
  writeFileSync(
    spy,
    `if (process.send) require('fs').appendFileSync('${scratch.path('seen')}', JSON.stringify(process.env) + '\\n')`,
  )
  const env = {
    ...{ PATH: process.env.PATH, HOME: scratch.dir, NODE_OPTIONS: `--require ${spy}` },
    ...{ TASK_MIRROR_API_KEY: 'hunter2', AWS_SECRET_ACCESS_KEY: 'hunter3', OTHER: 'hunter4' },
  }
  for (const args of [['verify'], ['copy', '--out', 'c.sqlite']]) {
    execFileSync(process.execPath, [CLI, ...args], { cwd: scratch.dir, env, stdio: 'pipe' })
  }
  const seen = execFileSync('cat', [scratch.path('seen')], { encoding: 'utf8' })
  expect(seen.trim().split('\n')).toHaveLength(2)
  expect(seen).not.toContain('hunter')
})

test('a WAL beyond 64 MB is told in status and in the figures, with the remedy', async () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  const writer = openWriter(path, OPTIONS)
  const status = () => {
    const db = openReader(path)
    const found = readStatus(db)
    db.close()
    return found
  }
  expect(status().walBytes).toBeLessThan(64 * 1024 * 1024)
  expect((await runHere(['status'], { TASK_MIRROR_DB: path })).stdout).not.toMatch(/^WAL/m)
  // A file with a hole: SQLite reads only as far as the frames go.
  truncateSync(`${path}-wal`, 70 * 1024 * 1024)
  expect((await runHere(['status'], { TASK_MIRROR_DB: path })).stdout).toMatch(
    /WAL +73\.4 MB: a reader keeps .*end that reader/,
  )
  const text = await metricsText({ toolVersion: '0', status: status(), runs: new Map(), now: Date.now() })
  expect(samplesOf(text).get('task_mirror_wal_bytes')).toBe(70 * 1024 * 1024)
  writer.close()
})

test('a WAL that has grown shrinks once no old transaction is left, though another program keeps the file open', () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  const run = (observedAt: number) => {
    const writer = openWriter(path, OPTIONS)
    writer.exec(`REPLACE INTO service_facts (key, value, observed_at) VALUES ('asked', '1', ${observedAt})`)
    closeWriter(writer, () => {})
  }
  run(1)
  const idle = openReader(path)
  run(2)
  truncateSync(`${path}-wal`, 70 * 1024 * 1024)
  run(3)
  expect(walBytes(path)).toBeLessThanOrEqual(LARGE_WAL_BYTES)
  idle.close()
})

test('10,000 publications are remembered, and the last of each kind', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  openWriter(path, OPTIONS).close()
  changeMirror(
    path,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10500)
    INSERT INTO snapshots (id, cut, path, format, files, rows, bytes, filters, published_at)
    SELECT 's' || i, 0, CASE WHEN i = 2 THEN '/rare' ELSE '/often' END, 'ndjson', 1, 1, 1, '{}', i FROM n`,
  )
  const row: SnapshotRow = {
    ...{ id: 'last', cut: 0, path: '/often', files: 1, rows: 1, bytes: 1, filters: {}, sinceSeq: null },
    ...{ publishedAt: 20_000, format: 'ndjson' },
  }
  await recordSnapshot(path, row, 0)
  const reader = openReader(path)
  const kept = publications(reader)
  reader.close()
  expect(kept).toHaveLength(10_001)
  expect(kept[0]!.id).toBe('last')
  expect(kept.at(-1)!.id).toBe('s2')
})

test('what publications take of the disk is counted where they still are', () => {
  using scratch = makeScratch()
  mkdirSync(scratch.path('lake', 's2'), { recursive: true })
  writeFileSync(scratch.path('t.ndjson'), 'x'.repeat(10))
  const at = (id: string, path: string, bytes: number) => ({ id, path, bytes })
  const use = diskUse([
    at('s5', 's3://bucket/lake', 99),
    at('s4', scratch.path('t.ndjson'), 99),
    at('s3', scratch.path('t.ndjson'), 99),
    at('s2', scratch.path('lake'), 7),
    at('s1', scratch.path('lake'), 99),
    at('s0', scratch.path('gone'), 99),
  ])
  expect(use).toEqual({ snapshots: 2, bytes: 17 })
})

test('that every snapshot is kept is said at the first publication, and status says what they take', async () => {
  using scratch = makeScratch()
  openWriter(scratch.path('task-mirror.sqlite'), OPTIONS).close()
  const run = (...args: string[]) => runInside(args, { cwd: scratch.dir })
  const first = await run('export')
  expect(first.code).toBe(0)
  expect(first.stderr).toMatch(/Every snapshot stays at \S+snapshots: --keep, or export\.keep where --out is not given/)
  expect((await run('export')).stderr).not.toContain('Every snapshot stays')
  expect((await run('status')).stdout).toMatch(/^published +2 snapshots, .* on this disk$/m)
  const { disk, published } = JSON.parse((await run('status', '--json')).stdout)
  const mirrorBytes = statSync(scratch.path('task-mirror.sqlite')).size
  expect(disk).toEqual({ mirrorBytes, walBytes: 0, snapshotBytes: published.bytes, freeBytes: expect.any(Number) })
  expect(disk.snapshotBytes).toBeGreaterThan(0)
  rmSync(scratch.path('snapshots'), { recursive: true })
  expect((await run('export', '--keep', '2')).stderr).not.toContain('Every snapshot stays')
})
