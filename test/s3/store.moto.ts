// What is published to S3, seen by an implementation that is not s3rver: conditions, parts, encryption, long listings.
// `npm run test:s3` starts it and sets MOTO_URL.
import { randomUUID } from 'node:crypto'
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { beforeEach, expect, test, vi } from 'vitest'
import { exportSnapshot } from '../../src/export/export.ts'
import type { ExportOptions } from '../../src/export/options.ts'
import type { Latest, Manifest } from '../../src/export/publish/manifest.ts'
import { verifySnapshot } from '../../src/export/verify/verify.ts'
import { type FilledMirror, makeMirror, ordinaryRows } from '../export/mirror.ts'

const env = {
  AWS_ACCESS_KEY_ID: 'made-up',
  AWS_SECRET_ACCESS_KEY: 'made-up',
  AWS_REGION: 'us-east-1',
  AWS_ENDPOINT_URL_S3: process.env.MOTO_URL as string,
}
const client = new S3Client({
  endpoint: env.AWS_ENDPOINT_URL_S3,
  region: env.AWS_REGION,
  forcePathStyle: true,
  credentials: { accessKeyId: 'made-up', secretAccessKey: 'made-up' },
})
const NDJSON = { format: 'ndjson', compression: 'none' } as const
let bucket = ''

beforeEach(async () => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  bucket = `lake-${randomUUID()}`
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
})

function publish(mirror: FilledMirror, more: Partial<ExportOptions> = {}) {
  const out = `s3://${bucket}/tasks/`
  return exportSnapshot({ dbPath: mirror.path, out, redact: [], toolVersion: '0', env, ...more })
}

/** About so many megabytes, where they are not compressed. */
function largeRows(megabytes: number) {
  return ordinaryRows(megabytes * 4).map((row, i) => ({
    ...row,
    result_body: `"${String(i % 10).repeat(256 * 1024)}"`,
  }))
}

async function bytes(key: string): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
  return Buffer.from((await Body?.transformToByteArray()) as Uint8Array)
}

async function keys(prefix = 'tasks/'): Promise<string[]> {
  const found: string[] = []
  for (let token: string | undefined; ; ) {
    const page = await client.send(
      new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ...(token ? { ContinuationToken: token } : {}) }),
    )
    found.push(...(page.Contents ?? []).map(({ Key }) => Key as string))
    token = page.NextContinuationToken
    if (token === undefined) return found
  }
}

const latest = async () => JSON.parse((await bytes('tasks/latest.json')).toString()) as Latest

test('a dataset by month: every file as the manifest says, latest.json names it, verify finds nothing', async () => {
  const mirror = makeMirror(...ordinaryRows(200))
  const { snapshotId } = await publish(mirror, { partitionBy: 'month' })
  const { files } = JSON.parse((await bytes(`tasks/${snapshotId}/_manifest.json`)).toString()) as Manifest
  for (const { path, bytes: size } of files) expect((await bytes(`tasks/${snapshotId}/${path}`)).length).toBe(size)
  expect((await latest()).full?.snapshotId).toBe(snapshotId)
  const options = { deep: true, dbPath: mirror.path, env, signal: new AbortController().signal }
  expect(await verifySnapshot(`s3://${bucket}/tasks/`, options)).toMatchObject({ ok: true, problems: [] })
})

test('a large file goes in parts, and comes back byte for byte', async () => {
  const mirror = makeMirror(...largeRows(30))
  const { snapshotId } = await publish(mirror, NDJSON)
  const [file] = (await keys(`tasks/${snapshotId}/`)).filter((key) => key.includes('part-'))
  const lines = (await bytes(file as string)).toString().trimEnd().split('\n')
  expect(lines.length).toBe(120)
  const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: file as string }))
  // The tag of an object in parts says how many there were.
  expect(head.ETag).toMatch(/-\d+"$/)
})

test('a manifest that is there already, with other content, is never written over', async () => {
  const mirror = makeMirror(...ordinaryRows(3))
  const now = () => 1_790_000_000_000
  const { snapshotId } = await publish(mirror, { now })
  const place = `tasks/${snapshotId}/_manifest.json`
  const put = new PutObjectCommand({ Bucket: bucket, Key: place, Body: '{}', IfNoneMatch: '*' })
  await expect(client.send(put)).rejects.toMatchObject({ $metadata: { httpStatusCode: 412 } })
  expect(JSON.parse((await bytes(place)).toString())).toHaveProperty('files')
})

test('of two exporters at once none takes the other out of latest.json, and a feed carries on', async () => {
  const mirror = makeMirror(...ordinaryRows(10))
  const { snapshotId } = await publish(mirror)
  mirror.insert({ ...ordinaryRows(1, 50)[0]!, change_seq: 11 })
  const [full, feed] = await Promise.all([publish(mirror), publish(mirror, { changes: 'last' })])
  const told = await latest()
  expect(told.full?.snapshotId).toBe(full.snapshotId)
  expect(told.changes?.snapshotId ?? feed.snapshotId).toBe(feed.snapshotId)
  expect(full.snapshotId).not.toBe(snapshotId)
})

test.each([
  ['sse-s3', 'AES256'],
  ['sse-kms', 'aws:kms'],
] as const)('%s: every object is encrypted so', async (encryption, expected) => {
  await publish(makeMirror(...largeRows(20)), { ...NDJSON, s3: { encryption, kmsKeyId: null, insecureHosts: [] } })
  for (const key of await keys()) {
    const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }))
    expect([key, head.ServerSideEncryption]).toEqual([key, expected])
  }
})

test('more than a thousand folders and files are all seen: an old snapshot goes whole, what is not ours stays', async () => {
  // Before the snapshots in the order of names: these come on the second page only.
  const put = (n: number) =>
    client.send(new PutObjectCommand({ Bucket: bucket, Key: `tasks/0${String(n).padStart(5, '0')}/x`, Body: 'x' }))
  for (let from = 0; from < 1_100; from += 50) await Promise.all(Array.from({ length: 50 }, (_, n) => put(from + n)))
  const mirror = makeMirror(...ordinaryRows(1_020))
  let now = 1_790_000_000_000
  const first = await publish(mirror, { ...NDJSON, rowsPerFile: 1, now: () => now })
  expect((await keys(`tasks/${first.snapshotId}/`)).length).toBe(1_021)
  now += 1_000
  const second = await publish(mirror, { ...NDJSON, now: () => now, keep: 1 })
  expect(second.removed).toEqual([first.snapshotId])
  expect(await keys(`tasks/${first.snapshotId}/`)).toEqual([])
  expect((await keys('tasks/0')).length).toBe(1_100)
})
