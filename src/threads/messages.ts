// The protocol between two threads or processes: calls by name. calls.ts asks, serve.ts answers.
import type { Writable } from 'node:stream'
import type { PlainError } from '../errors.ts'

/** What a call has beside its arguments. */
export interface Io {
  /** Aborted with `interrupted`. */
  signal: AbortSignal
  /** Where the output of the call goes. */
  out: Writable
  onProgress(...progress: unknown[]): void
}

/** From the calling side. */
export type Request = { id: number } & ({ method: string; args: unknown[] } | { stop: true } | Written)

/** A piece has left this process, or could not: `message` and `code` of the error. */
export interface Written {
  written: { message: string; code: unknown } | null
}

/** From the answering side: any number of pieces and progress, then a result or an error. */
export type Reply = { id: number } & (
  | { result: unknown }
  | { error: PlainError }
  | { piece: Uint8Array }
  | { progress: unknown[] }
)
