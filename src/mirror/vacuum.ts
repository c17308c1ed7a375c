// Writes a mirror anew into another file, in a process of its own: it is one statement that can take minutes, and only a
// process can be ended in the middle of a statement (the end of a thread would be waited for).
import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MirrorError } from '../errors.ts'
import { explain, openReader } from './open.ts'

export interface Vacuumed {
  /** Rows of `tasks`, tombstones included. */
  tasks: number
  /** Highest `change_seq`; 0 where there is no row. */
  cut: number
}

/** What the process is asked and answers. `code` is SQLite's. */
export interface VacuumRequest {
  path: string
  out: string
}
export type VacuumAnswer = Vacuumed | { error: string; code: string }

/**
 * Brings one consistent state of the mirror at `path` into the empty file `out`, without free pages and without WAL.
 * Neither waits for a writer nor keeps one waiting. Throws what `openReader` throws, `disk-full`, or `interrupted`;
 * whatever is in `out` is then of no use.
 */
export async function vacuumInto(path: string, out: string, signal: AbortSignal | undefined): Promise<Vacuumed> {
  // Refuses in words what is no mirror; the process only meets what happens under way.
  openReader(path).close()
  const entry = fileURLToPath(new URL(`./vacuum-process${extname(import.meta.url)}`, import.meta.url))
  const child = fork(entry, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const stop = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', stop, { once: true })
  try {
    if (signal?.aborted) stop()
    const answer = await new Promise<VacuumAnswer>((resolve, reject) => {
      child.once('message', (message) => resolve(message as VacuumAnswer))
      child.once('error', reject)
      // A terminal sends its signals to this process as well.
      child.once('exit', (code, killedBy) =>
        reject(killedBy === null ? new Error(`the copying process ended with ${code}`) : interrupted()),
      )
      const request: VacuumRequest = { path, out }
      child.send(request, () => {})
    })
    if (!('error' in answer)) return answer
    throw explain(path, Object.assign(new Error(answer.error), { code: answer.code }))
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
}

function interrupted(): MirrorError {
  return new MirrorError('interrupted', 'The copy was interrupted; nothing was published', {
    hint: 'Run the same command again.',
  })
}
