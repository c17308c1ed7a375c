// Questions that people ask of a mirror, as SQL on its public views: run by `demo`, to be copied from there.
import type { Db } from '../connect.ts'

interface SampleQuery {
  question: string
  sql: string
}

export const SAMPLE_QUERIES: readonly SampleQuery[] = [
  {
    question: 'How did the tasks of the last days end?',
    sql: `SELECT day, system_status, result_status_code AS status, tasks
FROM daily_outcomes ORDER BY day DESC, tasks DESC LIMIT 6`,
  },
  {
    question: 'Which hosts fail most?',
    sql: `SELECT host, tasks, failures, round(100.0 * failures / tasks, 1) AS percent
FROM host_outcomes ORDER BY failures DESC, host LIMIT 5`,
  },
  {
    question: 'Which finished tasks took longest?',
    sql: `SELECT created_at, method, host, result_status_code AS status, duration_ms
FROM task_overview WHERE is_final AND NOT is_deleted ORDER BY duration_ms DESC, id LIMIT 5`,
  },
]

interface QueryResult {
  columns: string[]
  rows: (string | number | null)[][]
}

/** Runs one query that only reads. */
export function runQuery(db: Db, sql: string): QueryResult {
  const statement = db.prepare(sql)
  const columns = statement.columns().map((column) => column.name)
  return { columns, rows: statement.raw().all() as (string | number | null)[][] }
}
