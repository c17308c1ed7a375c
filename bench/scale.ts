// Cost per task as the number of tasks grows: the same steps at every size, once or more each.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Cost, measure } from './measure.ts'
import { addBar, addRow, emptyScript, expectCount, node, run, type Stage, sizeOf, taskMirror } from './stage.ts'

/** A run with nothing to do is short and measured more often. */
const SHORT_TURNS = 5

const STEPS = [
  'empty Node',
  'plain loop',
  'backfill',
  'backfill, 50 ms',
  'sync, nothing new',
  'sync --full, nothing changed',
  'export NDJSON',
  'export Parquet',
  'DuckDB, Parquet zstd from NDJSON',
] as const

export async function benchScale(stage: Stage, sizes: readonly number[]): Promise<void> {
  for (const size of sizes) {
    const group = `scale, ${size} tasks`
    const costs = new Map<string, Cost[]>(STEPS.map((name) => [name, []]))
    const bytes = new Map<string, number>()
    const turns = size >= 1_000_000 ? 1 : stage.repeats
    for (let turn = 0; turn < turns; turn += 1) await measureAll(stage, size, costs, bytes)
    // The group `intake` tells it of smaller accounts.
    if (size === sizes.at(-1)) {
      const far = join(stage.folder, 'far.sqlite')
      costs.get('backfill, 50 ms')!.push((await run(['backfill'], stage.server.base(size, 50), far)).cost)
      rmSync(far)
    }
    for (const name of STEPS) {
      if (costs.get(name)!.length === 0) continue
      const tasks = name === 'sync, nothing new' || name === 'empty Node' ? null : size
      addRow(stage, group, name, tasks, costs.get(name)!, bytes.get(name) ?? null)
    }
  }
  const most = sizes.at(-1)
  if (most === undefined) return
  const seconds = (name: (typeof STEPS)[number]) =>
    stage.rows.find((row) => row.group === `scale, ${most} tasks` && row.name === name)!.ms.median
  const pace = (name: (typeof STEPS)[number], other: (typeof STEPS)[number]) => seconds(other) / seconds(name)
  addBar(stage, `backfill against the plain loop, ${most} tasks`, pace('backfill', 'plain loop'), 'x', { atLeast: 2 })
  const far = pace('backfill, 50 ms', 'backfill')
  addBar(stage, `backfill at 50 ms against itself without, ${most} tasks`, far, 'x', { atLeast: 0.85 })
  const full = pace('sync --full, nothing changed', 'backfill')
  addBar(stage, `full walk, nothing changed, against the backfill, ${most} tasks`, full, 'x', { atLeast: 1.5 })
  const parquet = pace('export Parquet', 'DuckDB, Parquet zstd from NDJSON')
  addBar(stage, `Parquet against DuckDB, ${most} tasks`, parquet, 'x', { atLeast: 0.8 })

  const least = sizes.find((size) => size >= 100_000)
  if (least === undefined || most === least) return
  const dearer = (name: (typeof STEPS)[number]) =>
    seconds(name) / stage.rows.find((row) => row.group === `scale, ${least} tasks` && row.name === name)!.ms.median
  const perTask = (name: (typeof STEPS)[number]) => dearer(name) / (most / least)
  addBar(stage, `plain loop: cost per task at ${most} against ${least}`, perTask('plain loop'), 'x', {})
  addBar(stage, `backfill: cost per task at ${most} against ${least}`, perTask('backfill'), 'x', { atMost: 1.1 })
  const quiet = dearer('sync, nothing new')
  addBar(stage, `sync, nothing new: time at ${most} against ${least}`, quiet, 'x', { atMost: 1.2 })
  const isOurs = (name: string) => !name.startsWith('plain loop') && !name.startsWith('DuckDB')
  const peak = stage.rows.filter(({ group, name }) => group.startsWith('scale') && isOurs(name))
  addBar(stage, 'peak memory at any size', Math.max(...peak.map(({ peakMb }) => peakMb?.most ?? 0)), 'MB', {
    atMost: 256,
  })
}

async function measureAll(stage: Stage, size: number, costs: Map<string, Cost[]>, bytes: Map<string, number>) {
  const base = stage.server.base(size, 0)
  const path = (name: string) => join(stage.folder, name)
  costs.get('plain loop')!.push(await node('plain/loop.ts', base, path('plain.sqlite')))
  rmSync(path('plain.sqlite'))
  const mirror = path('mirror.sqlite')
  const backfill = await run(['backfill'], base, mirror)
  costs.get('backfill')!.push(backfill.cost)
  bytes.set('backfill', sizeOf(mirror))
  for (let turn = 0; turn < SHORT_TURNS; turn += 1) {
    costs.get('empty Node')!.push(await measure([process.execPath, emptyScript(stage.folder)]))
    const { cost, summary } = await run(['sync'], base, mirror)
    costs.get('sync, nothing new')!.push(cost)
    if (summary.requests > 3) throw new Error(`sync with nothing new took ${summary.requests} requests`)
  }
  const full = await run(['sync', '--full'], base, mirror)
  costs.get('sync --full, nothing changed')!.push(full.cost)
  expectCount('sync --full', full.summary.unchanged - full.summary.details, backfill.summary.inserted)
  for (const [name, file] of [
    ['export NDJSON', 'tasks.ndjson'],
    ['export Parquet', 'tasks.parquet'],
  ] as const) {
    costs.get(name)!.push(await taskMirror('export', '--db', mirror, '--out', path(file), '--quiet'))
    bytes.set(name, sizeOf(path(file)))
    rmSync(path(file))
  }
  const source = path('with-meta.ndjson')
  await taskMirror('export', '--db', mirror, '--out', source, '--with-meta', '--quiet')
  rmSync(mirror)
  costs.get('DuckDB, Parquet zstd from NDJSON')!.push(await node('plain/duckdb.ts', source, path('duckdb.parquet')))
  bytes.set('DuckDB, Parquet zstd from NDJSON', sizeOf(path('duckdb.parquet')))
  for (const file of [source, path('duckdb.parquet')]) rmSync(file)
}
