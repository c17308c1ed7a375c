// What every part of a run shares, handed down explicitly.
import type { Config } from '../config/schema.ts'
import type { Log } from '../log.ts'
import type { Progress } from '../progress.ts'
import type { AccountSigns } from './identity.ts'
import type { LookUpHealth } from './look-up-health.ts'
import type { SyncRequest } from './plan.ts'
import type { RunService } from './run-service.ts'
import type { Opened } from './writer/run-intake.ts'
import type { Writer } from './writer/thread.ts'

/** What a caller of `runSync` provides. */
export interface RunContext {
  config: Config
  apiKey: string | null
  log: Log
  progress: Progress
  signal: AbortSignal
  /** Epoch ms. */
  now: () => number
  /** 0 to 1. */
  random: () => number
}

/** Whether the service's tasks are those of this mirror. */
export interface AccountCheck {
  /** The key is not the one of the last run. */
  hasOtherKey: boolean
  /** False until an answer has shown something of the account. */
  isBegun(): boolean
  /** Ids of this mirror's tasks that the check has found by looking them up. */
  found: ReadonlySet<string>
  /** Call it with what every answer shows, before anything of it is taken in. Throws `other-account`. */
  saw(shown: AccountSigns): Promise<void>
}

/** A run under way. */
export interface Run extends Omit<RunContext, 'apiKey'> {
  service: RunService
  writer: Writer
  /** Empty in a one-off run. */
  request: Omit<SyncRequest, 'command'>
  opened: Opened
  /** Facts as they are now; kept in step with the mirror through `learn`. */
  facts: Opened['facts']
  account: AccountCheck
  /** Whether look-ups by id are answered. */
  lookUps: LookUpHealth
}

/** Stores facts in the mirror and in the run. */
export async function learn(run: Run, facts: Opened['facts']): Promise<void> {
  Object.assign(run.facts, facts)
  await run.writer.setFacts(facts, run.now())
}
