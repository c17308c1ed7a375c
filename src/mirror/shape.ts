// Task <-> TaskRow without loss: what a column can hold exactly goes into it, the rest into `extra`. Pure, no SQL.
import { isObject, isRaw, parseExact } from '../json.ts'
import {
  type Fields,
  isFields,
  JSON_COLUMNS,
  TASK_COLUMNS,
  TASK_FIELDS,
  type TaskColumn,
  type TaskColumnName,
} from '../task/columns.ts'
import { emptyRow } from '../task/row.ts'
import type { Integer, JsonObject, JsonValue, Task, TaskRow } from '../task.ts'
import { storedJson } from './explain.ts'

/** Shapes a task into its columns; what they cannot hold exactly is laid over them by `extra`. */
export function shapeTask(task: Task): TaskRow {
  const row = emptyRow(task.id)
  const rest = fill(row, task, TASK_FIELDS)
  if (rest !== null) row.extra = JSON.stringify(rest)
  return row
}

/** Moves the members of `object` into their columns; gives back those that do not fit, null where all of them did. */
function fill(row: TaskRow, object: JsonObject, fields: Fields): JsonObject | null {
  let rest: JsonObject | null = null
  for (const name of Object.keys(object)) {
    const value = object[name]!
    const field = fields.get(name)
    let left: JsonValue | null = value
    let isLeft = true
    if (field !== undefined && !isFields(field)) {
      const stored = columnValue(value, field)
      isLeft = stored === null
      if (!isLeft) (row as Record<TaskColumnName, string | Integer | null>)[field.name] = stored
    } else if (field !== undefined && isObject(value) && Object.keys(value).length > 0) {
      left = fill(row, value, field)
      isLeft = left !== null
    }
    if (!isLeft) continue
    // Without a prototype `__proto__` is a key like any other.
    rest ??= Object.create(null) as JsonObject
    rest[name] = left
  }
  return rest
}

/** What the column keeps of the value; null where it cannot hold it exactly. */
function columnValue(
  value: JsonValue,
  { kind, least = Number.NEGATIVE_INFINITY }: TaskColumn,
): string | Integer | null {
  if (kind === 'json') return JSON.stringify(value)
  if (kind === 'text') return typeof value === 'string' && value.isWellFormed() ? value : null
  if (typeof value === 'number' && value < least) return null
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : (value as number)
  // Any other moment goes into `extra`: DuckDB refuses a whole Parquet file with microseconds that 64 bit cannot count.
  if (kind === 'moment') return null
  // Digits, not the double's own value: 1234567890123456800 is the double 1234567890123456768.
  const digits = typeof value === 'number' ? String(value) : isRaw(value) ? value.rawJSON : ''
  if (!/^-?[1-9]\d{0,18}$/.test(digits)) return null
  const integer = BigInt(digits)
  return BigInt.asIntN(64, integer) === integer ? integer : null
}

/** The task as one line of JSON: columns in the documented order, then `extra`; as it came in, digit for digit. */
export function taskText(row: TaskRow): string {
  const over = row.extra === null ? null : storedJson<JsonObject>(row.extra, parseExact)
  return objectText(row, over, TASK_FIELDS)!
}

/** The object that the columns make with `over` laid over it; null where there is nothing in either. */
function objectText(row: TaskRow, over: JsonObject | null, fields: Fields): string | null {
  let text = ''
  for (const [name, field] of fields) {
    const laid = over !== null && Object.hasOwn(over, name) ? over[name]! : undefined
    let member: string | null
    if (isFields(field) && (laid === undefined || isObject(laid))) member = objectText(row, laid ?? null, field)
    else if (laid !== undefined) member = JSON.stringify(laid)
    else member = isFields(field) ? null : columnText(row[field.name], field.kind)
    if (member !== null) text += `,"${name}":${member}`
  }
  if (over !== null) {
    for (const name of Object.keys(over)) {
      if (!fields.has(name)) text += `,${JSON.stringify(name)}:${JSON.stringify(over[name])}`
    }
  }
  if (text === '') return over === null ? null : '{}'
  return `{${text.slice(1)}}`
}

function columnText(value: string | Integer | null, kind: TaskColumn['kind']): string | null {
  if (value === null) return null
  return kind === 'text' ? JSON.stringify(value) : String(value)
}

/** Whether rows hold the same task: JSON by meaning (order of keys is no change, digits are). */
export function sameContent(a: TaskRow, b: TaskRow): boolean {
  return TASK_COLUMNS.every((column) => {
    const [left, right] = [a[column], b[column]]
    if (left === right) return true
    if (left === null || right === null) return false
    if (typeof left !== 'string' || typeof right !== 'string') return String(left) === String(right)
    return (
      (JSON_COLUMNS as ReadonlySet<string>).has(column) &&
      canonicalText(parseExact(left)) === canonicalText(parseExact(right))
    )
  })
}

/** JSON text with the keys of every object in one order; numbers digit for digit. */
export function canonicalText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name]!)}`).join()}}`
}

/** Whether `completedAt` tells a moment. Many a program writes 0, or an empty text, for one that has not come yet. */
export function hasEnded({ completedAt }: Task): boolean {
  if (!completedAt) return false
  const told = isRaw(completedAt) ? Number(completedAt.rawJSON) : completedAt
  return typeof told !== 'number' || told > 0
}

/** Whether the interface document names the member at `path`, or one that contains it. */
export function isOfInterface(path: readonly string[]): boolean {
  let fields: Fields = TASK_FIELDS
  for (const name of path) {
    const field = fields.get(name)
    if (field === undefined) return false
    if (!isFields(field)) return true
    fields = field
  }
  return true
}
