// How every run at the service begins, and what is recorded of its error: the writer thread, the client, what the parts
// share; and, before the first request, whether the service asked to wait, and whether mirror and account match.
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { plainBaseUrl, requireBaseUrl } from '../config/target.ts'
import { isMirrorError, MirrorError } from '../errors.ts'
import type { Gathering } from '../mirror/commits.ts'
import { type Facts, LONGEST_KEPT_WAIT_MS } from '../mirror/tables/facts.ts'
import type { RunEnd } from '../mirror/tables/runs.ts'
import type { ClientOptions } from '../service/client.ts'
import { fingerprint } from '../service/key.ts'
import type { Service } from '../service/service.ts'
import { moment } from '../shown.ts'
import { toolVersion } from '../version.ts'
import { accountCheck, UNBOUND } from './account.ts'
import { learn, type Run, type RunContext } from './context.ts'
import { LookUpHealth } from './look-up-health.ts'
import type { SyncRequest } from './plan.ts'
import { runService } from './run-service.ts'
import { startWriter, type Writer } from './writer/thread.ts'

/** Loading the HTTP library takes a fifth of a run that has nothing to do: done while the writer's thread starts. */
export const loadClient = () => import('../service/client.ts')

/** `given` replaces single options of the client: another key, a listener. */
export async function openClient(context: RunContext, given: Partial<ClientOptions> = {}): Promise<Service> {
  const { Client } = await loadClient()
  const { config, apiKey, signal, now, random, log, progress } = context
  return new Client({
    ...config.service,
    baseUrl: requireBaseUrl(context.config),
    apiKey,
    userAgent: `task-mirror/${toolVersion()}`,
    signal,
    now,
    random,
    sleep: (ms, until) => delay(ms, undefined, { signal: until }),
    onWait: (until, why, trouble) =>
      progress.set({ waitingUntil: until, waitingFor: why === 'retry-after' ? null : trouble }),
    log: (event, facts) => log.debug({ event, ...facts }, 'Service'),
    ...given,
  })
}

/** Throws what `openSession` throws: `mirror-locked`, `mirror-foreign` and the like. */
export function openWriterThread(
  { config, now }: RunContext,
  { command, rebind = false, dryRun = false }: Pick<SyncRequest, 'rebind' | 'dryRun'> & { command: string },
  gathering: Gathering,
): Promise<Writer> {
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
    asksDetails: sync.details !== 'never',
    command,
    acceptOthers: rebind,
    dryRun,
    gathering,
  })
}

/** A run that knows nothing of the service's account yet: see `bindRun`. */
export function newRun(
  context: RunContext,
  { service: client, ...parts }: Pick<Run, 'writer' | 'request' | 'opened'> & { service: Service },
): Run {
  const service = runService(client, parts.writer, context.now)
  const facts = { ...parts.opened.facts }
  return { ...context, ...parts, service, lookUps: new LookUpHealth(), facts, account: UNBOUND }
}

/** Checks clock, wait and service before the first request. Throws `not-before` and `other-service`. */
export function bindRun(run: Run, context: Pick<RunContext, 'config' | 'apiKey'>): void {
  tellOfClock(run)
  refuseTooEarly(run)
  bindService(run, requireBaseUrl(context.config), context.apiKey)
}

/** Warns that this mirror holds moments in the future: once only, for the next run finds the row of this one. */
function tellOfClock({ opened, log }: Pick<Run, 'opened' | 'log'>): void {
  if (opened.future === null) return
  log.warn(
    { aheadMs: opened.future },
    'The last run ended later than now: the clock was wrong then, or is now. What was stored since counts as unknown and is due again',
  )
}

/** Throws `not-before` where the service asked to be left alone until later. */
function refuseTooEarly(run: Run): void {
  const until = run.facts.not_before
  if (until === undefined || run.request.ignoreNotBefore === true || run.now() >= until) return
  throw new MirrorError('not-before', `The service asked to be left alone until ${moment(until)}`, {
    facts: { notBefore: until },
    hint: 'Nothing was asked. Wait, or ask all the same with `task-mirror sync --now`.',
  })
}

/** What a run is told that has --rebind without a need for it, as far as address and key tell. */
const ACCEPTED =
  'This address and this key were accepted already: with --rebind (TASK_MIRROR_REBIND) a run accepts whatever account answers, and reads the whole list. Leave it out next time'

/** Refuses another base URL before anything is sent; the first answers tell another account. Sets `run.account`. */
function bindService(run: Run, baseUrl: string, apiKey: string | null): void {
  const { facts, request, log } = run
  // Earlier versions kept it as it was configured.
  const known = facts.base_url === undefined ? undefined : plainBaseUrl(facts.base_url)
  if (known !== undefined && known !== baseUrl && request.rebind !== true) {
    throw new MirrorError('other-service', `This mirror belongs to ${known}, not to ${baseUrl}`, {
      facts: { mirror: known, asked: baseUrl },
      hint: 'Use another file with --db, or accept the new address with `task-mirror sync --rebind`.',
    })
  }
  const salt = facts.key_salt ?? randomBytes(16).toString('hex')
  const print = apiKey === null ? 'none' : fingerprint(apiKey, salt)
  const changed = facts.key_fingerprint !== undefined && facts.key_fingerprint !== print
  if (request.rebind === true && known === baseUrl && facts.key_fingerprint === print) log.warn({}, ACCEPTED)
  // The order and the length of another account's list are learned anew, by a full walk.
  const others: Facts = request.rebind === true ? { order: undefined, total: undefined, total_rows: undefined } : {}
  const bound = { base_url: baseUrl, key_salt: salt, key_fingerprint: print, not_before: undefined, ...others }
  run.account = accountCheck(run, { hasOtherKey: changed, onBegun: () => learn(run, bound) })
}

/** Keeps in mind that the service asked for a long wait: the next runs leave it alone, too, for a day at most. */
export async function rememberWait(run: Run, error: unknown): Promise<void> {
  if (!isMirrorError(error, 'wait-too-long')) return
  const until = error.facts.notBefore as number
  await learn(run, { not_before: Math.min(until, run.now() + LONGEST_KEPT_WAIT_MS) }).catch(() => undefined)
}

/** What the run's row says of its error. */
export function errorRecord(error: unknown): RunEnd['error'] {
  if (error === null) return null
  return isMirrorError(error) ? { code: error.code, message: error.message } : { code: 'bug', message: String(error) }
}
