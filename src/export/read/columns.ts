// The one table that drives every format of a snapshot: names, types, nullability, order, and what may hold secrets.
// Knows the columns of `tasks`, never how a format writes them.
import { MirrorError } from '../../errors.ts'

/**
 * utf8: any text; json: JSON text; int64: any 64-bit integer; timestamp_ms: a 64-bit integer of epoch milliseconds, UTC;
 * variant: JSON text that a format with a type for such values writes in that type.
 */
export type ColumnKind = 'utf8' | 'json' | 'int64' | 'timestamp_ms' | 'variant'

export interface Column {
  /** Name in a snapshot. */
  name: string
  /** Column of `tasks` that it comes from. */
  source: string
  kind: ColumnKind
  nullable: boolean
  /** Whether it can hold secrets: such a column gets no statistics, because those repeat values in the footer. */
  secret: boolean
  /** Whether point look-ups go by it, so that an index of its values (a bloom filter) pays. */
  key: boolean
}

/** A row as SQLite gives it: one value per entry of `COLUMNS`, in that order; integers are `bigint`, whatever their size. */
export type RawRow = (string | bigint | null)[]

const utf8 = (name: string): Column => ({ name, source: name, kind: 'utf8', nullable: true, secret: false, key: false })
const secret = (column: Column): Column => ({ ...column, secret: true })
const required = (column: Column): Column => ({ ...column, nullable: false })
const key = (column: Column): Column => ({ ...column, key: true })
const json = (name: string): Column => secret({ ...utf8(name), kind: 'json' })
const int64 = (name: string): Column => ({ ...utf8(name), kind: 'int64' })
const timestamp = (name: string): Column => ({ ...utf8(name), kind: 'timestamp_ms' })

/**
 * Every column of `tasks` but `seq` (a row number of this mirror), the hashes and `read_at` (bookkeeping of the sync).
 * URLs carry tokens, and the status text is free text of a foreign server: both count as secret.
 */
export const COLUMNS: readonly Column[] = [
  key(required(utf8('id'))),
  utf8('user_id'),
  utf8('system_status'),
  utf8('accuracy'),
  int64('timeframe'),
  timestamp('created_at'),
  timestamp('completed_at'),
  utf8('data_method'),
  secret(utf8('data_url')),
  secret(utf8('data_body')),
  json('data_header'),
  int64('result_status_code'),
  secret(utf8('result_status_text')),
  json('result_header'),
  json('result_body'),
  json('extra'),
  required(timestamp('first_seen_at')),
  required(timestamp('changed_at')),
  timestamp('deleted_at'),
  required(int64('change_seq')),
  utf8('host'),
]

/** Position of a column in a `RawRow`; throws for a name that is no column. */
export function positionOf(name: string): number {
  const position = COLUMNS.findIndex((column) => column.name === name)
  if (position < 0) throw new Error(`no column ${name} in a snapshot`)
  return position
}

/**
 * The columns called `names`, in the order of the table; all where null. `variant` makes `result_body` a variant.
 * Throws `usage-invalid` for a name that is no column, or none at all.
 */
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
