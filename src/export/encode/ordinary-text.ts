// Written by `npm run columns` from src/task/columns.ts: every column by its name, because names that vary cost more.
import { positionOf, type RawRow } from '../read/columns.ts'

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
const RESULT_STATUS_CODE = positionOf('result_status_code')
const RESULT_STATUS_TEXT = positionOf('result_status_text')
const RESULT_HEADER = positionOf('result_header')
const RESULT_BODY = positionOf('result_body')

/**
 * The same text as `taskText` for a row without `extra`, straight from the array SQLite gives: an object per row and a
 * loop over fields cost a third of the export's speed. A test holds the two together.
 */
export function ordinaryText(row: RawRow): string {
  let text = `{"id":${JSON.stringify(row[ID])}`
  if (row[USER_ID] !== null) text += `,"userId":${JSON.stringify(row[USER_ID])}`
  let textData = ''
  if (row[DATA_METHOD] !== null) textData += `,"method":${JSON.stringify(row[DATA_METHOD])}`
  if (row[DATA_URL] !== null) textData += `,"url":${JSON.stringify(row[DATA_URL])}`
  if (row[DATA_BODY] !== null) textData += `,"body":${JSON.stringify(row[DATA_BODY])}`
  if (row[DATA_HEADER] !== null) textData += `,"header":${row[DATA_HEADER]}`
  if (textData !== '') text += `,"data":{${textData.slice(1)}}`
  if (row[TIMEFRAME] !== null) text += `,"timeframe":${row[TIMEFRAME]}`
  if (row[ACCURACY] !== null) text += `,"accuracy":${JSON.stringify(row[ACCURACY])}`
  if (row[SYSTEM_STATUS] !== null) text += `,"systemStatus":${JSON.stringify(row[SYSTEM_STATUS])}`
  if (row[CREATED_AT] !== null) text += `,"createdAt":${row[CREATED_AT]}`
  if (row[COMPLETED_AT] !== null) text += `,"completedAt":${row[COMPLETED_AT]}`
  let textResult = ''
  if (row[RESULT_BODY] !== null) textResult += `,"body":${row[RESULT_BODY]}`
  if (row[RESULT_HEADER] !== null) textResult += `,"header":${row[RESULT_HEADER]}`
  if (row[RESULT_STATUS_CODE] !== null) textResult += `,"statusCode":${row[RESULT_STATUS_CODE]}`
  if (row[RESULT_STATUS_TEXT] !== null) textResult += `,"statusText":${JSON.stringify(row[RESULT_STATUS_TEXT])}`
  if (textResult !== '') text += `,"result":{${textResult.slice(1)}}`
  return `${text}}`
}
