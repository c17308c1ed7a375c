// How every run at the service begins and how its error is told: writer thread, what its parts share, first checks.
import { isMirrorError } from '../errors.ts'
import { LONGEST_KEPT_WAIT_MS } from '../mirror/tables/facts.ts'
import type { RunEnd } from '../mirror/tables/runs.ts'
import { toolVersion } from '../version.ts'
import { UNBOUND } from './account.ts'
import { learn, type Run, type RunContext } from './context.ts'
import { bindService, refuseTooEarly, requireBaseUrl, tellOfClock } from './open-client.ts'
import { watchCosts } from './shown-costs.ts'
import type { SessionOptions } from './writer/session.ts'
import { startWriter, type Writer } from './writer/thread.ts'

type WriterChoices = Pick<SessionOptions, 'command' | 'oweDetails' | 'acceptOthers' | 'dryRun' | 'gathering'>

/** Throws what `openSession` throws: `mirror-locked`, `mirror-foreign` and the like. */
export function openWriterThread({ config, now }: RunContext, choices: WriterChoices): Promise<Writer> {
  const { mirror, sync, rejected } = config
  return startWriter({
    path: mirror.path,
    now: now(),
    toolVersion: toolVersion(),
    busyTimeoutMs: mirror.busyTimeoutMs,
    fileMode: Number.parseInt(mirror.fileMode, 8),
    rejectedMaxBytes: rejected.maxBytes,
    finalStatuses: sync.finalStatuses,
    settleMs: sync.settleMs,
    openEveryMs: sync.openEveryMs,
    ...choices,
  })
}

/** A run of which nothing is known of the service's account yet: see `settleBeginning`. */
export function newRun(context: RunContext, parts: Pick<Run, 'service' | 'writer' | 'request' | 'opened'>): Run {
  const { service, shown } = watchCosts(parts.service, context.now)
  return { ...context, ...parts, service, costs: shown, facts: { ...parts.opened.facts }, notes: [], account: UNBOUND }
}

/** Before the first request. Throws `not-before` and `other-service`. */
export function settleBeginning(run: Run, context: Pick<RunContext, 'config' | 'apiKey'>): void {
  tellOfClock(run)
  refuseTooEarly(run)
  bindService(run, requireBaseUrl(context), context.apiKey)
}

/** A service that asked to be left alone for long is left alone by the next runs too; for a day at most. */
export async function rememberWait(run: Run, error: unknown): Promise<void> {
  if (!isMirrorError(error, 'wait-too-long')) return
  const until = Number(error.facts.notBefore)
  if (!Number.isFinite(until)) return
  await learn(run, { not_before: Math.min(until, run.now() + LONGEST_KEPT_WAIT_MS) }).catch(() => undefined)
}

/** What the row of the run tells of its error. */
export function inWords(error: unknown): RunEnd['error'] {
  if (error === null) return null
  return isMirrorError(error) ? { code: error.code, message: error.message } : { code: 'bug', message: String(error) }
}
