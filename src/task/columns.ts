// The one table of a task's columns. `npm run columns` writes code from it, spelled out for speed. Imports nothing.

/** A whole number as SQLite keeps it: a `number` within ±(2^53 - 1), a `bigint` up to 64 bits. */
export type Integer = number | bigint

export interface TaskColumn {
  /** Its place in encoded rows and their hashes: never changed or reused; a new column has the next one. */
  number: number
  /** Name of the column in `tasks` and in a snapshot. */
  name: string
  /** Member names that lead to its value in a task; none for `extra`, which is merged over the whole task. */
  path: readonly string[]
  /** A string, a 64-bit integer, one that is epoch milliseconds, or the JSON text of any value. */
  kind: 'text' | 'integer' | 'moment' | 'json'
  /** The least integer that it holds: less than that says nothing of it, and goes into `extra`. */
  least?: number
  /** Every task has it. */
  required?: true
  /** May hold secrets: URLs carry tokens, and bodies and the status text come from foreign servers. */
  secret?: true
  /** Tasks are looked up by it one by one. */
  key?: true
}

/** In the order of a task's text, which is the order of docs/service.md. */
export const TABLE = [
  { number: 0, name: 'id', path: ['id'], kind: 'text', required: true, key: true },
  { number: 1, name: 'user_id', path: ['userId'], kind: 'text' },
  { number: 7, name: 'data_method', path: ['data', 'method'], kind: 'text' },
  { number: 8, name: 'data_url', path: ['data', 'url'], kind: 'text', secret: true },
  { number: 9, name: 'data_body', path: ['data', 'body'], kind: 'text', secret: true },
  { number: 10, name: 'data_header', path: ['data', 'header'], kind: 'json', secret: true },
  { number: 4, name: 'timeframe', path: ['timeframe'], kind: 'integer' },
  { number: 3, name: 'accuracy', path: ['accuracy'], kind: 'text' },
  { number: 2, name: 'system_status', path: ['systemStatus'], kind: 'text' },
  { number: 5, name: 'created_at', path: ['createdAt'], kind: 'moment' },
  { number: 6, name: 'completed_at', path: ['completedAt'], kind: 'moment', least: 1 },
  { number: 14, name: 'result_body', path: ['result', 'body'], kind: 'json', secret: true },
  { number: 13, name: 'result_header', path: ['result', 'header'], kind: 'json', secret: true },
  { number: 11, name: 'result_status_code', path: ['result', 'statusCode'], kind: 'integer' },
  { number: 12, name: 'result_status_text', path: ['result', 'statusText'], kind: 'text', secret: true },
  { number: 15, name: 'extra', path: [], kind: 'json', secret: true },
] as const satisfies readonly TaskColumn[]

/** Columns of the first version are part of every hash; later ones only where they hold something. */
export const FIRST_COLUMNS = 16

type Column = (typeof TABLE)[number]
export type TaskColumnName = Column['name']
type Held<C extends TaskColumn> = C['kind'] extends 'integer' | 'moment' ? Integer : string

/**
 * A task as the columns of `tasks`, keyed by column name. Integers are as sent. `extra` is JSON text merged over the
 * other columns: only what they cannot hold; null for an ordinary task. Columns plus `extra` give the task back exactly
 * (design.md section 5).
 */
export type TaskRow = { [C in Column as C['name']]: C extends { required: true } ? Held<C> : Held<C> | null }

/** The columns in order of `number`. */
export const COLUMNS_BY_NUMBER: readonly (TaskColumn & { name: TaskColumnName })[] = [...TABLE].sort(
  (one, other) => one.number - other.number,
)
/** Their names, in order of `number`. */
export const TASK_COLUMNS: readonly TaskColumnName[] = COLUMNS_BY_NUMBER.map(({ name }) => name)

const namesOf = (...kinds: TaskColumn['kind'][]): ReadonlySet<TaskColumnName> =>
  new Set(COLUMNS_BY_NUMBER.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name))
export const JSON_COLUMNS = namesOf('json') as ReadonlySet<Extract<Column, { kind: 'json' }>['name']>
export const INTEGER_COLUMNS = namesOf('integer', 'moment')
/** What was sent to a foreign server, what it answered, and what only `extra` holds. */
export const PAYLOAD_COLUMNS: readonly TaskColumnName[] = COLUMNS_BY_NUMBER.filter(({ path }) => path.length !== 1).map(
  ({ name }) => name,
)

/** Where a member of a task goes: into one column, or its own members into several. */
export type Field = TaskColumn & { name: TaskColumnName }
export type Fields = ReadonlyMap<string, Field | Fields>

export const TASK_FIELDS: Fields = fieldsOf(TABLE, 0)

function fieldsOf(columns: readonly Field[], depth: number): Fields {
  const members = Map.groupBy(
    columns.filter(({ path }) => path.length > depth),
    ({ path }) => path[depth] as string,
  )
  return new Map(
    [...members].map(([name, below]) => {
      const [first] = below as [Field]
      return [name, first.path.length === depth + 1 ? first : fieldsOf(below, depth + 1)]
    }),
  )
}

export function isFields(field: Field | Fields): field is Fields {
  return field instanceof Map
}
