// A prefix of an object store as the destination of datasets. There is no renaming: the manifest, written last and only
// where there is none, is what makes a snapshot one. Knows keys and bytes, never rows or formats.
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { ageOf } from '../../../clock.ts'
import { MirrorError } from '../../../errors.ts'
import {
  begunAt,
  MANIFEST,
  MANIFEST_NAMES,
  type PendingPublication,
  type S3Settings,
  SNAPSHOT_ID,
  type Store,
} from '../store.ts'
import { s3Address, s3ClientConfig } from './address.ts'
import { explainS3, s3ErrorName, s3Status } from './explain.ts'
import { encryptionOf, refuseInsecure } from './policy.ts'
import { openObject } from './upload.ts'

/** Of a write: only where nothing is there, or only in the place of what was read. */
type Condition = { IfNoneMatch?: '*' } | { IfMatch: string }

interface S3Options {
  env: Readonly<Record<string, string | undefined>>
  settings: S3Settings | undefined
  signal: AbortSignal | undefined
}

const DAY_MS = 86_400_000
/** Of these many old snapshots it is asked whether they were ever finished. */
const MOST_ASKED = 100
const TIDY_MS = 3_000
/** So often a small file is read and written anew because others were quicker. */
const MOST_UPDATES = 10

/** `url` is `s3://bucket/prefix`. Throws `usage-invalid`; its methods throw `snapshot-unwritable` or `interrupted`. */
export function s3Store(url: string, { env, settings, signal }: S3Options): Store {
  const { bucket, prefix } = s3Address(url)
  const place = `s3://${[bucket, prefix].filter(Boolean).join('/')}`
  const client = new S3Client(s3ClientConfig(env))
  refuseInsecure(client, settings?.insecureHosts ?? [])
  const encryption = encryptionOf(settings, place)
  const sending = { ...(signal && { abortSignal: signal }) }
  const keyOf = (name: string) => (prefix === '' ? name : `${prefix}/${name}`)
  const at = (name: string) => ({ Bucket: bucket, Key: keyOf(name) })

  async function explaining<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw explainS3(place, error)
    }
  }

  async function find(name: string): Promise<{ bytes: Buffer; tag: string | undefined } | null> {
    try {
      const { Body, ETag } = await client.send(new GetObjectCommand(at(name)), sending)
      return { bytes: Buffer.from(await Body!.transformToByteArray()), tag: ETag }
    } catch (error) {
      if (s3ErrorName(error) === 'NoSuchKey' || (s3Status(error) === 404 && s3ErrorName(error) !== 'NoSuchBucket')) {
        return null
      }
      throw explainS3(place, error)
    }
  }

  const read = async (name: string): Promise<Buffer | null> => (await find(name))?.bytes ?? null

  async function isThere(name: string): Promise<boolean> {
    try {
      await client.send(new HeadObjectCommand(at(name)), sending)
      return true
    } catch (error) {
      if (s3Status(error) === 404) return false
      throw error
    }
  }

  /** Keys below `name`, or with `folders` the names right below it. */
  async function list(name: string, folders = false): Promise<string[]> {
    const found: string[] = []
    let token: string | undefined
    do {
      const command = new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: keyOf(name),
        ...(folders && { Delimiter: '/' }),
        ...(token !== undefined && { ContinuationToken: token }),
      })
      const page = await client.send(command, sending)
      for (const { Prefix } of page.CommonPrefixes ?? []) found.push(Prefix ?? '')
      if (!folders) for (const { Key } of page.Contents ?? []) found.push(Key ?? '')
      token = page.IsTruncated ? page.NextContinuationToken : undefined
    } while (token !== undefined)
    return found
  }

  async function snapshotIds(): Promise<string[]> {
    const folders = await list('', true)
    const names = folders.map((folder) => folder.slice(keyOf('').length).replace(/\/$/, ''))
    return names.filter((name) => SNAPSHOT_ID.test(name)).sort()
  }

  /** The manifest goes first: from then on it is no snapshot. */
  async function remove(snapshotId: string): Promise<void> {
    for (const name of MANIFEST_NAMES) await client.send(new DeleteObjectCommand(at(`${snapshotId}/${name}`)), sending)
    for (const Key of await list(`${snapshotId}/`)) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }), sending)
    }
  }

  /** Ends what was begun over a day ago and has no manifest. That it cannot be listed is no reason to fail. */
  async function clearLeftOvers(now: number): Promise<void> {
    const isOld = (id: string) => (ageOf(begunAt(id), now) ?? 0) > DAY_MS
    const old = (await snapshotIds()).filter(isOld).slice(-MOST_ASKED)
    const finished = await Promise.all(old.map(hasManifest))
    for (const [i, id] of old.entries()) if (!finished[i]) await remove(id)
    const { Uploads = [] } = await client
      .send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: keyOf('') }), sending)
      .catch(() => ({ Uploads: [] }))
    for (const { Key, UploadId } of Uploads) {
      const id = Key?.slice(keyOf('').length).split('/')[0] ?? ''
      if (!SNAPSHOT_ID.test(id) || !isOld(id)) continue
      await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }), sending).catch(() => {})
    }
  }

  async function hasManifest(snapshotId: string): Promise<boolean> {
    for (const name of MANIFEST_NAMES) if (await isThere(`${snapshotId}/${name}`)) return true
    return false
  }

  async function put(name: string, bytes: Buffer, condition: Condition = {}): Promise<void> {
    const what = { ...at(name), ...encryption.asked, ...condition, Body: bytes, ContentType: 'application/json' }
    const answer = await client.send(new PutObjectCommand(what), sending)
    try {
      encryption.check(answer)
    } catch (error) {
      await client
        .send(new DeleteObjectCommand(at(name)), { abortSignal: AbortSignal.timeout(TIDY_MS) })
        .catch(() => {})
      throw error
    }
  }

  async function update(name: string, next: (before: Buffer | null) => Buffer): Promise<void> {
    for (let left = MOST_UPDATES; ; left -= 1) {
      const before = await find(name)
      const bytes = next(before?.bytes ?? null)
      const condition: Condition =
        before === null ? { IfNoneMatch: '*' } : before.tag === undefined ? {} : { IfMatch: before.tag }
      try {
        return await put(name, bytes, condition)
      } catch (error) {
        // A store without conditions: the last one wins.
        if (s3Status(error) === 501) return put(name, bytes)
        // Somebody else was quicker: put it there, changed it or took it away.
        if (left <= 1 || ![404, 409, 412].includes(s3Status(error)) || s3ErrorName(error) === 'NoSuchBucket')
          throw error
      }
    }
  }

  async function publishManifest(name: string, manifest: Buffer): Promise<void> {
    try {
      await put(name, manifest, { IfNoneMatch: '*' })
    } catch (error) {
      if (s3Status(error) === 501) {
        // A store without conditions: asking first is the next best.
        if (!(await isThere(name))) return void (await put(name, manifest))
      } else if (s3Status(error) !== 412 && s3Status(error) !== 409) {
        throw error
      }
      // Where an earlier attempt of this very manifest arrived and only its answer was lost, all is well.
      if ((await read(name))?.equals(manifest)) return
      throw new MirrorError('snapshot-unwritable', `${place}/${name} is there already, written by another export`, {
        facts: { place, name },
        hint: 'Run the same command again; every snapshot gets a name of its own.',
        cause: error,
      })
    }
  }

  async function begin(snapshotId: string): Promise<PendingPublication> {
    const begun: string[] = []
    let isPublished = false
    return {
      async open(name) {
        begun.push(name)
        const shown = `${place}/${snapshotId}/${name}`
        return openObject({ client, bucket, key: keyOf(`${snapshotId}/${name}`), shown, encryption, signal })
      },
      publish: (manifest) =>
        explaining(async () => {
          await publishManifest(`${snapshotId}/${MANIFEST}`, manifest)
          isPublished = true
        }),
      async discard() {
        if (isPublished) return
        const abortSignal = AbortSignal.timeout(TIDY_MS)
        for (const name of begun) {
          await client.send(new DeleteObjectCommand(at(`${snapshotId}/${name}`)), { abortSignal }).catch(() => {})
        }
      },
    }
  }

  return {
    place,
    makeReady: (now) => explaining(() => clearLeftOvers(now)),
    begin,
    read,
    update: (name, next) => explaining(() => update(name, next)),
    snapshotIds: () => explaining(snapshotIds),
    filesOf: (snapshotId) =>
      explaining(async () => {
        const start = keyOf(`${snapshotId}/`).length
        return (await list(`${snapshotId}/`)).map((key) => key.slice(start)).sort()
      }),
    localFile: (name) =>
      explaining(async () => {
        if (!(await isThere(name))) return null
        const folder = await mkdtemp(join(tmpdir(), 'task-mirror-'))
        const done = () => rm(folder, { recursive: true, force: true })
        const path = join(folder, 'object')
        try {
          const { Body } = await client.send(new GetObjectCommand(at(name)), sending)
          await pipeline(Body as Readable, createWriteStream(path, { mode: 0o600 }), signal ? { signal } : {})
          return { path, done }
        } catch (error) {
          await done()
          throw error
        }
      }),
    remove: (snapshotId) => explaining(() => remove(snapshotId)),
    close: () => client.destroy(),
  }
}
