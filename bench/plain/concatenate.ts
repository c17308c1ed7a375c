// `node concatenate.ts MIRROR FILE`: NDJSON by the plainest code: raw rows of the mirror, stored JSON text put together,
// nothing redacted, nothing checked, no order kept but that of the rows, no `extra` laid over.
import { closeSync, openSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'

const [path, out] = process.argv.slice(2) as [string, string]
const db = new Database(path, { readonly: true })
const handle = openSync(out, 'w')
const rows = db
  .prepare(
    `SELECT id, user_id, data_method, data_url, data_body, data_header, timeframe, accuracy, system_status, created_at,
     completed_at, result_body, result_header, result_status_code, result_status_text FROM tasks`,
  )
  .raw()
  .iterate() as Iterable<string[]>
const text = JSON.stringify
let lines = ''
for (const row of rows) {
  lines +=
    `{"id":${text(row[0])},"userId":${text(row[1])},"data":{"method":${text(row[2])},"url":${text(row[3])},` +
    `"body":${text(row[4])},"header":${row[5]}},"timeframe":${row[6]},"accuracy":${text(row[7])},` +
    `"systemStatus":${text(row[8])},"createdAt":${row[9]},"completedAt":${row[10]},"result":{"body":${row[11]},` +
    `"header":${row[12]},"statusCode":${row[13]},"statusText":${text(row[14])}}}\n`
  if (lines.length < 1_000_000) continue
  writeSync(handle, lines)
  lines = ''
}
writeSync(handle, lines)
closeSync(handle)
