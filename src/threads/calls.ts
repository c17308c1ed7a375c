// Calls to methods of another thread or process: the calling side.
import { Worker } from 'node:worker_threads'
import { errorOf } from '../errors.ts'
import type { Io, Reply, Request } from './messages.ts'

interface Waiting {
  io: Partial<Io>
  resolve(value: unknown): void
  reject(reason: unknown): void
}

/** Calls to one other side. The owner passes replies to `receive`, and calls `end` once no more can come. */
export class Calls {
  readonly #send: (request: Request, transfer: readonly ArrayBuffer[]) => void
  readonly #waiting = new Map<number, Waiting>()
  #ended: Error | null = null
  #last = 0

  constructor(send: (request: Request, transfer: readonly ArrayBuffer[]) => void) {
    this.#send = send
  }

  /**
   * Rejects with what the method throws, or with the error of `end`. `io.out` gets one piece at a time, each once the
   * one before has left, because pieces share their memory. The memory in `transfer` is given away.
   */
  ask(method: string, args: unknown[], io: Partial<Io> = {}, transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    if (this.#ended !== null) return Promise.reject(this.#ended)
    const id = ++this.#last
    const answer = new Promise((resolve, reject) => {
      this.#waiting.set(id, { io, resolve, reject })
      try {
        this.#send({ id, method, args }, transfer)
      } catch (error) {
        this.#waiting.delete(id)
        throw error
      }
    })
    const { signal, out } = io
    if (signal === undefined && out === undefined) return answer
    const stop = () => this.#send({ id, stop: true }, [])
    // The write's callback reports errors; but without a listener a closed pipe would end the process.
    const seen = () => undefined
    out?.on('error', seen)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
    return answer.finally(() => {
      signal?.removeEventListener('abort', stop)
      out?.off('error', seen)
    })
  }

  receive(reply: Reply): void {
    const { id } = reply
    const call = this.#waiting.get(id)
    if (call === undefined) return
    if ('progress' in reply) call.io.onProgress?.(...reply.progress)
    else if ('piece' in reply) {
      const written = (error?: NodeJS.ErrnoException | null) =>
        this.#send({ id, written: error == null ? null : { message: error.message, code: error.code } }, [])
      // A piece without a reader is dropped, but confirmed: the other side waits for that.
      if (call.io.out === undefined) written()
      else call.io.out.write(reply.piece, written)
    } else {
      this.#waiting.delete(id)
      if ('error' in reply) call.reject(errorOf(reply.error))
      else call.resolve(reply.result)
    }
  }

  /** Rejects all calls in progress and to come, with the error of the first `end`. */
  end(error: Error): void {
    this.#ended ??= error
    for (const { reject } of this.#waiting.values()) reject(this.#ended)
    this.#waiting.clear()
  }
}

/** Starts a thread from `entry`, a file that calls `serve`. */
export function startWorker(entry: URL): Worker {
  // A large young generation takes 100 MB more and saves no time (docs/decisions/performance-diary.md).
  const resourceLimits = { maxYoungGenerationSizeMb: 16 }
  // Handles that the thread leaves open must stay open: closing one would drop SQLite's locks (see mirror/inspect.ts).
  return new Worker(entry, { trackUnmanagedFds: false, resourceLimits })
}

/** The calls to a thread; its `name` is for the error when it has ended. */
export function callsOf(worker: Worker, name: string): Calls {
  const calls = new Calls((request, transfer) => worker.postMessage(request, transfer))
  worker.on('error', (error) => calls.end(error as Error))
  worker.on('exit', () => calls.end(new Error(`The ${name} has ended`)))
  worker.on('message', (reply: Reply) => calls.receive(reply))
  return calls
}
