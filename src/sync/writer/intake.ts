// What an answer does to a row: the rules of design.md 6.4 and 6.6 on one task at a time. Runs inside the caller's
// transaction; knows the tables, not the network.
import { ageOf } from '../../clock.ts'
import { isObject, parseExact } from '../../json.ts'
import { compareForms, type FormDifference, isLess } from '../../mirror/forms/differences.ts'
import {
  canHaveMore,
  type Forms,
  isMeaningless,
  isSummarized,
  recencyOf,
  withOnlyListed,
} from '../../mirror/forms/forms.ts'
import { contentHash, rowOf } from '../../mirror/row-bytes.ts'
import { sameContent, shapeTask, taskText } from '../../mirror/shape.ts'
import { NO_RESULT, type OwedTable } from '../../mirror/tables/owed.ts'
import type { RunCounts } from '../../mirror/tables/runs.ts'
import type { SetAsideTable } from '../../mirror/tables/set-aside.ts'
import type { KnownTask, TaskTable } from '../../mirror/tables/tasks.ts'
import type { JsonObject, Task, TaskRow } from '../../task.ts'
import { identityOf, isOther } from '../identity.ts'

export interface Tables {
  tasks: TaskTable
  owed: OwedTable
  setAside: SetAsideTable
}

export interface IntakeRules {
  finalStatuses: ReadonlySet<string>
  /** Whether a missing part owes a detail; false for `--details never`. */
  oweDetails: boolean
  /** Whether a known id with another `createdAt` or `userId` replaces the task: `--rebind`. */
  acceptOthers: boolean
  /** How list and details differ; replaced as the run learns more. */
  forms: Forms
}

/** Final: `completedAt` present or a final `systemStatus`; everything else is open, unknown statuses included. */
export function isFinal(task: Task, finalStatuses: ReadonlySet<string>): boolean {
  if (Object.hasOwn(task, 'completedAt') && task.completedAt !== null) return true
  return typeof task.systemStatus === 'string' && finalStatuses.has(task.systemStatus)
}

/** Whether the task lacks what only its detail can tell: `data`, or the result of a final task. */
export function lacksParts(task: Task, final: boolean): boolean {
  return !Object.hasOwn(task, 'data') || (final && !Object.hasOwn(task, 'result'))
}

/**
 * Lays what the list says over what is stored: a listed item never empties a stored part.
 * Spread defines keys and never assigns them, so `__proto__` stays a key like any other.
 */
export function layOver(stored: Task, listed: Task): Task {
  const merged: JsonObject = { ...stored, ...listed }
  for (const part of ['data', 'result'] as const) {
    const below = Object.hasOwn(stored, part) ? stored[part] : undefined
    const above = Object.hasOwn(listed, part) ? listed[part] : undefined
    if (isObject(below) && isObject(above)) merged[part] = { ...below, ...above }
  }
  return merged as Task
}

/** Whether an answer with `shown` is about another task than the live one the mirror holds under its id. */
export function isAnother(
  tables: Tables,
  rules: IntakeRules,
  known: KnownTask | undefined,
  shown: TaskRow,
  toleranceMs = 0,
): boolean {
  // An id that was given up may be given away again.
  if (known === undefined || known.deletedAt !== null || rules.acceptOthers) return false
  return isOther(identityOf(tables.tasks.identity(known.seq)), identityOf(shown), toleranceMs)
}

/** What is set aside of such an answer: once, however often that task changes. */
export function anotherTask(shown: TaskRow) {
  return {
    taskId: shown.id,
    reason: 'other-identity',
    message: `The service shows the id ${shown.id} with another createdAt or userId than the mirror's task has`,
    raw: taskText(shown),
    identity: `${shown.id}\n${shown.created_at}\n${shown.user_id}`,
  }
}

/** A task as the list gave it, ready for the mirror. */
export interface ListedTask {
  id: string
  /** Its row, encoded. */
  bytes: Buffer
  /** Over `bytes`. */
  hash: Buffer
  final: boolean
  /** Whether it lacks what only its detail can tell. */
  lacks: boolean
}

export type ListedOutcome = 'inserted' | 'updated' | 'unchanged' | 'restored'

/**
 * Takes a listed task in. `known` is what the mirror holds of it, found with its hash. Returns the row's seq and what happened; `showsLess`: the mirror
 * holds more of it than the list shows, and nothing known tells why.
 */
export function takeListed(
  tables: Tables,
  rules: IntakeRules,
  known: KnownTask | undefined,
  listed: ListedTask,
  readAt: number,
  now: number,
): { seq: number; outcome: ListedOutcome; showsLess: boolean } {
  const { id, hash: listHash } = listed
  if (known === undefined) {
    const seq = tables.tasks.insertBytes(id, listed.bytes, listHash, listHash, readAt, now)
    if (!listed.final) tables.owed.owe(id, 'open', now)
    if (rules.oweDetails && owesDetail(rules, listed)) tables.owed.owe(id, 'detail', now)
    return { seq, outcome: 'inserted', showsLess: false }
  }
  const restored = known.deletedAt !== null
  const { seq } = known
  if (!restored && known.isListedSo) return { seq, outcome: 'unchanged', showsLess: false }
  const row = rowOf(listed.bytes)
  const shown = storedTask(row)
  const stored = storedTask(tables.tasks.read(seq))
  const differences = compareForms(shown, stored)
  const isAllShown = !differences.some(({ kind }) => isLess(kind))
  const showsLess = differences.some(
    (each) => isLess(each.kind) && !isSummarized(each, rules.forms) && !isMeaningless(each, rules.forms),
  )
  if (isAllShown ? differences.length === 0 : isNothingNew(differences, rules.forms)) {
    const { contentHash: stays, detailAt, listHash: before } = tables.tasks.hashes(seq)
    const reshaped = shapeTask(stored)
    const reshapedHash = contentHash(reshaped)
    // An earlier version of this program had no column for what one holds now.
    const isReshaped = !reshapedHash.equals(stays)
    if (isReshaped) {
      tables.tasks.replace(seq, reshaped, reshapedHash, listHash, readAt, now)
      tables.tasks.setDetailAt(seq, detailAt)
    } else tables.tasks.setListHash(seq, listHash)
    if (restored) {
      tables.tasks.restore(seq, now)
      // Nothing is owed of a tombstone, and `prune` may have taken its parts.
      noteOwed(tables, rules, stored, now)
    }
    // The list stopped showing a part: gone at the service, or only not listed? The detail tells.
    if (showsLess && before !== null) oweDetail(tables, rules, seq, shown, now)
    else if (detailAt === null && rules.oweDetails && owesDetail(rules, listed))
      oweDetail(tables, rules, seq, shown, now)
    // A detail that is still owed has to agree with what is shown now.
    else if ((tables.owed.find(id, 'detail')?.listed ?? null) !== null) oweDetail(tables, rules, seq, shown, now)
    return { seq, outcome: restored ? 'restored' : isReshaped ? 'updated' : 'unchanged', showsLess }
  }
  if (!isAllShown && (rules.oweDetails || isFinal(stored, rules.finalStatuses))) {
    // What the list says and what it leaves out may be of two different moments: only the detail is one of the task's
    // own states.
    tables.tasks.setListHash(seq, listHash)
    if (restored) tables.tasks.restore(seq, now)
    oweDetail(tables, rules, seq, shown, now)
    return { seq, outcome: restored ? 'restored' : 'unchanged', showsLess }
  }
  const merged = isAllShown ? shown : layOver(stored, shown)
  const mergedRow = isAllShown ? row : shapeTask(merged)
  tables.tasks.replace(seq, mergedRow, isAllShown ? listHash : contentHash(mergedRow), listHash, readAt, now)
  noteOwed(tables, rules, merged, now)
  return { seq, outcome: restored ? 'restored' : 'updated', showsLess }
}

/** Whether the list shows nothing but less of what is stored. */
function isNothingNew(differences: FormDifference[], forms: Forms): boolean {
  return differences.every((each) => isLess(each.kind) || each.kind === 'spelled' || isMeaningless(each, forms))
}

function owesDetail(rules: IntakeRules, listed: ListedTask): boolean {
  if (listed.lacks) return true
  return rules.forms.summary.length > 0 && canHaveMore(storedTask(rowOf(listed.bytes)), rules.forms)
}

/** Owes a detail that has to agree with what the list shows, which the row does not hold. */
function oweDetail(tables: Tables, rules: IntakeRules, seq: number, shown: Task, now: number): void {
  tables.tasks.setDetailAt(seq, null)
  if (rules.oweDetails) tables.owed.oweDetail(shown.id, now, JSON.stringify(shown))
}

export interface DetailTakenAs {
  seq: number
  outcome: ListedOutcome
  isOpen: boolean
  /** Whether the row holds what the detail shows. */
  isTaken: boolean
  /** Why the detail stays owed; null where nothing is. */
  owedFor: string | null
}

/** `last_error` of a detail that shows an earlier or another state than the list did. */
export const LAGS = 'the detail shows an earlier state than the list'
export const DISAGREES = 'the detail shows another state than the list'
/** So often and for so long a detail may show another state than the list did, until it is taken for what it is. */
const PATIENCE = { attempts: 3, ms: 3_600_000 }

/** How a detail came to be asked for. */
export interface DetailReading {
  /** When it was asked for, epoch ms. */
  readAt: number
  /** Somebody wants just this answer: it counts as newer where that cannot be told. */
  byHand: boolean
  /** The list has shown the task in this run, and nothing else has. */
  isListed: boolean
}

/**
 * Takes a detail in: it is the whole task, and replaces what is stored, unless it shows an earlier state than the list
 * did. What is owed is settled where it agrees with the list or is newer.
 */
export function takeDetail(
  tables: Tables,
  rules: IntakeRules,
  known: KnownTask | undefined,
  task: Task,
  { readAt, byHand, isListed }: DetailReading,
  now: number,
): DetailTakenAs {
  const isDone = (form: Task): boolean => isFinal(form, rules.finalStatuses)
  if (known === undefined) {
    const row = shapeTask(task)
    const seq = tables.tasks.insert(row, contentHash(row), null, readAt, now)
    const owedFor = settle(tables, rules, seq, task, readAt, now)
    return { seq, outcome: 'inserted', isOpen: !isDone(task), isTaken: true, owedFor }
  }
  const { seq } = known
  const restored = known.deletedAt !== null
  const storedRow = tables.tasks.read(seq)
  const stored = storedTask(storedRow)
  const debt = tables.owed.find(task.id, 'detail')
  const isElsewhere = debt?.listed !== undefined && debt.listed !== null
  const listed = isElsewhere ? (parseExact(debt.listed as string) as Task) : stored
  let recency = restored ? 'newer' : recencyOf(task, listed, isElsewhere ? stored : null, rules.forms, isDone)
  if (recency === 'unclear') {
    const isPatienceOver =
      debt !== undefined &&
      debt.attempts >= PATIENCE.attempts &&
      (ageOf(debt.owedAt, now) ?? PATIENCE.ms) >= PATIENCE.ms
    // What a complete walk did not meet, only its detail tells of.
    const isUnlisted = tables.owed.find(task.id, 'candidate') !== undefined
    if (byHand || isPatienceOver || isUnlisted) recency = 'newer'
  }
  // Of two open states nothing tells which is later. Where the list shows whole tasks, what it showed a moment ago stands.
  const held = tables.tasks.hashes(seq)
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
    return { seq, outcome: 'unchanged', isOpen: !isDone(stored), isTaken: false, owedFor }
  }
  const whole = withOnlyListed(task, listed, rules.forms)
  const row = shapeTask(whole)
  const hash = contentHash(row)
  const same = hash.equals(held.contentHash) || sameContent(row, storedRow)
  if (!same) tables.tasks.replace(seq, row, hash, held.listHash, readAt, now)
  else if (restored) tables.tasks.restore(seq, now)
  const outcome = restored ? 'restored' : same ? 'unchanged' : 'updated'
  if (recency !== 'unclear')
    return {
      seq,
      outcome,
      isOpen: !isDone(whole),
      isTaken: true,
      owedFor: settle(tables, rules, seq, whole, readAt, now),
    }
  // A state that the task had, with more in it than the list shows; which of both is later has still to be seen.
  tables.owed.oweDetail(task.id, now, JSON.stringify(listed))
  tables.owed.settle(task.id, 'candidate')
  return { seq, outcome, isOpen: !isDone(whole), isTaken: true, owedFor: DISAGREES }
}

/** Settles what the detail of the row answers; returns what it does not. */
function settle(
  tables: Tables,
  rules: IntakeRules,
  seq: number,
  task: Task,
  readAt: number,
  now: number,
): string | null {
  const final = isFinal(task, rules.finalStatuses)
  tables.tasks.setDetailAt(seq, readAt)
  tables.owed.settle(task.id, 'candidate')
  tables.owed.settle(task.id, 'deleted')
  if (final) tables.owed.settle(task.id, 'open')
  else tables.owed.owe(task.id, 'open', now)
  if (final && rules.oweDetails && (!Object.hasOwn(task, 'result') || task.result === null)) {
    const isOwed = tables.owed.find(task.id, 'detail') !== undefined
    // A null is an answer, but where the list already kept silent it may be one that came too early.
    if (isOwed || task.result !== null) {
      tables.owed.oweDetail(task.id, now, null)
      return NO_RESULT
    }
  }
  tables.owed.settle(task.id, 'detail')
  return null
}

function noteOwed(tables: Tables, rules: IntakeRules, task: Task, now: number): void {
  const final = isFinal(task, rules.finalStatuses)
  if (!final) tables.owed.owe(task.id, 'open', now)
  else tables.owed.settle(task.id, 'open')
  if (!lacksParts(task, final) && !canHaveMore(task, rules.forms)) tables.owed.settleResult(task.id)
  else if (rules.oweDetails) tables.owed.oweDetail(task.id, now, null)
}

export function countOutcome(counts: Partial<RunCounts>, outcome: ListedOutcome): void {
  counts[outcome] = (counts[outcome] ?? 0) + 1
}

/** The task a stored row stands for. */
export function storedTask(row: TaskRow): Task {
  return parseExact(taskText(row)) as Task
}
