// Entry of the writer thread: hosts one session and answers calls one after another.
import { explain } from '../../mirror/explain.ts'
import { serve } from '../../threads/serve.ts'
import { openSession, type Session, type SessionOptions } from './session.ts'

type Methods = Record<string, (...args: unknown[]) => unknown>

let session: Session | null = null
let path = ''

serve((method, args) => {
  try {
    if (method !== 'open') return (session as unknown as Methods)[method]!(...args)
    const options = args[0] as SessionOptions
    path = options.path
    session = openSession(options)
    return null
  } catch (thrown) {
    throw explain(path, thrown)
  }
})
