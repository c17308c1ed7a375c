// The writer thread as the main one sees it: `Session`, asynchronous. Rows and bodies are transferred, not copied.
import { setImmediate as breathe } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { shareHandle } from '../../mirror/inspect.ts'
import { callsOf } from '../../threads/calls.ts'
import { leaveThread, takeThread } from '../../threads/early.ts'
import { WRITER_THREAD } from './entry.ts'
import { prepareInSteps, release } from './prepare.ts'
import type { Session, SessionOptions } from './session.ts'
import { type Call, isWindowCall, type Prepare, WindowRelay } from './window-relay.ts'

/** Every method of `T`, answering with a promise. */
type Remote<T> = {
  [Name in keyof T]: T[Name] extends (...args: infer Args) => infer Result ? (...args: Args) => Promise<Result> : never
}

export interface Writer extends Remote<Omit<Session, keyof WindowRelay>>, Omit<WindowRelay, 'otherCall'> {
  /** Ends the thread at once, whatever it is doing; SQLite rolls back. */
  terminate(): Promise<void>
}

/** Takes the thread and opens the session in it. Throws what `openSession` throws, once the thread has ended. */
export async function startWriter(options: SessionOptions): Promise<Writer> {
  shareHandle(options.path)
  const worker = takeThread(WRITER_THREAD)
  const calls = callsOf(worker, 'writer thread')
  const call: Call = (method, args, given = []) =>
    calls.ask(method, args, {}, args[0] instanceof Uint8Array ? [...given, args[0].buffer as ArrayBuffer] : given)

  const relay = new WindowRelay(call, prepareGently(new Set(options.finalStatuses)))
  const terminate = async (): Promise<void> => void (await worker.terminate())
  try {
    await call('open', [options])
    // Here and not at the start of the program: it would slow down loading.
    keepHeapsSmall()
  } catch (error) {
    await terminate()
    throw error
  }
  return new Proxy({} as Writer, {
    get(_, name: string) {
      // Not a promise itself, although every other name answers with one.
      if (name === 'then') return undefined
      if (name === 'terminate') return terminate
      if (isWindowCall(name)) return relay[name].bind(relay)
      if (name === 'close') {
        return async () => {
          try {
            const walBytes = await call('close', [])
            calls.end(new Error('The session is closed'))
            await leaveThread(WRITER_THREAD, worker)
            return walBytes
          } catch (error) {
            await terminate()
            throw error
          }
        }
      }
      return async (...args: unknown[]) => {
        relay.otherCall()
        return call(name, args)
      }
    },
  })
}

/**
 * Stops the young generation of every thread from growing, and has heaps collected when they are twice what lives in
 * them: with windows read ahead they would take 150 MB more and save no time (docs/decisions/performance-diary.md). V8
 * reads the flags each time it thinks of growing; once it runs there is no other way to say so.
 */
function keepHeapsSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=100')
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
      await breathe()
    }
  }
}
