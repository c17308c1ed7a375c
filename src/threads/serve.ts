// The answering side of calls: runs the methods, and hands over their output in pieces.
import { Writable } from 'node:stream'
import { parentPort } from 'node:worker_threads'
import { MirrorError, plainError } from '../errors.ts'
import type { Io, Reply, Request, Written } from './messages.ts'

/** Bytes of a piece. The main thread writes each, to a file or a terminal, in a step of its own. */
const PIECE_BYTES = 1024 * 1024

type Say = (reply: Reply, transfer?: readonly ArrayBuffer[]) => void
type Answering = (method: string, args: unknown[], io: Io) => unknown

/** A result whose memory is transferred instead of copied. */
export class Moved {
  readonly value: unknown
  readonly memory: readonly ArrayBuffer[]

  constructor(value: unknown, memory: readonly ArrayBuffer[]) {
    this.value = value
    this.memory = memory
  }
}

/** Called by the entry of a thread. What `work` returns without a promise is answered at once, in order of calls. */
export function serve(work: Answering): void {
  const port = parentPort as NonNullable<typeof parentPort>
  port.on(
    'message',
    receiver((reply, memory) => port.postMessage(reply, memory), work),
  )
}

/** The same for any other channel: returns the function that takes requests. */
export function receiver(say: Say, work: Answering): (request: Request) => Promise<void> {
  const calls = new Map<number, ServedCall>()
  return async (request) => {
    const { id } = request
    if ('stop' in request) return calls.get(id)?.stop()
    if ('written' in request) return calls.get(id)?.written(request.written)
    const call = new ServedCall(id, say)
    calls.set(id, call)
    try {
      const given = work(request.method, request.args, call)
      const result = given instanceof Promise ? await given : given
      if (result instanceof Moved) say({ id, result: result.value }, result.memory)
      else say({ id, result })
    } catch (error) {
      say({ id, error: plainError(error) })
    }
    calls.delete(id)
  }
}

/** Most calls have no output, so its memory is allocated only when `out` is used. */
class ServedCall implements Io {
  readonly #id: number
  readonly #say: Say
  readonly #stopped = new AbortController()
  #written: ((failure: Written['written']) => void) | null = null

  constructor(id: number, say: Say) {
    this.#id = id
    this.#say = say
  }

  get signal(): AbortSignal {
    return this.#stopped.signal
  }

  get out(): Writable {
    let memory: Uint8Array | null = null
    /** Resolves once the other side has written `bytes`; their memory is then free for the next piece. */
    const hand = (bytes: Uint8Array): Promise<void> =>
      new Promise((resolve, reject) => {
        this.#written = (failure) =>
          failure === null ? resolve() : reject(Object.assign(new Error(failure.message), failure))
        memory ??= new Uint8Array(new SharedArrayBuffer(PIECE_BYTES))
        memory.set(bytes)
        this.#say({ id: this.#id, piece: memory.subarray(0, bytes.length) })
      })
    const out = new Writable({
      async write(bytes: Buffer, _encoding, done) {
        try {
          for (let at = 0; at < bytes.length; at += PIECE_BYTES) await hand(bytes.subarray(at, at + PIECE_BYTES))
          done()
        } catch (error) {
          done(error as Error)
        }
      },
    })
    // The write's callback reports errors.
    out.on('error', () => undefined)
    Object.defineProperty(this, 'out', { value: out })
    return out
  }

  // An arrow function, because callers take `onProgress` out of the object.
  readonly onProgress = (...progress: unknown[]): void => this.#say({ id: this.#id, progress })

  stop(): void {
    this.#stopped.abort(new MirrorError('interrupted', 'Stopped'))
  }

  written(failure: Written['written']): void {
    this.#written?.(failure)
  }
}
