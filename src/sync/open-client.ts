// Before the first request of any run: the client, a wait the service asked for, whether mirror and account match.
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { MirrorError } from '../errors.ts'
import type { ClientOptions } from '../service/client.ts'
import { fingerprint } from '../service/key.ts'
import type { Service } from '../service/service.ts'
import { toolVersion } from '../version.ts'
import { accountCheck } from './account.ts'
import { learn, type Run, type RunContext } from './context.ts'

/** The configured base URL without a slash at its end. Throws `config-invalid` where there is none. */
export function requireBaseUrl({ config }: Pick<RunContext, 'config'>): string {
  const { baseUrl } = config.service
  if (baseUrl === null) {
    throw new MirrorError('config-invalid', 'No service is configured', {
      hint: 'Set service.baseUrl in the configuration, --base-url or TASK_MIRROR_BASE_URL.',
    })
  }
  return baseUrl.replace(/\/+$/, '')
}

/** The HTTP library is a fifth of a run that has nothing to do: loaded while the writer's thread starts. */
export const loadClient = () => import('../service/client.ts')

/** `given` replaces single options of the client: another key, a listener. */
export async function openClient(
  context: RunContext,
  signal: AbortSignal,
  given: Partial<ClientOptions> = {},
): Promise<Service> {
  const { createClient } = await loadClient()
  const { config, apiKey, now, random, log, progress } = context
  return createClient({
    ...config.service,
    baseUrl: requireBaseUrl(context),
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

/** Says that this mirror holds moments in the future: once, for the next run finds the row of this one. */
export function tellOfClock({ opened, log }: Pick<Run, 'opened' | 'log'>): void {
  if (opened.future === null) return
  log.warn(
    { aheadMs: opened.future },
    'The last run ended later than now: the clock was wrong then, or is now. What was stored since counts as unknown and is due again',
  )
}

/** Throws `not-before` where the service asked to be left alone until later. */
export function refuseTooEarly(run: Run): void {
  const until = run.facts.not_before
  if (until === undefined || run.request.ignoreNotBefore === true || run.now() >= until) return
  throw new MirrorError('not-before', `The service asked to be left alone until ${new Date(until).toISOString()}`, {
    facts: { notBefore: until },
    hint: 'Nothing was asked. Wait, or ask all the same with `task-mirror sync --now`.',
  })
}

/** Another base URL is refused before anything is sent, another account by the first answers. Sets `run.account`. */
export function bindService(run: Run, baseUrl: string, apiKey: string | null): void {
  const { facts, request } = run
  if (facts.base_url !== undefined && facts.base_url !== baseUrl && request.rebind !== true) {
    throw new MirrorError('other-service', `This mirror belongs to ${facts.base_url}, not to ${baseUrl}`, {
      facts: { mirror: facts.base_url, asked: baseUrl },
      hint: 'Use another file with --db, or accept the new address with `task-mirror sync --rebind`.',
    })
  }
  const salt = facts.key_salt ?? randomBytes(16).toString('hex')
  const print = apiKey === null ? 'none' : fingerprint(apiKey, salt)
  const changed = facts.key_fingerprint !== undefined && facts.key_fingerprint !== print
  const bound = { base_url: baseUrl, key_salt: salt, key_fingerprint: print, not_before: undefined }
  run.account = accountCheck(run, { hasOtherKey: changed, onBegun: () => learn(run, bound) })
}
