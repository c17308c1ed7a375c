// Details on the writing side: parsed from raw bytes, and taken in together with what they settle.
import { differingFields } from '../../mirror/forms/differences.ts'
import { shapeTask } from '../../mirror/shape.ts'
import { NO_RESULT, type OwedReason, SET_ASIDE } from '../../mirror/tables/owed.ts'
import type { RunCounts } from '../../mirror/tables/runs.ts'
import type { KnownTask } from '../../mirror/tables/tasks.ts'
import { type Detail, readDetail } from '../../service/decode/wire.ts'
import { type AccountShown, identityOf, isOther, ROUNDED_MS } from '../identity.ts'
import { nextResultCheck, openWait } from '../steps/open-checks.ts'
import { anotherTask, countOutcome, isAnother, isFinal, type ListedOutcome, storedTask } from './intake.ts'
import { LAGS, takeDetail } from './take-detail.ts'
import type { ParsedAnswer, Writing } from './writing.ts'

/** What came of asking for one task by its id. */
export type DetailStep =
  /** `handle` names the parsed answer; `byHand`: see `takeDetail`. */
  | { kind: 'found'; taskId: string; handle: number; readAt: number; byHand?: boolean }
  /** Proven to be gone: a tombstone. */
  | { kind: 'absent'; taskId: string; readAt: number }
  /** Nothing is known: it stays owed, or is so from now on. */
  | { kind: 'failed'; taskId: string; reason: OwedReason; error: string; isOwedFromNow: boolean }

type DetailOutcome =
  | ListedOutcome
  /** Another detail of this run was asked for later. */
  | 'older'
  /** It lags behind what the list showed, and is left alone. */
  | 'behind'
  /** It shows another state than the list did, before or after. */
  | 'unsettled'
  | 'set-aside'
  | 'deleted'
  | 'failed'

export interface DetailTaken {
  taskId: string
  outcome: DetailOutcome
}

/** What a detail brought, compared with the task in the mirror. */
type DetailCompared =
  | { kind: 'none' }
  | { kind: 'unfit'; message: string }
  /** `fields`: names of those that differ. `wasOpen`: in the mirror. */
  | { kind: 'task'; fields: string[]; wasOpen: boolean }

/** What came of a detail: `taskId` is that of the task in it, null where there is none that fits. */
export interface ParsedDetail extends ParsedAnswer {
  taskId: string | null
}

/** `held`: parsed answers by their handle. */
export function detailIntake(writing: Writing, held: Map<number, Detail>) {
  const { tables, runId } = writing
  let handles = 0

  function takeFound(step: DetailStep & { kind: 'found' }, now: number, counts: Partial<RunCounts>): DetailOutcome {
    const { item } = held.get(step.handle) as Detail
    held.delete(step.handle)
    const aside = (reason: string, message: string, raw: string, identity = raw): DetailOutcome => {
      const added = tables.setAside.add(
        { source: 'detail', skip: null, taskId: step.taskId, reason, message, raw, identity },
        runId,
        now,
      )
      if (added) counts.rejected = (counts.rejected ?? 0) + 1
      tables.owed.retryLater(step.taskId, 'detail', now, SET_ASIDE)
      tables.owed.settle(step.taskId, 'candidate')
      tables.owed.retryTombstone(step.taskId, now, reason)
      tables.owed.postpone(step.taskId, 'open', { now, next: now + 3_600_000 }, reason)
      return 'set-aside'
    }
    if (item === null) return 'failed'
    if (item.kind === 'unfit') return aside(item.reason, item.message, item.raw)
    if (item.task.id !== step.taskId) {
      return aside(
        'other-id',
        `The service was asked for ${step.taskId} and answered with ${item.task.id}`,
        JSON.stringify(item.task),
      )
    }
    const known = tables.tasks.find(step.taskId)
    const shown = shapeTask(item.task)
    if (isAnother(writing, known, shown, ROUNDED_MS)) {
      const { reason, message, raw, identity } = anotherTask(shown)
      return aside(reason, message, raw, identity)
    }
    if (known !== undefined && (writing.detailReadAt.get(known.seq) ?? Number.NEGATIVE_INFINITY) > step.readAt)
      return 'older'
    const debt = tables.owed.find(step.taskId, 'detail')
    const isListed = known !== undefined && writing.seen.has(known.seq) && !writing.detailReadAt.has(known.seq)
    const reading = { readAt: step.readAt, now, byHand: step.byHand === true, isListed }
    const taken = takeDetail(writing, known, item.task, reading)
    if (taken.isTaken) writing.detailReadAt.set(taken.seq, step.readAt)
    if (taken.owedFor === NO_RESULT) {
      const { completedAt } = item.task
      const next = nextResultCheck(debt?.attempts ?? 0, typeof completedAt === 'number' ? completedAt : null, now)
      tables.owed.postpone(step.taskId, 'detail', { now, next }, NO_RESULT)
    } else if (taken.owedFor !== null) tables.owed.retryLater(step.taskId, 'detail', now, taken.owedFor)
    if (taken.outcome !== 'unchanged') tables.setAside.resolve(step.taskId, now)
    if (taken.isOpen) {
      const wait = openWait(tables.tasks.moments(taken.seq), now, writing.openEveryMs)
      tables.owed.postpone(step.taskId, 'open', { now, next: now + wait }, null)
    }
    if (writing.seen.add(taken.seq)) counts.seen = (counts.seen ?? 0) + 1
    countOutcome(counts, taken.outcome)
    if (taken.owedFor === null || taken.owedFor === NO_RESULT) return taken.outcome
    return taken.owedFor === LAGS ? 'behind' : 'unsettled'
  }

  function markDeleted(step: DetailStep & { kind: 'absent' }, now: number, counts: Partial<RunCounts>): DetailOutcome {
    const known = tables.tasks.find(step.taskId)
    for (const reason of ['open', 'detail', 'candidate', 'deleted'] as const) tables.owed.settle(step.taskId, reason)
    if (known === undefined || known.deletedAt !== null) return 'unchanged'
    tables.tasks.markDeleted(known.seq, now)
    counts.deleted = (counts.deleted ?? 0) + 1
    return 'deleted'
  }

  return {
    parseDetail(raw: Uint8Array): ParsedDetail {
      const detail = readDetail(raw)
      handles += 1
      const handle = handles
      held.set(handle, detail)
      const { statusCode, message, hasPayload, item } = detail
      const taskId = item?.kind === 'task' ? item.task.id : null
      return { handle, statusCode, message, hasPayload, count: item === null ? 0 : 1, taskId }
    },

    /** How an answer differs from what the mirror holds of the task; the answer is forgotten. */
    compareDetail(handle: number, taskId: string): DetailCompared {
      const { item } = held.get(handle) as Detail
      held.delete(handle)
      if (item === null) return { kind: 'none' }
      if (item.kind === 'unfit') return { kind: 'unfit', message: item.message }
      const { seq } = tables.tasks.find(taskId) as KnownTask
      const stored = storedTask(tables.tasks.read(seq))
      return {
        kind: 'task',
        fields: differingFields(stored, item.task),
        wasOpen: !isFinal(stored, writing.rules.finalStatuses),
      }
    },

    /** Commits a batch of answers in one transaction, in the order given. */
    takeDetails(steps: DetailStep[], now: number): DetailTaken[] {
      const counts: Partial<RunCounts> = { details: steps.length }
      return writing.commit(() => {
        const taken = steps.map((step): DetailTaken => {
          if (step.kind === 'found') return { taskId: step.taskId, outcome: takeFound(step, now, counts) }
          if (step.kind === 'absent') return { taskId: step.taskId, outcome: markDeleted(step, now, counts) }
          if (step.isOwedFromNow) tables.owed.owe(step.taskId, step.reason, now)
          if (step.reason === 'deleted') tables.owed.retryTombstone(step.taskId, now, step.error)
          else tables.owed.retryLater(step.taskId, step.reason, now, step.error)
          return { taskId: step.taskId, outcome: 'failed' }
        })
        writing.runs.count(runId, counts)
        return taken
      })
    },

    /** What an answer for the id shows of the mirror's task. */
    shownByDetail(handle: number, taskId: string): AccountShown {
      const { item } = held.get(handle) as Detail
      const known = tables.tasks.find(taskId)
      if (known === undefined || item?.kind !== 'task' || item.task.id !== taskId)
        return { known: 0, others: 0, unknown: 0 }
      const identity = identityOf(tables.tasks.identity(known.seq))
      return { known: 1, others: isOther(identity, identityOf(shapeTask(item.task)), ROUNDED_MS) ? 1 : 0, unknown: 0 }
    },

    dropDetail: (handle: number): void => void held.delete(handle),
  }
}
