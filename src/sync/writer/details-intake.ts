// Details on the writing side: parsed from raw bytes, and taken in together with what they settle.
import { differingFields } from '../../mirror/forms/differences.ts'
import { isMeaningless } from '../../mirror/forms/forms.ts'
import { hasEnded, shapeTask } from '../../mirror/shape.ts'
import { LAGS, NO_RESULT, type OwedReason, SET_ASIDE } from '../../mirror/tables/owed.ts'
import type { SetAside } from '../../mirror/tables/set-aside.ts'
import type { KnownTask } from '../../mirror/tables/tasks.ts'
import { type Detail, readDetail } from '../../service/decode/wire.ts'
import type { Task } from '../../task.ts'
import { type AccountSigns, isOther } from '../identity.ts'
import { anotherTask, isAnother, isBare, isFinal, type ListedOutcome, storedTask } from './intake.ts'
import { nextHiddenCheck, nextResultCheck, openWait } from './open-checks.ts'
import { takeDetail } from './take-detail.ts'
import type { ParsedAnswer, Writing } from './writing.ts'

/** What came of asking for one task by its id. */
export type DetailStep =
  /** `handle` names the parsed answer; `byHand`: see `takeDetail`. */
  | { kind: 'found'; taskId: string; handle: number; readAt: number; byHand?: boolean }
  /** Proven to be gone: a tombstone. */
  | { kind: 'absent'; taskId: string; readAt: number }
  /** Nothing is known: it stays owed, or is so from now on. `isAnswered`: the service answered, without a task. */
  | { kind: 'failed'; taskId: string; reason: OwedReason; error: string; isOwedFromNow: boolean; isAnswered?: boolean }

type DetailOutcome =
  | ListedOutcome
  /** A detail that this run asked for later has been taken in. */
  | 'older'
  /** It lags behind what the list showed, and is left alone. */
  | 'behind'
  /** It shows another state than the list did, before or after. */
  | 'unsettled'
  | 'set-aside'
  | 'deleted'
  | 'failed'

interface DetailTaken {
  taskId: string
  outcome: DetailOutcome
}

/** What a detail brought, compared with the task in the mirror. */
type DetailCompared =
  | { kind: 'none' }
  | { kind: 'unfit'; message: string }
  /** `fields`: names of those that differ, but for those known to in unchanged tasks. `wasOpen`: in the mirror. */
  | { kind: 'task'; fields: string[]; wasOpen: boolean }

/** What came of a detail: `taskId` is that of the task in it, null where there is none that fits. */
export interface ParsedDetail extends ParsedAnswer {
  taskId: string | null
}

/** The service gave another task than it was asked for. */
function otherId(asked: string, task: Task): AsideItem {
  return {
    reason: 'other-id',
    message: `The service was asked for ${asked} and answered with ${task.id}`,
    raw: JSON.stringify(task),
  }
}

type AsideItem = Pick<SetAside, 'reason' | 'message' | 'raw' | 'identity'>

function takeFound(
  writing: Writing,
  step: DetailStep & { kind: 'found' },
  { item }: Detail,
  now: number,
): DetailOutcome {
  const { tables, detailReadAt } = writing
  const { taskId, readAt } = step
  if (item === null) return 'failed'
  if (item.kind === 'unfit') return setAside(writing, taskId, item, now)
  if (item.task.id !== taskId) return setAside(writing, taskId, otherId(taskId, item.task), now)
  const known = tables.tasks.find(taskId)
  const shown = shapeTask(item.task)
  if (isAnother(writing, known, shown) || isBare(writing, known, shown))
    return setAside(writing, taskId, anotherTask(shown), now)
  if (known !== undefined && (detailReadAt.get(known.seq) ?? Number.NEGATIVE_INFINITY) > readAt) return 'older'
  return takeTask(writing, { ...step, now }, known, item.task)
}

function markDeleted(
  writing: Writing,
  { taskId, readAt }: DetailStep & { kind: 'absent' },
  now: number,
): DetailOutcome {
  const { tasks, owed } = writing.tables
  const known = tasks.find(taskId)
  for (const reason of ['open', 'detail', 'candidate', 'unlisted', 'deleted'] as const) owed.settle(taskId, reason)
  if (known === undefined || known.deletedAt !== null) return 'unchanged'
  tasks.markDeleted(known.seq, { readAt, now })
  writing.count('deleted')
  return 'deleted'
}

function keepOwed(
  { tables: { owed } }: Writing,
  { taskId, reason, error, isOwedFromNow, isAnswered = false }: DetailStep & { kind: 'failed' },
  now: number,
): DetailOutcome {
  if (isOwedFromNow) owed.owe(taskId, reason, now)
  owed.retryLater(taskId, reason, now, error)
  if (isAnswered) owed.doubtHidden(taskId, now)
  return 'failed'
}

function takeTask(
  writing: Writing,
  { taskId, readAt, byHand = false, now }: DetailStep & { kind: 'found' } & { now: number },
  known: KnownTask | undefined,
  task: Task,
): DetailOutcome {
  const { tables, seen, missed, detailReadAt, openEveryMs } = writing
  const debt = tables.owed.find(taskId, 'detail')
  const candidate = tables.owed.find(taskId, 'candidate')
  const isListed = known !== undefined && seen.has(known.seq) && !detailReadAt.has(known.seq)
  const taken = takeDetail(writing, known, task, { readAt, now, byHand, isListed })
  const { seq, outcome, owedFor } = taken
  // The task is there, listed or not: `dropListed` tells which. Of such a task a look-up does not say that it is listed.
  if (!seen.has(seq) && (candidate !== undefined || tables.owed.find(taskId, 'unlisted') !== undefined)) missed.add(seq)
  if (candidate !== undefined) {
    const hiddenAt = candidate.owedAt ?? now
    tables.owed.hide(taskId, hiddenAt, { now, next: nextHiddenCheck(hiddenAt, now) })
  }
  if (taken.isTaken) detailReadAt.set(seq, readAt)
  if (owedFor === NO_RESULT) {
    const completedAt = hasEnded(task) && typeof task.completedAt === 'number' ? task.completedAt : null
    const next = nextResultCheck(debt?.attempts ?? 0, completedAt, now)
    tables.owed.postpone(taskId, 'detail', { now, next }, NO_RESULT)
  } else if (owedFor !== null) tables.owed.dispute(taskId, now, owedFor)
  // A detail that shows what the mirror holds tells nothing of the list.
  if (taken.isTaken) tables.setAside.settle(taskId, now, outcome === 'unchanged' ? 'detail' : null)
  if (taken.isOpen) {
    const wait = openWait(tables.tasks.moments(seq), now, openEveryMs)
    tables.owed.postpone(taskId, 'open', { now, next: now + wait }, null)
  }
  if (seen.add(seq)) writing.count('seen')
  writing.count(outcome)
  if (owedFor === null || owedFor === NO_RESULT) return outcome
  return owedFor === LAGS ? 'behind' : 'unsettled'
}

function setAside(
  writing: Writing,
  taskId: string,
  { reason, message, raw, identity = raw }: AsideItem,
  now: number,
): DetailOutcome {
  const { owed } = writing.tables
  writing.setAside({ source: 'detail', skip: null, taskId, reason, message, raw, identity }, now)
  owed.retryLater(taskId, 'detail', now, SET_ASIDE)
  // This does not say whether the task was deleted.
  owed.retryLater(taskId, 'candidate', now, SET_ASIDE)
  owed.retryLater(taskId, 'deleted', now, reason)
  owed.postpone(taskId, 'open', { now, next: now + 3_600_000 }, reason)
  return 'set-aside'
}

/** `held`: parsed answers by their handle. */
export function detailIntake(writing: Writing, held: Map<number, Detail>) {
  const { tables } = writing
  let handles = 0

  function letGo(handle: number): Detail {
    const detail = held.get(handle) as Detail
    held.delete(handle)
    return detail
  }

  return {
    parseDetail(raw: Uint8Array): ParsedDetail {
      const detail = readDetail(raw)
      handles += 1
      const handle = handles
      held.set(handle, detail)
      const { statusCode, message, hasPayload, item } = detail
      const taskId = item?.kind === 'task' ? item.task.id : null
      return { handle, statusCode, message, hasPayload, taskId }
    },

    /** How an answer differs from what the mirror holds of the task; forgets the answer. */
    compareDetail(handle: number, taskId: string): DetailCompared {
      const { item } = letGo(handle)
      if (item === null) return { kind: 'none' }
      if (item.kind === 'unfit') return { kind: 'unfit', message: item.message }
      const { seq } = tables.tasks.find(taskId) as KnownTask
      const stored = storedTask(tables.tasks.read(seq))
      return {
        kind: 'task',
        fields: differingFields(stored, item.task, (each) => !isMeaningless(each, writing.rules.forms)),
        wasOpen: !isFinal(stored, writing.rules.finalStatuses),
      }
    },

    /** Commits a batch of answers in one transaction, in the order given. */
    takeDetails(steps: DetailStep[], now: number): DetailTaken[] {
      const outcomeOf = (step: DetailStep): DetailOutcome => {
        if (step.kind === 'found') return takeFound(writing, step, letGo(step.handle), now)
        return step.kind === 'absent' ? markDeleted(writing, step, now) : keepOwed(writing, step, now)
      }
      return writing.commit(() => {
        writing.count('details', steps.length)
        return steps.map((step) => ({ taskId: step.taskId, outcome: outcomeOf(step) }))
      })
    },

    /** What an answer for the id shows of the mirror's task. */
    signsOfDetail(handle: number, taskId: string): AccountSigns {
      const { item } = held.get(handle) as Detail
      if (item?.kind !== 'task' || item.task.id !== taskId) return { known: 0, others: 0, unknown: 0 }
      const known = tables.tasks.find(taskId)
      if (known === undefined) return { known: 0, others: 0, unknown: 1 }
      const isOtherTask = isOther(tables.tasks.identity(known.seq), shapeTask(item.task))
      return { known: 1, others: isOtherTask ? 1 : 0, unknown: 0 }
    },

    dropDetail: (handle: number): void => void held.delete(handle),
  }
}
