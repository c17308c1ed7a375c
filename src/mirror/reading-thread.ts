// A thread for what reads much of the mirror and would hold up signals and health checks on the main one. This side of it;
// reading-worker.ts is the other. Knows how to ask and how text comes back in small pieces, not what is asked.
import type { Writable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { errorOf, type PlainError } from '../errors.ts'
import { shareHandle } from './handles.ts'

/** What a piece of work has beside its argument. */
export interface Io {
  /** Aborted with `interrupted`. */
  signal: AbortSignal
  /** Where its output goes. */
  out: Writable
  onProgress(done: number, total: number | null): void
}

/** What the thread can be asked for: methods that take plain data, and give plain data or a promise of it. */
// biome-ignore lint/suspicious/noExplicitAny: a bound for arguments of any type
export type Work = Record<string, (argument: any, io: Io) => unknown>

/** From this side. */
export type Question = { id: number; method: string; argument: unknown } | { stop: number } | Written
/** A piece has left this process, or has not: `message` and `code` of the error. */
export type Written = { written: number; error: { message: string; code: unknown } | null }
/** From the other. */
export type Answer = { id: number } & (
  | { result: unknown }
  | { error: PlainError }
  | { piece: Uint8Array }
  | { progress: [done: number, total: number | null] }
)

export interface Thread<Methods> {
  /**
   * Rejects with what the work throws. `io.out` is given one piece after the other, each when the one before has left: the
   * memory of a piece is the next one's then.
   */
  ask<Name extends keyof Methods & string>(
    method: Name,
    argument: Argument<Methods[Name]>,
    io?: Partial<Io>,
  ): Promise<Result<Methods[Name]>>
  end(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: whatever it takes and gives
export type Argument<Method> = Method extends (argument: infer A, ...rest: any) => any ? A : never
// biome-ignore lint/suspicious/noExplicitAny: as above
export type Result<Method> = Method extends (...all: any) => infer R ? Awaited<R> : never

interface Caller {
  io: Partial<Io>
  resolve(value: unknown): void
  reject(reason: unknown): void
}

/**
 * `entry` is a file that calls `serve` with these methods. The thread begins with the first question, and anew with the
 * next one where it has ended.
 */
export function startThread<Methods extends Work>(entry: URL, dbPath: string): Thread<Methods> {
  const waiting = new Map<number, Caller>()
  let worker: Worker | null = null
  let asked = 0

  const begin = (): Worker => {
    // Handles that the thread leaves open must stay open: closing one would drop SQLite's locks (see open.ts).
    shareHandle(dbPath)
    // As in sync/writer/thread.ts: a large young generation takes memory and saves no time.
    const begun = new Worker(entry, { trackUnmanagedFds: false, resourceLimits: { maxYoungGenerationSizeMb: 16 } })
    const say = (question: Question) => begun.postMessage(question)
    const fail = (error: Error): void => {
      if (worker === begun) worker = null
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    }
    begun.on('error', (error) => fail(error as Error))
    begun.on('exit', () => fail(new Error('The thread has ended')))
    begun.on('message', (answer: Answer) => {
      const { id } = answer
      const caller = waiting.get(id)
      if (caller === undefined) return
      if ('progress' in answer) return caller.io.onProgress?.(...answer.progress)
      if ('piece' in answer) {
        const written = (error?: NodeJS.ErrnoException | null) =>
          say({ written: id, error: error == null ? null : { message: error.message, code: error.code } })
        return void caller.io.out?.write(answer.piece, written)
      }
      waiting.delete(id)
      if ('result' in answer) caller.resolve(answer.result)
      else caller.reject(errorOf(answer.error))
    })
    return begun
  }

  return {
    async ask(method, argument, io = {}) {
      const id = ++asked
      worker ??= begin()
      const to = worker
      const say = (question: Question) => to.postMessage(question)
      const stop = () => say({ stop: id })
      // Told by the callback of the write; without a listener a closed pipe would end the process.
      const seen = () => undefined
      io.out?.on('error', seen)
      io.signal?.addEventListener('abort', stop, { once: true })
      try {
        return await new Promise((resolve, reject) => {
          waiting.set(id, { io, resolve: resolve as (value: unknown) => void, reject })
          say({ id, method, argument })
          if (io.signal?.aborted) stop()
        })
      } finally {
        io.signal?.removeEventListener('abort', stop)
        io.out?.off('error', seen)
      }
    },
    end: async () => void (await worker?.terminate()),
  }
}
