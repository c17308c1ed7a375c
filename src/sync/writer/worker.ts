// Entry of the writer thread: hosts one session and answers calls one after another.
import { parentPort } from 'node:worker_threads'
import { isMirrorError } from '../../errors.ts'
import { explain } from '../../mirror/explain.ts'
import { openSession, type Session, type SessionOptions } from './session.ts'
import type { Reply, Request } from './thread.ts'

const port = parentPort as NonNullable<typeof parentPort>
let session: Session | null = null
let path = ''

port.on('message', ({ id, method, args }: Request) => {
  port.postMessage(answer(id, method, args))
})

function answer(id: number, method: string, args: unknown[]): Reply {
  try {
    if (method === 'open') {
      const options = args[0] as SessionOptions
      path = options.path
      session = openSession(options)
      return { id, result: null }
    }
    const work = (session as Session)[method as keyof Session] as (...all: unknown[]) => unknown
    return { id, result: work(...args) }
  } catch (thrown) {
    const error = explain(path, thrown)
    if (isMirrorError(error)) {
      const { code, message, hint, facts, cause } = error
      const why = cause instanceof Error ? cause.message : undefined
      return {
        id,
        error: {
          code,
          message,
          facts,
          ...(hint === undefined ? {} : { hint }),
          ...(why === undefined ? {} : { cause: why }),
        },
      }
    }
    const crash = error instanceof Error ? error : new Error(String(error))
    return { id, crash: { message: crash.message, stack: crash.stack } }
  }
}
