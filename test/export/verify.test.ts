import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ExportOptions } from '../../src/export/options.ts'
import { draftPath } from '../../src/export/publish/drafts.ts'
import { verifySnapshot } from '../../src/export/verify/verify.ts'
import { type FilledMirror, makeMirror, ordinaryRows } from './mirror.ts'
import { publishing } from './publishing.ts'
import { startStorage } from './s3/storage.ts'

const lake = (mirror: FilledMirror) => join(mirror.folder, 'lake')
const verifying = (mirror: FilledMirror, deep = false, dir = lake(mirror)) =>
  verifySnapshot(dir, { deep, dbPath: mirror.path })

/** What is wrong, in short. */
async function faults(mirror: FilledMirror, deep = false): Promise<string[]> {
  const { ok, problems } = await verifying(mirror, deep)
  expect(ok).toBe(problems.length === 0)
  return problems.map(({ file, check }) => `${check} ${file ?? ''}`.trim())
}

/** What the sync would have told: headers of both kinds, odd numbers, tombstones. */
const ROWS: Record<string, string | number | bigint | null>[] = [
  ...ordinaryRows(60).map((row, i) => ({ ...row, data_header: `{"cookie":"c${i}","accept":"*"}` })),
  { id: 'odd', created_at: 5, extra: '{"timeframe":1.0,"more":{"header":{"Cookie":"x"}}}', result_body: '"a\u2028b"' },
  { id: 'bare' },
  { id: 'gone', created_at: 6, deleted_at: 7 },
]

test('a snapshot that --keep removes during the check is no damage', async () => {
  const mirror = makeMirror(...ROWS)
  const [first, second] = [await publishing(mirror), await publishing(mirror)]
  await publishing(mirror)
  const checking = verifySnapshot(lake(mirror), {
    deep: false,
    dbPath: mirror.path,
    onProgress: (done) => void (done === 1 && renameSync(second.path, draftPath(second.path))),
  })
  expect(await checking).toMatchObject({ ok: true, problems: [], snapshots: [{ snapshotId: first.snapshotId }, {}] })
})

test.each([1, 2, 3])('nor is one that is gone after the folder was listed %d times', async (times) => {
  const mirror = makeMirror(...ROWS)
  const [first, second] = [await publishing(mirror), await publishing(mirror)]
  const { readdir } = promises
  let left = times
  const listing = vi.spyOn(promises, 'readdir').mockImplementation((async (...args: Parameters<typeof readdir>) => {
    const names = await readdir(...args)
    left -= 1
    if (left === 0) renameSync(first.path, draftPath(first.path))
    return names
  }) as typeof readdir)
  syncBuiltinESMExports()
  onTestFinished(() => {
    listing.mockRestore()
    syncBuiltinESMExports()
  })
  const { problems, snapshots } = await verifying(mirror)
  expect({ problems, last: snapshots.at(-1)?.snapshotId }).toEqual({ problems: [], last: second.snapshotId })
})

test.each<[string, Partial<ExportOptions>]>([
  ['Parquet by month', { partitionBy: 'month' }],
  ['Parquet of parquetjs-lite', { engine: 'parquetjs-lite', rowsPerFile: 20 }],
  ['NDJSON', { format: 'ndjson', rowsPerFile: 20 }],
  ['NDJSON with meta in gzip', { format: 'ndjson', withMeta: true, compression: 'gzip', redact: ['cookie'] }],
  ['redacted, with tombstones', { redact: ['cookie'], filters: { includeDeleted: true } }],
  ['filtered', { filters: { since: 1_700_000_010_000, until: 1_700_000_020_000, statuses: ['DONE'] } }],
  ['some columns', { columns: ['id', 'created_at', 'result_body'] }],
  ['a variant', { variant: true }],
])('%s holds, also row by row', async (_, more) => {
  const mirror = makeMirror(...ROWS)
  const { rows, snapshotId } = await publishing(mirror, more)
  const result = await verifying(mirror, true)
  expect(result.problems).toEqual([])
  expect(result.snapshots).toMatchObject([
    { snapshotId, rows, deep: { compared: rows, changedSince: 0, notComparable: null } },
  ])
})

test.each<Partial<ExportOptions>>([
  { format: 'parquet' },
  { format: 'parquet', engine: 'parquetjs-lite' },
  { format: 'csv' },
  { format: 'ndjson' },
])('texts that begin with U+FEFF come back whole from %o', async (more) => {
  const mirror = makeMirror(
    { id: '\ufeff', created_at: 1 },
    { id: 'a', created_at: 2, data_body: '\ufeff{"a":1}', user_id: '\ufeff' },
    { id: 'b', created_at: 3, data_body: '\ufeff\ufeff', result_body: '"\ufeff"', extra: '{"\ufeff":"\ufeff"}' },
  )
  const { rows } = await publishing(mirror, more)
  expect(await verifying(mirror, true)).toMatchObject({
    problems: [],
    snapshots: [{ rows, deep: { compared: 3, changedSince: 0, notComparable: null } }],
  })
})

test.each(['parquet', 'csv'] as const)(
  'rows of %s without an id are counted, and cannot be compared',
  async (format) => {
    const mirror = makeMirror(...ROWS)
    await publishing(mirror, { format, columns: ['data_body', 'created_at'] })
    expect(await verifying(mirror, true)).toMatchObject({
      problems: [],
      snapshots: [{ rows: 62, deep: { compared: 0, notComparable: 'The snapshot has no column id' } }],
    })
  },
)

test('a full snapshot and its feeds are checked together, or one by its own folder', async () => {
  const mirror = makeMirror(...ROWS)
  const first = await publishing(mirror)
  mirror.db.exec("UPDATE tasks SET data_body = 'new', change_seq = 100 WHERE id = 'task-00000003'")
  await publishing(mirror, { changes: 'last' })
  const both = await verifying(mirror, true)
  expect(both).toMatchObject({
    ok: true,
    snapshots: [{ deep: { changedSince: 1 } }, { rows: 1, deep: { compared: 1 } }],
  })
  const one = await verifying(mirror, false, `${first.path}/`)
  expect(one).toMatchObject({ ok: true, place: first.path, snapshots: [{ snapshotId: first.snapshotId, deep: null }] })
})

test('a publication of 0.1.0, with its manifest.json, is verified, built on and let go as before', async () => {
  const mirror = makeMirror(...ROWS)
  const old = await publishing(mirror)
  renameSync(join(old.path, '_manifest.json'), join(old.path, 'manifest.json'))
  const latest = join(lake(mirror), 'latest.json')
  writeFileSync(latest, readFileSync(latest, 'utf8').replace('_manifest.json', 'manifest.json'))
  expect(await faults(mirror, true)).toEqual([])
  mirror.db.exec("UPDATE tasks SET data_body = 'new', change_seq = 100 WHERE id = 'task-00000003'")
  expect(await publishing(mirror, { changes: 'last' })).toMatchObject({ rows: 1 })
  expect(await faults(mirror)).toEqual([])
  await publishing(mirror)
  await publishing(mirror, { keep: 1 })
  expect(readdirSync(lake(mirror))).not.toContain(basename(old.path))
})

test('a manifest.json beside _manifest.json is not taken for ours', async () => {
  const mirror = makeMirror(...ROWS)
  const { path } = await publishing(mirror)
  writeFileSync(join(path, 'manifest.json'), '{}')
  expect(await faults(mirror)).toEqual(['unlisted manifest.json'])
})

test('a flipped byte, a longer file, a missing one and one too many are found', async () => {
  const mirror = makeMirror(...ROWS)
  const { path } = await publishing(mirror, { rowsPerFile: 10 })
  const part = (n: number) => join(path, `part-0000${n}.parquet`)
  const bytes = readFileSync(part(0))
  bytes[100]! ^= 1
  writeFileSync(part(0), bytes)
  appendFileSync(part(1), 'x')
  rmSync(part(2))
  writeFileSync(join(path, 'mine.parquet'), '')
  const expected = [
    'unlisted mine.parquet',
    'checksum part-00000.parquet',
    'size part-00001.parquet',
    'missing part-00002.parquet',
  ]
  expect(await faults(mirror)).toEqual(expected)
  expect(await faults(mirror, true)).toEqual(expected)
})

test('one file has no manifest to be checked by, and is not called missing', async () => {
  const mirror = makeMirror(...ROWS)
  const { path } = await publishing(mirror, { out: join(mirror.folder, 'a.csv') })
  await expect(verifying(mirror, false, path!)).rejects.toMatchObject({
    code: 'usage-invalid',
    message: `${path} is one file; only snapshots in folders have a manifest to check`,
    hint: expect.stringMatching(/name the folder.*SHA-256/),
  })
  await expect(verifying(mirror, false, `${path}.none`)).rejects.toThrow('There is no snapshot at')
})

// A file of no length that cannot be read, whoever asks.
test.runIf(process.platform === 'linux')(
  'a file that cannot be read is told of, and the others are checked',
  async () => {
    const mirror = makeMirror(...ROWS)
    const { path } = await publishing(mirror, { rowsPerFile: 40 })
    rmSync(join(path, 'part-00000.parquet'))
    symlinkSync('/proc/self/mem', join(path, 'part-00000.parquet'))
    appendFileSync(join(path, 'part-00001.parquet'), 'x')
    forge(mirror, path, (manifest) => {
      manifest.bytes -= manifest.files[0].bytes
      manifest.files[0].bytes = 0
    })
    const { problems } = await verifying(mirror)
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('It cannot be read: EIO'),
      expect.stringMatching(/^It has \d+ bytes/),
    ])
  },
)

/** Changes the manifest as somebody would who wants it to fit: `latest.json` fits too. */
function forge(mirror: FilledMirror, path: string, change: (manifest: ReturnType<typeof JSON.parse>) => void): void {
  const manifest = JSON.parse(readFileSync(join(path, '_manifest.json'), 'utf8'))
  change(manifest)
  const bytes = JSON.stringify(manifest)
  writeFileSync(join(path, '_manifest.json'), bytes)
  const latest = JSON.parse(readFileSync(join(lake(mirror), 'latest.json'), 'utf8'))
  latest[manifest.kind].manifestSha256 = createHash('sha256').update(bytes).digest('hex')
  writeFileSync(join(lake(mirror), 'latest.json'), JSON.stringify(latest))
}

test.each(['parquet', 'ndjson'] as const)('a wrong number of rows is found in %s', async (format) => {
  const mirror = makeMirror(...ROWS)
  const { path, rows } = await publishing(mirror, { format })
  forge(mirror, path, (manifest) => {
    manifest.rows = rows + 1
    manifest.files[0].rows = rows + 1
  })
  expect(await faults(mirror)).toEqual([`rows part-00000.${format === 'parquet' ? format : 'ndjson.zst'}`])
  forge(mirror, path, (manifest) => {
    manifest.files[0].rows = rows
  })
  expect(await faults(mirror)).toEqual(['manifest _manifest.json'])
})

test.each<[string, (manifest: ReturnType<typeof JSON.parse>) => unknown]>([
  ['names a file twice', (manifest) => manifest.files.push({ ...manifest.files[0], rows: 0, bytes: 0 })],
  ['has a column that is none', (manifest) => manifest.schema.push(null)],
  ['has no filters', (manifest) => Object.assign(manifest, { filters: null })],
  ['has a cut that is no number', (manifest) => Object.assign(manifest, { cut: '9' })],
  ['leads out of its folder', (manifest) => Object.assign(manifest.files[0], { path: 'a/../../b' })],
  ['has a file without a checksum', (manifest) => delete manifest.files[0].sha256],
])('a manifest that %s is none', async (_, change) => {
  const mirror = makeMirror(...ROWS)
  const { path } = await publishing(mirror)
  forge(mirror, path, change)
  expect(await faults(mirror, true)).toEqual(['manifest _manifest.json'])
})

test('a feed that is gone is missed where the last one needs it, and an old one is not', async () => {
  const mirror = makeMirror(...ROWS)
  let now = 1_790_000_000_000
  const next = (more: Partial<ExportOptions> = {}) => publishing(mirror, { now: () => (now += 1_000), ...more })
  const remove = ({ path }: { path: string }) => rmSync(path, { recursive: true })
  await next()
  const old = await next({ changes: 'last' })
  await next({ changes: 'last' })
  remove(old)
  const said = await verifying(mirror)
  expect(said.problems).toMatchObject([{ snapshotId: null, file: 'latest.json', check: 'latest' }])
  expect(said.problems[0]?.message).toContain(
    `goes on from ${old.snapshotId}, which is missing or damaged: readers need a full snapshot`,
  )
  const full = await next()
  expect(await faults(mirror)).toEqual([])
  await next({ changes: 'last' })
  expect(await faults(mirror)).toEqual([])
  remove(full)
  expect(await faults(mirror)).toEqual(['latest latest.json', 'latest latest.json'])
})

test('a feed from the beginning needs none before it, and another one needs whole ones', async () => {
  const mirror = makeMirror(...ROWS)
  let now = 1_790_000_000_000
  const next = (changes: 0 | 'last') => publishing(mirror, { now: () => (now += 1_000), changes })
  const first = await next(0)
  expect(await faults(mirror)).toEqual([])
  await next('last')
  writeFileSync(first.manifest!, '{')
  expect(await faults(mirror)).toEqual(['manifest _manifest.json', 'latest latest.json'])
})

test('feeds that name each other are followed once', async () => {
  const mirror = makeMirror(...ROWS)
  await publishing(mirror)
  const feed = await publishing(mirror, { changes: 'last' })
  forge(mirror, feed.path, (manifest) => Object.assign(manifest, { buildsOn: feed.snapshotId }))
  expect(await faults(mirror)).toEqual(['latest latest.json'])
})

test.each(['"rows":1e30', '"rows":1000000000000000000000000000000'])('numbers beyond all bounds: %s', async (rows) => {
  const mirror = makeMirror(...ROWS)
  const { manifest } = await publishing(mirror)
  writeFileSync(manifest!, readFileSync(manifest!, 'utf8').replaceAll(/"rows": \d+/g, rows))
  expect(await faults(mirror)).toEqual(['manifest _manifest.json', 'latest latest.json'])
  const latest = join(lake(mirror), 'latest.json')
  writeFileSync(latest, readFileSync(latest, 'utf8').replace(/"cut": \d+/, '"cut": 99999999999999999999'))
  await expect(publishing(mirror)).rejects.toMatchObject({ code: 'snapshot-damaged' })
})

test.each<[string, object]>([
  ['schema 2, this one knows 1', { schemaVersion: 2, files: undefined }],
  ['format "orc", unknown to this one', { format: 'orc' }],
  ['compression "brotli", unknown to this one', { compression: 'brotli' }],
])('a snapshot of a newer program is not called damaged, and its version is named: %s', async (what, change) => {
  const mirror = makeMirror(...ROWS)
  const { path } = await publishing(mirror)
  forge(mirror, path, (manifest) => Object.assign(manifest, { toolVersion: '7.1.0', ...change }))
  await expect(verifying(mirror)).rejects.toMatchObject({
    code: 'snapshot-newer',
    message: `${path}/_manifest.json was written by a newer task-mirror (${what})`,
    hint: 'Use task-mirror 7.1.0 or later.',
  })
})

test('a latest.json of a newer program is left as it is, and nothing is published beside it', async () => {
  const mirror = makeMirror(...ROWS)
  await publishing(mirror)
  const latest = join(lake(mirror), 'latest.json')
  writeFileSync(latest, readFileSync(latest, 'utf8').replace('"schemaVersion": 1', '"schemaVersion": 2'))
  const before = readFileSync(latest, 'utf8')
  await expect(publishing(mirror)).rejects.toMatchObject({ code: 'snapshot-newer', hint: 'Use the newer program.' })
  expect(readFileSync(latest, 'utf8')).toBe(before)
  await expect(verifying(mirror)).rejects.toMatchObject({ code: 'snapshot-newer' })
})

test('a row that was changed, or left out, under a manifest that fits is found by comparing', async () => {
  const mirror = makeMirror(...ROWS)
  const { path } = await publishing(mirror, { format: 'ndjson' })
  const file = join(path, 'part-00000.ndjson.zst')
  const whole = zstdDecompressSync(readFileSync(file)).toString()
  const replace = (text: string) => {
    const bytes = zstdCompressSync(text)
    writeFileSync(file, bytes)
    const rows = text.split('\n').length - 1
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    forge(mirror, path, (manifest) => {
      Object.assign(manifest, { rows, bytes: bytes.length })
      Object.assign(manifest.files[0], { rows, bytes: bytes.length, sha256 })
    })
  }
  replace(whole.replace('"n":7,', '"n":8,'))
  expect(await faults(mirror)).toEqual([])
  expect(await faults(mirror, true)).toEqual(['content part-00000.ndjson.zst'])
  replace(whole.replace(/^.*task-00000009.*\n/m, ''))
  expect(await faults(mirror, true)).toEqual(['absent'])
})

test('a file whose rows cannot be read under a manifest that fits is told as such, and the check goes on', async () => {
  const mirror = makeMirror(...ROWS)
  const { path } = await publishing(mirror, { format: 'parquet', rowsPerFile: 40 })
  const file = join(path, 'part-00000.parquet')
  const bytes = readFileSync(file).fill(0xff, 4, 200)
  writeFileSync(file, bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  forge(mirror, path, (manifest) => Object.assign(manifest.files[0], { sha256 }))
  expect(await faults(mirror)).toEqual([])
  expect(await faults(mirror, true)).toEqual(['rows part-00000.parquet'])
})

test('a mirror that was changed behind the sync is found, one that moved on is not a fault', async () => {
  const mirror = makeMirror(...ROWS)
  await publishing(mirror)
  mirror.insert({ id: 'later', change_seq: 100 })
  expect(await faults(mirror, true)).toEqual([])
  mirror.db.exec("UPDATE tasks SET data_body = 'x' WHERE id = 'bare'")
  expect(await faults(mirror, true)).toEqual(['content part-00000.parquet'])
})

test('a mirror older than the snapshot cannot be compared with, and that is said', async () => {
  const mirror = makeMirror(...ROWS)
  await publishing(mirror)
  mirror.db.exec('DELETE FROM tasks WHERE change_seq > 50')
  const { ok, snapshots } = await verifying(mirror, true)
  expect([ok, snapshots[0]!.deep!.notComparable]).toEqual([true, expect.stringContaining('up to 50 only')])
})

test('a latest.json that is missing, damaged or names another manifest is found', async () => {
  const mirror = makeMirror(...ROWS)
  const { manifest } = await publishing(mirror)
  appendFileSync(manifest!, ' ')
  expect(await faults(mirror)).toEqual(['latest latest.json'])
  writeFileSync(join(lake(mirror), 'latest.json'), '[]')
  expect(await faults(mirror)).toEqual(['latest latest.json'])
  rmSync(join(lake(mirror), 'latest.json'))
  expect(await faults(mirror)).toEqual(['latest latest.json'])
  rmSync(manifest!)
  expect(await faults(mirror)).toEqual(['manifest _manifest.json'])
})

test('what is published below fixed partitions is checked from above, row by row only one at a time', async () => {
  const mirror = makeMirror(...ROWS)
  await publishing(mirror, { partitionValues: { region: 'eu', account: 'acme' } })
  expect(await verifying(mirror, true)).toMatchObject({ ok: true, place: lake(mirror), snapshots: [{ rows: 62 }] })
  const { path } = await publishing(mirror, { partitionValues: { region: 'us' } })
  expect(await verifying(mirror)).toMatchObject({ ok: true, snapshots: [{ rows: 62 }, { rows: 62 }] })
  await expect(verifying(mirror, true)).rejects.toMatchObject({
    code: 'usage-invalid',
    hint: expect.stringContaining(join(lake(mirror), 'region=us')),
  })
  appendFileSync(join(path, 'part-00000.parquet'), 'x')
  rmSync(join(lake(mirror), 'region=eu', 'account=acme', 'latest.json'))
  expect(await faults(mirror)).toEqual(['latest region=eu/account=acme/latest.json', 'size part-00000.parquet'])
})

test('of a file full of other rows ten are named', async () => {
  const mirror = makeMirror(...ordinaryRows(30))
  await publishing(mirror)
  mirror.db.exec("UPDATE tasks SET system_status = 'other'")
  expect(await faults(mirror, true)).toEqual(Array(10).fill('content part-00000.parquet'))
})

test('where nothing was published it says so', async () => {
  const mirror = makeMirror()
  for (const dir of [mirror.folder, join(mirror.folder, 'none')]) {
    await expect(verifying(mirror, false, dir)).rejects.toMatchObject({ code: 'usage-invalid' })
  }
})

test('snapshots in object storage are checked there', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ROWS)
  const { path } = await publishing(mirror, { out: 's3://lake/tasks/', env: storage.env, rowsPerFile: 30 })
  const options = { deep: true, dbPath: mirror.path, env: storage.env }
  const partitionValues = { account: 'acme' }
  await publishing(mirror, { out: 's3://lake/many/', env: storage.env, partitionValues })
  // What a check that was killed has left: a copy of an object.
  const left = draftPath(join(tmpdir(), 'object'))
  writeFileSync(left, 'tasks')
  utimesSync(left, 0, 0)
  expect(await verifySnapshot('s3://lake/many', options)).toMatchObject({ ok: true, snapshots: [{ rows: 62 }] })
  expect(existsSync(left)).toBe(false)
  // A temporary folder that is not to be listed, only written to, serves as well.
  const listing = vi.spyOn(promises, 'readdir').mockRejectedValue(Object.assign(new Error('no'), { code: 'EACCES' }))
  syncBuiltinESMExports()
  onTestFinished(() => {
    listing.mockRestore()
    syncBuiltinESMExports()
  })
  for (const dir of ['s3://lake/tasks', path]) {
    expect(await verifySnapshot(dir, options)).toMatchObject({ ok: true, snapshots: [{ deep: { compared: 62 } }] })
  }
  storage.fault = ({ method, path: asked }) =>
    method === 'HEAD' && asked.includes('part-00001') ? { status: 404, code: 'NoSuchKey' } : undefined
  expect((await verifySnapshot(path, options)).problems).toMatchObject([
    { check: 'missing', file: 'part-00001.parquet' },
  ])
})
