// What a detail does to a row: the rules of design.md 6.4 on one task.
import { ageOf } from '../../clock.ts'
import { parseExact } from '../../json.ts'
import { storedJson } from '../../mirror/explain.ts'
import { compareForms } from '../../mirror/forms/differences.ts'
import { isOfTwoStates, recencyOf, withOnlyListed } from '../../mirror/forms/forms.ts'
import { contentHash } from '../../mirror/row-bytes.ts'
import { sameContent, shapeTask } from '../../mirror/shape.ts'
import { type Debt, DISAGREES, LAGS, NO_RESULT } from '../../mirror/tables/owed.ts'
import type { KnownTask, RowTimes } from '../../mirror/tables/tasks.ts'
import type { Task } from '../../task.ts'
import { isOther } from '../identity.ts'
import { type Intake, isFinal, type ListedOutcome, storedTask } from './intake.ts'

interface DetailTakenAs {
  seq: number
  outcome: ListedOutcome
  isOpen: boolean
  /** Whether the row holds what the detail shows. */
  isTaken: boolean
  /** Why the detail stays owed; null where nothing is. */
  owedFor: string | null
}

/** After so many attempts and so much time, a detail that still shows another state than the list did is believed. */
const PATIENCE = { attempts: 3, ms: 3_600_000 }

/** How a detail came to be asked for, and when. */
interface DetailReading extends RowTimes {
  /** Somebody asked for just this answer: it counts as newer where nothing else tells. */
  byHand: boolean
  /** The list has shown the task in this run, and no other answer has. */
  isListed: boolean
}

/** Replaces what is stored, unless the list showed a later state. Settles what is owed where list and detail agree. */
export function takeDetail(
  intake: Intake,
  known: KnownTask | undefined,
  task: Task,
  reading: DetailReading,
): DetailTakenAs {
  const { tables, rules } = intake
  const { now, byHand, isListed } = reading
  const isDone = (form: Task): boolean => isFinal(form, rules.finalStatuses)
  if (known === undefined) {
    const row = shapeTask(task)
    const seq = tables.tasks.insert(row, { contentHash: contentHash(row), listHash: null }, reading)
    tables.owed.owe(task.id, 'unlisted', now)
    const owedFor = settle(intake, seq, task, reading)
    return { seq, outcome: 'inserted', isOpen: !isDone(task), isTaken: true, owedFor }
  }
  const { seq } = known
  const restored = known.deletedAt !== null
  const storedRow = tables.tasks.read(seq)
  const stored = storedTask(storedRow)
  const debt = tables.owed.find(task.id, 'detail')
  // Where the row holds another form than the list showed, that one is kept with what is owed.
  const isListedOtherwise = debt?.listed !== undefined && debt.listed !== null
  const listed = isListedOtherwise ? storedJson<Task>(debt.listed as string, parseExact) : stored
  const held = tables.tasks.hashes(seq)
  // Where the row is from an earlier look-up, agreeing with that one is no sign of age.
  const shown = { listed, before: isListedOtherwise && held.detailAt === null ? stored : null }
  // An id that was given up may be given to another task, and another account may have the same ids.
  const shaped = shapeTask(task)
  const isOtherTask = isOther(storedRow, shaped)
  let recency = restored || isOtherTask ? 'newer' : recencyOf(task, shown, rules.forms, isDone)
  const isDated = recency !== 'unclear'
  // A complete walk did not meet it: only its detail tells of it, and what the list showed before that dates nothing.
  const isUnlisted = !isListed && tables.owed.find(task.id, 'candidate') !== undefined
  if (isUnlisted && recency !== 'agrees') recency = 'newer'
  if (recency === 'unclear' && (byHand || isPatienceOver(debt, now))) recency = 'newer'
  // Nothing tells which of two open states is later. Where the list shows whole tasks, what it just showed stands.
  const isOpen = !isDone(listed) && !isDone(task)
  if (
    recency === 'newer' &&
    isOpen &&
    isListed &&
    !byHand &&
    debt === undefined &&
    held.listHash?.equals(held.contentHash)
  )
    recency = 'unclear'
  // Where nothing is owed, the list has shown all that the row holds: an answer that may be older does not replace it.
  if (recency === 'older' || (recency === 'unclear' && debt === undefined)) {
    tables.owed.settle(task.id, 'candidate')
    const owedFor = recency === 'older' ? LAGS : DISAGREES
    if (recency === 'unclear') oweDoubted(intake, task, listed, now)
    return { seq, outcome: 'unchanged', isOpen: !isDone(stored), isTaken: false, owedFor }
  }
  const whole = isOtherTask ? task : withOnlyListed(task, listed, rules.forms)
  const row = whole === task ? shaped : shapeTask(whole)
  const hash = contentHash(row)
  const same = hash.equals(held.contentHash) || sameContent(row, storedRow)
  // What is listed next tells whether this answer came late; where nothing dates the two, they may differ for good.
  const settledAs = isDated || !isListedOtherwise ? null : contentHash(shapeTask(listed))
  const listHash = recency === 'newer' ? settledAs : held.listHash
  if (!same) tables.tasks.replace(seq, row, { contentHash: hash, listHash }, reading)
  else if (restored) tables.tasks.restore(seq, reading)
  else if (listHash !== held.listHash) tables.tasks.setListHash(seq, listHash)
  if (restored) tables.owed.owe(task.id, 'unlisted', now)
  const outcome = restored ? 'restored' : same ? 'unchanged' : 'updated'
  if (recency !== 'unclear')
    return { seq, outcome, isOpen: !isDone(whole), isTaken: true, owedFor: settle(intake, seq, whole, reading) }
  // A state that the task had, with more in it than the list shows; which of the two is later has still to be seen. Where
  // the row held more than the list shows, no list has shown the other one: the next detail has to agree with this one.
  tables.tasks.setDetailAt(seq, reading.readAt)
  const isOfList = isListedOtherwise || held.listHash?.equals(held.contentHash) === true
  tables.owed.oweDetail(task.id, now, isOfList ? JSON.stringify(listed) : null)
  tables.owed.settle(task.id, 'candidate')
  return { seq, outcome, isOpen: !isDone(whole), isTaken: true, owedFor: DISAGREES }
}

/** Whether it has shown another state for so long, and so often, that it counts whatever the list shows. */
function isPatienceOver(debt: Debt | undefined, now: number): boolean {
  if (debt === undefined || debt.attempts < PATIENCE.attempts) return false
  // Attempts that failed, or had no result to show, say nothing of how long the two have differed.
  if (debt.lastError !== LAGS && debt.lastError !== DISAGREES) return false
  return (ageOf(debt.owedAt, now) ?? PATIENCE.ms) >= PATIENCE.ms
}

/** Where the list shows another state of a task that has ended, though it showed whole ones, a later look-up tells. */
function oweDoubted({ tables, rules }: Intake, task: Task, listed: Task, now: number): void {
  // An open task is asked for again in any case.
  if (!isFinal(listed, rules.finalStatuses)) return
  if (compareForms(listed, task).some((each) => isOfTwoStates(each, rules.forms)))
    tables.owed.oweDetail(task.id, now, JSON.stringify(listed))
}

/** Settles what the detail of the row answers. Returns why it stays owed, or null. */
function settle({ tables, rules }: Intake, seq: number, task: Task, { readAt, now }: RowTimes): string | null {
  const final = isFinal(task, rules.finalStatuses)
  tables.tasks.setDetailAt(seq, readAt)
  tables.owed.settle(task.id, 'candidate')
  tables.owed.settle(task.id, 'deleted')
  if (final) tables.owed.settle(task.id, 'open')
  else tables.owed.owe(task.id, 'open', now)
  if (final && (!Object.hasOwn(task, 'result') || task.result === null)) {
    const isOwed = tables.owed.find(task.id, 'detail') !== undefined
    // A null is an answer; but where the list had not shown the result either, it may have come too early.
    if (isOwed || task.result !== null) {
      tables.owed.oweDetail(task.id, now, null)
      return NO_RESULT
    }
  }
  tables.owed.settle(task.id, 'detail')
  return null
}
