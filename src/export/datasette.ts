// Datasette's configuration for a mirror: titles, descriptions from the comments of the schema, facets, canned queries.

import { describeSchema } from '../mirror/maintenance/describe-schema.ts'
import { migrations } from '../mirror/schema.ts'
import { CANNED_QUERIES } from './datasette-queries.ts'

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
