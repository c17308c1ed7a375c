// The other side of calls.test.ts.
import { MirrorError } from '../../src/errors.ts'
import { Moved, serve } from '../../src/threads/serve.ts'

serve(async (method, args, { out, signal, onProgress }) => {
  if (method === 'echo') return args
  if (method === 'move') {
    const bytes = new Uint8Array(8).fill(7)
    return new Moved(bytes, [bytes.buffer])
  }
  if (method === 'wait') {
    onProgress('waiting', 1)
    await new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  if (method === 'write') {
    await new Promise<void>((resolve, reject) =>
      out.write(Buffer.alloc(args[0] as number, 'x'), (error) =>
        error == null ? resolve() : reject(new Error(`cannot write: ${(error as NodeJS.ErrnoException).code}`)),
      ),
    )
    return 'written'
  }
  if (method === 'refuse') {
    const cause = new Error('the reason')
    throw new MirrorError('disk-full', 'No room', { facts: { path: 'x' }, hint: 'Make some.', cause })
  }
  if (method === 'leave') process.exit(0)
  throw new TypeError('nobody foresaw this')
})
