// What an answer does to a row: what take-listed.ts and take-detail.ts share. In the caller's transaction; no network.
import { isObject, parseExact } from '../../json.ts'
import { storedJson } from '../../mirror/explain.ts'
import { canHaveMore, type Forms } from '../../mirror/forms/forms.ts'
import { hasEnded, taskText } from '../../mirror/shape.ts'
import type { OwedTable } from '../../mirror/tables/owed.ts'
import type { SetAsideTable } from '../../mirror/tables/set-aside.ts'
import type { KnownTask, TaskTable } from '../../mirror/tables/tasks.ts'
import { TASK_COLUMNS } from '../../task/columns.ts'
import type { JsonObject, Task, TaskRow } from '../../task.ts'
import { isOther } from '../identity.ts'

export interface Tables {
  tasks: TaskTable
  owed: OwedTable
  setAside: SetAsideTable
}

export interface IntakeRules {
  finalStatuses: ReadonlySet<string>
  /** Whether this run asks for the details that are owed; false for `--details never`. */
  asksDetails: boolean
  /** Whether a known id with another `createdAt` or `userId` replaces the task: `--rebind`. */
  acceptOthers: boolean
  /** How list and details differ; replaced as the run learns more. */
  forms: Forms
  /** Whether a result was compared: till then, the list may show less of one than its detail. Replaced likewise. */
  comparedResults: boolean
}

/** What answers are taken into, and by which rules. */
export interface Intake {
  readonly tables: Tables
  readonly rules: IntakeRules
}

/** Final: `completedAt` tells a moment, or a final `systemStatus`; everything else is open, unknown statuses included. */
export function isFinal(task: Task, finalStatuses: ReadonlySet<string>): boolean {
  if (hasEnded(task)) return true
  return typeof task.systemStatus === 'string' && finalStatuses.has(task.systemStatus)
}

/** Whether the task lacks what only its detail can tell: `data`, or the result of a final task. */
export function lacksParts(task: Task, final: boolean): boolean {
  return !Object.hasOwn(task, 'data') || (final && !Object.hasOwn(task, 'result'))
}

/** Lays the list over what is stored: it never empties a part. Spread keeps `__proto__` a key like any other. */
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
export function isAnother({ tables, rules }: Intake, known: KnownTask | undefined, shown: TaskRow): boolean {
  // An id that was given up may be given to another task.
  if (known === undefined || known.deletedAt !== null || rules.acceptOthers) return false
  return isOther(tables.tasks.identity(known.seq), shown)
}

/**
 * Whether a look-up shows nothing of a task but its id, as of one that is gone (`{"id": ..., "deleted": true}`), where
 * the mirror holds more: that is none of the task's states.
 */
export function isBare({ tables, rules }: Intake, known: KnownTask | undefined, shown: TaskRow): boolean {
  if (known === undefined || rules.acceptOthers) return false
  return !hasFields(shown) && hasFields(tables.tasks.read(known.seq))
}

function hasFields(row: TaskRow): boolean {
  return TASK_COLUMNS.some((name) => name !== 'id' && name !== 'extra' && row[name] !== null)
}

/** What is set aside of such an answer: once, however often that task changes. */
export function anotherTask(shown: TaskRow) {
  return {
    taskId: shown.id,
    reason: 'other-identity',
    message: hasFields(shown)
      ? `The service shows the id ${shown.id} with another createdAt or userId than the mirror's task has`
      : `The service shows the id ${shown.id} and no more of the task`,
    raw: taskText(shown),
    identity: `${shown.id}\n${shown.created_at}\n${shown.user_id}`,
  }
}

/** Owes what only other answers can tell of a row that was just written. */
export function noteOwed({ tables, rules }: Intake, task: Task, now: number): void {
  const final = isFinal(task, rules.finalStatuses)
  if (!final) tables.owed.owe(task.id, 'open', now)
  else tables.owed.settle(task.id, 'open')
  if (!lacksParts(task, final) && !canHaveMore(task, final, rules.forms)) {
    if (rules.comparedResults) tables.owed.settleResult(task.id)
  } else tables.owed.oweDetail(task.id, now, null)
}

export type ListedOutcome = 'inserted' | 'updated' | 'unchanged' | 'restored'

/** The task that a stored row stands for. */
export function storedTask(row: TaskRow): Task {
  return storedJson<Task>(taskText(row), parseExact)
}
