// One task as one line of JSON: the task as the service sends it. Knows rows and text, never files or SQL.
import { taskText } from '../../mirror/shape.ts'
import type { TaskRow } from '../../task.ts'
import { COLUMNS, positionOf, type RawRow } from '../read/columns.ts'

const ID = positionOf('id')
const USER_ID = positionOf('user_id')
const SYSTEM_STATUS = positionOf('system_status')
const ACCURACY = positionOf('accuracy')
const TIMEFRAME = positionOf('timeframe')
const CREATED_AT = positionOf('created_at')
const COMPLETED_AT = positionOf('completed_at')
const DATA_METHOD = positionOf('data_method')
const DATA_URL = positionOf('data_url')
const DATA_BODY = positionOf('data_body')
const DATA_HEADER = positionOf('data_header')
const STATUS_CODE = positionOf('result_status_code')
const STATUS_TEXT = positionOf('result_status_text')
const RESULT_HEADER = positionOf('result_header')
const RESULT_BODY = positionOf('result_body')
const EXTRA = positionOf('extra')
const FIRST_SEEN_AT = positionOf('first_seen_at')
const CHANGED_AT = positionOf('changed_at')
const DELETED_AT = positionOf('deleted_at')
const CHANGE_SEQ = positionOf('change_seq')

/**
 * The line of a row, without the line feed. `withMeta` adds what the mirror knows of the task as a last field `_mirror`.
 * JSON texts are copied as they are stored, so every digit comes out as it came in.
 */
export function taskLine(row: RawRow, withMeta: boolean): string {
  const text = row[EXTRA] === null ? ordinaryText(row) : taskText(taskRow(row))
  if (!withMeta) return text
  return `${text.slice(0, -1)},"_mirror":{"changeSeq":${row[CHANGE_SEQ]},"firstSeenAt":${row[FIRST_SEEN_AT]},"changedAt":${row[CHANGED_AT]},"deletedAt":${row[DELETED_AT]}}}`
}

/**
 * The same text as `taskText` for a row without `extra`, straight from the array SQLite gives: an object per row and a
 * loop over fields cost a third of the export's speed. A test holds the two together.
 */
function ordinaryText(row: RawRow): string {
  let text = `{"id":${JSON.stringify(row[ID])}`
  if (row[USER_ID] !== null) text += `,"userId":${JSON.stringify(row[USER_ID])}`
  if (row[DATA_METHOD] !== null || row[DATA_URL] !== null || row[DATA_BODY] !== null || row[DATA_HEADER] !== null) {
    let data = ''
    if (row[DATA_METHOD] !== null) data += `,"method":${JSON.stringify(row[DATA_METHOD])}`
    if (row[DATA_URL] !== null) data += `,"url":${JSON.stringify(row[DATA_URL])}`
    if (row[DATA_BODY] !== null) data += `,"body":${JSON.stringify(row[DATA_BODY])}`
    if (row[DATA_HEADER] !== null) data += `,"header":${row[DATA_HEADER]}`
    text += `,"data":{${data.slice(1)}}`
  }
  if (row[TIMEFRAME] !== null) text += `,"timeframe":${row[TIMEFRAME]}`
  if (row[ACCURACY] !== null) text += `,"accuracy":${JSON.stringify(row[ACCURACY])}`
  if (row[SYSTEM_STATUS] !== null) text += `,"systemStatus":${JSON.stringify(row[SYSTEM_STATUS])}`
  if (row[CREATED_AT] !== null) text += `,"createdAt":${row[CREATED_AT]}`
  if (row[COMPLETED_AT] !== null) text += `,"completedAt":${row[COMPLETED_AT]}`
  if (
    row[STATUS_CODE] !== null ||
    row[STATUS_TEXT] !== null ||
    row[RESULT_HEADER] !== null ||
    row[RESULT_BODY] !== null
  ) {
    let result = ''
    if (row[RESULT_BODY] !== null) result += `,"body":${row[RESULT_BODY]}`
    if (row[RESULT_HEADER] !== null) result += `,"header":${row[RESULT_HEADER]}`
    if (row[STATUS_CODE] !== null) result += `,"statusCode":${row[STATUS_CODE]}`
    if (row[STATUS_TEXT] !== null) result += `,"statusText":${JSON.stringify(row[STATUS_TEXT])}`
    text += `,"result":{${result.slice(1)}}`
  }
  return `${text}}`
}

/** The named form of a row, for the general converter; the mirror's own columns ride along unread. */
function taskRow(row: RawRow): TaskRow {
  const named: Record<string, string | bigint | null> = {}
  for (let i = 0; i < COLUMNS.length; i++) named[COLUMNS[i]!.source] = row[i]!
  return named as unknown as TaskRow
}
