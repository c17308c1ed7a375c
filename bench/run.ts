// `npm run bench [-- --quick] [-- --scale] [-- --only intake,export,start,open,large,range]`: everything side by side in one run.
// Prints tables and writes bench/results/<time>.json. BENCH_TASKS (100,000), BENCH_REPEATS (3), BENCH_SIZES for --scale
// (10000,100000,1000000), BENCH_FOLDER for the scratch files, BENCH_CLI for another build. `--quick` only proves that it
// runs: 5,000 tasks, once.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchExport } from './export.ts'
import { benchIntake, keptBackFor } from './intake.ts'
import { benchLarge } from './large.ts'
import { benchOpen } from './open.ts'
import { benchRange } from './range.ts'
import { benchScale } from './scale.ts'
import { startServer } from './server.ts'
import { buildProgram, loadAverage, type Stage, scratchFolder } from './stage.ts'
import { benchStart } from './start.ts'
import { barTable, rowTables } from './tables.ts'

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, scale: { type: 'boolean' }, only: { type: 'string' } },
})
const tasks = values.quick ? 5000 : Number(process.env.BENCH_TASKS ?? 100_000)
const repeats = values.quick ? 1 : Number(process.env.BENCH_REPEATS ?? 3)
const sizes = (process.env.BENCH_SIZES ?? '10000,100000,1000000').split(',').map(Number)
const groups = values.only?.split(',') ?? (values.scale ? [] : ['intake', 'export', 'start', 'open', 'large', 'range'])

if (process.env.BENCH_CLI === undefined) await buildProgram()
const keptBack = keptBackFor(tasks, repeats)
const server = await startServer({ tasks: Math.max(tasks, ...(values.scale ? sizes : [])), keptBack, seed: 1 })
const stage: Stage = { server, tasks, repeats, folder: scratchFolder(), rows: [], bars: [] }
const load = [loadAverage()]
try {
  if (['intake', 'start', 'export'].some((name) => groups.includes(name))) {
    const mirror = await benchIntake(stage)
    if (groups.includes('start')) await benchStart(stage, mirror)
    if (groups.includes('export')) await benchExport(stage, mirror, tasks + keptBack)
  }
  if (groups.includes('range')) await benchRange(stage)
  if (groups.includes('open')) await benchOpen(stage, values.quick ? tasks : 2 * tasks)
  if (groups.includes('large')) await benchLarge(stage, values.quick ? 0.02 : 1)
  if (values.scale) await benchScale(stage, sizes)
} finally {
  rmSync(stage.folder, { recursive: true, force: true })
  await server.close()
}
load.push(loadAverage())

const root = new URL('..', import.meta.url).pathname
const installed = (name: string): string =>
  (JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as { version: string }).version
const about = {
  at: new Date().toISOString(),
  cpu: cpus()[0]?.model ?? '',
  cores: cpus().length,
  /** At the beginning and at the end. */
  load,
  node: process.versions.node,
  ...Object.fromEntries(['better-sqlite3', 'undici', '@duckdb/node-api'].map((name) => [name, installed(name)])),
  taskBytes: Math.round(server.taskBytes),
  repeats,
}
// A few tasks, once, say nothing about any bar.
const bars = values.quick ? '' : `${barTable(stage.bars)}\n`
console.log(`${rowTables(stage.rows)}\n${bars}${JSON.stringify(about)}`)
mkdirSync(join(root, 'bench/results'), { recursive: true })
const file = join(root, 'bench/results', `${about.at.replaceAll(':', '-')}.json`)
writeFileSync(file, `${JSON.stringify({ about, rows: stage.rows, bars: stage.bars }, null, 2)}\n`)
console.log(file)
