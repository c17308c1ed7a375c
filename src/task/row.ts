// Written by `npm run columns` from src/task/columns.ts: every column by its name, because names that vary cost more.
import type { Integer, TaskRow } from './columns.ts'

/** A row of which nothing but the id is known. */
export function emptyRow(id: string): TaskRow {
  return {
    id,
    user_id: null,
    system_status: null,
    accuracy: null,
    timeframe: null,
    created_at: null,
    completed_at: null,
    data_method: null,
    data_url: null,
    data_body: null,
    data_header: null,
    result_status_code: null,
    result_status_text: null,
    result_header: null,
    result_body: null,
    extra: null,
  }
}

/** The columns of a row, by number. */
export function valuesOf(row: TaskRow): (string | Integer | null)[] {
  return [
    row.id,
    row.user_id,
    row.system_status,
    row.accuracy,
    row.timeframe,
    row.created_at,
    row.completed_at,
    row.data_method,
    row.data_url,
    row.data_body,
    row.data_header,
    row.result_status_code,
    row.result_status_text,
    row.result_header,
    row.result_body,
    row.extra,
  ]
}
