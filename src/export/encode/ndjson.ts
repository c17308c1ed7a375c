// One task as one line of JSON: the task as the service sends it. Knows rows and text, never files or SQL.
import { parseExact } from '../../json.ts'
import { canonicalText, taskText } from '../../mirror/shape.ts'
import type { TaskRow } from '../../task.ts'
import { COLUMNS, positionOf, type RawRow } from '../read/columns.ts'
import type { FormatCode } from './format.ts'
import { lineFormat } from './lines.ts'
import { ordinaryText } from './ordinary-text.ts'

const EXTRA = positionOf('extra')
const FIRST_SEEN_AT = positionOf('first_seen_at')
const CHANGED_AT = positionOf('changed_at')
const DELETED_AT = positionOf('deleted_at')
const CHANGE_SEQ = positionOf('change_seq')

export const ndjson: FormatCode = lineFormat({
  head: () => '',
  liner({ switches }) {
    const withMeta = switches.withMeta === true
    return (row) => `${taskLine(row, withMeta)}\n`
  },
  isQuoted: false,
  // A member that later got a column of its own stands in another place of the line.
  meaningOf: (line) => canonicalText(parseExact(line)),
  idsOf: (line) => [(JSON.parse(line) as { id: string }).id],
})

/** The line of a row, without line feed; JSON is copied as stored. `withMeta` adds the last field `_mirror`. */
export function taskLine(row: RawRow, withMeta: boolean): string {
  const text = row[EXTRA] === null ? ordinaryText(row) : taskText(taskRow(row))
  if (!withMeta) return text
  return `${text.slice(0, -1)},"_mirror":{"changeSeq":${row[CHANGE_SEQ]},"firstSeenAt":${row[FIRST_SEEN_AT]},"changedAt":${row[CHANGED_AT]},"deletedAt":${row[DELETED_AT]}}}`
}

/** The named form of a row, for the general converter; the mirror's own columns ride along unread. */
function taskRow(row: RawRow): TaskRow {
  const named: Record<string, string | bigint | null> = {}
  for (let i = 0; i < COLUMNS.length; i++) named[COLUMNS[i]!.name] = row[i]!
  return named as unknown as TaskRow
}
