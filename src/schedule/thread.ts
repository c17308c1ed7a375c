// A thread for what would hold up signals and the answers of /healthz and /metrics: reading the mirror, drawing the
// report, publishing snapshots. This side of it; the other is worker.ts.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type ErrorCode, type Facts, MirrorError } from '../errors.ts'
import type { ExportOptions, ExportResult } from '../export/export.ts'
import type { LastPublication } from '../mirror/figures.ts'
import { shareHandle } from '../mirror/open.ts'
import type { MirrorStatus } from '../mirror/status.ts'

/** What the thread can be asked for. */
export interface ThreadWork {
  status(dbPath: string): { status: MirrorStatus; publication: LastPublication | null }
  sections(question: SectionsQuestion): Sections
  publish(options: PublishOptions): ExportResult
}

export interface SectionsQuestion {
  dbPath: string
  /** Epoch ms. */
  now: number
}

/** The parts of the report, as HTML. */
export interface Sections {
  html: string
  baseUrl: string | null
  durationMs: number
}

export type PublishOptions = Omit<ExportOptions, 'signal' | 'now' | 'stdout' | 'onProgress'>

export interface Asked {
  id: number
  method: keyof ThreadWork
  argument: unknown
}

export type Answer =
  | { id: number; result: unknown }
  | { id: number; error: { code: ErrorCode; message: string; hint: string | undefined; facts: Facts } }
  | { id: number; crash: string }

/** Tells the thread to stop what it does: it answers with `interrupted`. */
export interface Stop {
  stop: true
}

export interface Thread {
  ask<Name extends keyof ThreadWork>(
    method: Name,
    argument: Parameters<ThreadWork[Name]>[0],
  ): Promise<ReturnType<ThreadWork[Name]>>
  stop(): void
  end(): Promise<void>
}

/** The thread begins with the first question, and anew with the next one where it has ended. */
export function startThread(dbPath: string): Thread {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(reason: unknown): void }>()
  let worker: Worker | null = null
  let asked = 0

  const begin = (): Worker => {
    const file = new URL(`./worker${extname(import.meta.url)}`, import.meta.url)
    // Handles that the thread leaves open must stay open: closing one would drop SQLite's locks (see mirror/open.ts).
    shareHandle(dbPath)
    // As in sync/thread.ts: a large young generation takes memory and saves no time.
    const begun = new Worker(file, { trackUnmanagedFds: false, resourceLimits: { maxYoungGenerationSizeMb: 16 } })
    const fail = (error: Error): void => {
      if (worker === begun) worker = null
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    }
    begun.on('error', (error) => fail(error as Error))
    begun.on('exit', () => fail(new Error('The thread has ended')))
    begun.on('message', (answer: Answer) => {
      const caller = waiting.get(answer.id)
      waiting.delete(answer.id)
      if (caller === undefined) return
      if ('result' in answer) caller.resolve(answer.result)
      else if ('crash' in answer) caller.reject(new Error(answer.crash))
      else {
        const { code, message, hint, facts } = answer.error
        caller.reject(new MirrorError(code, message, { facts, ...(hint === undefined ? {} : { hint }) }))
      }
    })
    return begun
  }

  return {
    ask(method, argument) {
      const id = ++asked
      worker ??= begin()
      const to = worker
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
        to.postMessage({ id, method, argument } satisfies Asked)
      })
    },
    stop: () => worker?.postMessage({ stop: true } satisfies Stop),
    end: async () => void (await worker?.terminate()),
  }
}
