// A one-off run: work at the service that is no sync, under the lock, with a row in `runs`.
import { EXIT, exitCodeOf, isMirrorError } from '../../errors.ts'
import { BY_ITSELF } from '../../mirror/commits.ts'
import { openReader } from '../../mirror/open.ts'
import type { ClientOptions } from '../../service/client.ts'
import type { Traffic } from '../../service/service.ts'
import type { Verdict } from '../../task.ts'
import { bindRun, checkRequests, inWords, newRun, openClient, openWriterThread, rememberWait } from '../begin.ts'
import type { Run, RunContext } from '../context.ts'

type OneOffCommand = 'get' | 'probe' | 'rejected' | 'verify'

interface OneOffDone<T> {
  value: T
  /** 0 where nothing fell short. */
  exitCode: number
  verdict?: Verdict
  /** Where more than the run's own client has asked. */
  traffic?: Traffic
}

/** Throws `mirror-missing` for work that makes no sense without a mirror: a run would make one. */
export function requireMirror({ config }: Pick<RunContext, 'config'>): void {
  openReader(config.mirror.path).close()
}

/** Throws what `openSession`, `bindService` and `work` throw, after the run's row has been closed. */
export async function runOneOff<T>(
  context: RunContext,
  command: OneOffCommand,
  work: (run: Run) => Promise<OneOffDone<T>>,
  client: Partial<ClientOptions> = {},
): Promise<OneOffDone<T>> {
  const { now, signal, progress } = context
  checkRequests(context)
  const asksDetails = context.config.sync.details !== 'never'
  const choices = { command, asksDetails, acceptOthers: false, dryRun: false, gathering: BY_ITSELF }
  const writer = await openWriterThread(context, choices)
  const service = await openClient(context, client)
  let done: OneOffDone<T> | null = null
  let error: unknown = null
  try {
    const opened = await writer.opened()
    const run = newRun(context, { service, writer, request: { command: 'backfill' }, opened })
    try {
      bindRun(run, context)
      done = await work(run)
    } catch (thrown) {
      error = thrown
      await rememberWait(run, thrown)
    }
    const { requests, retries, bytes, waitedMs } = done?.traffic ?? service.traffic()
    const exitCode = error === null ? (done?.exitCode ?? EXIT.done) : exitCodeOf(error)
    const stopped = signal.aborted && isMirrorError(error, 'interrupted')
    await writer.endRun(
      {
        plan: [command],
        outcome: error === null ? (exitCode === EXIT.done ? 'ok' : 'partial') : stopped ? 'interrupted' : 'failed',
        verdict: done?.verdict ?? null,
        drift: 0,
        exitCode,
        requests,
        retries,
        bytes,
        waitedMs,
        error: inWords(error),
      },
      now(),
    )
  } finally {
    progress.finish()
    await service.close()
    await writer.close().catch(() => 0)
  }
  if (done === null) throw error
  return done
}
