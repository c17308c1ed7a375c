// Reads a body into one buffer and undoes its codings, counting decoded bytes: never more than the limit is held.
import { Duplex, pipeline, type Readable, Writable } from 'node:stream'
import { pipeline as pipelined } from 'node:stream/promises'
import { setImmediate as pause } from 'node:timers/promises'
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
/** An announced length beyond this is believed when its bytes come. */
const MOST_ANNOUNCED_BYTES = 16 * 1024 * 1024
/** Copying more than this at once takes longer than a thread with other things to do should. */
const PART_BYTES = 8 * 1024 * 1024
const CHUNK = { chunkSize: 64 * 1024 }
// RFC 9659: a decoder of "zstd" in HTTP need not go beyond a window of 8 MB; 2^23.
const ZSTD = { ...CHUNK, params: { [constants.ZSTD_d_windowLogMax]: 23 } }

export function tooLarge(limit: number): AttemptFailure {
  return new AttemptFailure('too-large', `the body is larger than ${limit} bytes`)
}

/** The codings of a Content-Encoding header in the order they were applied; throws `AttemptFailure` for what we cannot undo. */
export function codingsOf(header: string | string[] | undefined): string[] {
  const named = [header ?? []].flat().join(',').toLowerCase().split(',')
  const codings = named.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity')
  if (codings.length > MOST_CODINGS) throw new AttemptFailure('not-json', `${codings.length} content codings`)
  const unknown = codings.find((name) => !Object.hasOwn(DECODERS, name))
  if (unknown !== undefined) throw new AttemptFailure('not-json', `unknown content coding ${unknown.slice(0, 40)}`)
  return codings
}

/** The length a Content-Length header announces, bytes; 0 where it says nothing that helps. */
export function announcedLength(header: string | string[] | undefined): number {
  const length = typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : 0
  return length > MOST_ANNOUNCED_BYTES ? 0 : length
}

interface BodyBounds {
  /** Most bytes, decoded. */
  limit: number
  signal: AbortSignal
  /** How many there probably are, so that room for them is made once. */
  announced: number
}

/**
 * All bytes of `body` without its codings, in an `ArrayBuffer` of exactly their length (it can be transferred).
 * Rejects with `AttemptFailure`, with the error of the connection, or with the reason of `signal`; `body` is gone then.
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

/** "deflate" is zlib (RFC 1950) by the standard and bare DEFLATE (RFC 1951) by habit: the first byte tells. */
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
  // Errors of either side reach the loop through the decoder.
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

/** Doubles, so that a body sent byte by byte costs its bytes; beyond a size in parts, which are joined in steps. */
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

  /** The problem, where there is one. */
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
      await pause()
      whole.set(part, at)
      at += part.byteLength
      // Given back now, not when it is collected.
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
