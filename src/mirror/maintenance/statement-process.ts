// Runs in a process what takes SQLite long: only a process can be ended in the middle of a statement.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { MirrorError } from '../../errors.ts'
import { Calls } from '../../threads/calls.ts'
import { entryBeside } from '../../threads/early.ts'
import type { Io, Reply, Request } from '../../threads/messages.ts'
import { receiver } from '../../threads/serve.ts'
import { openReader } from '../open.ts'
import type { Work } from '../reading-thread.ts'

interface Asking {
  /** As messages call the work: "The check". */
  what: string
  signal: AbortSignal | undefined
  onProgress?: Io['onProgress'] | undefined
}

/**
 * Starts a process, has it do one of the methods of statement-worker.ts, and returns what that returns or throws its
 * error. Before the start, a missing mirror throws as in `openReader`. `signal` ends the process at once, with
 * `interrupted`; where somebody else has ended it (for want of memory, say), `mirror-unreadable` is thrown.
 */
export async function askProcess<Answer>(
  method: string,
  argument: { path: string; [name: string]: unknown },
  { what, signal, onProgress }: Asking,
): Promise<Answer> {
  openReader(argument.path).close()
  const file = fileURLToPath(entryBeside(import.meta.url, 'statement-worker'))
  const child = fork(file, { env: plainEnvironment(), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  // A process that could not be started has no pid: Node would signal pid 0, this process and its whole group.
  const stop = () => void (child.pid !== undefined && child.kill('SIGKILL'))
  const calls = new Calls((request) => void (child.connected && child.send(request, () => {})))
  child.on('message', (reply) => calls.receive(reply as Reply))
  child.once('error', (error) => calls.end(error))
  child.once('exit', (code, killedBy) => {
    // A terminal sends its signals to the child as well, so ending by one of them counts as stopped.
    const wasStopped = signal?.aborted || /^SIG(HUP|INT|TERM)$/.test(killedBy ?? '')
    const end = () => calls.end(wasStopped ? interrupted(what) : ended(killedBy ?? `exit ${code}`))
    // The answer may still be on its way.
    if (child.connected) child.once('disconnect', end)
    else end()
  })
  signal?.addEventListener('abort', stop, { once: true })
  try {
    if (signal?.aborted) stop()
    return (await calls.ask(method, [argument], { onProgress })) as Answer
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
}

/** In the process itself: answers the one request that comes. */
export function answerOnce(work: Work): void {
  const receive = receiver(
    // The asking process may be gone: then nobody waits for an answer, and nothing is left to do.
    (reply) => void process.send?.(reply, undefined, undefined, (error) => error && process.exit()),
    (method, [argument], io) => work[method]!(argument, io),
  )
  process.once('message', async (request) => {
    await receive(request as Request)
    if (process.connected) process.disconnect()
  })
}

/** The variables that Node and SQLite read. The API key, storage credentials and all else stay with this process. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const names =
    /^(PATH|HOME|TMPDIR|SQLITE_TMPDIR|TZ|LANG|LC_ALL|LD_LIBRARY_PATH|SystemRoot|TEMP|NODE_(OPTIONS|COMPILE_CACHE)|MALLOC_ARENA_MAX)$/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)))
}

function interrupted(what: string): MirrorError {
  return new MirrorError('interrupted', `${what} was interrupted; nothing was written`, {
    hint: 'Run the same command again.',
  })
}

function ended(how: string): MirrorError {
  return new MirrorError('mirror-unreadable', `The process that reads the mirror was ended (${how})`, {
    hint: 'Look whether memory ran out, then run the same command again.',
  })
}
