// What an answer does to a row: the rules of design.md 6.4 and 6.6 on one task at a time. Runs inside the caller's
// transaction; knows the tables, not the network.
import { isObject, parseExact } from '../json.ts'
import type { OwedTable } from '../mirror/owed.ts'
import { contentHash, rowOf } from '../mirror/row-bytes.ts'
import type { RunCounts } from '../mirror/runs.ts'
import type { SetAsideTable } from '../mirror/set-aside.ts'
import { sameContent, shapeTask, taskText } from '../mirror/shape.ts'
import type { KnownTask, TaskTable } from '../mirror/tasks.ts'
import type { JsonObject, Task, TaskRow } from '../task.ts'
import { identityOf, isOther } from './identity.ts'

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

/** Takes a listed task in. `known` is what the mirror holds of it, found with its hash. Returns the row's seq and what happened. */
export function takeListed(
  tables: Tables,
  rules: IntakeRules,
  known: KnownTask | undefined,
  listed: ListedTask,
  readAt: number,
  now: number,
): { seq: number; outcome: ListedOutcome } {
  const { id, hash: listHash } = listed
  if (known === undefined) {
    const seq = tables.tasks.insertBytes(id, listed.bytes, listHash, listHash, readAt, now)
    if (!listed.final) tables.owed.owe(id, 'open', now)
    if (rules.oweDetails && listed.lacks) tables.owed.owe(id, 'detail', now)
    return { seq, outcome: 'inserted' }
  }
  const restored = known.deletedAt !== null
  const { seq } = known
  if (!restored && known.isListedSo) return { seq, outcome: 'unchanged' }
  const held = tables.tasks.hashes(seq)
  const row = rowOf(listed.bytes)
  const stored = tables.tasks.read(seq)
  const merged = layOver(storedTask(stored), storedTask(row))
  const mergedRow = shapeTask(merged)
  const mergedHash = contentHash(mergedRow)
  const carriesAll = mergedHash.equals(listHash) || sameContent(mergedRow, row)
  if (mergedHash.equals(held.contentHash) || sameContent(mergedRow, stored)) {
    tables.tasks.setListHash(seq, listHash)
    if (restored) {
      tables.tasks.restore(seq, now)
      // Nothing is owed of a tombstone, and `prune` may have taken its parts.
      noteOwed(tables, rules, merged, now)
    }
    // The list stopped showing a part: gone at the service, or only not listed? The detail tells.
    if (!carriesAll && held.listHash !== null && rules.oweDetails) tables.owed.owe(id, 'detail', now)
    return { seq, outcome: restored ? 'restored' : 'unchanged' }
  }
  if (!carriesAll && (rules.oweDetails || isFinal(storedTask(stored), rules.finalStatuses))) {
    // What the list says and what it leaves out may be of two different moments: only the detail is one of the task's
    // own states.
    tables.tasks.setListHash(seq, listHash)
    if (restored) tables.tasks.restore(seq, now)
    if (rules.oweDetails) tables.owed.owe(id, 'detail', now)
    return { seq, outcome: restored ? 'restored' : 'unchanged' }
  }
  tables.tasks.replace(seq, mergedRow, mergedHash, listHash, readAt, now)
  noteOwed(tables, rules, merged, now)
  return { seq, outcome: restored ? 'restored' : 'updated' }
}

/** Takes a detail in: it is the whole task, and replaces what is stored. */
export function takeDetail(
  tables: Tables,
  rules: IntakeRules,
  known: KnownTask | undefined,
  task: Task,
  readAt: number,
  now: number,
): { seq: number; outcome: ListedOutcome; isOpen: boolean } {
  const row = shapeTask(task)
  const hash = contentHash(row)
  const final = isFinal(task, rules.finalStatuses)
  let seq: number
  let outcome: ListedOutcome
  if (known === undefined) {
    seq = tables.tasks.insert(row, hash, null, readAt, now)
    outcome = 'inserted'
  } else {
    seq = known.seq
    const held = tables.tasks.hashes(seq)
    const same = hash.equals(held.contentHash) || sameContent(row, tables.tasks.read(seq))
    if (!same) tables.tasks.replace(seq, row, hash, held.listHash, readAt, now)
    else if (known.deletedAt !== null) tables.tasks.restore(seq, now)
    outcome = known.deletedAt !== null ? 'restored' : same ? 'unchanged' : 'updated'
  }
  tables.owed.settle(task.id, 'detail')
  tables.owed.settle(task.id, 'candidate')
  tables.owed.settle(task.id, 'deleted')
  if (final) tables.owed.settle(task.id, 'open')
  else tables.owed.owe(task.id, 'open', now)
  return { seq, outcome, isOpen: !final }
}

function noteOwed(tables: Tables, rules: IntakeRules, task: Task, now: number): void {
  const final = isFinal(task, rules.finalStatuses)
  if (!final) tables.owed.owe(task.id, 'open', now)
  else tables.owed.settle(task.id, 'open')
  if (rules.oweDetails && lacksParts(task, final)) tables.owed.owe(task.id, 'detail', now)
}

export function countOutcome(counts: Partial<RunCounts>, outcome: ListedOutcome): void {
  counts[outcome] = (counts[outcome] ?? 0) + 1
}

/** The task a stored row stands for. */
export function storedTask(row: TaskRow): Task {
  return parseExact(taskText(row)) as Task
}
