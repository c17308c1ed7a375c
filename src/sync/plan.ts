// What a run does, in which order: a pure function of what is known, flags and time (design.md 6.3).
import { ageOf, HOUR_MS } from '../clock.ts'
import type { Config } from '../config/schema.ts'
import type { WalkRow } from '../mirror/tables/walks.ts'
import type { Opened } from './writer/run-intake.ts'

export interface SyncRequest {
  command: 'sync' | 'backfill'
  full?: boolean
  dryRun?: boolean
  allowMassDelete?: boolean
  rebind?: boolean
  /** Half-open range of createdAt, epoch ms. */
  since?: number | null
  until?: number | null
  refetch?: boolean
  ids?: string[]
  /** Runs although the service asked to wait longer. */
  ignoreNotBefore?: boolean
}

type FullReason = 'first' | 'asked-for' | 'resumed' | 'due' | 'order'

export type PlanStep =
  /** Newest first: from 0 until the frontier is passed. Last written to first: until the list stands as it stood. */
  | { kind: 'head' }
  /** Oldest first: from before the frontier to the proven end. */
  | { kind: 'tail' }
  | { kind: 'full'; reason: FullReason; resume: number | null }
  | { kind: 'range' }
  /** Just the tasks that were asked for, by id. */
  | { kind: 'ids' }
  /** Every detail of the range again. */
  | { kind: 'refetch' }
  /** Open tasks that no walk of this run has met. */
  | { kind: 'open' }
  /** Details that the list did not carry. */
  | { kind: 'details' }
  /** Rows that a complete full walk did not meet. */
  | { kind: 'deletions' }

type KnownBefore = Pick<Opened, 'facts' | 'lastFull' | 'lastCompleteFull' | 'interrupted'>

export interface PlanInput extends KnownBefore, Pick<Config['sync'], 'details' | 'fullEveryMs' | 'settleMs'> {
  /** Epoch ms. */
  now: number
}

/** An interrupted walk older than this is not resumed. */
const RESUME_WITHIN_MS = 7 * 24 * HOUR_MS

export function planRun(known: PlanInput, request: SyncRequest): PlanStep[] {
  // What was known may be of another account.
  const input: PlanInput = request.rebind === true ? { ...known, facts: {}, interrupted: null } : known
  const details: PlanStep[] = input.details === 'never' ? [] : [{ kind: 'details' }]
  if (request.ids !== undefined && request.ids.length > 0) return [{ kind: 'ids' }]
  const ranged = request.since != null || request.until != null
  const refetch: PlanStep[] = request.refetch === true || input.details === 'always' ? [{ kind: 'refetch' }] : []
  if (request.command === 'backfill') {
    if (ranged) return [{ kind: 'range' }, ...refetch, ...details]
    return [fullStep(input, 'asked-for'), ...refetch, { kind: 'deletions' }, ...details]
  }
  const incremental: PlanStep[] = incrementalStep(input)
  const reason = fullReason(input, request, incremental.length > 0)
  const full: PlanStep[] = reason === null ? [] : [fullStep(input, reason)]
  const resumed = resumesWalk(full)
  const after: PlanStep[] = [{ kind: 'deletions' }, ...details]
  // A resumed walk does not see what has been deleted since among the tasks it had met before; it may be all of them.
  // Where runs are always cut off before the end of the second walk, the first one has to come to something by itself.
  const isMeant = request.full === true || request.allowMassDelete === true
  if (isMeant && resumed) full.push(...after, { kind: 'full', reason: 'asked-for', resume: null })
  // A full walk meets the open tasks by itself; a resumed one may take long, so they come before it.
  const open: PlanStep = { kind: 'open' }
  const steps: PlanStep[] =
    full.length === 0 || resumed ? [...incremental, open, ...full] : [...incremental, ...full, open]
  return [...steps, ...refetch, ...after]
}

/** Whether the plan has a full walk that was cut off and is resumed. */
export function resumesWalk(plan: readonly PlanStep[]): boolean {
  return plan.some((step) => step.kind === 'full' && step.resume !== null)
}

function incrementalStep({ facts }: PlanInput): PlanStep[] {
  if (facts.order === 'updated_desc') return facts.front === undefined ? [] : [{ kind: 'head' }]
  if (facts.frontier === undefined) return []
  if (facts.order === 'created_desc') return [{ kind: 'head' }]
  if (facts.order === 'created_asc') return [{ kind: 'tail' }]
  return []
}

function fullReason(input: PlanInput, request: SyncRequest, hasIncremental: boolean): FullReason | null {
  // A list that was too short to be believed is walked again once it is to be believed.
  const isAccepted = request.allowMassDelete === true && input.facts.shrunk_to !== undefined
  if (request.full === true || isAccepted) return 'asked-for'
  if (resumable(input)) return 'resumed'
  if (input.lastFull === null) return 'first'
  // Without an end of the list that shows what is new, only the whole list does.
  if (!hasIncremental) return input.lastCompleteFull === null ? 'first' : 'order'
  const { lastFull, lastCompleteFull, now, settleMs } = input
  if (!isPast(lastCompleteFull?.startedAt, input.fullEveryMs, now, settleMs)) return null
  // A walk that ended partial is not tried again within the hour.
  const rested = lastFull.verdict === 'complete' || isPast(lastFull.finishedAt, HOUR_MS, now, settleMs)
  return rested ? 'due' : null
}

function resumable({ interrupted, now, settleMs }: PlanInput): boolean {
  return interrupted !== null && !isPast(interrupted.updatedAt, RESUME_WITHIN_MS, now, settleMs)
}

/** Whether `ms` have passed since `moment`; where that is unknown, they have. */
function isPast(moment: number | null | undefined, ms: number, now: number, settleMs: number): boolean {
  const age = ageOf(moment, now, settleMs)
  return age === null || age >= ms
}

function fullStep(input: PlanInput, reason: FullReason): PlanStep {
  const walk = resumable(input) ? input.interrupted : null
  return { kind: 'full', reason, resume: walk === null || walk.state == null ? null : walk.id }
}

/** Whether another answer than expected at the end of the list may bring a full walk forward: hourly at most. */
export function mayBringForward(lastFull: WalkRow | null, now: number, settleMs: number): boolean {
  return isPast(lastFull?.finishedAt, HOUR_MS, now, settleMs)
}
