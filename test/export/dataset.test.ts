import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { ExportOptions } from '../../src/export/options.ts'
import { diskUse } from '../../src/export/publish/disk-use.ts'
import type { Latest, Manifest } from '../../src/export/publish/manifest.ts'
import { verifySnapshot } from '../../src/export/verify/verify.ts'
import { withReader } from '../../src/mirror/open.ts'
import { publications } from '../../src/mirror/tables/snapshots.ts'
import { duck } from './duck.ts'
import { type FilledMirror, makeMirror, ordinaryRows } from './mirror.ts'
import { publishing } from './publishing.ts'

const SOURCE = new URL('../../src/export/export.ts', import.meta.url).href
const DAY = 86_400_000

const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
const manifestOf = (path: string | null) => json(path!) as Manifest
const latestOf = (mirror: FilledMirror) => json(join(mirror.folder, 'lake/latest.json')) as Latest
const inLake = (mirror: FilledMirror) => readdirSync(join(mirror.folder, 'lake')).sort()
const filesOf = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort()

/** Tasks of three months, one second apart at the start of each, and one without createdAt. */
function threeMonths() {
  const months = ['2026-09-30T23:59:58Z', '2026-11-01T00:00:00Z', '2026-12-31T23:00:00Z']
  const rows = months.flatMap((text, m) =>
    ordinaryRows(4, m * 4).map((row, i) => ({ ...row, created_at: Date.parse(text) + i * 1_000 })),
  )
  return [{ ...ordinaryRows(1, 99)[0]!, created_at: null }, ...rows]
}

test('a dataset is a folder of its own with a manifest that tells everything about its files', async () => {
  const mirror = makeMirror(...threeMonths())
  mirror.db.exec(`INSERT INTO walks (run_id, kind, verdict, max_seq_at_start, started_at, updated_at, finished_at, evidence_sha256)
    VALUES (1, 'full', 'complete', 0, 1, 2, 1000000, '${'ab'.repeat(32)}')`)
  const now = Date.parse('2026-11-20T08:00:00Z')
  const result = await publishing(mirror, { partitionBy: 'month', now: () => now, redact: ['cookie'] })
  const folder = join(mirror.folder, 'lake', result.snapshotId)
  expect(result).toMatchObject({
    path: folder,
    manifest: join(folder, '_manifest.json'),
    files: 5,
    rows: 13,
    sha256: null,
  })
  expect(result.snapshotId).toMatch(/^20261120T080000000Z-13-/)
  const manifest = manifestOf(result.manifest)
  expect(manifest).toMatchObject({
    schemaVersion: 1,
    snapshotId: result.snapshotId,
    kind: 'full',
    cut: 13,
    sinceSeq: null,
    buildsOn: null,
    publishedAt: now,
    lastFullWalk: { verdict: 'complete', finishedAt: 1_000_000, ageMs: now - 1_000_000 },
    proof: { walkId: 1, startedAt: 1, finishedAt: 1_000_000, sha256: 'ab'.repeat(32) },
    format: 'parquet',
    compression: 'zstd',
    engine: 'hyparquet',
    partitionBy: 'month',
    redacted: { names: ['cookie', '*'], values: {} },
    rows: 13,
    bytes: result.bytes,
    minCreatedAt: Date.parse('2026-09-30T23:59:58Z'),
    maxCreatedAt: Date.parse('2026-12-31T23:00:03Z'),
  })
  expect(manifest.schema).toContainEqual({ name: 'created_at', type: 'timestamp_ms', nullable: true })
  expect(manifest.files.map(({ path, rows }) => [path, rows])).toEqual([
    ['created_month=__HIVE_DEFAULT_PARTITION__/part-00000.parquet', 1],
    ['created_month=2026-09/part-00000.parquet', 2],
    ['created_month=2026-10/part-00000.parquet', 2],
    ['created_month=2026-11/part-00000.parquet', 4],
    ['created_month=2026-12/part-00000.parquet', 4],
  ])
  expect(manifest.files[0]).toMatchObject({ partition: { created_month: null }, minCreatedAt: null })
  expect(filesOf(folder)).toEqual([...manifest.files.map((file) => file.path), '_manifest.json'].sort())
  for (const { path, bytes, sha256 } of manifest.files) {
    const content = readFileSync(join(folder, path))
    expect([content.length, createHash('sha256').update(content).digest('hex')]).toEqual([bytes, sha256])
  }
})

test('latest.json names the last full snapshot and the checksum of its manifest', async () => {
  const mirror = makeMirror(...ordinaryRows(3))
  await publishing(mirror)
  const second = await publishing(mirror)
  const { full, changes } = latestOf(mirror)
  expect(changes).toBeNull()
  expect(full).toMatchObject({
    snapshotId: second.snapshotId,
    manifest: `${second.snapshotId}/_manifest.json`,
    manifestSha256: createHash('sha256').update(readFileSync(second.manifest!)).digest('hex'),
    cut: 3,
    rows: 3,
  })
  expect(inLake(mirror)).toHaveLength(3)
})

test('DuckDB reads partitions as a column, days as dates, and all rows once', async () => {
  const mirror = makeMirror(...threeMonths())
  const byMonth = await publishing(mirror, { partitionBy: 'month' })
  const months = await duck(
    `SELECT created_month, count(*) FROM read_parquet('${byMonth.path}/*/*.parquet', hive_partitioning = true)
     GROUP BY 1 ORDER BY 1 NULLS FIRST`,
  )
  expect(months.map(([month, count]) => [month, Number(count)])).toEqual([
    [null, 1],
    ['2026-09', 2],
    ['2026-10', 2],
    ['2026-11', 4],
    ['2026-12', 4],
  ])
  const byDay = await publishing(mirror, { out: join(mirror.folder, 'days/'), partitionBy: 'day' })
  expect(
    await duck(`SELECT typeof(created_day), count(DISTINCT id) FROM read_parquet('${byDay.path}/*/*.parquet')
      WHERE created_day >= DATE '2026-11-01' GROUP BY 1`),
  ).toEqual([['DATE', '8']])
})

test('files end at so many rows, and go on with the next number', async () => {
  const mirror = makeMirror(...ordinaryRows(2_500))
  const { manifest } = await publishing(mirror, { rowsPerFile: 700 })
  expect(manifestOf(manifest).files.map(({ path, rows }) => [path, rows])).toEqual([
    ['part-00000.parquet', 700],
    ['part-00001.parquet', 700],
    ['part-00002.parquet', 700],
    ['part-00003.parquet', 400],
  ])
})

test('files end once they are large enough', async () => {
  const mirror = makeMirror(...ordinaryRows(12_000))
  const { manifest } = await publishing(mirror, { fileBytes: 1_500_000, format: 'ndjson', compression: 'none' })
  const { files } = manifestOf(manifest)
  expect(files.length).toBeGreaterThan(3)
  for (const { bytes } of files.slice(0, -1)) {
    expect(bytes).toBeGreaterThanOrEqual(1_500_000)
    expect(bytes).toBeLessThan(3_500_000)
  }
})

test.each([
  ['ndjson', 'zstd', '.ndjson.zst'],
  ['ndjson', 'gzip', '.ndjson.gz'],
  ['ndjson', 'none', '.ndjson'],
  ['parquet', 'snappy', '.parquet'],
] as const)('%s with %s has names that end in %s', async (format, compression, ending) => {
  const { path } = await publishing(makeMirror(...ordinaryRows(2)), { format, compression })
  expect(filesOf(path)).toEqual(['_manifest.json', `part-00000${ending}`])
})

test('NDJSON parts together are the tasks in order', async () => {
  const mirror = makeMirror(...ordinaryRows(50))
  const { path } = await publishing(mirror, { format: 'ndjson', rowsPerFile: 20 })
  const lines = filesOf(path)
    .filter((name) => name.endsWith('.zst'))
    .flatMap((name) =>
      zstdDecompressSync(readFileSync(join(path, name)))
        .toString()
        .trimEnd()
        .split('\n'),
    )
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(ordinaryRows(50).map((row) => row.id))
})

test.each(['none', 'month'] as const)(
  'no rows give one file with all columns (partitions: %s)',
  async (partitionBy) => {
    const { path, files, rows } = await publishing(makeMirror(), { partitionBy })
    expect([files, rows]).toEqual([1, 0])
    expect(await duck(`SELECT count(id), count(change_seq) FROM read_parquet('${path}/**/*.parquet')`)).toEqual([
      ['0', '0'],
    ])
  },
)

test('64-bit moments keep their digits in the manifest', async () => {
  const mirror = makeMirror({ id: 'far', created_at: 2n ** 63n - 1n }, { id: 'early', created_at: -(2n ** 63n) })
  const { manifest } = await publishing(mirror, { partitionBy: 'day' })
  const text = readFileSync(manifest!, 'utf8')
  expect(text).toContain('"maxCreatedAt": 9223372036854775807')
  expect(text).toContain('"minCreatedAt": -9223372036854775808')
  expect(manifestOf(manifest).files.map((file) => file.path)).toEqual([
    'created_day=__HIVE_DEFAULT_PARTITION__/part-00000.parquet',
    'created_day=__HIVE_DEFAULT_PARTITION__/part-00001.parquet',
  ])
})

test('files and folders are for their owner alone', async () => {
  const mirror = makeMirror(...threeMonths())
  const { path } = await publishing(mirror, { partitionBy: 'month' })
  const mode = (name: string) => statSync(join(path, name)).mode & 0o777
  expect([mode('.'), mode('created_month=2026-11'), mode('_manifest.json')]).toEqual([0o700, 0o700, 0o600])
  expect(mode('created_month=2026-11/part-00000.parquet')).toBe(0o600)
})

test('a fixed partition lies above the destination, and latest.json in it', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  const { path } = await publishing(mirror, { partitionValues: { account: 'acme' } })
  expect(path.startsWith(join(mirror.folder, 'lake/account=acme/'))).toBe(true)
  expect(existsSync(join(mirror.folder, 'lake/account=acme/latest.json'))).toBe(true)
  const query = `SELECT DISTINCT account FROM read_parquet('${mirror.folder}/lake/*/*/*.parquet', hive_partitioning = true)`
  expect(await duck(query)).toEqual([['acme']])
})

test.each([{ account: '../up' }, { account: 'a/b' }, { 'a=b': 'c' }, { id: 'x' }, { account: '' }])(
  'the fixed partition %j is refused',
  async (partitionValues) => {
    const mirror = makeMirror()
    await expect(publishing(mirror, { partitionValues } as never)).rejects.toMatchObject({ code: 'usage-invalid' })
    expect(existsSync(join(mirror.folder, 'lake'))).toBe(false)
  },
)

test.each<[Partial<ExportOptions>, string]>([
  [{ out: 'a.parquet', partitionBy: 'month' }, '--partition-by'],
  [{ out: 'a.parquet', rowsPerFile: 5 }, '--rows-per-file'],
  [{ out: 'a.parquet', keep: 5 }, '--keep'],
  [{ out: '-', changes: 'last' }, '--changes last'],
  [{ format: 'ndjson', columns: ['id'] }, '--columns'],
  [{ format: 'ndjson', variant: true }, '--variant'],
  [{ changes: 1, columns: ['id'] }, '--changes'],
  [{ columns: ['nonsense'] }, 'nonsense'],
  [{ columns: [] }, 'no column'],
])('%j is refused in words', async (more, words) => {
  const mirror = makeMirror()
  await expect(publishing(mirror, more)).rejects.toMatchObject({
    code: 'usage-invalid',
    message: expect.stringContaining(words),
  })
  expect(existsSync(join(mirror.folder, 'lake'))).toBe(false)
})

test('a file where the folder should be is refused and left alone', async () => {
  const mirror = makeMirror()
  writeFileSync(join(mirror.folder, 'lake'), 'mine')
  await expect(publishing(mirror)).rejects.toMatchObject({ code: 'usage-invalid' })
  expect(readFileSync(join(mirror.folder, 'lake'), 'utf8')).toBe('mine')
})

test('a place that cannot be looked at is refused in words, and takes no room', async () => {
  const mirror = makeMirror(...ordinaryRows(1))
  const loop = join(mirror.folder, 'loop')
  symlinkSync('loop', loop)
  const refusal = { code: 'snapshot-unwritable', facts: { system: 'ELOOP' } }
  for (const out of [`${loop}/`, join(loop, 'a.parquet')]) {
    await expect(publishing(mirror, { out })).rejects.toMatchObject(refusal)
  }
  await expect(verifySnapshot(loop, { deep: false, dbPath: mirror.path })).rejects.toMatchObject(refusal)
  const { snapshotId } = await publishing(mirror)
  const [published] = withReader(mirror.path, publications)
  expect(published).toMatchObject({ id: snapshotId })
  expect(diskUse([published!, { ...published!, path: join(loop, 'lake') }])).toMatchObject({ snapshots: 1 })
})

test('a link to what is not there is told as one, and stays', async () => {
  const mirror = makeMirror(...ordinaryRows(1))
  const link = join(mirror.folder, 'dl')
  symlinkSync('nowhere', link)
  for (const out of [`${link}/`, join(link, 'a.parquet')]) {
    await expect(publishing(mirror, { out })).rejects.toMatchObject({
      code: 'snapshot-unwritable',
      message: expect.stringContaining(
        `${link} is a symbolic link to ${join(mirror.folder, 'nowhere')}, which does not`,
      ),
    })
  }
  expect(readdirSync(mirror.folder)).toContain('dl')
  expect(existsSync(join(mirror.folder, 'nowhere'))).toBe(false)
})

test('keep removes the oldest snapshots and leaves what is not a snapshot alone', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  const ids: string[] = []
  let now = 1_790_000_000_000
  for (let i = 0; i < 4; i++) ids.push((await publishing(mirror, { now: () => (now += DAY) })).snapshotId)
  const lake = join(mirror.folder, 'lake')
  mkdirSync(join(lake, 'mine'))
  // Without a manifest it may be what another machine is writing.
  const unfinished = join(lake, '20200101T000000000Z-1-aaaaaa')
  mkdirSync(unfinished)
  const last = await publishing(mirror, { keep: 2, now: () => (now += DAY) })
  expect(last.removed).toEqual(ids.slice(0, 3))
  expect(last.notRemoved).toBeNull()
  expect(inLake(mirror)).toEqual(
    ['20200101T000000000Z-1-aaaaaa', ids[3], last.snapshotId, 'latest.json', 'mine'].sort(),
  )
})

test.each<[string, (manifest: string) => void]>([
  ['is cut off', (manifest) => writeFileSync(manifest, '{"cut')],
  ['is another file', (manifest) => writeFileSync(manifest, '{"schemaVersion":1}')],
  [
    'is a folder',
    (manifest) => {
      rmSync(manifest)
      mkdirSync(manifest)
    },
  ],
])('a snapshot whose manifest %s stays and is told of, and keep lets the others go', async (_, damage) => {
  const mirror = makeMirror(...ordinaryRows(2))
  let now = 1_790_000_000_000
  const old = []
  for (let i = 0; i < 4; i++) old.push(await publishing(mirror, { now: () => (now += DAY) }))
  damage(old[1]!.manifest!)
  const last = await publishing(mirror, { keep: 2, now: () => (now += DAY) })
  expect(last).toMatchObject({
    removed: [old[0]!.snapshotId, old[2]!.snapshotId],
    notRemoved: expect.stringContaining(`Old snapshots were not all removed: ${old[1]!.manifest!} `),
    recorded: true,
  })
})

test('what a newer program has published keeps all old snapshots from going', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  const first = await publishing(mirror)
  writeFileSync(first.manifest!, '{"schemaVersion":2}')
  await publishing(mirror)
  const last = await publishing(mirror, { keep: 1 })
  expect(last).toMatchObject({ removed: [], notRemoved: expect.stringContaining('newer task-mirror'), recorded: true })
})

test.each(['month', 'none'] as const)(
  'an interrupted dataset leaves nothing behind (partitions: %s)',
  async (partitionBy) => {
    const mirror = makeMirror(...ordinaryRows(4_000))
    const before = await publishing(mirror)
    const abort = new AbortController()
    const running = publishing(mirror, { partitionBy, signal: abort.signal, onProgress: () => abort.abort() })
    await expect(running).rejects.toMatchObject({ code: 'interrupted' })
    expect(inLake(mirror)).toEqual([before.snapshotId, 'latest.json'])
    expect(latestOf(mirror).full!.snapshotId).toBe(before.snapshotId)
  },
)

test('a kill midway leaves the previous publication in force, and the next one clears what was written', async () => {
  const mirror = makeMirror(...ordinaryRows(8_000))
  const before = await publishing(mirror)
  const script = `import { exportSnapshot } from '${SOURCE}'
    await exportSnapshot({ dbPath: process.argv[1], out: process.argv[2], redact: [], toolVersion: '0', rowsPerFile: 1000,
      onProgress: (rows) => rows > 5000 && process.kill(process.pid, 'SIGKILL') })`
  const args = ['--input-type=module', '-e', script, mirror.path, join(mirror.folder, 'lake/')]
  await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit')
  expect(inLake(mirror).filter((name) => !name.startsWith('.'))).toEqual([before.snapshotId, 'latest.json'])
  expect(inLake(mirror)).toHaveLength(3)
  expect(latestOf(mirror).full!.snapshotId).toBe(before.snapshotId)
  await publishing(mirror)
  expect(inLake(mirror).filter((name) => name.startsWith('.'))).toEqual([])
})

test.each([
  ['a manifest elsewhere', /"manifest": ".*"/, '"manifest": "../../etc/passwd"'],
  ['filters that are none', /"statuses": null/, '"statuses": 1'],
  ['partitions that are none', /"partitionBy": ".*"/, '"partitionBy": 1'],
  ['nothing in it', /^.*$/s, ''],
])(
  'a damaged latest.json, with %s, is told of and not written over: once it is removed, a full snapshot makes it anew',
  async (_, what, damage) => {
    const mirror = makeMirror(...ordinaryRows(1))
    await publishing(mirror)
    const path = join(mirror.folder, 'lake/latest.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace(what, damage))
    const hint = expect.stringMatching(/^Remove it and publish a full snapshot/)
    await expect(publishing(mirror)).rejects.toMatchObject({ code: 'snapshot-damaged', hint })
    rmSync(path)
    const { snapshotId } = await publishing(mirror)
    expect(latestOf(mirror).full!.snapshotId).toBe(snapshotId)
    await publishing(mirror, { changes: 'last' })
  },
)
