// The writer thread as the main thread sees it: the methods of `Session`, asynchronous. Windows are made ready on this
// side; their rows, and the raw bodies of details, are transferred, not copied.
import { setImmediate as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { type ErrorCode, type ErrorFacts, MirrorError } from '../../errors.ts'
import { shareHandle } from '../../mirror/handles.ts'
import { leaveThread, takeThread } from './early-thread.ts'
import { prepareInSteps, release } from './prepare.ts'
import type { Session, SessionOptions } from './session.ts'
import { type Call, type Prepare, type WindowRelay, windowRelay } from './window-relay.ts'

/** Every method of `T`, answering with a promise. */
export type Remote<T> = {
  [Name in keyof T]: T[Name] extends (...args: infer Args) => infer Result ? (...args: Args) => Promise<Result> : never
}

export interface Writer extends Remote<Omit<Session, keyof WindowRelay>>, Omit<WindowRelay, 'otherCall'> {
  /** Ends the thread at once, whatever it does; SQLite rolls back. */
  terminate(): Promise<void>
}

export interface Request {
  id: number
  method: string
  args: unknown[]
}

export type Reply =
  | { id: number; result: unknown }
  | { id: number; error: { code: ErrorCode; message: string; hint?: string; facts: ErrorFacts; cause?: string } }
  | { id: number; crash: { message: string; stack: string | undefined } }

/** Takes the thread and opens the session in it. Throws what `openSession` throws; the thread has ended then. */
export async function startWriter(options: SessionOptions): Promise<Writer> {
  shareHandle(options.path)
  const worker = takeThread()
  const waiting = new Map<number, { resolve(value: unknown): void; reject(reason: unknown): void }>()
  let calls = 0
  let gone: Error | null = null

  const fail = (error: Error): void => {
    gone = error
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  worker.on('error', (error) => fail(error as Error))
  worker.on('exit', () => fail(gone ?? new Error('The writer thread has ended')))
  worker.on('message', (reply: Reply) => {
    const caller = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (caller === undefined) return
    if ('result' in reply) caller.resolve(reply.result)
    else if ('crash' in reply) {
      const error = new Error(reply.crash.message)
      if (reply.crash.stack !== undefined) error.stack = reply.crash.stack
      caller.reject(error)
    } else {
      const { code, message, ...detail } = reply.error
      caller.reject(new MirrorError(code, message, detail))
    }
  })

  const call: Call = (method, args, given = []) => {
    if (gone !== null) return Promise.reject(gone)
    const id = ++calls
    const transfer = args[0] instanceof Uint8Array ? [...given, args[0].buffer as ArrayBuffer] : given
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      worker.postMessage({ id, method, args } satisfies Request, transfer)
    })
  }

  const { otherCall, ...windows } = windowRelay(call, prepareGently(new Set(options.finalStatuses)))
  const terminate = async (): Promise<void> => void (await worker.terminate())
  try {
    await call('open', [options])
    // Here and not at the start of the program, which loading it would then slow down.
    keepYoungGenerationsSmall()
  } catch (error) {
    await terminate()
    throw error
  }
  return new Proxy({} as Writer, {
    get(_, name: string) {
      // Not a promise itself, although every other name answers with one.
      if (name === 'then') return undefined
      if (name === 'terminate') return terminate
      if (Object.hasOwn(windows, name)) return windows[name as keyof typeof windows]
      if (name === 'close') {
        return async () => {
          try {
            const walBytes = await call('close', [])
            gone ??= new Error('The session is closed')
            await leaveThread(worker)
            return walBytes
          } catch (error) {
            await terminate()
            throw error
          }
        }
      }
      return async (...args: unknown[]) => {
        otherCall()
        return call(name, args)
      }
    },
  })
}

/**
 * Lets no thread's young generation grow any more: with windows read ahead it would take 100 MB and save no time
 * (docs/performance.md). V8 reads the flag each time it thinks of growing; there is no other way to say so once it runs.
 */
function keepYoungGenerationsSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Prepares windows in steps, so that answers of the writer and of the service never wait long for this thread. */
function prepareGently(finalStatuses: ReadonlySet<string>): Prepare {
  return async (raw) => {
    const steps = prepareInSteps(raw, finalStatuses)
    for (;;) {
      const { value, done } = steps.next()
      if (done === true) {
        if (value !== null) release(raw)
        return value
      }
      await pause()
    }
  }
}
