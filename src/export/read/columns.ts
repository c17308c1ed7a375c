// The one table that drives every format of a snapshot: names, types, nullability, order, what may hold secrets.
import { MirrorError } from '../../errors.ts'
import { COLUMNS_BY_NUMBER, FIRST_COLUMNS, type TaskColumn } from '../../task/columns.ts'

/**
 * utf8: any text; json: JSON text; int64: any 64-bit integer; timestamp_ms: a 64-bit integer, epoch milliseconds, UTC;
 * variant: JSON text that a format with a type for such values writes in that type.
 */
export type ColumnKind = 'utf8' | 'json' | 'int64' | 'timestamp_ms' | 'variant'

export interface Column {
  /** In a snapshot and in `tasks`. */
  name: string
  kind: ColumnKind
  nullable: boolean
  /** Whether it can hold secrets: such a column gets no statistics, because those repeat values in the footer. */
  secret: boolean
  /** Whether point look-ups go by it, so that an index of its values (a bloom filter) pays. */
  key: boolean
}

/** A row as SQLite gives it: one value per entry of `COLUMNS`, in that order; integers of any size are `bigint`. */
export type RawRow = (string | bigint | null)[]

const KIND_OF: Record<TaskColumn['kind'], ColumnKind> = {
  text: 'utf8',
  json: 'json',
  integer: 'int64',
  moment: 'timestamp_ms',
}
const ofTask = ({ name, kind, required, secret, key }: TaskColumn): Column => ({
  ...{ name, kind: KIND_OF[kind] },
  ...{ nullable: required !== true, secret: secret === true, key: key === true },
})
const ofMirror = (name: string, kind: ColumnKind, nullable: boolean): Column => ({
  ...{ name, kind, nullable, secret: false, key: false },
})

/**
 * Every column of `tasks` but `seq` (a row number of this mirror), the hashes and `read_at` (bookkeeping of the sync).
 * What came later stands behind all others, as in the table: whoever reads CSV by position goes on.
 */
export const COLUMNS: readonly Column[] = [
  ...COLUMNS_BY_NUMBER.slice(0, FIRST_COLUMNS).map(ofTask),
  ofMirror('first_seen_at', 'timestamp_ms', false),
  ofMirror('changed_at', 'timestamp_ms', false),
  ofMirror('deleted_at', 'timestamp_ms', true),
  ofMirror('change_seq', 'int64', false),
  ofMirror('host', 'utf8', true),
  ...COLUMNS_BY_NUMBER.slice(FIRST_COLUMNS).map(ofTask),
]

/** Position of a column in a `RawRow`; throws for a name that is no column. */
export function positionOf(name: string): number {
  const position = COLUMNS.findIndex((column) => column.name === name)
  if (position < 0) throw new Error(`no column ${name} in a snapshot`)
  return position
}

/** The columns called `names` (null: all), in table order. Throws `usage-invalid` for an unknown name or none. */
export function chosenColumns(names: readonly string[] | null, variant: boolean): Column[] {
  const unknown = names?.find((name) => !COLUMNS.some((column) => column.name === name))
  if (unknown !== undefined || names?.length === 0) {
    throw new MirrorError('usage-invalid', `A snapshot has no column "${unknown ?? ''}"`, {
      hint: `The columns are ${COLUMNS.map((column) => column.name).join(', ')}.`,
    })
  }
  const chosen = names === null ? COLUMNS : COLUMNS.filter((column) => names.includes(column.name))
  return chosen.map((column) => (variant && column.name === 'result_body' ? { ...column, kind: 'variant' } : column))
}
