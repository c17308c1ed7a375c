// The columns that docs/scale.md spells out for engines that cannot read them from the files. Pure.
import { fold } from '../src/commands/text/layout.ts'
import { COLUMNS, type ColumnKind } from '../src/export/read/columns.ts'

/** In Trino's Hive connector. */
const TYPE_OF: Record<ColumnKind, string> = {
  utf8: 'varchar',
  json: 'varchar',
  variant: 'varchar',
  int64: 'bigint',
  timestamp_ms: 'timestamp(3)',
}

const WIDTH = 120

/** Between the first line of the statement and the column of the partitions, which Hive wants last. */
const PLACE = /(?<=^CREATE TABLE hive\.lake\.tasks \(\n).*?(?=^ {2}created_month varchar$)/ms

/** `text` of docs/scale.md with the columns that a snapshot has. Throws where it has no place for them. */
export function withColumns(text: string): string {
  if (!PLACE.test(text)) throw new Error('docs/scale.md has no CREATE TABLE hive.lake.tasks (...)')
  const columns = COLUMNS.map(({ name, kind }) => `${name} ${TYPE_OF[kind]},`)
  const lines = fold('', WIDTH, columns).map((line) => `  ${line}\n`)
  return text.replace(PLACE, () => lines.join(''))
}
