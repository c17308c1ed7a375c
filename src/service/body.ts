// Reads a body into one buffer and undoes its content codings. Never holds more decoded bytes than the limit.
import { Duplex, pipeline, type Readable, Writable } from 'node:stream'
import { pipeline as pipelined } from 'node:stream/promises'
import { setImmediate as breathe } from 'node:timers/promises'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import { AttemptFailure } from './attempt-failure.ts'

export const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd'

const MOST_CODINGS = 5
const FIRST_BUFFER_BYTES = 64 * 1024
/** Largest Content-Length for which the buffer is allocated in advance; for a larger one it grows as bytes come. */
const MOST_ANNOUNCED_BYTES = 16 * 1024 * 1024
/** Size of a part: copying more at once would keep the thread from its other work for too long. */
const PART_BYTES = 8 * 1024 * 1024
const CHUNK = { chunkSize: 64 * 1024 }
// RFC 9659: a decoder of "zstd" in HTTP need not support a window beyond 8 MB, 2^23 bytes.
const ZSTD = { ...CHUNK, params: { [constants.ZSTD_d_windowLogMax]: 23 } }

export function tooLarge(limit: number): AttemptFailure {
  return new AttemptFailure('too-large', `the body is larger than ${limit} bytes`)
}

/** Codings of a Content-Encoding header in the order applied. Throws `AttemptFailure` for unknown or too many ones. */
export function codingsOf(header: string | string[] | undefined): string[] {
  const named = [header ?? []].flat().join(',').toLowerCase().split(',')
  const codings = named.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity')
  if (codings.length > MOST_CODINGS) throw new AttemptFailure('not-json', `${codings.length} content codings`)
  const unknown = codings.find((name) => !Object.hasOwn(DECODERS, name))
  if (unknown !== undefined) throw new AttemptFailure('not-json', `unknown content coding ${unknown.slice(0, 40)}`)
  return codings
}

/** The length that a Content-Length header announces, bytes; 0 where it is missing, invalid or too large. */
export function announcedLength(header: string | string[] | undefined): number {
  const length = typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : 0
  return length > MOST_ANNOUNCED_BYTES ? 0 : length
}

interface BodyBounds {
  /** Most bytes, decoded. */
  limit: number
  signal: AbortSignal
  /** Expected size, bytes, so that the buffer is allocated once; 0 where unknown. */
  announced: number
}

/**
 * All bytes of `body`, its codings undone, in an `ArrayBuffer` of exactly their length (it can be transferred).
 * Rejects with `AttemptFailure`, with the connection's error, or with the reason of `signal`; `body` is destroyed then.
 */
export async function readBody(
  body: Readable,
  codings: string[],
  { limit, signal, announced }: BodyBounds,
): Promise<Uint8Array<ArrayBuffer>> {
  const growing = new GrowingBuffer(limit, codings.length === 0 ? announced : 0)
  const decoders = codings.toReversed().map((coding) => DECODERS[coding]!())
  const collector = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      done(growing.add(chunk))
    },
  })
  try {
    await pipelined([body, ...decoders, collector], { signal })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw codings.length === 0 ? error : codingProblem(error)
  }
  return growing.finish()
}

const DECODERS: Record<string, () => Duplex> = {
  gzip: () => createGunzip(CHUNK),
  'x-gzip': () => createGunzip(CHUNK),
  deflate: () => Duplex.from(inflateEither),
  br: () => createBrotliDecompress(CHUNK),
  zstd: () => createZstdDecompress(ZSTD),
}

/** "deflate" is zlib (RFC 1950) by the standard; some servers send bare DEFLATE (RFC 1951): the first byte tells. */
async function* inflateEither(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  let first = await chunks.next()
  while (!first.done && first.value.byteLength === 0) first = await chunks.next()
  if (first.done) return
  const head = first.value
  const decoder = (head[0]! & 0x0f) === 8 ? createInflate(CHUNK) : createInflateRaw(CHUNK)
  const rejoined = async function* () {
    yield head
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  // Errors of both streams reach the reading loop through the decoder, so the callback need not.
  yield* pipeline(rejoined, decoder, () => {})
}

/** Codes of node:zlib: Z_ of deflate, ERR__ERROR_ and ERR_BROTLI_ of Brotli, ZSTD_error_ of Zstandard. */
const ZLIB_CODE = /^(?:Z_|ERR__ERROR|ERR_BROTLI|ERR_ZLIB|ERR_ZSTD|ZSTD_error)/

function codingProblem(error: unknown): unknown {
  if (error instanceof AttemptFailure) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'Z_BUF_ERROR') return new AttemptFailure('truncated', 'the compressed body ends early')
  const foreign = ZLIB_CODE.test(code ?? '')
  return foreign ? new AttemptFailure('not-json', `the compressed body cannot be read: ${message}`) : error
}

/** Doubles as bytes come, so that copying stays linear; beyond `PART_BYTES` it keeps parts, joined step by step. */
class GrowingBuffer {
  readonly #limit: number
  readonly #first: number
  readonly #parts: Uint8Array<ArrayBuffer>[] = []
  /** Bytes in `#parts`. */
  #passed = 0
  #bytes = new Uint8Array(0)
  /** Bytes in `#bytes`. */
  #length = 0

  constructor(limit: number, announced: number) {
    this.#limit = limit
    this.#first = announced > 0 ? announced : FIRST_BUFFER_BYTES
  }

  /** The failure where the limit is exceeded, else null. */
  add(chunk: Uint8Array): AttemptFailure | null {
    const whole = this.#passed + this.#length + chunk.byteLength
    if (whole > this.#limit) return tooLarge(this.#limit)
    if (this.#length >= PART_BYTES) this.#endPart()
    const length = this.#length + chunk.byteLength
    if (length > this.#bytes.byteLength) {
      const size = Math.max(length, this.#first, this.#bytes.byteLength * 2)
      this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(Math.min(this.#limit, size)))
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = length
    return null
  }

  async finish(): Promise<Uint8Array<ArrayBuffer>> {
    this.#endPart()
    const [first] = this.#parts
    if (this.#parts.length === 1) return first as Uint8Array<ArrayBuffer>
    const whole = new Uint8Array(this.#passed)
    let at = 0
    for (const part of this.#parts) {
      await breathe()
      whole.set(part, at)
      at += part.byteLength
      // Frees the memory now, not at the next garbage collection.
      part.buffer.transfer(0)
    }
    return whole
  }

  #endPart(): void {
    this.#parts.push(new Uint8Array(this.#bytes.buffer.transfer(this.#length)))
    this.#passed += this.#length
    this.#bytes = new Uint8Array(0)
    this.#length = 0
  }
}
