// `npm run bench:size [-- --tasks 10000000]`: an account of that size mirrored, published by month and asked questions by
// DuckDB and Spark; writes its part of docs/scale.md between the markers (with `--dry` only prints it). BENCH_FOLDER for
// scratch files (about 2 KB a task), BENCH_CACHE for what comes from PyPI, PYTHON. Without PyPI or Java, Spark is left out.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startSimulator } from '../../src/simulator/server.ts'
import { withTable } from '../document.ts'
import { environmentOf } from '../environment.ts'
import { type Cost, measure } from '../measure.ts'
import { buildProgram, loadAverage, run, type Summary, scratchFolder, sizeOf, taskMirror } from '../stage.ts'
import { type Answer, askDuckDb, layoutOf } from './duckdb.ts'
import { type Size, sizeTables } from './report.ts'

const CHANGES = 10_000
const DAYS = 365
const ROOT = new URL('../..', import.meta.url).pathname

const { values } = parseArgs({
  options: { tasks: { type: 'string' }, dry: { type: 'boolean' }, from: { type: 'string' } },
})
const tasks = Number(values.tasks ?? 10_000_000)
const newest = Date.now() - 3_600_000

if (values.from !== undefined) write(JSON.parse(readFileSync(values.from, 'utf8')) as Size)
else await main()

async function main(): Promise<void> {
  if (process.env.BENCH_CLI === undefined) await buildProgram()
  const folder = scratchFolder()
  const load = [loadAverage()]
  try {
    const simulator = await startSimulator({
      seed: 1,
      tasks,
      taskBytes: 800,
      openFraction: 0,
      openInserts: 0,
      spanDays: DAYS,
      newest,
      compression: 'none',
    })
    const phases: Size['phases'] = []
    const phase = (name: string, cost: Cost, more = '') => {
      phases.push({ name, ms: cost.ms, cpuMs: cost.cpuMs, peakMb: cost.peakMb, more })
      console.log(JSON.stringify(phases.at(-1)))
    }
    const mirror = join(folder, 'mirror.sqlite')
    const lake = join(folder, 'lake/')
    const told = ({ requests, seen }: Summary) => `${count(requests)} requests, ${count(seen)} tasks seen`

    const first = await run(['sync'], simulator.url, mirror)
    phase('first sync', first.cost, told(first.summary))
    const nothing = await run(['sync'], simulator.url, mirror)
    phase('sync, nothing new', nothing.cost, told(nothing.summary))
    const published = await publish(mirror, lake, '--partition-by', 'month')
    phase('snapshot by month', published.cost, count(published.rows))
    const snapshot = published.path
    simulator.account.insert(CHANGES, { where: 'front' })
    const some = await run(['sync'], simulator.url, mirror)
    phase(`sync, ${count(CHANGES)} new`, some.cost, told(some.summary))
    const fed = await publish(mirror, lake, '--changes', 'last')
    phase(`feed of ${count(fed.rows)} changes`, fed.cost, `${count(fed.bytes)} bytes`)
    phase('verify --snapshot', await taskMirror('verify', '--snapshot', snapshot))
    await simulator.close()

    const layout = await layoutOf(snapshot)
    const questions = questionsFor(layout.someId, newest)
    const duckdb = await askDuckDb(snapshot, true, questions)
    const current = await askDuckDb(lake, false, {
      'current state, snapshot and feed': `SELECT system_status, count(*) FROM (
        SELECT system_status, deleted_at, row_number() OVER (PARTITION BY id ORDER BY change_seq DESC) AS newest FROM tasks)
        WHERE newest = 1 AND deleted_at IS NULL GROUP BY ALL`,
    })
    const spark = await askSpark(snapshot, questions)
    load.push(loadAverage())
    const size: Size = {
      at: new Date().toISOString(),
      machine: `${cpus().length} cores (${cpus()[0]?.model ?? ''})`,
      cores: cpus().length,
      load,
      tasks,
      mirrorBytes: sizeOf(mirror),
      phases,
      layout,
      feedBytes: fed.bytes,
      duckdb: [...duckdb, ...current],
      spark,
    }
    mkdirSync(join(ROOT, 'bench/results'), { recursive: true })
    const file = join(ROOT, 'bench/results', `size-${size.at.replaceAll(':', '-')}.json`)
    writeFileSync(file, `${JSON.stringify(size, null, 2)}\n`)
    console.log(`${sizeTables(size)}\n${file}`)
    if (!values.dry) write(size)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function write(size: Size): void {
  const path = join(ROOT, 'docs/scale.md')
  writeFileSync(path, withTable(readFileSync(path, 'utf8'), sizeTables(size), 'bench:size'))
}

async function publish(mirror: string, lake: string, ...flags: string[]) {
  const cost = await taskMirror('export', '--db', mirror, '--out', lake, ...flags, '--json', '--quiet')
  const { rows, bytes, path } = JSON.parse(cost.stdout) as { rows: number; bytes: number; path: string }
  return { cost, rows, bytes, path }
}

/** Five questions of a month, a day and a task in the middle of the account, and of all of it. */
function questionsFor(id: string, newestMs: number): Record<string, string> {
  const middle = new Date(newestMs - (DAYS / 2) * 86_400_000)
  const month = middle.toISOString().slice(0, 7)
  const day = `${month}-15`
  const next = `${month}-16`
  return {
    'tasks by status, all': 'SELECT system_status, count(*) AS tasks FROM tasks GROUP BY system_status',
    'failures by method, one month': `SELECT data_method, count(*) AS tasks FROM tasks
      WHERE created_month = '${month}' AND system_status = 'FAILED' GROUP BY data_method`,
    'one day': `SELECT count(*) AS tasks, avg(result_status_code) AS code FROM tasks
      WHERE created_month = '${month}' AND created_at >= TIMESTAMP '${day} 00:00:00' AND created_at < TIMESTAMP '${next} 00:00:00'`,
    'one task by id': `SELECT id, data_url, result_body FROM tasks WHERE id = '${id}'`,
    'largest answers, one month': `SELECT id, length(result_body) AS size FROM tasks
      WHERE created_month = '${month}' ORDER BY size DESC, id LIMIT 10`,
  }
}

async function askSpark(snapshot: string, questions: Record<string, string>): Promise<Size['spark']> {
  const here = join(ROOT, 'bench/size')
  const environment = await environmentOf('spark', [join(here, 'build.txt'), join(here, 'requirements.txt')])
  if ('reason' in environment) {
    console.log(`not measured: Spark: ${environment.reason}`)
    return null
  }
  try {
    const python = join(environment.bin, 'python')
    const { stdout } = await measure([python, join(here, 'questions.py'), snapshot, JSON.stringify(questions)], {
      PYSPARK_PYTHON: python,
    })
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Answer & { version?: string })
    return { version: lines.at(-1)!.version!, answers: lines.slice(0, -1) }
  } catch (error) {
    console.log(`not measured: Spark: ${(error as Error).message.slice(-500)}`)
    return null
  }
}

function count(value: number): string {
  return value.toLocaleString('en')
}
