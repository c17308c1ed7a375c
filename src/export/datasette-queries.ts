// Questions that people ask of the mirror, as SQL for SQLite: Datasette's canned queries, explained in docs/queries.md.

interface CannedQuery {
  /** Part of the URL in Datasette. */
  name: string
  title: string
  sql: string
}

export const CANNED_QUERIES: readonly CannedQuery[] = [
  {
    name: 'failures-per-host',
    title: 'Which hosts fail most?',
    sql: `SELECT host, tasks, failures, round(100.0 * failures / tasks, 1) AS percent, mean_duration_ms
FROM host_outcomes
ORDER BY failures DESC, host
LIMIT 50`,
  },
  {
    name: 'slowest',
    title: 'Which finished tasks took longest?',
    sql: `SELECT id, created_at, method, host, result_status_code, duration_ms
FROM task_overview
WHERE is_final AND NOT is_deleted
ORDER BY duration_ms DESC
LIMIT 50`,
  },
  {
    name: 'throughput-per-day',
    title: 'How many tasks were created and finished per day?',
    sql: `SELECT day, sum(tasks) AS created, sum(tasks) FILTER (WHERE system_status = 'DONE') AS done,
  sum(tasks) FILTER (WHERE result_status_code >= 400) AS failures
FROM daily_outcomes
GROUP BY day
ORDER BY day DESC
LIMIT 400`,
  },
  {
    name: 'latency-percentiles',
    title: 'How long do tasks take, by host?',
    sql: `WITH ranked AS (
  SELECT host, duration_ms, percent_rank() OVER (PARTITION BY host ORDER BY duration_ms) AS share
  FROM task_overview
  WHERE duration_ms IS NOT NULL AND NOT is_deleted
)
SELECT host, count(*) AS tasks,
  min(duration_ms) FILTER (WHERE share >= 0.5) AS median_ms,
  min(duration_ms) FILTER (WHERE share >= 0.95) AS p95_ms,
  max(duration_ms) AS max_ms
FROM ranked
GROUP BY host
ORDER BY tasks DESC, host
LIMIT 50`,
  },
  {
    name: 'field-of-body',
    title: 'What does a field inside the result bodies hold?',
    sql: `SELECT json_extract(result_body, :path) AS value, count(*) AS tasks
FROM live_tasks
WHERE json_valid(result_body)
GROUP BY value
ORDER BY tasks DESC
LIMIT 50`,
  },
  {
    name: 'late',
    title: 'Which open tasks are late? (Empty until probe has found that timeframe reads as a moment)',
    sql: `SELECT host, count(*) AS late, round(max(late_ms) / 3600000.0, 1) AS most_late_hours
FROM late_tasks
GROUP BY host
ORDER BY late DESC, host
LIMIT 50`,
  },
  {
    name: 'recently-changed',
    title: 'What changed last?',
    sql: `SELECT id, system_status, result_status_code, changed_at, is_deleted
FROM task_overview
ORDER BY change_seq DESC
LIMIT 50`,
  },
]
