// The side that answers: does what is asked for, and hands output over in pieces.
import { Writable } from 'node:stream'
import { parentPort } from 'node:worker_threads'
import { MirrorError, plainError } from '../errors.ts'
import type { Io, Reply, Request, Written } from './messages.ts'

/** Bytes that the main thread is given at once: writing them, to a file or a terminal, is a step of its own there. */
const PIECE_BYTES = 1024 * 1024

type Say = (reply: Reply, transfer?: readonly ArrayBuffer[]) => void
type Answering = (method: string, args: unknown[], io: Io) => unknown

/** A result whose memory is handed over rather than copied. */
export class Moved {
  readonly value: unknown
  readonly memory: readonly ArrayBuffer[]

  constructor(value: unknown, memory: readonly ArrayBuffer[]) {
    this.value = value
    this.memory = memory
  }
}

/** Called by the entry of a thread. What `work` gives at once is answered at once, so in the order of the calls. */
export function serve(work: Answering): void {
  const port = parentPort as NonNullable<typeof parentPort>
  port.on(
    'message',
    receiver((reply, memory) => port.postMessage(reply, memory), work),
  )
}

/** The same for any other way to say something: takes what comes. */
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

/** Most calls have no output: the memory that it takes is made when it is asked for. */
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
    /** Resolves once the other side has written `bytes`; then their place is free for the next ones. */
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
    // Told by the callback of the write.
    out.on('error', () => undefined)
    Object.defineProperty(this, 'out', { value: out })
    return out
  }

  // Taken apart by those who call it.
  readonly onProgress = (...progress: unknown[]): void => this.#say({ id: this.#id, progress })

  stop(): void {
    this.#stopped.abort(new MirrorError('interrupted', 'Stopped'))
  }

  written(failure: Written['written']): void {
    this.#written?.(failure)
  }
}
