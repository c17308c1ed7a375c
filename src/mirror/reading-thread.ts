// A thread for work that reads much of the mirror: a table of methods says what it can be asked.
import type { Worker } from 'node:worker_threads'
import { type Calls, callsOf } from '../threads/calls.ts'
import { takeThread } from '../threads/early.ts'
import type { Io } from '../threads/messages.ts'
import { serve } from '../threads/serve.ts'
import { shareHandle } from './inspect.ts'

/** Methods that take plain data, and return plain data or a promise of it. */
// biome-ignore lint/suspicious/noExplicitAny: a bound for arguments of any type
export type Work = Record<string, (argument: any, io: Io) => unknown>

export interface ReadingThread<Methods> {
  /** Rejects with what the work throws; see `Calls.ask`. */
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

/** `entry` is a file that calls `serveWork` with these methods. The first question starts the thread. */
export function readingThread<Methods extends Work>(entry: URL, dbPath: string): ReadingThread<Methods> {
  let thread: { worker: Worker; calls: Calls } | null = null

  function begin(): { worker: Worker; calls: Calls } {
    shareHandle(dbPath)
    const worker = takeThread(entry)
    const begun = { worker, calls: callsOf(worker, 'thread') }
    for (const event of ['error', 'exit']) {
      worker.on(event, () => {
        if (thread === begun) thread = null
      })
    }
    return begun
  }

  return {
    async ask(method, argument, io) {
      thread ??= begin()
      return (await thread.calls.ask(method, [argument], io)) as Result<Methods[typeof method]>
    },
    end: async () => void (await thread?.worker.terminate()),
  }
}

/** Called by the thread's entry. A connection should not outlive one answer, because the mirror may be replaced. */
export function serveWork(work: Work): void {
  serve((method, [argument], io) => work[method]!(argument, io))
}
