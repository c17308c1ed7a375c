// Where the bytes of a snapshot go: stdout, or through a compressor into another sink. Knows no rows and no formats.
import type { Writable } from 'node:stream'
import { createGzip, createZstdCompress } from 'node:zlib'
import { MirrorError, systemWords } from '../../errors.ts'
import type { Compression } from '../encode/compression.ts'

export interface Sink {
  /** Takes the bytes in order; resolves once they may be reused, so waiting for it is what bounds memory. */
  write(bytes: Uint8Array): Promise<void>
  /** Bytes taken so far. */
  readonly bytes: number
}

/** Thrown by the sink of stdout when the reader has gone (`| head`): the export ends there, and that is no failure. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone'
}

/** Writes to a stream. A closed pipe is `ReaderGone`; `signal` ends the wait for a reader that reads no more. */
export function streamSink(stream: Writable, signal?: AbortSignal): Sink {
  let bytes = 0
  // Node emits `error` besides calling back, even after the last write: unheard, it would end the process.
  stream.on('error', () => {})
  return {
    get bytes() {
      return bytes
    },
    write: (piece) =>
      new Promise((resolve, reject) => {
        if (stream.destroyed) return reject(new ReaderGone('stdout is closed'))
        const onClose = () => settle(() => reject(new ReaderGone('stdout is closed')))
        const onAbort = () => settle(() => reject(interrupted()))
        function settle(outcome: () => void): void {
          stream.off('close', onClose)
          signal?.removeEventListener('abort', onAbort)
          outcome()
        }
        stream.once('close', onClose)
        signal?.addEventListener('abort', onAbort)
        stream.write(piece, (error) =>
          settle(() => {
            if (error) return reject(explainStream(error))
            bytes += piece.length
            resolve()
          }),
        )
      }),
  }
}

export function interrupted(): MirrorError {
  return new MirrorError('interrupted', 'The export was interrupted; nothing was published', {
    hint: 'Run the same command again.',
  })
}

function explainStream(error: Error): Error {
  const code = 'code' in error ? String(error.code) : ''
  if (/^(EPIPE|ECONNRESET|ERR_STREAM_DESTROYED|ERR_STREAM_WRITE_AFTER_END)$/.test(code)) {
    return new ReaderGone('stdout is closed', { cause: error })
  }
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  return new MirrorError(
    isFull ? 'disk-full' : 'snapshot-unwritable',
    isFull ? 'The disk that stdout goes to is full' : `stdout cannot be written: ${systemWords(error)}`,
    { cause: error, hint: 'What was written so far is incomplete: run the same command again.' },
  )
}

export interface ClosableSink extends Pick<Sink, 'write'> {
  /** Writes what is still held back to the sink below. */
  close(): Promise<void>
  /** Frees the compressor without writing anything. */
  destroy(): void
}

/** A sink before `below` that compresses as one stream, on a thread of its own. */
export function compressingSink(below: Sink, compression: Compression): ClosableSink {
  if (compression === 'none') return { write: (piece) => below.write(piece), close: async () => {}, destroy: () => {} }
  const transform = compression === 'gzip' ? createGzip({ level: 6 }) : createZstdCompress()
  const drained = drain()
  // The next write or `close` throws its error; until then nobody would handle it.
  drained.catch(() => {})
  async function drain(): Promise<void> {
    for await (const piece of transform) await below.write(piece as Buffer)
  }
  return {
    async write(piece) {
      const written = new Promise<void>((resolve, reject) => {
        transform.write(piece, (error) => (error ? reject(error) : resolve()))
      })
      try {
        await Promise.race([written, drained])
      } catch (error) {
        // Should the sink below have failed, its own error counts, not the compressor's complaint about being cut off.
        await drained
        throw error
      }
    },
    async close() {
      transform.end()
      await drained
    },
    destroy: () => void transform.destroy(),
  }
}
