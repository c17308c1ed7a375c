// The objects below a prefix of an object store, by their names there. Knows keys and bytes, nothing of snapshots; its
// errors say what to do.
import { createWriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { MirrorError } from '../../../errors.ts'
import type { S3Settings } from '../store.ts'
import { s3Address, s3ClientConfig } from './address.ts'
import { boundAnswers, bounded, boundedObject } from './answers.ts'
import { explainS3, s3ErrorName, s3Status } from './explain.ts'
import { encryptionOf, refuseInsecure } from './policy.ts'
import { ObjectUpload, TIDY_MS } from './upload.ts'

export interface S3Options {
  env: NodeJS.ProcessEnv
  settings: S3Settings | undefined
  signal: AbortSignal | undefined
}

/** Condition of a write: only where nothing is there, or only over what was read. */
type Condition = { IfNoneMatch?: '*' } | { IfMatch: string }

/** Most pages of a list, of 1,000 names each: more than any manifest or retention leaves. */
const MOST_PAGES = 1_000
/** Most pages of uploads that were never finished, of 1,000 each: those of other programs may stand in front. */
const MOST_UPLOAD_PAGES = 20
/** How often an object is read whose connection breaks. */
const MOST_READS = 5
/** Codes of a connection that broke within a body. */
const BROKEN = /^(ECONNRESET|EPIPE|ETIMEDOUT|ERR_STREAM_PREMATURE_CLOSE)$/

/**
 * Names are below `s3://bucket/prefix`. A wrong address throws `usage-invalid`; methods throw `snapshot-unwritable` or
 * `interrupted`.
 */
export class S3Objects {
  /** `s3://bucket/prefix`, as people see it. */
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
    this.#prefix = prefix === '' ? '' : `${prefix}/`
    this.#client = new S3Client(s3ClientConfig(env))
    refuseInsecure(this.#client, settings?.insecureHosts ?? [])
    boundAnswers(this.#client)
    this.#encryption = encryptionOf(settings, this.place)
    this.#signal = signal
  }

  /** Null where there is none. `tag`: its ETag. */
  async find(name: string): Promise<{ bytes: Buffer; tag: string | undefined } | null> {
    try {
      return await this.#reading(name, async (body, tag) => ({ bytes: await buffer(bounded(body)), tag }))
    } catch (error) {
      if (s3ErrorName(error) === 'NoSuchKey' || (s3Status(error) === 404 && s3ErrorName(error) !== 'NoSuchBucket')) {
        return null
      }
      throw error
    }
  }

  /** Copies an object of `bytes` bytes to a file; `clear` is called before each attempt. */
  async copyTo(path: string, { name, bytes, clear }: { name: string; bytes: number; clear: () => Promise<void> }) {
    const until = this.#signal ? { signal: this.#signal } : {}
    await this.#reading(name, async (body) => {
      await clear()
      await pipeline(boundedObject(body, bytes), createWriteStream(path, { flags: 'wx', mode: 0o600 }), until)
    })
  }

  async isThere(name: string): Promise<boolean> {
    try {
      await this.#send(new HeadObjectCommand(this.#at(name)))
      return true
    } catch (error) {
      if (s3Status(error) === 404) return false
      throw error
    }
  }

  /** Names below `name`, or with `folders` those right below it, which end in `/`. */
  async list(name: string, folders = false): Promise<string[]> {
    const Prefix = this.#prefix + name
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
      // What is listed here may be deleted: so nothing outside of what was asked for.
      for (const key of keys ?? []) if (key?.startsWith(Prefix)) found.push(key.slice(this.#prefix.length))
      token = page.IsTruncated ? page.NextContinuationToken : undefined
      if (token === undefined) return found
      if (tokens.has(token) || tokens.size >= MOST_PAGES) throw this.#endless(Prefix)
      tokens.add(token)
    }
  }

  async put(name: string, bytes: Buffer, condition: Condition = {}): Promise<void> {
    const what = { ...this.#at(name), ...this.#encryption.asked, ...condition }
    const answer = await this.#send(new PutObjectCommand({ ...what, Body: bytes, ContentType: 'application/json' }))
    try {
      this.#encryption.check(answer)
    } catch (error) {
      await this.tidy([name])
      throw error
    }
  }

  /** A large object, written in parts. */
  upload(name: string): ObjectUpload {
    const [client, bucket, encryption, signal] = [this.#client, this.#bucket, this.#encryption, this.#signal]
    const key = this.#prefix + name
    return new ObjectUpload({ client, bucket, key, shown: `${this.place}/${name}`, encryption, signal })
  }

  async remove(name: string): Promise<void> {
    await this.#send(new DeleteObjectCommand(this.#at(name)))
  }

  /** Removes as many of these objects as can be removed soon, also after the program was told to stop. */
  async tidy(names: readonly string[]): Promise<void> {
    const until = { abortSignal: AbortSignal.timeout(TIDY_MS) }
    for (const name of names) await this.#send(new DeleteObjectCommand(this.#at(name)), until).catch(() => {})
  }

  /** Ends uploads that were never finished, where `isDead` says so of a name; what cannot be listed or ended stays. */
  async abortUploads(isDead: (name: string) => boolean): Promise<void> {
    const at: ListMultipartUploadsCommandInput = { Bucket: this.#bucket, Prefix: this.#prefix }
    for (let pages = 0; pages < MOST_UPLOAD_PAGES; pages += 1) {
      const page = await this.#send(new ListMultipartUploadsCommand(at)).catch(() => null)
      for (const { Key, UploadId } of page?.Uploads ?? []) {
        if (!Key?.startsWith(this.#prefix) || !isDead(Key.slice(this.#prefix.length))) continue
        const abort = new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId })
        await this.#send(abort).catch(() => {})
      }
      if (!page?.IsTruncated) return
      at.KeyMarker = page.NextKeyMarker
      at.UploadIdMarker = page.NextUploadIdMarker
    }
  }

  close(): void {
    this.#client.destroy()
  }

  #at(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + name }
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

  /** Has `read` take in an object, from the beginning where the connection breaks meanwhile: the library does not. */
  async #reading<T>(name: string, read: (body: Readable, tag: string | undefined) => Promise<T>): Promise<T> {
    for (let left = MOST_READS; ; left -= 1) {
      const { Body, ETag } = await this.#send(new GetObjectCommand(this.#at(name)))
      try {
        return await read(Body as Readable, ETag)
      } catch (error) {
        if (left <= 1 || !BROKEN.test(String((error as NodeJS.ErrnoException).code))) throw this.#explained(error)
      }
    }
  }

  #endless(prefix: string): MirrorError {
    return new MirrorError('snapshot-unwritable', `${this.place} cannot be used: its list of ${prefix} does not end`, {
      facts: { place: this.place },
      hint: 'Check the endpoint, or name a prefix with fewer objects.',
    })
  }
}
