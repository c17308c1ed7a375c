// What every part of a run shares, handed down explicitly.
import type { Config } from '../config/schema.ts'
import type { Log } from '../log.ts'
import type { Progress } from '../progress.ts'
import type { Service } from '../service/service.ts'
import type { SyncRequest } from './plan.ts'
import type { Opened } from './session.ts'
import type { Writer } from './thread.ts'

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

/** A run under way. */
export interface Run extends Omit<RunContext, 'apiKey'> {
  service: Service
  writer: Writer
  request: SyncRequest
  opened: Opened
  /** Facts as they are now; kept in step with the mirror through `learn`. */
  facts: Opened['facts']
  /** Why the run can only be `partial`, one sentence each. */
  notes: string[]
  /** Throws `other-account` where a window shows that the key belongs to another one; null once that is settled. */
  checkAccount: ((known: number) => Promise<void>) | null
}

/** Stores facts in the mirror and in the run. */
export async function learn(run: Run, facts: Opened['facts']): Promise<void> {
  Object.assign(run.facts, facts)
  await run.writer.setFacts(facts, run.now())
}
