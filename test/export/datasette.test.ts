import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { CANNED_QUERIES, datasetteConfigOf } from '../../src/export/datasette.ts'
import { makeMirror, ordinaryRows } from './mirror.ts'

interface Table {
  description?: string
  facets?: string[]
  sort_desc?: string
  columns?: Record<string, string>
}

const tablesOf = (text: string, name: string) => parse(text).databases[name].tables as Record<string, Table>

test('the file is YAML that names tables and columns that exist, and describes all of them', () => {
  const { db } = makeMirror()
  const tables = tablesOf(datasetteConfigOf('task-mirror'), 'task-mirror')
  const present = db.prepare(
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
  )
  expect(Object.keys(tables).sort()).toEqual(present.pluck().all().sort())
  for (const [name, { description, facets = [], sort_desc, columns = {} }] of Object.entries(tables)) {
    const known = (db.pragma(`table_info(${name})`) as { name: string }[]).map((column) => column.name)
    expect(description, name).toBeTruthy()
    const named = [...facets, ...(sort_desc ? [sort_desc] : []), ...Object.keys(columns)]
    expect(named.filter((column) => !known.includes(column))).toEqual([])
  }
  expect(Object.keys(tables.tasks!.columns!)).toContain('result_body')
})

test('what sorts a table has an index, so that the first page comes at once', () => {
  const { db } = makeMirror(...ordinaryRows(10))
  for (const [name, { sort_desc }] of Object.entries(tablesOf(datasetteConfigOf('m'), 'm'))) {
    if (sort_desc === undefined) continue
    const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT * FROM ${name} ORDER BY ${sort_desc} DESC LIMIT 51`).all()
    expect(JSON.stringify(plan), name).not.toContain('TEMP B-TREE')
  }
})

test.each(CANNED_QUERIES)(
  'the canned query $name runs, and comes out of the file as it went in',
  ({ name, sql, title }) => {
    const { db } = makeMirror(...ordinaryRows(50))
    // One of them is late.
    db.exec(`INSERT INTO service_facts (key, value, observed_at) VALUES ('timeframe', '{"isMoment":true}', 1);
      UPDATE tasks SET completed_at = NULL, system_status = 'WAITING' WHERE seq = 1;
      INSERT INTO open_checks (task_id, reason, next_check_at) SELECT id, 'open', 0 FROM tasks WHERE seq = 1`)
    expect(parse(datasetteConfigOf('m')).databases.m.queries[name]).toEqual({ title, sql })
    const rows = db.prepare(sql).all(sql.includes(':path') ? { path: '$.n' } : {})
    expect(rows.length).toBeGreaterThan(0)
  },
)

test('names and texts that YAML would read otherwise come through', () => {
  expect(Object.keys(parse(datasetteConfigOf('no: "yes"\n#')).databases)).toEqual(['no: "yes"\n#'])
})

/** Datasette is a program of Python; where there is none, the tests above stand alone. */
const hasDatasette = spawnSync('datasette', ['--version']).status === 0

test.runIf(hasDatasette)('Datasette shows the mirror with it', () => {
  const mirror = makeMirror(...ordinaryRows(50))
  const config = join(mirror.folder, 'datasette.yaml')
  writeFileSync(config, datasetteConfigOf('mirror'))
  const ask = (path: string) =>
    spawnSync('datasette', [mirror.path, '-m', config, '--get', path], { encoding: 'utf8' }).stdout
  expect(JSON.parse(ask('/mirror/failures-per-host.json?_shape=array'))[0]).toMatchObject({ host: 'example.com' })
  expect(ask('/mirror/tasks')).toContain('One row per task of the account')
})
