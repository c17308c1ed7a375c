// What a run needs, for tests: a configuration for one service and one mirror, a silent log, real time.
import { configSchema } from '../../src/config/schema.ts'
import type { Log } from '../../src/log.ts'
import type { Progress } from '../../src/progress.ts'
import type { RunContext } from '../../src/sync/context.ts'

type DeepPartial<T> = { [Name in keyof T]?: T[Name] extends unknown[] ? T[Name] : DeepPartial<T[Name]> }

const nothing = (): void => undefined
const log: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const progress: Progress = { set: nothing, print: nothing, finish: nothing }

export interface GivenContext extends Partial<Omit<RunContext, 'config'>> {
  service?: DeepPartial<RunContext['config']['service']>
  sync?: DeepPartial<RunContext['config']['sync']>
}

/** A context for the service at `baseUrl` and the mirror at `path`; requests are retried once, without much patience. */
export function makeRunContext(baseUrl: string, path: string, given: GivenContext = {}): RunContext {
  const { service, sync, ...rest } = given
  const { $schema: _, ...config } = configSchema.parse({
    service: { baseUrl, maxRetries: 1, requestTimeoutMs: 300_000, ...service },
    sync: { ...sync },
    mirror: { path },
  })
  return {
    config,
    apiKey: null,
    log,
    progress,
    signal: new AbortController().signal,
    now: Date.now,
    random: () => 0.5,
    ...rest,
  }
}
