// The other side of reading-thread.ts: does what is asked for and hands its output over in pieces.
import { Writable } from 'node:stream'
import { parentPort } from 'node:worker_threads'
import { MirrorError, plainError } from '../errors.ts'
import type { Answer, Io, Question, Work, Written } from './reading-thread.ts'

/** Bytes that the main thread is given at once: writing them, to a file or a terminal, is a step of its own there. */
const PIECE_BYTES = 1024 * 1024

type Waiting = (written: Written['error']) => void

/** Called by the entry of a thread. A connection should live no longer than one answer: the mirror may be replaced. */
export function serve(work: Work): void {
  const port = parentPort as NonNullable<typeof parentPort>
  const stops = new Map<number, AbortController>()
  const waiting = new Map<number, Waiting>()
  const say = (answer: Answer) => port.postMessage(answer)

  async function answer({ id, method, argument }: { id: number; method: string; argument: unknown }): Promise<Answer> {
    const stopped = new AbortController()
    stops.set(id, stopped)
    let memory: Uint8Array | null = null
    /** Resolves once the main thread has written `bytes`; then their place is free for the next ones. */
    const hand = (bytes: Uint8Array): Promise<void> =>
      new Promise((resolve, reject) => {
        waiting.set(id, (error) =>
          error === null ? resolve() : reject(Object.assign(new Error(error.message), error)),
        )
        memory ??= new Uint8Array(new SharedArrayBuffer(PIECE_BYTES))
        memory.set(bytes)
        say({ id, piece: memory.subarray(0, bytes.length) })
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
    const onProgress: Io['onProgress'] = (done, total) => say({ id, progress: [done, total] })
    try {
      return { id, result: await work[method]!(argument, { signal: stopped.signal, out, onProgress }) }
    } catch (error) {
      return { id, error: plainError(error) }
    } finally {
      stops.delete(id)
      waiting.delete(id)
    }
  }

  port.on('message', async (question: Question) => {
    if ('stop' in question) stops.get(question.stop)?.abort(new MirrorError('interrupted', 'Stopped'))
    else if ('written' in question) waiting.get(question.written)?.(question.error)
    else say(await answer(question))
  })
}
