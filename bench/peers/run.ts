// `npm run bench:peers [-- --quick] [-- --only NAME,...] [-- --from RESULTS.json]`: task-mirror and other tools on the same
// services in one run; writes the tables of README.md and docs/comparison.md between their markers. BENCH_TASKS (50,000),
// BENCH_REPEATS (3), BENCH_FOLDER for scratch files, BENCH_CACHE for what comes from PyPI, PYTHON. `--quick` only proves
// that it runs and writes no document; `--from` writes the documents of a run before.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { withTable } from '../document.ts'
import { measure } from '../measure.ts'
import { startServer } from '../server.ts'
import { buildProgram, loadAverage, scratchFolder } from '../stage.ts'
import { type Contender, ours, type Peer, peers } from './contenders.ts'
import { judged, type Stored } from './judged.ts'
import { comparisonTables, type PeerResult, type Results, type Rows, type Run, readmeTable } from './report.ts'
import { watchMemory } from './tree.ts'
import { startWorld, type WorldKind, worldKinds } from './worlds.ts'

const LATENCY_MS = 50
const LONGEST_SECONDS = 900
/** Who takes longer for a turn is not measured again: noise is small beside that. */
const LONG_TURN_MS = 60_000
const ROOT = new URL('../..', import.meta.url).pathname

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, from: { type: 'string' } },
})
const tasks = values.quick ? 2000 : Number(process.env.BENCH_TASKS ?? 50_000)
const farTasks = Math.min(tasks, 20_000)
const repeats = values.quick ? 1 : Number(process.env.BENCH_REPEATS ?? 3)

if (values.from !== undefined) writeDocuments(JSON.parse(readFileSync(values.from, 'utf8')) as Results)
else await main()

async function main(): Promise<void> {
  const others = await peers()
  if ('reason' in others) {
    console.log(`bench:peers skipped: ${others.reason}`)
    return
  }
  if (process.env.BENCH_CLI === undefined) await buildProgram()
  const contenders = [...ours(), ...others.flatMap(({ contenders }) => contenders)].filter(
    ({ name }) => values.only === undefined || values.only.split(',').includes(name),
  )
  const folder = scratchFolder()
  const load: (number | null)[] = []
  const results = contenders.map(({ name, setting }): PeerResult => ({ name, setting, speed: [], worlds: {} }))
  try {
    for (const [key, kind] of Object.entries(worldKinds(tasks))) {
      for (const [i, contender] of contenders.entries()) {
        results[i]!.worlds[key] = await inWorld(contender, kind, join(folder, `world-${i}`))
        console.log(key, contender.name, contender.setting, JSON.stringify(results[i]!.worlds[key]))
      }
    }
    // Seconds mean something only on a machine with nothing else to do; rows are the same on any.
    load.push(loadAverage())
    await measureSpeed(contenders, results, folder)
    load.push(loadAverage())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const found: Results = {
    at: new Date().toISOString(),
    machine: `${cpus().length} cores (${cpus()[0]?.model ?? ''})`,
    cores: cpus().length,
    load,
    tasks,
    farTasks,
    latencyMs: LATENCY_MS,
    repeats,
    versions: await versionsOf(others),
    peers: results,
  }
  mkdirSync(join(ROOT, 'bench/results'), { recursive: true })
  const file = join(ROOT, 'bench/results', `peers-${found.at.replaceAll(':', '-')}.json`)
  writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`)
  console.log(`${comparisonTables(found)}\n${file}`)
  if (!values.quick && values.only === undefined) writeDocuments(found)
}

/** First sync, second sync with nothing new, first sync with latency: turn by turn, so that all meet the same load. */
async function measureSpeed(contenders: readonly Contender[], results: PeerResult[], folder: string): Promise<void> {
  const server = await startServer({ tasks, keptBack: 0, seed: 1 })
  const requests = () => server.requests()
  try {
    for (let turn = 0; turn < repeats; turn += 1) {
      for (const [i, contender] of contenders.entries()) {
        const { speed } = results[i]!
        if (speed.some(({ first, again, far }) => first.ms + again.ms + far.ms > LONG_TURN_MS)) continue
        const own = freshFolder(join(folder, `speed-${i}`))
        const near = server.base(tasks, 0)
        const first = await perform(contender, contender.first(near, own, 1000), own, requests)
        const again = await perform(contender, contender.again(near, own, 1000), own, requests)
        const stored = await rowsOf(contender, own)
        const far = freshFolder(join(folder, `far-${i}`))
        const farRun = await perform(
          contender,
          contender.first(server.base(farTasks, LATENCY_MS), far, 1000),
          far,
          requests,
        )
        speed.push({ first, again, far: farRun, rows: stored.size })
        console.log(turn, contender.name, contender.setting, JSON.stringify(speed.at(-1)))
        for (const used of [own, far]) rmSync(used, { recursive: true, force: true })
      }
    }
  } finally {
    await server.close()
  }
}

/** Two runs in a world of its own, and what is in the table after each. */
async function inWorld(
  contender: Contender,
  kind: WorldKind,
  own: string,
): Promise<{ first: Rows; again: Rows | null }> {
  const world = await startWorld(kind)
  const requests = async () => world.requests()
  freshFolder(own)
  try {
    const round = async (command: string[]): Promise<Rows> => {
      const before = world.listed()
      const run = await perform(contender, command, own, requests)
      return { run, ...judged(await rowsOf(contender, own), before, world.listed(), world.digits) }
    }
    const first = await round(contender.first(world.url, own, kind.page))
    if (!kind.isReadTwice) return { first, again: null }
    world.change()
    return { first, again: await round(contender.again(world.url, own, kind.page)) }
  } finally {
    await world.close()
    rmSync(own, { recursive: true, force: true })
  }
}

function freshFolder(path: string): string {
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
  return path
}

/** What a contender is given: nobody reports to anybody, nothing is written outside its folder. */
function environmentFor({ bin }: Contender, folder: string): Record<string, string> {
  const path = process.env.PATH ?? ''
  return {
    PATH: bin === null ? path : `${bin}:${path}`,
    HOME: folder,
    TMPDIR: folder,
    DO_NOT_TRACK: '1',
    AIRBYTE_OFFLINE_MODE: '1',
    AIRBYTE_LOGGING_ROOT: folder,
    RUNTIME__DLTHUB_TELEMETRY: 'false',
  }
}

async function perform(
  contender: Contender,
  command: string[],
  folder: string,
  requests: () => Promise<number>,
): Promise<Run> {
  const before = await requests()
  const started = performance.now()
  let stopWatching = () => 0
  let told: string | null = null
  let cpuMs: number | null = null
  try {
    const limited = ['timeout', String(LONGEST_SECONDS), ...command]
    const cost = await measure(limited, environmentFor(contender, folder), (pid) => {
      stopWatching = watchMemory(pid)
    })
    cpuMs = cost.cpuMs
  } catch (error) {
    told = (error as Error).message.slice(-600)
  }
  const ms = performance.now() - started
  const peakMb = stopWatching()
  // task-mirror tells by exit 3 that a walk did not prove the whole list: no failure, and its rows are in.
  const isPartial = contender.name === 'task-mirror' && (told?.includes('ended with 3') ?? false)
  return { ms, cpuMs, peakMb, requests: (await requests()) - before, failed: isPartial ? null : told, isPartial }
}

async function rowsOf(contender: Contender, folder: string): Promise<Stored> {
  const stored: Stored = new Map()
  const python = contender.bin === null ? (process.env.PYTHON ?? 'python3') : `${contender.bin}/python`
  try {
    const { stdout } = await measure([
      python,
      join(ROOT, 'bench/peers/rows.py'),
      join(folder, contender.file),
      contender.table,
    ])
    for (const line of stdout.split('\n')) {
      if (line === '') continue
      const [id, status, text] = JSON.parse(line) as [string, string, string]
      stored.set(id, { status, text })
    }
  } catch (error) {
    // A first run that failed may leave no table: nothing is stored then.
    console.log(contender.name, contender.setting, (error as Error).message.slice(-200))
  }
  return stored
}

async function versionsOf(others: readonly Peer[]): Promise<Record<string, string>> {
  const versions: Record<string, string> = {}
  for (const { name, packages, contenders } of others) {
    const ask = `from importlib.metadata import version as v; print(', '.join(f'{n} {v(n)}' for n in ${JSON.stringify(packages)}))`
    const { stdout } = await measure([`${contenders[0]!.bin}/python`, '-c', ask])
    versions[name] = stdout.trim()
  }
  const jq = await measure(['jq', '--version'])
  versions['curl, jq, sqlite-utils'] += `, ${jq.stdout.trim()}`
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  versions['task-mirror'] = `task-mirror ${version}, Node ${process.versions.node}`
  return versions
}

function writeDocuments(results: Results): void {
  for (const [name, table] of [
    ['README.md', readmeTable(results)],
    ['docs/comparison.md', comparisonTables(results)],
  ] as const) {
    const path = join(ROOT, name)
    writeFileSync(path, withTable(readFileSync(path, 'utf8'), table, 'bench:peers'))
  }
}
