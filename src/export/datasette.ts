// Datasette's configuration for a mirror: titles, descriptions from the comments of the schema, facets, canned queries.

import { describeSchema } from '../mirror/maintenance/describe-schema.ts'
import { migrations } from '../mirror/schema.ts'

interface Mapping {
  [name: string]: string | number | boolean | readonly string[] | Mapping
}

/** More settings per table. A facet is a column with so few values that counting them tells something. */
const MORE: Record<string, Mapping> = {
  tasks: {
    facets: ['system_status', 'result_status_code', 'data_method'],
    sort_desc: 'created_at',
    label_column: 'id',
    size: 50,
  },
  live_tasks: { facets: ['system_status', 'result_status_code', 'data_method'], sort_desc: 'created_at' },
  task_overview: { facets: ['system_status', 'result_status_code', 'host'] },
  runs: { facets: ['command', 'outcome'], sort_desc: 'id' },
  walks: { facets: ['kind', 'verdict'], sort_desc: 'id' },
  rejected_items: { facets: ['reason'] },
  // Bookkeeping that tells people nothing.
  walk_marks: { hidden: true },
  walk_evidence: { hidden: true },
}

interface CannedQuery {
  /** Part of the URL in Datasette. */
  name: string
  title: string
  sql: string
}

/** Questions that people ask of the mirror, as SQL for SQLite; explained in docs/queries.md. */
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

/** YAML for Datasette before 1.0 (`-m`) and since (`-m`, `-c`), about a database called `name`. */
export function datasetteConfigOf(name: string): string {
  const tables: Mapping = {}
  for (const { name: table, about, columns } of describeSchema(migrations().map(({ sql }) => sql))) {
    const described = columns.filter((column) => column.about).map((column) => [column.name, column.about])
    tables[table] = {
      ...(about && { description: about }),
      ...MORE[table],
      ...(described.length > 0 && { columns: Object.fromEntries(described) }),
    }
  }
  const queries = Object.fromEntries(CANNED_QUERIES.map(({ name: query, title, sql }) => [query, { title, sql }]))
  return yaml({
    title: 'Tasks',
    description:
      'A mirror of a task account, kept by task-mirror. Times are epoch milliseconds in tables, UTC in views.',
    settings: { sql_time_limit_ms: 5000, facet_time_limit_ms: 5000, default_page_size: 50 },
    databases: { [name]: { description: 'The mirror', tables, queries } },
  })
}

/** Block style; text is quoted as JSON is, which YAML reads, and kept line by line where it has several lines. */
function yaml(mapping: Mapping, indent = ''): string {
  let text = ''
  for (const [key, value] of Object.entries(mapping)) {
    text += `${indent}${/^[a-z][a-z0-9_-]*$/i.test(key) ? key : JSON.stringify(key)}:`
    if (typeof value === 'string' && value.includes('\n')) text += ` |-\n${value.replace(/^/gm, `${indent}  `)}\n`
    else if (Array.isArray(value)) text += `\n${value.map((item) => `${indent}  - ${JSON.stringify(item)}\n`).join('')}`
    else if (typeof value === 'object') text += `\n${yaml(value as Mapping, `${indent}  `)}`
    else text += ` ${JSON.stringify(value)}\n`
  }
  return text
}
