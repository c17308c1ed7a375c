// Snapshots: task-mirror, plain concatenation, DuckDB and the sqlite3 shell, turn by turn, from the same mirror. Then what is
// divided or chosen beside one whole file of it.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type Cost, measure } from './measure.ts'
import { areThere } from './shell.ts'
import { addBar, addRow, node, run, type Stage, sizeOf, taskMirror } from './stage.ts'

export async function benchExport(stage: Stage, mirror: string, tasks: number): Promise<void> {
  const { folder, repeats } = stage
  const path = (name: string) => join(folder, name)
  const source = path('with-meta.ndjson')
  await taskMirror('export', '--db', mirror, '--out', source, '--with-meta', '--quiet')

  const publish = (name: string, ...flags: string[]) =>
    taskMirror('export', '--db', mirror, '--out', path(name), '--quiet', ...flags)
  const contenders: { name: string; file: string; make(): Promise<Cost> }[] = [
    {
      name: 'plain concatenation, NDJSON',
      file: 'plain.ndjson',
      make: () => node('plain/concatenate.ts', mirror, path('plain.ndjson')),
    },
    { name: 'NDJSON --no-redact', file: 'whole.ndjson', make: () => publish('whole.ndjson', '--no-redact') },
    { name: 'NDJSON, redacted', file: 'redacted.ndjson', make: () => publish('redacted.ndjson') },
    { name: 'NDJSON zstd, redacted', file: 'redacted.ndjson.zst', make: () => publish('redacted.ndjson.zst') },
    { name: 'Parquet zstd, redacted', file: 'tasks.parquet', make: () => publish('tasks.parquet') },
    {
      name: 'DuckDB, Parquet zstd from NDJSON',
      file: 'duckdb.parquet',
      make: () => node('plain/duckdb.ts', source, path('duckdb.parquet')),
    },
  ]
  if (areThere('sqlite3 -json', ['sqlite3'])) {
    contenders.push({
      name: 'sqlite3 -json',
      file: 'sqlite3.json',
      make: () =>
        measure(['sqlite3', '-readonly', '-json', mirror, `.once ${path('sqlite3.json')}`, 'SELECT * FROM tasks']),
    })
  }
  const costs = contenders.map((): Cost[] => [])
  const sizes = contenders.map(() => 0)
  for (let turn = 0; turn < repeats; turn += 1) {
    for (const [i, { file, make }] of contenders.entries()) {
      costs[i]!.push(await make())
      sizes[i] = sizeOf(path(file))
      rmSync(path(file), { force: true })
    }
  }
  rmSync(source, { force: true })

  const group = `export of ${tasks} tasks`
  const rows = contenders.map(({ name }, i) => addRow(stage, group, name, tasks, costs[i]!, sizes[i]!))
  const [plain, whole, redacted, , parquet, duckdb] = rows as [Row, Row, Row, Row, Row, Row]
  // The bars are 250,000 and 180,000 tasks/s on a machine where the plain concatenation reaches 290,000.
  const share = (row: Row) => plain.ms.median / row.ms.median
  addBar(stage, 'NDJSON --no-redact against plain concatenation', share(whole), 'x', { atLeast: 250 / 290 })
  addBar(stage, 'NDJSON, redacted, against plain concatenation', share(redacted), 'x', { atLeast: 180 / 290 })
  addBar(stage, 'Parquet against DuckDB', duckdb.ms.median / parquet.ms.median, 'x', { atLeast: 0.8 })
  addBar(stage, 'size of Parquet against DuckDB', parquet.bytesPerTask! / duckdb.bytesPerTask!, 'x', { atMost: 1.1 })
  await benchDivided(stage, mirror, tasks)
  const peak = [whole, redacted, parquet].map(({ peakMb }) => peakMb?.most ?? 0)
  addBar(stage, 'peak memory of an export', Math.max(...peak), 'MB', { atMost: 256 })
}

type Row = ReturnType<typeof addRow>

/** Datasets and filters in Parquet; rows per second beside those of one file of a mirror of about as many tasks. */
async function benchDivided(stage: Stage, mirror: string, tasks: number): Promise<void> {
  const { folder, repeats, server } = stage
  const group = `datasets and filters of ${tasks} tasks, Parquet`
  const file = join(folder, 'one.parquet')
  const dataset = join(folder, 'lake/')
  const perFile = Math.ceil(tasks / 10)
  const half = join(folder, 'half.sqlite')
  const quarter = join(folder, 'quarter.sqlite')
  await run(['backfill'], server.base(Math.ceil(tasks / 2), 0), half)
  await run(['backfill'], server.base(Math.ceil(tasks / 4), 0), quarter)
  // Each row beside the last one above it that is a whole file.
  const kinds: [name: string, mirror: string, ...flags: string[]][] = [
    ['one file', mirror, '--out', file],
    ['partitions by month', mirror, '--out', dataset, '--partition-by', 'month'],
    [`${perFile} rows a file`, mirror, '--out', dataset, '--rows-per-file', String(perFile)],
    ['one status', mirror, '--out', file, '--status', 'DONE'],
    ['one file of half as many', half, '--out', file],
    ['the newer half by time', mirror, '--out', file, '--since', String(medianMoment(mirror))],
    ['one file of a quarter', quarter, '--out', file],
    ['a feed of a quarter', mirror, '--out', dataset, '--changes', String(Math.ceil((tasks * 3) / 4))],
  ]
  const costs = kinds.map((): Cost[] => [])
  const counts = kinds.map(() => 0)
  for (let turn = 0; turn < repeats; turn += 1) {
    for (const [i, [, db, ...flags]] of kinds.entries()) {
      const cost = await taskMirror('export', '--db', db, '--quiet', '--json', ...flags)
      costs[i]!.push(cost)
      counts[i] = (JSON.parse(cost.stdout) as { rows: number }).rows
      for (const path of [file, dataset]) rmSync(path, { recursive: true, force: true })
    }
  }
  let whole: Row | null = null
  for (const [i, [name]] of kinds.entries()) {
    const row = addRow(stage, group, name, counts[i]!, costs[i]!)
    if (whole === null || name.startsWith('one file')) whole = row
    else
      addBar(stage, `${name} against ${whole.name}, rows/s`, row.tasksPerSecond! / whole.tasksPerSecond!, 'x', {
        atLeast: 0.9,
      })
  }
}

/** `createdAt` of the task in the middle, epoch ms. */
function medianMoment(mirror: string): number {
  const db = new Database(mirror, { readonly: true })
  try {
    const middle = 'SELECT created_at FROM tasks ORDER BY created_at LIMIT 1 OFFSET (SELECT count(*) / 2 FROM tasks)'
    return db.prepare(middle).pluck().get() as number
  } finally {
    db.close()
  }
}
