// What `demo` says at its end: its files, and the commands to type next. Pure.
import { shellWord } from '../../shown.ts'
import { pairs } from './layout.ts'

interface DemoFiles {
  mirror: string
  parquet: string
  ndjson: string
}

/** `command`: how the user calls this program. */
export function farewell({ mirror, parquet, ndjson }: DemoFiles, command: string): string {
  const files = pairs([
    [mirror, 'the mirror; any program that reads SQLite opens it'],
    [parquet, 'a snapshot for DuckDB, pandas, Spark and others'],
    [ndjson, 'the same as exact JSON, one task per line; docs/tools.md says what reads it'],
  ])
  const bySqlite = 'SELECT created_at, system_status, method, host FROM task_overview LIMIT 3'
  const byDuckdb = `SELECT system_status, count(*) FROM '${parquet.replaceAll("'", "''")}' GROUP BY 1`
  return [
    'The files are yours to look at:',
    files.replace(/^/gm, '  '),
    '',
    'Try next:',
    `  ${command} status --db ${shellWord(mirror)}`,
    `  sqlite3 -box ${shellWord(mirror)} ${shellWord(bySqlite)}`,
    `  duckdb -c ${shellWord(byDuckdb)}`,
    '',
    'Or play the service in one shell and mirror it from another:',
    `  ${command} simulate --port 8090 --inserts-per-second 5`,
    `  ${command} sync --base-url http://127.0.0.1:8090 --db try.sqlite`,
  ].join('\n')
}
