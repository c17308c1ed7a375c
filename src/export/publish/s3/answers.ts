// How long an answer of the storage may be and take: the library waits for its head only, and reads whatever follows.
import { pipeline, type Readable, Transform } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { MOST_BYTES } from '../store.ts'

/** Time for the body of a small answer: as long as its head may take. */
const ANSWER_MS = 120_000
/** A large object that comes slower than this counts as not coming. */
const LEAST_BYTES_PER_MS = 10

/** The bytes of `body`; ends with an error beyond `most` of them, or when they have not all come in `ms`. */
export function bounded(body: Readable, most = MOST_BYTES, ms = ANSWER_MS): Readable {
  let length = 0
  const result = new Transform({
    transform(piece: Buffer, _, done) {
      length += piece.length
      if (length > most) done(broken(`its answer has more than ${most} bytes`))
      else done(null, piece)
    },
  })
  const timer = setTimeout(() => result.destroy(broken(`its answer has not ended after ${ms / 1000} s`)), ms)
  pipeline(body, result, () => clearTimeout(timer))
  return result
}

/** The same for a large object; it is cut off where it has more than `most` bytes. */
export async function* boundedObject(body: Readable, most: number): AsyncGenerator<Buffer> {
  let length = 0
  const all = bounded(body, Number.POSITIVE_INFINITY, Math.ceil(ANSWER_MS + most / LEAST_BYTES_PER_MS))
  for await (const piece of all) {
    yield piece as Buffer
    length += (piece as Buffer).length
    if (length > most) return
  }
}

/** Bounds all answers of `client` except objects, which are bounded by who asks for them. */
export function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args)
        const response = result.response as { statusCode: number; body: Readable }
        if (commandName !== 'GetObjectCommand' || response.statusCode >= 300) response.body = bounded(response.body)
        return result
      },
    { step: 'deserialize', name: 'taskMirrorBounds', priority: 'low' },
  )
}

/** An error that `explainS3` and the library take for one of the storage, not for a bug or a reason to try again. */
function broken(message: string): Error {
  return Object.assign(new Error(message), { code: 'answer-unbounded', $metadata: {} })
}
