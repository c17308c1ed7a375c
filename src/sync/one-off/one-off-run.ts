// A one-off run: work at the service that is no sync, under the lock, with a row in `runs`.
import { BY_ITSELF } from '../../mirror/commits.ts'
import { openReader } from '../../mirror/open.ts'
import type { ClientOptions } from '../../service/client.ts'
import type { Service, Traffic } from '../../service/service.ts'
import type { Verdict } from '../../task.ts'
import { bindRun, errorRecord, newRun, openClient, openWriterThread, rememberWait } from '../begin.ts'
import { howEnded } from '../conclude.ts'
import type { Run, RunContext } from '../context.ts'

type OneOffCommand = 'get' | 'probe' | 'rejected' | 'verify'

interface OneOffDone<T> {
  value: T
  /** 0 where nothing fell short. */
  exitCode: number
  verdict?: Verdict
  /** Given where other clients than the run's own have asked, too. */
  traffic?: Traffic
}

/** Throws `mirror-missing` where there is no mirror: a run would make one, in which the work makes no sense. */
export function requireMirror({ config }: Pick<RunContext, 'config'>): void {
  openReader(config.mirror.path).close()
}

/** Does `work`. Throws as `openSession` and `openClient`; and, after closing the run's row, as `bindRun` and `work`. */
export async function runOneOff<T>(
  context: RunContext,
  command: OneOffCommand,
  work: (run: Run) => Promise<OneOffDone<T>>,
  client: Partial<ClientOptions> = {},
): Promise<T> {
  const writer = await openWriterThread(context, { command }, BY_ITSELF)
  let service: Service | null = null
  try {
    service = await openClient(context, client)
    const opened = await writer.opened()
    const run = newRun(context, { service, writer, request: {}, opened })
    return await writtenDown(run, command, () => {
      bindRun(run, context)
      return work(run)
    })
  } finally {
    context.progress.finish()
    await service?.close()
    await writer.close().catch(() => 0)
  }
}

/** Does `work`, and closes the run's row with what came of it. */
async function writtenDown<T>(run: Run, command: OneOffCommand, work: () => Promise<OneOffDone<T>>): Promise<T> {
  const { service, writer, signal, now } = run
  let done: OneOffDone<T> | null = null
  let error: unknown = null
  try {
    done = await work()
  } catch (thrown) {
    error = thrown
    await rememberWait(run, thrown)
  }
  const { requests, retries, bytes, waitedMs } = done?.traffic ?? service.traffic()
  const ending = howEnded(error, done === null ? [] : [done.exitCode], signal)
  const facts = { plan: [command], verdict: done?.verdict ?? null, drift: 0, error: errorRecord(error) }
  await writer.endRun({ ...facts, ...ending, requests, retries, bytes, waitedMs }, now())
  if (done === null) throw error
  return done.value
}
