import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { DEFAULTS } from '../../src/config/defaults.ts'
import { exportSnapshot } from '../../src/export/export.ts'
import type { ExportOptions } from '../../src/export/options.ts'
import { snapshotIdOf } from '../../src/mirror/tables/snapshots.ts'
import { type FilledMirror, makeMirror, ordinaryRows } from './mirror.ts'

const SOURCE = new URL('../../src/export/export.ts', import.meta.url).href

function exporting(mirror: FilledMirror, name: string, more: Partial<ExportOptions> = {}) {
  const out = name === '-' ? name : join(mirror.folder, name)
  return exportSnapshot({
    dbPath: mirror.path,
    out,
    redact: DEFAULTS.export.redactHeaders,
    toolVersion: '0.0.0',
    ...more,
  })
}

const hidden = (mirror: FilledMirror) => readdirSync(mirror.folder).filter((name) => name.startsWith('.'))

test.each([
  ['a.ndjson', (file: Buffer) => file],
  ['a.ndjson.gz', gunzipSync],
  ['a.ndjson.zst', zstdDecompressSync],
])('%s holds one task per line, in order', async (name, unpack) => {
  const mirror = makeMirror(...ordinaryRows(2_500))
  const result = await exporting(mirror, name)
  const lines = unpack(readFileSync(result.path)).toString().split('\n')
  expect(lines.pop()).toBe('')
  expect(lines.length).toBe(2_500)
  expect(JSON.parse(lines[7]!)).toEqual({
    id: 'task-00000007',
    userId: 'user-1',
    data: { method: 'GET', url: 'https://example.com/7', body: '', header: { accept: '*/*' } },
    timeframe: 60_000,
    accuracy: 'MINUTE',
    systemStatus: 'DONE',
    createdAt: 1_700_000_007_000,
    completedAt: 1_700_000_007_500,
    result: {
      body: { n: 7, text: 'x'.repeat(200) },
      header: { 'content-type': 'application/json' },
      statusCode: 200,
      statusText: 'OK',
    },
  })
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(ordinaryRows(2_500).map((row) => row.id))
})

test('tells what it published, and the mirror has a row about it', async () => {
  const mirror = makeMirror(...ordinaryRows(3), { id: 'gone', created_at: 1, deleted_at: 5 })
  const result = await exporting(mirror, 'a.ndjson', { filters: { until: 2e12, statuses: ['DONE'] }, now: () => 1e12 })
  const file = readFileSync(result.path)
  expect(result).toEqual({
    schemaVersion: 1,
    snapshotId: expect.stringMatching(/^20010909T014640000Z-4-[0-9a-f]{6}$/),
    kind: 'full',
    path: join(mirror.folder, 'a.ndjson'),
    manifest: null,
    files: 1,
    format: 'ndjson',
    compression: 'none',
    rows: 3,
    bytes: file.length,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    cut: 4,
    sinceSeq: null,
    verdict: null,
    verdictAt: null,
    redacted: { names: [...DEFAULTS.export.redactHeaders, '*'], values: {} },
    removed: [],
    notRemoved: null,
    recorded: true,
    notRecorded: null,
    notLimited: null,
    readerGone: false,
    durationMs: 0,
  })
  const row = mirror.db.prepare('SELECT * FROM snapshots').get() as Record<string, unknown>
  expect(row).toMatchObject({
    id: result.snapshotId,
    cut: 4,
    path: result.path,
    format: 'ndjson',
    files: 1,
    rows: 3,
    bytes: file.length,
    since_seq: null,
    published_at: 1e12,
  })
  expect(JSON.parse(row.filters as string)).toMatchObject({ since: null, until: 2e12, statuses: ['DONE'] })
})

test('credentials stay in the mirror unless asked for, and are counted', async () => {
  const rows = ordinaryRows(2)
  rows[0]!.data_header = '{"Authorization":"Bearer CANARY","accept":"*/*"}'
  rows[1]!.result_header = '{"set-cookie":["a=CANARY"]}'
  rows[1]!.extra = '{"data":{"via":{"headers":{"x-api-key":"CANARY"}}},"timeframe":1.0}'
  const mirror = makeMirror(...rows)
  const closed = await exporting(mirror, 'closed.ndjson')
  expect(readFileSync(closed.path, 'utf8')).not.toContain('CANARY')
  expect(readFileSync(closed.path, 'utf8')).toContain('"timeframe":1.0')
  expect(closed.redacted.values).toEqual({ authorization: 1, 'set-cookie': 1, 'x-api-key': 1 })
  const open = await exporting(mirror, 'open.ndjson', { redact: [] })
  expect(readFileSync(open.path, 'utf8').match(/CANARY/g)).toHaveLength(3)
  expect(open.redacted).toEqual({ names: [], values: {} })
})

test.each(['a.csv', 'a.parquet'])('credentials that stand in no column of %s are not counted', async (name) => {
  const rows = ordinaryRows(2)
  rows[0]!.data_header = '{"Authorization":"Bearer CANARY"}'
  rows[0]!.data_url = 'https://user:CANARY@example.com/'
  const mirror = makeMirror(...rows)
  const { redacted } = await exporting(mirror, name, { columns: ['id', 'data_url'] })
  expect(redacted.values).toEqual({ url: 1 })
  const narrow = await exporting(mirror, name, { columns: ['id'] })
  expect(narrow.redacted).toEqual({ names: redacted.names, values: {} })
})

test('withMeta adds what the mirror knows of each task', async () => {
  const mirror = makeMirror({ id: 'a', created_at: 1, deleted_at: 8 })
  const { path } = await exporting(mirror, 'a.ndjson', { withMeta: true, filters: { includeDeleted: true } })
  expect(JSON.parse(readFileSync(path, 'utf8'))._mirror).toEqual({
    changeSeq: 1,
    firstSeenAt: 1,
    changedAt: 2,
    deletedAt: 8,
  })
})

test.each(['a.ndjson', 'a.ndjson.gz', 'a.ndjson.zst'])('an empty mirror gives an empty %s', async (name) => {
  const mirror = makeMirror()
  const result = await exporting(mirror, name)
  expect(result).toMatchObject({ rows: 0, cut: 0, recorded: true })
  const file = readFileSync(result.path)
  const content = name.endsWith('gz') ? gunzipSync(file) : name.endsWith('zst') ? zstdDecompressSync(file) : file
  expect(content.length).toBe(0)
})

/** Rows of about 2 KB: a thousand are a piece of NDJSON. */
const largeRows = (count: number) => ordinaryRows(count).map((row) => ({ ...row, result_body: 'x'.repeat(2_000) }))

test('reports progress with the number of rows to come', async () => {
  const mirror = makeMirror(...largeRows(2_500), { id: 'gone', deleted_at: 1 })
  const seen: [number, number | null][] = []
  await exporting(mirror, 'a.ndjson', { onProgress: (rows, total) => seen.push([rows, total]) })
  expect(seen.length).toBeGreaterThan(1)
  expect(seen.at(-1)).toEqual([2_500, 2_500])
})

test.each(['a.ndjson', 'a.ndjson.zst', 'a.parquet'])(
  'an interrupted export of %s leaves nothing behind',
  async (name) => {
    const mirror = makeMirror(...ordinaryRows(4_000))
    writeFileSync(join(mirror.folder, name), 'before')
    const abort = new AbortController()
    let batches = 0
    const onProgress = () => {
      batches++
      abort.abort()
    }
    const running = exporting(mirror, name, { signal: abort.signal, onProgress })
    await expect(running).rejects.toMatchObject({ code: 'interrupted' })
    expect(batches).toBe(1)
    expect(hidden(mirror)).toEqual([])
    expect(readFileSync(join(mirror.folder, name), 'utf8')).toBe('before')
    expect(mirror.db.prepare('SELECT count(*) FROM snapshots').pluck().get()).toBe(0)
  },
)

test('the event loop turns between batches, so that signals are heard', async () => {
  const mirror = makeMirror(...largeRows(1_500))
  let turns = 0
  let isRunning = true
  const counting = (async () => {
    while (isRunning) {
      await turn()
      turns++
    }
  })()
  let turnsOfPiece = 0
  await exporting(mirror, 'a.parquet', {
    onProgress: () => {
      turnsOfPiece = turns
    },
  })
  isRunning = false
  await counting
  // A batch is 64 KB.
  expect(turnsOfPiece).toBeGreaterThan(30)
})

test('a status that no task has is refused with those there are, and leaves what was published', async () => {
  const mirror = makeMirror(...ordinaryRows(3), { id: 'gone', system_status: 'LOST', created_at: 1, deleted_at: 2 })
  await exporting(mirror, 'a.ndjson')
  const before = readFileSync(join(mirror.folder, 'a.ndjson'))
  await expect(exporting(mirror, 'a.ndjson', { filters: { statuses: ['DONE', 'done'] } })).rejects.toMatchObject({
    code: 'usage-invalid',
    message: expect.stringContaining('"done"'),
    hint: expect.stringMatching(/^There are: DONE, LOST\./),
  })
  expect(readFileSync(join(mirror.folder, 'a.ndjson'))).toEqual(before)
  expect(await exporting(mirror, 'b.ndjson', { filters: { statuses: ['LOST'] } })).toMatchObject({ rows: 0 })
  expect(await exporting(makeMirror(), 'c.ndjson', { filters: { statuses: ['ANY'] } })).toMatchObject({ rows: 0 })
})

test('a status that was published there, and that no task has any more, is no slip of the pen: nothing has it now', async () => {
  const mirror = makeMirror(...ordinaryRows(3), { id: 'open', system_status: 'PENDING', created_at: 1 })
  const pending = { filters: { statuses: ['PENDING'] } }
  expect(await exporting(mirror, 'a.ndjson', pending)).toMatchObject({ rows: 1 })
  mirror.db.exec("UPDATE tasks SET system_status = 'DONE', change_seq = 9 WHERE id = 'open'")
  expect(await exporting(mirror, 'a.ndjson', pending)).toMatchObject({ rows: 0 })
  for (const statuses of [['TYPO'], ['PENDING', 'TYPO']])
    await expect(exporting(mirror, 'a.ndjson', { filters: { statuses } })).rejects.toThrow('has the status "TYPO"')
  await expect(exporting(mirror, 'b.ndjson', pending)).rejects.toMatchObject({ code: 'usage-invalid' })
})

test('an export is one cut while another connection keeps writing', async () => {
  const mirror = makeMirror(...largeRows(3_000))
  let added = 0
  const result = await exporting(mirror, 'a.ndjson', {
    onProgress: () => {
      mirror.insert(...ordinaryRows(50, 10_000 + added))
      mirror.db.exec("UPDATE tasks SET data_method = 'CHANGED', change_seq = change_seq + 100000")
      added += 50
    },
  })
  const file = readFileSync(result.path, 'utf8')
  expect(added).toBeGreaterThan(50)
  expect(file).not.toContain('CHANGED')
  expect(result).toMatchObject({ rows: 3_000, cut: 3_000, recorded: true })
})

test('a mirror that takes no row keeps nothing from being published, and the result says so', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  const other = new Database(mirror.path)
  onTestFinished(() => void other.close())
  other.exec('BEGIN IMMEDIATE')
  const result = await exporting(mirror, 'a.ndjson', { busyTimeoutMs: 100 })
  expect(result).toMatchObject({ rows: 2, recorded: false, notRecorded: expect.stringContaining('locked') })
  expect(readFileSync(result.path, 'utf8').split('\n').length).toBe(3)
})

test('a mirror that may only be read is published all the same', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  const out = join(mirror.folder, 'out')
  mkdirSync(out)
  for (const name of readdirSync(mirror.folder)) chmodSync(join(mirror.folder, name), name === 'out' ? 0o777 : 0o444)
  chmodSync(mirror.folder, 0o555)
  const result = await asNobody(() => exporting(mirror, 'out/a.ndjson'))
  chmodSync(mirror.folder, 0o755)
  expect(result).toMatchObject({ rows: 2, recorded: false, notRecorded: expect.stringContaining('cannot be written') })
})

test('a folder that may not be written is snapshot-unwritable', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  const out = join(mirror.folder, 'out')
  mkdirSync(out, { mode: 0o555 })
  for (const name of readdirSync(mirror.folder)) if (name !== 'out') chmodSync(join(mirror.folder, name), 0o666)
  chmodSync(mirror.folder, 0o777)
  await expect(asNobody(() => exporting(mirror, 'out/a.ndjson'))).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    hint: expect.any(String),
  })
})

/** The rights of files mean nothing to root: there the work is done as another user. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work()
  process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

test('the row waits for a writer that is about to finish', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  const other = new Database(mirror.path)
  onTestFinished(() => void other.close())
  other.exec('BEGIN IMMEDIATE')
  setTimeout(() => other.exec('COMMIT'), 150)
  expect(await exporting(mirror, 'a.ndjson')).toMatchObject({ recorded: true })
})

test.each(['mirror.db', 'mirror.db-wal'])('%s, the mirror itself, is never written over', async (name) => {
  const mirror = makeMirror(...ordinaryRows(2))
  await expect(exporting(mirror, name, { format: 'ndjson' })).rejects.toMatchObject({ code: 'usage-invalid' })
  expect(mirror.db.prepare('SELECT count(*) FROM tasks').pluck().get()).toBe(2)
})

test.each(['a.ndjson', 'new/lake/'])('without a mirror it says so and creates nothing, %s', async (name) => {
  const mirror = makeMirror(...ordinaryRows(2))
  const running = exporting(mirror, name, { dbPath: join(mirror.folder, 'none.db') })
  await expect(running).rejects.toMatchObject({ code: 'mirror-missing' })
  const misspelt = exporting(mirror, name, { filters: { statuses: ['DOEN'] } })
  await expect(misspelt).rejects.toMatchObject({ code: 'usage-invalid' })
  expect(readdirSync(mirror.folder).filter((name) => !name.startsWith('mirror.db'))).toEqual([])
})

test('stdout gets the lines, at its own pace, and no row is recorded', async () => {
  const mirror = makeMirror(...ordinaryRows(5_000))
  const got: string[] = []
  let isBusy = false
  const slow = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      expect(isBusy).toBe(false)
      isBusy = true
      got.push(chunk.toString())
      setImmediate(() => {
        isBusy = false
        done()
      })
    },
  })
  const result = await exporting(mirror, '-', { stdout: slow })
  expect(slow.writableLength).toBe(0)
  expect(got.join('').split('\n').length).toBe(5_001)
  expect(result).toMatchObject({ path: '-', rows: 5_000, recorded: false, notRecorded: null, sha256: null })
  expect(mirror.db.prepare('SELECT count(*) FROM snapshots').pluck().get()).toBe(0)
})

test.each(['none', 'zstd'] as const)(
  'a reader that stops reading cannot hold up an interruption (%s)',
  async (compression) => {
    const mirror = makeMirror(...ordinaryRows(5_000))
    const abort = new AbortController()
    const stuck = new Writable({ write: () => abort.abort() })
    const running = exporting(mirror, '-', { stdout: stuck, signal: abort.signal, compression })
    await expect(running).rejects.toMatchObject({ code: 'interrupted' })
  },
)

/** Runs an export to stdout in a process of its own; stderr gets the result. */
function exportToStdout(mirror: FilledMirror, out = '-') {
  const script = `import { exportSnapshot } from '${SOURCE}'
    const result = await exportSnapshot({ dbPath: process.argv[1], out: '${out}', redact: [], toolVersion: '0' })
    process.stderr.write(JSON.stringify(result))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, mirror.path], { stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test('a reader that leaves early ends the export quietly', async () => {
  const mirror = makeMirror(...ordinaryRows(8_000))
  const child = exportToStdout(mirror)
  const errors = text(child.stderr)
  await once(child.stdout, 'readable')
  child.stdout.destroy()
  const [code] = await once(child, 'exit')
  expect([code, JSON.parse(await errors).readerGone]).toEqual([0, true])
})

test('a process killed midway leaves nothing under the final name, and the next export clears its draft', async () => {
  const mirror = makeMirror(...ordinaryRows(8_000))
  const path = join(mirror.folder, 'a.ndjson')
  const script = `import { exportSnapshot } from '${SOURCE}'
    await exportSnapshot({ dbPath: process.argv[1], out: process.argv[2], redact: [], toolVersion: '0',
      onProgress: () => process.kill(process.pid, 'SIGKILL') })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, mirror.path, path], { stdio: 'ignore' })
  await once(child, 'exit')
  expect(hidden(mirror)).toHaveLength(1)
  expect(readdirSync(mirror.folder)).not.toContain('a.ndjson')
  await exporting(mirror, 'b.ndjson')
  expect(hidden(mirror)).toEqual([])
})

test('ids of snapshots sort by time', () => {
  expect(snapshotIdOf(0, 12, 'abc')).toBe('19700101T000000000Z-12-abc')
})
