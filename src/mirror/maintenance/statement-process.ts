// Asks a process of its own for what takes SQLite long: only a process can be ended in the middle of a statement (the end of
// a thread would be waited for). Knows nothing of what is asked.
import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorOf, MirrorError, type PlainError, plainError } from '../../errors.ts'

/** What the process sends: how far it is, any number of times, then its answer. */
export type Told<Progress, Answer> = { progress: Progress } | { answer: Answer } | { error: PlainError }

/**
 * Starts the file `entry` beside this one, sends it `request` and gives its answer, or throws its error. `signal` ends it at once, with
 * `interrupted`; a process that somebody else has ended (for want of memory, say) is `mirror-unreadable`.
 */
export async function askProcess<Request extends object, Answer, Progress = never>(
  entry: string,
  request: Request,
  signal: AbortSignal | undefined,
  onProgress?: (progress: Progress) => void,
): Promise<Answer> {
  const file = fileURLToPath(new URL(`./${entry}${extname(import.meta.url)}`, import.meta.url))
  const child = fork(file, { env: plainEnvironment(), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  // A process that could not be started for want of descriptors has no number, and Node would send the signal to number 0:
  // to this process and all others of its group.
  const stop = () => void (child.pid !== undefined && child.kill('SIGKILL'))
  signal?.addEventListener('abort', stop, { once: true })
  try {
    if (signal?.aborted) stop()
    return await new Promise<Answer>((resolve, reject) => {
      child.on('message', (message) => {
        const told = message as Told<Progress, Answer>
        if ('progress' in told) onProgress?.(told.progress)
        else if ('error' in told) reject(errorOf(told.error))
        else resolve(told.answer)
      })
      child.once('error', reject)
      // A terminal sends its signals to this process as well.
      child.once('exit', (code, killedBy) => {
        const wasStopped = signal?.aborted || killedBy === 'SIGINT' || killedBy === 'SIGTERM'
        reject(wasStopped ? interrupted() : ended(killedBy ?? `exit ${code}`))
      })
      if (child.connected) child.send(request, () => {})
    })
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
}

/** The other side: answers the one request that comes with what `work` gives or throws. */
export function answerOnce<Request, Answer, Progress = never>(
  work: (request: Request, onProgress: (progress: Progress) => void) => Answer,
): void {
  const say = (told: Told<Progress, Answer>) => void process.send?.(told)
  process.once('message', (request) => {
    try {
      say({ answer: work(request as Request, (progress) => say({ progress })) })
    } catch (error) {
      say({ error: plainError(error) })
    }
    process.disconnect()
  })
}

/** What Node and SQLite look at. The API key, credentials of object storage and all else stay with this process. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const names =
    /^(PATH|HOME|TMPDIR|SQLITE_TMPDIR|TZ|LANG|LC_ALL|LD_LIBRARY_PATH|SystemRoot|TEMP|NODE_(OPTIONS|COMPILE_CACHE)|MALLOC_ARENA_MAX)$/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)))
}

function interrupted(): MirrorError {
  return new MirrorError('interrupted', 'It was interrupted; nothing was written', {
    hint: 'Run the same command again.',
  })
}

function ended(how: string): MirrorError {
  return new MirrorError('mirror-unreadable', `The process that reads the mirror was ended (${how})`, {
    hint: 'Look whether memory ran out, then run the same command again.',
  })
}
