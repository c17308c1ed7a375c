// Every SQL statement of docs/queries.md and docs/scale.md that can run here is run: SQLite, DuckDB and polars.
import { readFileSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import pl from 'nodejs-polars'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CANNED_QUERIES } from '../../src/export/datasette.ts'
import { exportSnapshot } from '../../src/export/export.ts'
import { duck } from './duck.ts'
import { type FilledMirror, fillMirror, makeMirror, ordinaryRows } from './mirror.ts'

interface Block {
  kind: string
  heading: string
  text: string
}

/** Fenced blocks with a word behind the language, such as `sql duckdb`. */
function blocksOf(name: string): Block[] {
  const text = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
  let heading = ''
  return [...text.matchAll(/^## (.*)$|^```(?:sql|python) ([a-z-]+)\n([\s\S]*?)^```$/gm)].flatMap(
    ([, title, kind, content]) => {
      if (title !== undefined) heading = title
      return kind === undefined || content === undefined ? [] : [{ kind, heading, text: content }]
    },
  )
}

const queries = blocksOf('queries.md')
const scale = blocksOf('scale.md')
const of = (blocks: Block[], kind: string) =>
  blocks.filter((block) => block.kind === kind).map((block, i) => ({ ...block, title: `${block.heading} (${i + 1})` }))

let mirror: FilledMirror & { remove(): void }
/** DuckDB's prelude: the view that the page tells to make. */
let prelude: string

beforeAll(async () => {
  mirror = fillMirror(
    ...ordinaryRows(400).map((row, i) => ({
      ...row,
      created_at: 1_780_000_000_000 + i * 40_000_000,
      completed_at: 1_780_000_000_000 + i * 40_000_000 + i,
      data_url: `https://host${i % 5}.example.com/${i}`,
      result_status_code: i % 9 === 0 ? 500 : 200,
    })),
  )
  mirror.db.exec(`INSERT INTO runs (command, outcome, started_at, tool_version) VALUES ('sync', 'ok', 1, '0');
    INSERT INTO service_facts (key, value, observed_at) VALUES ('timeframe', '{"isMoment":true}', 1);
    UPDATE tasks SET completed_at = NULL, system_status = 'WAITING' WHERE id = 'task-00000005';
    INSERT INTO open_checks (task_id, reason, next_check_at) VALUES ('task-00000005', 'open', 0);
    INSERT INTO rejected_items (source, reason, message, raw, raw_hash, seen_at) VALUES ('list', 'no-id', '', '', x'00', 1)`)
  const options = { dbPath: mirror.path, out: join(mirror.folder, 'lake/'), redact: [], toolVersion: '0' }
  await exportSnapshot({ ...options, partitionBy: 'month' })
  mirror.db.exec("UPDATE tasks SET deleted_at = 9, change_seq = 401 WHERE id = 'task-00000003'")
  await exportSnapshot({ ...options, changes: 'last' })
  // Deleted before a full snapshot, which does not mention it, and after it.
  mirror.db.exec("UPDATE tasks SET deleted_at = 9, change_seq = 402 WHERE id = 'task-00000004'")
  await exportSnapshot({ ...options, partitionBy: 'month' })
  mirror.db.exec("UPDATE tasks SET deleted_at = 9, change_seq = 403 WHERE id = 'task-00000008'")
  await exportSnapshot({ ...options, changes: 'last' })
  await exportSnapshot({ ...options, partitionValues: { account: 'acme' } })
  for (const name of ['tasks.csv.gz', 'tasks.ndjson.gz'])
    await exportSnapshot({ ...options, out: join(mirror.folder, name) })
  prelude = here(of(queries, 'duckdb')[0]!.text).split(';').slice(0, 2).join(';')
})

afterAll(() => mirror.remove())

/** The page's folder stands for the scratch one. */
const here = (sql: string, folder = mirror.folder) => sql.replaceAll(/'(?=lake\/|tasks\.)/g, `'${folder}/`)
const viewOf = (sql: string) => here(sql).split(';')[0]!
const sqlIn = (python: string) => [...python.matchAll(/"""\n([\s\S]*?)"""/g)].map(([, sql]) => sql!)
const latest = () => JSON.parse(readFileSync(join(mirror.folder, 'lake/latest.json'), 'utf8')).full.snapshotId

describe('docs/queries.md', () => {
  test('below each statement stands whether and when it was run on a large mirror', () => {
    const page = readFileSync(new URL('../../docs/queries.md', import.meta.url), 'utf8')
    const told = [...page.matchAll(/^```(?:sql|python) ([a-z-]+)\n[\s\S]*?^```\n\n(.*)$/gm)]
    expect(told).toHaveLength(queries.length)
    for (const [, kind, line] of told) {
      expect(line, kind).toMatch(
        /^\*(?:\d{4}-\d\d-\d\d, [\d,]+ tasks: (?:under )?[\d.]+ s \(.+\)|Not run by hand: .+)\.\*$/,
      )
      // What the generated configuration of Datasette allows a query.
      if (kind === 'sqlite') expect(Number(/: (?:under )?([\d.]+) s/.exec(line!)?.[1])).toBeLessThan(5)
    }
  })

  test.each(of(queries, 'sqlite'))('SQLite: $title', ({ text }) => {
    const rows = mirror.db.prepare(text).all(text.includes(':path') ? { path: '$.n' } : {})
    expect(rows.length).toBeGreaterThan(0)
  })

  test.each(of(queries, 'pandas'))('pandas: $title', ({ text }) => {
    expect(sqlIn(text).length).toBeGreaterThan(0)
    for (const sql of sqlIn(text)) expect(mirror.db.prepare(sql).all().length).toBe(397)
  })

  test.each(of(queries, 'duckdb'))('DuckDB: $title', async ({ text }) => {
    expect((await duck(`${prelude};${here(text)}`)).length).toBeGreaterThan(0)
  })

  test.each(of(queries, 'polars'))('polars: $title', ({ text }) => {
    const tasks = pl.readParquet(join(mirror.folder, 'lake', latest(), 'created_month=2026-06/part-00000.parquet'))
    for (const sql of sqlIn(text)) {
      expect(pl.SQLContext({ tasks }).execute(sql, { eager: true } as never).height).toBeGreaterThan(0)
    }
  })

  test('the statement for the extension of DuckDB runs where the extension is installed', async () => {
    const isInstalled = await duck('LOAD sqlite').then(
      () => true,
      () => false,
    )
    const [block] = of(queries, 'duckdb-sqlite')
    if (isInstalled) await duck(block!.text.replace('task-mirror.sqlite', mirror.path))
    expect(block!.text).toContain('ATTACH')
  })

  test('the mirror and a snapshot give the same answers', async () => {
    const [fromMirror] = of(queries, 'sqlite').filter(({ heading }) => heading.startsWith('Which hosts'))
    const [fromLake] = of(queries, 'duckdb').filter(({ heading }) => heading.startsWith('Which hosts'))
    const [state] = of(scale, 'duckdb').filter(({ text }) => text.includes('current_tasks'))
    const found = await duck(`${viewOf(state!.text)};
      ${fromLake!.text.replace('FROM tasks', 'FROM current_tasks')}`)
    const expected = mirror.db.prepare(fromMirror!.text).raw().all() as unknown[][]
    expect(found).toEqual(expected.map(([host, tasks, failures]) => [host, String(tasks), String(failures)]))
  })

  test.each(of(scale, 'duckdb').filter(({ text }) => text.includes('current_tasks')))(
    'the current state is what the mirror holds: $title',
    async ({ text }) => {
      const found = await duck(`${viewOf(text)}; SELECT id FROM current_tasks ORDER BY id`)
      const live = mirror.db.prepare('SELECT id FROM tasks WHERE deleted_at IS NULL ORDER BY id').raw().all()
      expect(found).toEqual(live)
    },
  )

  test.each(of(scale, 'duckdb').filter(({ text }) => /VIEW (current_tasks|all_accounts)/.test(text)))(
    'a full snapshot that came after the files were listed leaves no task out: $title',
    async ({ text }) => {
      const { path, folder, db } = fillMirror(...ordinaryRows(3))
      const partitionValues = { account: 'acme' }
      const options = { dbPath: path, out: join(folder, 'lake/'), partitionValues, redact: [], toolVersion: '0' }
      await exportSnapshot(options)
      db.exec("UPDATE tasks SET change_seq = 9 WHERE id = 'task-00000001'")
      const { path: late } = await exportSnapshot(options)
      // Who has listed the files finds `latest.json` replaced, and nothing of what it names.
      renameSync(late, join(folder, 'late'))
      const sql = text.includes('all_accounts') ? text : text.replaceAll('lake/', 'lake/account=acme/')
      expect(await duck(`${viewOf(here(sql, folder))}; FROM ${/VIEW (\w+)/.exec(sql)![1]}`)).toHaveLength(3)
    },
  )

  test.each(of(scale, 'duckdb').filter(({ text }) => /VIEW (current_tasks|all_accounts)/.test(text)))(
    'a full snapshot without its manifest brings nothing back that was deleted before it: $title',
    async ({ text }) => {
      const { path, folder, db } = fillMirror(...ordinaryRows(3))
      const partitionValues = { account: 'acme' }
      const options = { dbPath: path, out: join(folder, 'lake/'), partitionValues, redact: [], toolVersion: '0' }
      const { path: early } = await exportSnapshot(options)
      db.exec(`UPDATE tasks SET change_seq = 8, deleted_at = 9 WHERE id = 'task-00000001';
        UPDATE tasks SET change_seq = 9 WHERE id = 'task-00000002'`)
      const { manifest } = await exportSnapshot(options)
      const sql = here(text.includes('all_accounts') ? text : text.replaceAll('lake/', 'lake/account=acme/'), folder)
      const ask = () => duck(`${viewOf(sql)}; SELECT max(change_seq), count(*) FROM ${/VIEW (\w+)/.exec(sql)![1]}`)
      expect(await ask()).toEqual([['9', '2']])
      // As in object storage while it is uploaded, and for who has listed the manifests before it was there.
      renameSync(manifest!, join(folder, 'manifest.json'))
      expect(await ask()).toEqual([['3', '3']])
      // What was listed and is gone by then is missed.
      renameSync(join(early, 'part-00000.parquet'), join(folder, 'gone.parquet'))
      await expect(ask()).rejects.toThrow(`${basename(early)} is gone`)
    },
  )

  test('the canned queries of Datasette are explained on the page', () => {
    const explained = of(queries, 'sqlite').map(({ text }) => text.trim())
    for (const { sql } of CANNED_QUERIES) expect(explained).toContain(sql)
  })
})

describe('docs/tools.md', () => {
  const tools = blocksOf('tools.md')

  test.each(of(tools, 'duckdb'))('$title', async ({ text }) => {
    const found = await duck(here(text).replaceAll('SNAPSHOT', latest()).replace('2026-10', '2026-06'))
    expect(found.length).toBeGreaterThan(0)
  })

  test('NDJSON: what is odd ends the reading that guesses, not the one of the page', async () => {
    const { path, folder } = makeMirror(
      { id: 'half', result_body: '{"text":"\\ud800"}' },
      { id: 'case', result_body: '{"Note":1,"note":2}' },
      { id: 'large', result_body: '{"n":123456789012345678901234567890}' },
    )
    const out = join(folder, 'tasks.ndjson.gz')
    await exportSnapshot({ dbPath: path, out, redact: [], toolVersion: '0', filters: { invalidJson: 'replace' } })
    const [block] = of(tools, 'duckdb').filter(({ heading }) => heading === 'NDJSON')
    expect(await duck(here(block!.text, folder))).toHaveLength(3)
    await expect(duck(`FROM '${out}'`)).rejects.toThrow('Duplicate name "note"')
    await exportSnapshot({ dbPath: path, out, redact: [], toolVersion: '0' })
    await expect(duck(here(block!.text, folder))).rejects.toThrow('surrogate')
  })

  test.each([
    ['whose ids look like numbers', [{ id: '1e5', created_at: 1_780_000_000_000, timeframe: 5n }], [['1e5', '5']]],
    ['without tasks', [], []],
  ])('CSV: DuckDB takes a file %s as it is', async (_, tasks, expected) => {
    const { path, folder } = makeMirror(...tasks)
    await exportSnapshot({ dbPath: path, out: join(folder, 'tasks.csv.gz'), redact: [], toolVersion: '0' })
    const [block] = of(tools, 'duckdb').filter(({ heading }) => heading.startsWith('CSV'))
    const asked = here(block!.text, folder).replace(';', '')
    expect(await duck(`SELECT id, timeframe FROM (${asked})`)).toEqual(expected)
  })

  test('Grafana: the panel reads what it shows by the index', () => {
    const [block] = of(tools, 'sqlite-grafana')
    const sql = block!.text.replace('$__from', '1780000000000').replace('$__to', '1790000000000')
    const rows = mirror.db.prepare(sql).all() as { time: number; tasks: number }[]
    expect(rows.length).toBeGreaterThan(100)
    // Seconds since the epoch, on the hour.
    expect(rows[0]!.time).toBe(Math.floor(1_780_000_000 / 3600) * 3600)
    const plan = JSON.stringify(mirror.db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all())
    expect(plan).toContain('SEARCH tasks USING INDEX tasks_created_at')
  })
})

describe('docs/scale.md', () => {
  test.each(of(scale, 'duckdb'))('DuckDB: $title', async ({ text }) => {
    const folder = new URL(`file://${mirror.folder}/`).pathname
    await duck(here(text).replaceAll('SNAPSHOT', latest()).replaceAll("'out/", `'${folder}`))
  })

  test.each(of(scale, 'polars'))('polars: $title', ({ text }) => {
    const tasks = pl.readParquet(join(mirror.folder, 'lake', latest(), 'created_month=2026-06/part-00000.parquet'))
    for (const sql of sqlIn(text)) {
      expect(pl.SQLContext({ tasks }).execute(sql, { eager: true } as never).height).toBeGreaterThan(0)
    }
  })
})
