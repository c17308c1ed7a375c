// One object, written piece by piece in bounded memory: whole where it is small, else in parts. Knows bytes and keys.
import { createHash } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { OutputFile } from '../publish.ts'
import { explainS3, s3ErrorName } from './explain.ts'
import type { Encryption } from './policy.ts'

interface ObjectTarget {
  client: S3Client
  bucket: string
  key: string
  /** For messages. */
  shown: string
  encryption: Encryption
  signal: AbortSignal | undefined
}

/** Above the least that the interface allows (5 MiB); 10,000 of them are 78 GiB. */
const PART_BYTES = 8 * 1024 * 1024
/** Parts on their way at once: with the one being filled, what bounds memory. */
const IN_FLIGHT = 2
/** Removing what is of no use any more may not hold up the end of the program for longer. */
export const TIDY_MS = 3_000

/** Nothing is at the key before `finish`. Errors are `MirrorError` as in explain.ts. */
export class ObjectUpload implements OutputFile {
  bytes = 0
  readonly #target: ObjectTarget
  readonly #at: { Bucket: string; Key: string }
  /** Ends parts on their way when the object is given up. */
  readonly #stop = new AbortController()
  readonly #sending: { abortSignal: AbortSignal }
  readonly #hash = createHash('sha256')
  readonly #spare: Buffer<ArrayBuffer>[] = []
  readonly #parts: { PartNumber: number; ETag: string | undefined }[] = []
  readonly #inFlight = new Set<Promise<void>>()
  #filling = Buffer.allocUnsafeSlow(PART_BYTES)
  #filled = 0
  #uploadId: string | null = null
  #isFinished = false
  /** The first failure of a part, thrown by the next call. */
  #failure: unknown = null

  constructor(target: ObjectTarget) {
    const { bucket, key, signal } = target
    this.#target = target
    this.#at = { Bucket: bucket, Key: key }
    this.#sending = { abortSignal: signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal }
  }

  write(piece: Uint8Array): Promise<void> {
    return this.#explaining(async () => {
      if (this.#failure !== null) throw this.#failure
      this.#hash.update(piece)
      this.bytes += piece.length
      for (let from = 0; from < piece.length; ) {
        const count = Math.min(piece.length - from, PART_BYTES - this.#filled)
        this.#filling.set(piece.subarray(from, from + count), this.#filled)
        this.#filled += count
        from += count
        if (this.#filled < PART_BYTES) continue
        await this.#sendPart(this.#filling)
        this.#filling = this.#spare.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES)
        this.#filled = 0
      }
    })
  }

  finish(): Promise<void> {
    return this.#explaining(async () => {
      const { client, encryption } = this.#target
      if (this.#uploadId === null) {
        const Body = this.#filling.subarray(0, this.#filled)
        const put = new PutObjectCommand({ ...this.#at, ...encryption.asked, Body })
        encryption.check(await client.send(put, this.#sending))
      } else {
        await this.#complete()
      }
      this.#isFinished = true
    })
  }

  async discard(): Promise<void> {
    if (this.#isFinished) return
    this.#stop.abort()
    await Promise.all(this.#inFlight)
    if (this.#uploadId === null) return
    const abort = new AbortMultipartUploadCommand({ ...this.#at, UploadId: this.#uploadId })
    await this.#target.client.send(abort, { abortSignal: AbortSignal.timeout(TIDY_MS) }).catch(() => {})
  }

  sha256(): string {
    return this.#hash.digest('hex')
  }

  async #explaining<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw explainS3(this.#target.shown, error, this.#target.signal)
    }
  }

  async #sendPart(body: Buffer<ArrayBuffer>): Promise<void> {
    const { client, encryption } = this.#target
    if (this.#uploadId === null) {
      const command = new CreateMultipartUploadCommand({ ...this.#at, ...encryption.asked })
      const begun = await client.send(command, this.#sending)
      this.#uploadId = begun.UploadId ?? null
      encryption.check(begun)
    }
    const PartNumber = this.#parts.length + 1
    const part: { PartNumber: number; ETag: string | undefined } = { PartNumber, ETag: undefined }
    this.#parts.push(part)
    const upload = new UploadPartCommand({ ...this.#at, UploadId: this.#uploadId!, PartNumber, Body: body })
    const sent: Promise<void> = client
      .send(upload, this.#sending)
      .then(({ ETag }) => {
        part.ETag = ETag
        this.#spare.push(Buffer.from(body.buffer))
      })
      .catch((error) => {
        this.#failure ??= error
      })
      .finally(() => this.#inFlight.delete(sent))
    this.#inFlight.add(sent)
    if (this.#inFlight.size >= IN_FLIGHT) await Promise.race(this.#inFlight)
    if (this.#failure !== null) throw this.#failure
  }

  async #complete(): Promise<void> {
    const { client } = this.#target
    if (this.#filled > 0) await this.#sendPart(this.#filling.subarray(0, this.#filled))
    await Promise.all(this.#inFlight)
    if (this.#failure !== null) throw this.#failure
    const command = new CompleteMultipartUploadCommand({
      ...this.#at,
      UploadId: this.#uploadId!,
      MultipartUpload: { Parts: this.#parts },
    })
    try {
      await client.send(command, this.#sending)
    } catch (error) {
      // `NoSuchUpload`: an earlier attempt may have arrived, and only its answer was lost.
      if (s3ErrorName(error) !== 'NoSuchUpload') throw error
      const { ContentLength } = await client.send(new HeadObjectCommand(this.#at), this.#sending)
      if (ContentLength !== this.bytes) throw error
    }
  }
}
