// A prefix of an object store as the destination of datasets. There is no renaming: the manifest, written last and only
// where there is none, is what makes a snapshot one. Knows keys and bytes, never rows or formats.
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
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
import { begunAt, SNAPSHOT_ID } from '../../../mirror/tables/snapshots.ts'
import { clearLeftOvers, draftPath } from '../drafts.ts'
import {
  FIXED_PARTITION,
  MANIFEST,
  MANIFEST_NAMES,
  type PendingPublication,
  type S3Settings,
  type Store,
} from '../store.ts'
import { s3Address, s3ClientConfig } from './address.ts'
import { boundAnswers, bounded, boundedObject } from './answers.ts'
import { explainS3, s3ErrorName, s3Status } from './explain.ts'
import { encryptionOf, refuseInsecure } from './policy.ts'
import { ObjectUpload } from './upload.ts'

/** Condition of a write: only where nothing is there, or only over what was read. */
type Condition = { IfNoneMatch?: '*' } | { IfMatch: string }

interface S3Options {
  env: NodeJS.ProcessEnv
  settings: S3Settings | undefined
  signal: AbortSignal | undefined
}

const DAY_MS = 86_400_000
/** Most old snapshots that are looked up, whether they were ever finished. */
const MOST_ASKED = 100
const TIDY_MS = 3_000
/** Most pages of a list, of 1,000 names each: more than any manifest or retention leaves. */
const MOST_PAGES = 1_000
/** How often a small file is read and written anew because others were quicker. */
const MOST_UPDATES = 10
/** How often an object is read whose connection breaks. */
const MOST_READS = 5
/** Codes of a connection that broke within a body. */
const BROKEN = /^(ECONNRESET|EPIPE|ETIMEDOUT|ERR_STREAM_PREMATURE_CLOSE)$/

/** `s3://bucket/prefix` as a destination; throws `usage-invalid`, methods `snapshot-unwritable` or `interrupted`. */
export class S3Store implements Store {
  readonly place: string
  readonly #bucket: string
  readonly #prefix: string
  readonly #client: S3Client
  readonly #encryption: ReturnType<typeof encryptionOf>
  readonly #signal: AbortSignal | undefined

  constructor(url: string, { env, settings, signal }: S3Options) {
    const { bucket, prefix } = s3Address(url)
    this.place = `s3://${[bucket, prefix].filter(Boolean).join('/')}`
    this.#bucket = bucket
    this.#prefix = prefix
    this.#client = new S3Client(s3ClientConfig(env))
    refuseInsecure(this.#client, settings?.insecureHosts ?? [])
    boundAnswers(this.#client)
    this.#encryption = encryptionOf(settings, this.place)
    this.#signal = signal
  }

  /** Removes what was begun over a day ago and has no manifest. Uploads that cannot be listed are no reason to fail. */
  async makeReady(now: number): Promise<void> {
    const isOld = (id: string) => (ageOf(begunAt(id), now) ?? 0) > DAY_MS
    const old = (await this.snapshotIds()).filter(isOld).slice(-MOST_ASKED)
    const finished = await Promise.all(old.map((id) => this.#hasManifest(id)))
    for (const [i, id] of old.entries()) if (!finished[i]) await this.remove(id)
    const { Uploads = [] } = await this.#send(
      new ListMultipartUploadsCommand({ Bucket: this.#bucket, Prefix: this.#keyOf('') }),
    ).catch(() => ({ Uploads: [] }))
    for (const { Key, UploadId } of Uploads) {
      if (!Key?.startsWith(this.#keyOf(''))) continue
      const id = Key.slice(this.#keyOf('').length).split('/')[0] ?? ''
      if (!SNAPSHOT_ID.test(id) || !isOld(id)) continue
      const abort = new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId })
      await this.#send(abort).catch(() => {})
    }
  }

  async begin(snapshotId: string): Promise<PendingPublication> {
    const begun: string[] = []
    let isPublished = false
    return {
      open: async (name) => {
        begun.push(name)
        const key = this.#keyOf(`${snapshotId}/${name}`)
        const shown = `${this.place}/${snapshotId}/${name}`
        const [client, bucket, encryption, signal] = [this.#client, this.#bucket, this.#encryption, this.#signal]
        return new ObjectUpload({ client, bucket, key, shown, encryption, signal })
      },
      publish: async (manifest) => {
        await this.#throwGone(snapshotId, begun)
        await this.#publishManifest(`${snapshotId}/${MANIFEST}`, manifest)
        isPublished = true
      },
      discard: async () => {
        if (isPublished) return
        const abortSignal = AbortSignal.timeout(TIDY_MS)
        for (const name of begun) {
          const command = new DeleteObjectCommand(this.#at(`${snapshotId}/${name}`))
          await this.#send(command, { abortSignal }).catch(() => {})
        }
      },
    }
  }

  async read(name: string): Promise<Buffer | null> {
    return (await this.#find(name))?.bytes ?? null
  }

  async update(name: string, next: (before: Buffer | null) => Buffer): Promise<void> {
    for (let left = MOST_UPDATES; ; left -= 1) {
      const before = await this.#find(name)
      const bytes = next(before?.bytes ?? null)
      const condition: Condition =
        before === null ? { IfNoneMatch: '*' } : before.tag === undefined ? {} : { IfMatch: before.tag }
      try {
        return await this.#put(name, bytes, condition)
      } catch (error) {
        // A store without conditions: the last one wins.
        if (s3Status(error) === 501) return this.#put(name, bytes)
        // Somebody else was quicker: put it there, changed it or took it away.
        if (left <= 1 || ![404, 409, 412].includes(s3Status(error)) || s3ErrorName(error) === 'NoSuchBucket')
          throw error
      }
    }
  }

  snapshotIds(): Promise<string[]> {
    return this.#folders(SNAPSHOT_ID)
  }

  partitions(): Promise<string[]> {
    return this.#folders(FIXED_PARTITION)
  }

  async #folders(pattern: RegExp): Promise<string[]> {
    const folders = await this.#list('', true)
    const names = folders.map((folder) => folder.slice(this.#keyOf('').length).replace(/\/$/, ''))
    return names.filter((name) => pattern.test(name)).sort()
  }

  async filesOf(snapshotId: string): Promise<string[]> {
    const start = this.#keyOf(`${snapshotId}/`).length
    return (await this.#list(`${snapshotId}/`)).map((key) => key.slice(start)).sort()
  }

  async localFile(name: string, bytes: number): ReturnType<Store['localFile']> {
    if (!(await this.#isThere(name))) return null
    const path = draftPath(join(tmpdir(), 'object'))
    const done = () => rm(path, { force: true })
    try {
      // What a killed check has left: tasks, and up to 256 MB of them. A folder that may not be listed does as well.
      await clearLeftOvers(tmpdir(), Date.now()).catch(() => {})
      const until = this.#signal ? { signal: this.#signal } : {}
      await this.#reading(name, async (body) => {
        await done()
        await pipeline(boundedObject(body, bytes), createWriteStream(path, { flags: 'wx', mode: 0o600 }), until)
      })
      return { path, done }
    } catch (error) {
      await done()
      throw this.#explained(error)
    }
  }

  /** The manifest goes first: from then on it is no snapshot. */
  async remove(snapshotId: string): Promise<void> {
    for (const name of MANIFEST_NAMES) {
      await this.#send(new DeleteObjectCommand(this.#at(`${snapshotId}/${name}`)))
    }
    for (const Key of await this.#list(`${snapshotId}/`)) {
      await this.#send(new DeleteObjectCommand({ Bucket: this.#bucket, Key }))
    }
  }

  close(): void {
    this.#client.destroy()
  }

  #keyOf(name: string): string {
    return this.#prefix === '' ? name : `${this.#prefix}/${name}`
  }

  #at(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#keyOf(name) }
  }

  readonly #explained = (error: unknown): unknown => explainS3(this.place, error, this.#signal)

  /** Throws errors that are explained. The program's own signal ends it where no other is given. */
  readonly #send = (async (command: never, until: { abortSignal?: AbortSignal } = { abortSignal: this.#signal }) => {
    try {
      return await this.#client.send(command, until)
    } catch (error) {
      throw this.#explained(error)
    }
  }) as S3Client['send']

  async #find(name: string): Promise<{ bytes: Buffer; tag: string | undefined } | null> {
    try {
      return await this.#reading(name, async (body, tag) => ({ bytes: await buffer(bounded(body)), tag }))
    } catch (error) {
      if (s3ErrorName(error) === 'NoSuchKey' || (s3Status(error) === 404 && s3ErrorName(error) !== 'NoSuchBucket')) {
        return null
      }
      throw this.#explained(error)
    }
  }

  /** Has `read` take in an object, from the beginning where the connection breaks meanwhile: the library does not. */
  async #reading<T>(name: string, read: (body: Readable, tag: string | undefined) => Promise<T>): Promise<T> {
    for (let left = MOST_READS; ; left -= 1) {
      const { Body, ETag } = await this.#send(new GetObjectCommand(this.#at(name)))
      try {
        return await read(Body as Readable, ETag)
      } catch (error) {
        if (left <= 1 || !BROKEN.test(String((error as NodeJS.ErrnoException).code))) throw error
      }
    }
  }

  async #isThere(name: string): Promise<boolean> {
    try {
      await this.#send(new HeadObjectCommand(this.#at(name)))
      return true
    } catch (error) {
      if (s3Status(error) === 404) return false
      throw error
    }
  }

  /** Keys below `name`, or with `folders` the names right below it. */
  async #list(name: string, folders = false): Promise<string[]> {
    const Prefix = this.#keyOf(name)
    const found: string[] = []
    const tokens = new Set<string>()
    let token: string | undefined
    for (;;) {
      const command = new ListObjectsV2Command({
        Bucket: this.#bucket,
        Prefix,
        ...(folders && { Delimiter: '/' }),
        ...(token !== undefined && { ContinuationToken: token }),
      })
      const page = await this.#send(command)
      const keys = folders ? page.CommonPrefixes?.map((one) => one.Prefix) : page.Contents?.map((one) => one.Key)
      // `remove` deletes what is listed here: so nothing outside of what was asked for.
      for (const key of keys ?? []) if (key?.startsWith(Prefix)) found.push(key)
      token = page.IsTruncated ? page.NextContinuationToken : undefined
      if (token === undefined) return found
      if (tokens.has(token) || tokens.size >= MOST_PAGES) throw this.#endless(Prefix)
      tokens.add(token)
    }
  }

  #endless(prefix: string): MirrorError {
    return new MirrorError('snapshot-unwritable', `${this.place} cannot be used: its list of ${prefix} does not end`, {
      facts: { place: this.place },
      hint: 'Nothing was published. Check the endpoint, or name a prefix with fewer objects.',
    })
  }

  async #hasManifest(snapshotId: string): Promise<boolean> {
    for (const name of MANIFEST_NAMES) if (await this.#isThere(`${snapshotId}/${name}`)) return true
    return false
  }

  /** An export by a clock that is ahead takes this one for a dead one, and clears its files away (`makeReady`). */
  async #throwGone(snapshotId: string, names: readonly string[]): Promise<void> {
    const listed = new Set(await this.filesOf(snapshotId))
    for (const name of names) {
      // Some stores list what is new a little later.
      if (listed.has(name) || (await this.#isThere(`${snapshotId}/${name}`))) continue
      throw new MirrorError(
        'snapshot-unwritable',
        `${this.place}/${snapshotId}/${name} is gone before it was published`,
        {
          facts: { place: this.place, name },
          hint: 'Something has removed it: an export by a clock that is a day ahead, or a rule of the bucket. Set the clocks right, then run the same command again.',
        },
      )
    }
  }

  async #put(name: string, bytes: Buffer, condition: Condition = {}): Promise<void> {
    const at = this.#at(name)
    const what = { ...at, ...this.#encryption.asked, ...condition, Body: bytes, ContentType: 'application/json' }
    const answer = await this.#send(new PutObjectCommand(what))
    try {
      this.#encryption.check(answer)
    } catch (error) {
      const until = { abortSignal: AbortSignal.timeout(TIDY_MS) }
      await this.#send(new DeleteObjectCommand(at), until).catch(() => {})
      throw error
    }
  }

  async #publishManifest(name: string, manifest: Buffer): Promise<void> {
    try {
      await this.#put(name, manifest, { IfNoneMatch: '*' })
    } catch (error) {
      if (s3Status(error) === 501) {
        // A store without conditions: asking first is the next best.
        if (!(await this.#isThere(name))) return void (await this.#put(name, manifest))
      } else if (s3Status(error) !== 412 && s3Status(error) !== 409) {
        throw error
      }
      // Where an earlier attempt of this very manifest arrived and only its answer was lost, all is well.
      if ((await this.read(name))?.equals(manifest)) return
      throw new MirrorError(
        'snapshot-unwritable',
        `${this.place}/${name} is there already, written by another export`,
        {
          facts: { place: this.place, name },
          hint: 'Run the same command again; every snapshot gets a name of its own.',
          cause: error,
        },
      )
    }
  }
}
