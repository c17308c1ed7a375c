import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { CreateMultipartUploadCommand, S3Client } from '@aws-sdk/client-s3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { exportSnapshot } from '../../../src/export/export.ts'
import type { ExportOptions } from '../../../src/export/options.ts'
import type { Latest, Manifest } from '../../../src/export/publish/manifest.ts'
import { s3ClientConfig } from '../../../src/export/publish/s3/address.ts'
import { verifySnapshot } from '../../../src/export/verify/verify.ts'
import { snapshotIdOf } from '../../../src/mirror/tables/snapshots.ts'
import { SOAK } from '../../support/soak.ts'
import { type FilledMirror, makeMirror, ordinaryRows } from '../mirror.ts'
import { type Asked, type Fault, type Storage, startStorage } from './storage.ts'

const DAY = 86_400_000
const SOURCE = new URL('../../../src/export/export.ts', import.meta.url).href

function publishing(mirror: FilledMirror, storage: Storage, more: Partial<ExportOptions> = {}) {
  const { env } = storage
  return exportSnapshot({ dbPath: mirror.path, out: 's3://lake/tasks/', redact: [], toolVersion: '0', env, ...more })
}

/** About so many megabytes, where they are not compressed. */
function largeRows(megabytes: number) {
  return ordinaryRows(megabytes * 4).map((row, i) => ({
    ...row,
    result_body: `"${String(i % 10).repeat(256 * 1024)}"`,
  }))
}

const latestOf = async (storage: Storage) =>
  JSON.parse((await storage.object('tasks/latest.json')).toString()) as Latest
const isPart = ({ method, path }: Asked) => method === 'PUT' && path.includes('partNumber')
const NDJSON = { format: 'ndjson', compression: 'none' } as const

test('a dataset is published with its manifest created last, and latest.json after it', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(100))
  const result = await publishing(mirror, storage, { partitionBy: 'month' })
  expect(result).toMatchObject({ path: `s3://lake/tasks/${result.snapshotId}`, rows: 100, recorded: true })
  const file = `tasks/${result.snapshotId}/created_month=2023-11/part-00000.parquet`
  const manifest = `tasks/${result.snapshotId}/_manifest.json`
  expect(await storage.keys()).toEqual([file, manifest, 'tasks/latest.json'].sort())
  const written = storage.asked.filter(({ method }) => method === 'PUT')
  expect(written.map(({ path }) => decodeURIComponent(path).replace(/\?$/, ''))).toEqual([
    file,
    manifest,
    'tasks/latest.json',
  ])
  expect(written.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '*', '*'])
  // Other stores refuse what the library adds by default.
  expect(
    written.flatMap(({ headers }) => Object.keys(headers)).filter((name) => /checksum|trailer/.test(name)),
  ).toEqual([])
  const { files } = JSON.parse((await storage.object(manifest)).toString()) as Manifest
  expect((await storage.object(file)).length).toBe(files[0]!.bytes)
  expect((await latestOf(storage)).full?.snapshotId).toBe(result.snapshotId)
})

test('a feed carries on from the publication before at the same prefix', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(10))
  await publishing(mirror, storage)
  mirror.insert({ ...ordinaryRows(1, 50)[0]!, change_seq: 11 })
  expect(await publishing(mirror, storage, { changes: 'last', out: 's3://lake/tasks' })).toMatchObject({
    rows: 1,
    sinceSeq: 10,
  })
})

test('keep removes the manifest of an old snapshot before its files', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(10))
  let now = 1_790_000_000_000
  const first = await publishing(mirror, storage, { now: () => now })
  now += 1_000
  const second = await publishing(mirror, storage, { now: () => now, keep: 1 })
  expect(second.removed).toEqual([first.snapshotId])
  expect((await storage.keys()).filter((key) => key.includes(first.snapshotId))).toEqual([])
  expect(storage.asked.filter(({ method }) => method === 'DELETE')[0]!.path).toContain('_manifest.json')
})

test('a large file goes in parts, and comes back byte for byte', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...largeRows(20))
  const result = await publishing(mirror, storage, NDJSON)
  expect(storage.asked.filter(isPart).length).toBe(3)
  const lines = (await storage.object(`tasks/${result.snapshotId}/part-00000.ndjson`)).toString().trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).result.body)).toEqual(
    largeRows(20).map((row) => JSON.parse(row.result_body)),
  )
  expect((await storage.uploads()).length).toBe(0)
})

test('503 SlowDown, a reset in a part and lost answers are got over', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...largeRows(10))
  const failed = new Set<string>()
  storage.fault = ({ method, path }) => {
    const once = `${method} ${path}`
    if (method === 'GET' || failed.has(once)) return undefined
    failed.add(once)
    if (path.includes('partNumber=1')) return { status: 503, code: 'SlowDown' }
    if (path.includes('partNumber=2')) return 'reset'
    // Completed, or created, by an attempt whose answer never arrives: the next one is told 404, or 412.
    return /uploadId|manifest\.json/.test(path) && method !== 'DELETE' ? 'lost' : undefined
  }
  const result = await publishing(mirror, storage, NDJSON)
  expect(failed.size).toBeGreaterThan(4)
  expect((await storage.object(`tasks/${result.snapshotId}/part-00000.ndjson`)).length).toBe(result.bytes)
  expect((await latestOf(storage)).full?.snapshotId).toBe(result.snapshotId)
})

test('an object whose connection breaks in the middle is read again, and given up if it always does', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(3))
  await publishing(mirror, storage)
  const failed = new Set<string>()
  storage.fault = ({ method, path }) => {
    if (method !== 'GET' || /list-type|uploads/.test(path) || failed.has(path)) return undefined
    failed.add(path)
    return 'cut'
  }
  await publishing(mirror, storage, { changes: 'last' })
  const { env } = storage
  const verified = await verifySnapshot('s3://lake/tasks', { dbPath: mirror.path, deep: false, env })
  expect(verified).toMatchObject({ ok: true, snapshots: [{ kind: 'full' }, { kind: 'changes' }] })
  // latest.json, two manifests and two files.
  expect(failed.size).toBe(5)
  storage.fault = ({ path }) => (path.includes('latest.json') ? 'cut' : undefined)
  await expect(publishing(mirror, storage, { changes: 'last' })).rejects.toMatchObject({ code: 'snapshot-unwritable' })
})

test('a part that keeps failing leaves the previous publication in force and nothing behind', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...largeRows(10))
  const before = await publishing(mirror, storage, { ...NDJSON, filters: { until: 1_700_000_010_000 } })
  storage.fault = ({ path }) => (path.includes('partNumber=2') ? { status: 500, code: 'InternalError' } : undefined)
  const env = { ...storage.env, AWS_MAX_ATTEMPTS: '2' }
  await expect(publishing(mirror, storage, { ...NDJSON, env })).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    message: expect.stringContaining('HTTP 500'),
  })
  expect((await storage.uploads()).length).toBe(0)
  expect((await storage.keys()).filter((key) => !key.includes(before.snapshotId))).toEqual(['tasks/latest.json'])
  expect((await latestOf(storage)).full?.snapshotId).toBe(before.snapshotId)
})

test('a manifest that is there already, with other content, is never written over', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(3))
  storage.fault = ({ method, path }) =>
    method === 'PUT' && path.includes('_manifest.json') ? { status: 412, code: 'PreconditionFailed' } : undefined
  await expect(publishing(mirror, storage)).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    message: expect.stringContaining('there already'),
  })
  expect(await storage.keys()).toEqual([])
})

test.each<[string, (abort: AbortController) => Fault, string]>([
  ['whose answers are lost', () => 'lost', 'snapshot-unwritable'],
  ['in whose sending the program is told to stop', (abort) => void abort.abort(), 'interrupted'],
])('a manifest %s may be there, and its files stay with it', async (_, fault, code) => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(3))
  const abort = new AbortController()
  let sent = 0
  storage.fault = ({ method, path }) => {
    if (method !== 'PUT' || !path.includes('_manifest.json')) return undefined
    return ++sent === 1 ? fault(abort) : { status: 503, code: 'SlowDown' }
  }
  const env = { ...storage.env, AWS_MAX_ATTEMPTS: '2' }
  await expect(publishing(mirror, storage, { env, signal: abort.signal })).rejects.toMatchObject({ code })
  await vi.waitFor(async () => expect((await storage.keys()).join(' ')).toContain('_manifest.json'))
  const { problems } = await verifySnapshot('s3://lake/tasks', { dbPath: mirror.path, deep: true, env })
  expect(problems.map(({ check }) => check)).toEqual(['latest'])
  storage.fault = () => undefined
  await publishing(mirror, storage)
  expect(await verifySnapshot('s3://lake/tasks', { dbPath: mirror.path, deep: true, env })).toMatchObject({ ok: true })
})

test('an interruption between parts ends the upload', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...largeRows(10))
  const abort = new AbortController()
  storage.fault = ({ path }) => {
    if (path.includes('partNumber=2')) abort.abort()
    return undefined
  }
  const running = publishing(mirror, storage, { ...NDJSON, signal: abort.signal })
  await expect(running).rejects.toMatchObject({ code: 'interrupted' })
  expect([await storage.keys(), (await storage.uploads()).length]).toEqual([[], 0])
})

test('a kill between parts leaves the previous publication in force', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...largeRows(10))
  const before = await publishing(mirror, storage, { ...NDJSON, filters: { until: 1_700_000_002_000 } })
  const script = `import { exportSnapshot } from '${SOURCE}'
    await exportSnapshot({ dbPath: process.argv[1], out: 's3://lake/tasks', format: 'ndjson', compression: 'none',
      redact: [], toolVersion: '0', env: process.env })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, mirror.path], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  storage.fault = ({ path }) => {
    if (!path.includes('partNumber=2')) return undefined
    child.kill('SIGKILL')
    return 'reset'
  }
  expect((await exited)[1]).toBe('SIGKILL')
  expect((await storage.uploads()).length).toBe(1)
  expect(await storage.keys()).toHaveLength(3)
  expect((await latestOf(storage)).full?.snapshotId).toBe(before.snapshotId)
})

test('what a dead export left is cleared away a day later; what may still be written is not', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...largeRows(10))
  const start = 1_790_000_000_000
  // As a kill leaves it: whole files and an upload, but no manifest, and nobody to tidy up.
  storage.fault = ({ method, path }) =>
    method === 'DELETE' || path.includes('partNumber=2') ? { status: 400, code: 'Killed' } : undefined
  await expect(publishing(mirror, storage, { ...NDJSON, fileBytes: 9_000_000, now: () => start })).rejects.toThrow()
  await expect(publishing(mirror, storage, { ...NDJSON, now: () => start })).rejects.toThrow()
  storage.fault = () => undefined
  const left = (await storage.keys()).length + (await storage.uploads()).length
  expect(left).toBeGreaterThan(0)
  const few = { filters: { until: 1_700_000_002_000 } }
  await publishing(mirror, storage, { ...few, now: () => start + DAY / 2 })
  expect((await storage.keys()).length + (await storage.uploads()).length).toBe(left + 3)
  const last = await publishing(mirror, storage, { ...few, now: () => start + 2 * DAY })
  expect((await storage.uploads()).length).toBe(0)
  expect(await storage.keys()).toHaveLength(5)
  expect((await latestOf(storage)).full?.snapshotId).toBe(last.snapshotId)
})

test('an upload of a dead export is ended, however many of other programs are listed before it', async () => {
  const storage = await startStorage()
  const client = new S3Client({ ...s3ClientConfig(storage.env), region: 'us-east-1' })
  onTestFinished(() => client.destroy())
  const others = ['tasks/1-a', 'tasks/1-b', 'tasks/1-b', 'tasks/1-c', 'tasks/1-d']
  const dead = `tasks/${snapshotIdOf(1_790_000_000_000, 5, 'abcdef')}/part-00000.parquet`
  for (const Key of [...others, dead, dead, `${dead}.gz`])
    await client.send(new CreateMultipartUploadCommand({ Bucket: 'lake', Key }))
  await publishing(makeMirror(...ordinaryRows(2)), storage, { now: () => 1_790_000_000_000 + 2 * DAY })
  expect((await storage.uploads()).toSorted()).toEqual(others)
})

test('an export whose files another one, by a clock two days ahead, has cleared away publishes nothing', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(20))
  let files = 0
  let other: Promise<unknown> | null = null
  storage.fault = async ({ method, path }) => {
    if (method === 'PUT' && path.includes('part-')) files += 1
    if (files < 2) return undefined
    storage.fault = () => undefined
    other = publishing(mirror, storage, { ...NDJSON, now: () => Date.now() + 2 * DAY })
    await other
    return undefined
  }
  const own = publishing(mirror, storage, { ...NDJSON, rowsPerFile: 10 })
  await expect(own).rejects.toMatchObject({ code: 'snapshot-unwritable', message: expect.stringContaining('is gone') })
  const { snapshotId } = (await other) as unknown as { snapshotId: string }
  expect((await latestOf(storage)).full?.snapshotId).toBe(snapshotId)
  expect((await storage.keys()).every((key) => key === 'tasks/latest.json' || key.includes(snapshotId))).toBe(true)
})

test.each([
  ['s3://none/tasks/', 'no such bucket'],
  ['s3://lake/tasks/', 'refuses access'],
])('%s without the right to it is told in words', async (out, words) => {
  const storage = await startStorage()
  if (words === 'refuses access') storage.fault = () => ({ status: 403, code: 'AccessDenied' })
  const running = publishing(makeMirror(...ordinaryRows(2)), storage, { out })
  await expect(running).rejects.toMatchObject({ code: 'snapshot-unwritable', message: expect.stringContaining(words) })
})

const ENCRYPTIONS = [
  [{ encryption: 'sse-s3', kmsKeyId: null }, ['AES256', undefined]],
  [{ encryption: 'sse-kms', kmsKeyId: null }, ['aws:kms', undefined]],
  [{ encryption: 'sse-kms', kmsKeyId: 'alias/tasks' }, ['aws:kms', 'alias/tasks']],
] as const

test.each(ENCRYPTIONS)('%j is asked for with every object, large or small', async (settings, expected) => {
  const storage = await startStorage()
  storage.encrypts = true
  const mirror = makeMirror(...largeRows(SOAK || settings.kmsKeyId !== null ? 10 : 1))
  const s3 = { ...settings, insecureHosts: [] }
  const result = await publishing(mirror, storage, { ...NDJSON, s3, filters: { until: 1_700_000_010_000 } })
  await publishing(mirror, storage, { ...NDJSON, s3 })
  expect((await latestOf(storage)).full?.snapshotId).not.toBe(result.snapshotId)
  const begins = ({ method, path }: Asked) =>
    (method === 'PUT' && !path.includes('partNumber')) || (method === 'POST' && /[?&]uploads/.test(path))
  const begun = storage.asked.filter(begins)
  expect(begun.length).toBe(6)
  for (const { headers } of begun) {
    const { 'x-amz-server-side-encryption': how, 'x-amz-server-side-encryption-aws-kms-key-id': key } = headers
    expect([how, key]).toEqual(expected)
  }
})

test.each([2, 10])(
  'a storage that passes over encryption gets no snapshot of %s MB, and nothing stays',
  async (megabytes) => {
    const storage = await startStorage()
    const s3 = { encryption: 'sse-s3', kmsKeyId: null, insecureHosts: [] } as const
    await expect(publishing(makeMirror(...largeRows(megabytes)), storage, { ...NDJSON, s3 })).rejects.toMatchObject({
      code: 'snapshot-unwritable',
      message: expect.stringContaining('was not encrypted'),
    })
    expect([await storage.keys(), (await storage.uploads()).length]).toEqual([[], 0])
  },
)

test('a manifest that alone was not encrypted is taken away again', async () => {
  const storage = await startStorage()
  storage.encrypts = true
  storage.fault = ({ path }) => {
    storage.encrypts = !path.includes('manifest.json')
    return undefined
  }
  const s3 = { encryption: 'sse-s3', kmsKeyId: null, insecureHosts: [] } as const
  await expect(publishing(makeMirror(...ordinaryRows(3)), storage, { s3 })).rejects.toThrow('was not encrypted')
  expect(await storage.keys()).toEqual([])
})

test('a redirect of the storage is not followed, and nothing is sent where it points', async () => {
  const storage = await startStorage()
  storage.fault = () => ({ status: 301, code: 'PermanentRedirect' })
  await expect(publishing(makeMirror(...ordinaryRows(3)), storage)).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    hint: expect.stringContaining('AWS_REGION'),
  })
  expect(new Set(storage.asked.map(({ method, path }) => `${method} ${path}`)).size).toBe(1)
})

test('a region that is none is told, and nothing is sent', async () => {
  const storage = await startStorage()
  const env = { ...storage.env, AWS_REGION: '-1' }
  await expect(publishing(makeMirror(...ordinaryRows(3)), storage, { env })).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    hint: expect.stringContaining('AWS_REGION'),
  })
  expect(storage.asked).toEqual([])
})

test('no storage beyond this machine is reached over plain http, unless it is named', async () => {
  const storage = await startStorage()
  const endpoint = 'http://storage.invalid:9000'
  storage.env.AWS_ENDPOINT_URL_S3 = endpoint
  vi.stubEnv('AWS_ENDPOINT_URL_S3', endpoint)
  const mirror = makeMirror(...ordinaryRows(3))
  await expect(publishing(mirror, storage)).rejects.toMatchObject({
    code: 'config-invalid',
    message: 'AWS_ENDPOINT_URL_S3: tasks would travel unencrypted to storage.invalid',
  })
  const s3 = { encryption: null, kmsKeyId: null, insecureHosts: ['storage.invalid'] }
  const env = { ...storage.env, AWS_MAX_ATTEMPTS: '1' }
  await expect(publishing(mirror, storage, { s3, env })).rejects.toMatchObject({ code: 'snapshot-unwritable' })
})

test('of two exporters at once none takes the other out of latest.json', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(10))
  await publishing(mirror, storage)
  mirror.insert({ ...ordinaryRows(1, 50)[0]!, change_seq: 11 })
  let other: Awaited<ReturnType<typeof publishing>> | null = null
  storage.fault = async ({ method, path }) => {
    // The feed has read what was there and is about to write: now somebody publishes a full snapshot.
    if (method === 'PUT' && path.includes('latest.json') && other === null) {
      storage.fault = () => undefined
      other = await publishing(mirror, storage)
    }
    return undefined
  }
  const feed = await publishing(mirror, storage, { changes: 'last' })
  const { full, changes } = await latestOf(storage)
  expect([full?.snapshotId, changes?.snapshotId]).toEqual([other!.snapshotId, feed.snapshotId])
  expect(storage.asked.filter(({ headers }) => headers['if-match'] !== undefined)).toHaveLength(3)
})

test('a storage that knows no conditions gets latest.json all the same', async () => {
  const storage = await startStorage()
  storage.fault = ({ headers }) =>
    headers['if-match'] !== undefined || headers['if-none-match'] !== undefined
      ? { status: 501, code: 'NotImplemented' }
      : undefined
  const mirror = makeMirror(...ordinaryRows(10))
  await publishing(mirror, storage)
  const second = await publishing(mirror, storage)
  expect((await latestOf(storage)).full?.snapshotId).toBe(second.snapshotId)
})

test('a latest.json that always changes is given up, and the publication before stays in force', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(10))
  const before = await publishing(mirror, storage)
  storage.fault = ({ method, path }) =>
    method === 'PUT' && path.includes('latest.json') ? { status: 412, code: 'PreconditionFailed' } : undefined
  await expect(publishing(mirror, storage)).rejects.toMatchObject({ code: 'snapshot-unwritable' })
  expect((await latestOf(storage)).full?.snapshotId).toBe(before.snapshotId)
})

test('where latest.json cannot be replaced the snapshot is taken away again, so that no attempt leaves a copy', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(10))
  await publishing(mirror, storage)
  const before = await storage.keys()
  storage.fault = ({ method, path }) =>
    method === 'PUT' && path.includes('latest.json') ? { status: 403, code: 'AccessDenied' } : undefined
  for (let n = 0; n < 2; n += 1) {
    await expect(publishing(mirror, storage)).rejects.toMatchObject({
      code: 'snapshot-unwritable',
      message: expect.stringContaining('AccessDenied'),
    })
  }
  expect(await storage.keys()).toEqual(before)
})

test('a snapshot that latest.json may name, or that cannot be taken away, is said to be published', async () => {
  const storage = await startStorage()
  const mirror = makeMirror(...ordinaryRows(10))
  storage.fault = ({ method, path }) =>
    (method === 'PUT' && path.includes('latest.json')) || method === 'DELETE'
      ? { status: 403, code: 'AccessDenied' }
      : undefined
  await expect(publishing(mirror, storage)).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    message: expect.stringMatching(/^s3:.*Z-10-\w+ is published, but latest\.json may not name it: .*AccessDenied/),
    hint: expect.not.stringContaining('Nothing was published'),
  })
  expect((await storage.keys()).filter((key) => key.endsWith('_manifest.json'))).toHaveLength(1)
})

test('no message about the storage says that nothing was published where something is, or where one only reads', async () => {
  const storage = await startStorage()
  const { env } = storage
  const mirror = makeMirror(...ordinaryRows(10))
  const abort = new AbortController()
  storage.fault = ({ method, path }) => {
    if (method === 'PUT' && path.includes('latest.json')) abort.abort()
    return undefined
  }
  await expect(publishing(mirror, storage, { signal: abort.signal })).rejects.toMatchObject({
    code: 'interrupted',
    message: expect.stringMatching(
      /^s3:.* is published, but latest\.json may not name it: (?!.*nothing was published)/,
    ),
  })
  storage.fault = () => ({ status: 400, code: 'Odd' })
  await expect(verifySnapshot('s3://lake/tasks', { dbPath: mirror.path, deep: false, env })).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    hint: expect.not.stringContaining('Nothing was published'),
  })
})
