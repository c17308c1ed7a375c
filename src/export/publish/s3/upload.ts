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
/** Tidying up after a failure may not hold up the end of the program. */
const ABORT_MS = 3_000

/** Begins the object; nothing is at its key before `finish`. Errors are `MirrorError` as in explain.ts. */
export function openObject({ client, bucket, key, shown, encryption, signal }: ObjectTarget): OutputFile {
  const at = { Bucket: bucket, Key: key }
  /** Ends parts on their way when the object is given up. */
  const stop = new AbortController()
  const sending = { abortSignal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal }
  const hash = createHash('sha256')
  const spare: Buffer<ArrayBuffer>[] = []
  const parts: { PartNumber: number; ETag: string | undefined }[] = []
  const inFlight = new Set<Promise<void>>()
  let filling = Buffer.allocUnsafeSlow(PART_BYTES)
  let filled = 0
  let bytes = 0
  let uploadId: string | null = null
  let isFinished = false
  /** The first failure of a part, thrown by the next call. */
  let failure: unknown = null

  async function explaining<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw explainS3(shown, error)
    }
  }

  async function sendPart(body: Buffer<ArrayBuffer>): Promise<void> {
    if (uploadId === null) {
      const begun = await client.send(new CreateMultipartUploadCommand({ ...at, ...encryption.asked }), sending)
      uploadId = begun.UploadId ?? null
      encryption.check(begun)
    }
    const PartNumber = parts.length + 1
    const part: (typeof parts)[number] = { PartNumber, ETag: undefined }
    parts.push(part)
    const upload = new UploadPartCommand({ ...at, UploadId: uploadId!, PartNumber, Body: body })
    const sent: Promise<void> = client
      .send(upload, sending)
      .then(({ ETag }) => {
        part.ETag = ETag
        spare.push(body.buffer.byteLength === PART_BYTES ? Buffer.from(body.buffer) : body)
      })
      .catch((error) => {
        failure ??= error
      })
      .finally(() => inFlight.delete(sent))
    inFlight.add(sent)
    if (inFlight.size >= IN_FLIGHT) await Promise.race(inFlight)
    if (failure !== null) throw failure
  }

  async function complete(): Promise<void> {
    if (filled > 0) await sendPart(filling.subarray(0, filled))
    await Promise.all(inFlight)
    if (failure !== null) throw failure
    const command = new CompleteMultipartUploadCommand({
      ...at,
      UploadId: uploadId!,
      MultipartUpload: { Parts: parts },
    })
    try {
      await client.send(command, sending)
    } catch (error) {
      // An earlier attempt arrived and only its answer was lost.
      if (s3ErrorName(error) !== 'NoSuchUpload') throw error
      const { ContentLength } = await client.send(new HeadObjectCommand(at), sending)
      if (ContentLength !== bytes) throw error
    }
  }

  return {
    get bytes() {
      return bytes
    },
    write: (piece) =>
      explaining(async () => {
        if (failure !== null) throw failure
        hash.update(piece)
        bytes += piece.length
        for (let from = 0; from < piece.length; ) {
          const count = Math.min(piece.length - from, PART_BYTES - filled)
          filling.set(piece.subarray(from, from + count), filled)
          filled += count
          from += count
          if (filled < PART_BYTES) continue
          await sendPart(filling)
          filling = spare.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES)
          filled = 0
        }
      }),
    finish: () =>
      explaining(async () => {
        if (uploadId === null) {
          const put = new PutObjectCommand({ ...at, ...encryption.asked, Body: filling.subarray(0, filled) })
          encryption.check(await client.send(put, sending))
        } else {
          await complete()
        }
        isFinished = true
      }),
    async discard() {
      if (isFinished) return
      stop.abort()
      await Promise.all(inFlight)
      if (uploadId === null) return
      const abort = new AbortMultipartUploadCommand({ ...at, UploadId: uploadId })
      await client.send(abort, { abortSignal: AbortSignal.timeout(ABORT_MS) }).catch(() => {})
    },
    sha256: () => hash.digest('hex'),
  }
}
