// A simulated service on a real socket, an empty folder, and the built command line between the two. What a test asks of
// them reads as a user's session; nothing here knows how a walk works.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { type LoggedRequest, type Simulator, type SimulatorHooks, startSimulator } from '../../src/simulator/server.ts'
import type { RunSummary } from '../../src/sync/conclude.ts'
import { type CliResult, type RunningCli, runCli, runHere, startCli } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'
import { SOAK } from '../support/soak.ts'

/**
 * Tasks that a window holds where a stage says so: in `npm test` a tenth of the default, so that a tenth of the tasks make as
 * many windows.
 */
export const WINDOW = SOAK ? 1000 : 100
/** The same where a hundred are too few: without being allowed to, a run marks no more than that as deleted. */
export const LARGE_WINDOW = SOAK ? 1000 : 200

/** As many rounds as fit into `npm test`, or into a soak. */
export function rounds(quick: number, soak: number): number[] {
  return Array.from({ length: SOAK ? soak : quick }, (_, round) => round)
}

export interface EndedRun extends CliResult {
  /** The object of `--json`. */
  summary: RunSummary
  /** The requests that reached the service meanwhile. */
  asked: LoggedRequest[]
}

export interface Stage extends AsyncDisposable {
  readonly simulator: Simulator
  readonly dir: string
  readonly mirrorPath: string
  /** Runs any command to its end, as a process in the stage's folder and against its service. */
  run(args: readonly string[], env?: Record<string, string>): Promise<CliResult>
  /** The same without a process of its own: see `runHere`. */
  runHere(args: readonly string[], env?: Record<string, string>): Promise<CliResult>
  /** Starts `sync --json` or `backfill --json`; the caller waits for `ended`. */
  start(args: readonly string[], env?: Record<string, string>): RunningCli
  /** Runs `sync --json` to its end, without a process of its own. */
  sync(...flags: string[]): Promise<EndedRun>
  /** Runs `sync` or `backfill` with `--json` to its end, without a process of its own. */
  runJson(args: readonly string[], env?: Record<string, string>): Promise<EndedRun>
  /** The requests that have reached the service from the n-th on. */
  askedSince(n: number): LoggedRequest[]
  /** Rows of the mirror, on a connection of its own. */
  rows<T>(sql: string, ...values: unknown[]): T[]
  /** The only value of the only row. */
  value<T>(sql: string, ...values: unknown[]): T
  /** Starts it as `start` does; resolves when the service has been asked `count` times, or the process has ended. */
  startUntilAsked(count: number, args: readonly string[]): Promise<RunningCli>
  /** The time by the clock of `stepMs`, epoch ms. */
  now(): number
  /** Lets so many ms pass by it. */
  pass(ms: number): void
  /** Ids that were listed from now until it is called. */
  listedThroughout(): () => Set<string>
}

export interface StageOptions extends Partial<SimulatorOptions>, SimulatorHooks {
  /** `sync.window` of every command, as long as its own environment says nothing else; default: the program's. */
  window?: number
  /**
   * By the clock of the service and of all that runs here, every request takes so many ms, and nothing else takes any: however
   * slow this machine is. No command may have to wait then.
   */
  stepMs?: number
}

export async function makeStage({ stepMs, window, ...options }: StageOptions = {}): Promise<Stage> {
  const scratch = makeScratch()
  let clockMs = Date.now()
  const clock = stepMs === undefined ? undefined : () => clockMs
  const simulator = await startSimulator({
    seed: 7,
    openFraction: 0.01,
    compression: 'none',
    ...(clock !== undefined && { now: clock }),
    ...options,
  })
  const mirrorPath = scratch.path('task-mirror.sqlite')
  simulator.onBeforeRequest(() => {
    clockMs += stepMs ?? 0
  })

  const common = {
    TASK_MIRROR_BASE_URL: simulator.url,
    // What the second look-up waits for comes with the test's own events.
    TASK_MIRROR_SYNC_DELETION_PAUSE_MS: '50',
    ...(window !== undefined && { TASK_MIRROR_SYNC_WINDOW: String(window) }),
  }
  const start = (args: readonly string[], env: Record<string, string> = {}) =>
    startCli(args, { cwd: scratch.dir, env: { ...common, ...env } })
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    runCli(args, { cwd: scratch.dir, env: { ...common, ...env } })
  const runInside = (args: readonly string[], env: Record<string, string> = {}) => {
    const file = join(scratch.dir, 'task-mirror.json')
    const all = {
      ...common,
      TASK_MIRROR_DB: mirrorPath,
      ...(existsSync(file) && { TASK_MIRROR_CONFIG: file }),
      ...env,
    }
    return runHere(args, all, clock)
  }
  const askedSince = (n: number) => simulator.log.filter((request) => request.n >= n)

  async function runJson(args: readonly string[], env: Record<string, string> = {}): Promise<EndedRun> {
    const before = simulator.requests
    const result = await runInside([...args, '--json'], env)
    if (result.stdout === '') throw new Error(`It printed no summary (exit ${result.code}): ${result.stderr}`)
    return { ...result, summary: JSON.parse(result.stdout) as RunSummary, asked: askedSince(before) }
  }

  function rows<T>(sql: string, ...values: unknown[]): T[] {
    const db = new Database(mirrorPath, { readonly: true })
    try {
      return db.prepare(sql).all(...values) as T[]
    } finally {
      db.close()
    }
  }

  return {
    simulator,
    dir: scratch.dir,
    mirrorPath,
    run,
    runHere: runInside,
    start: (args, env) => start([...args, '--json'], env),
    sync: (...flags) => runJson(['sync', ...flags]),
    runJson,
    askedSince,
    rows,
    value: <T>(sql: string, ...values: unknown[]) =>
      Object.values(rows<Record<string, T>>(sql, ...values)[0] ?? {})[0] as T,
    async startUntilAsked(count, args) {
      const target = simulator.requests + count
      const { promise: asked, resolve } = Promise.withResolvers<void>()
      const off = simulator.onBeforeRequest(() => {
        if (simulator.requests >= target) resolve()
      })
      const running = start([...args, '--json'])
      await Promise.race([asked, running.ended])
      off()
      return running
    },
    now: () => clockMs,
    pass(ms) {
      clockMs += ms
    },
    listedThroughout() {
      const stayed = new Set(simulator.account.ids())
      const stop = simulator.account.subscribe(({ kind, id }) => {
        if (kind === 'remove' || kind === 'delist') stayed.delete(id)
      })
      return () => {
        stop()
        return stayed
      }
    },
    async [Symbol.asyncDispose]() {
      await simulator.close()
      scratch[Symbol.dispose]()
    },
  }
}

/** How many of `expected` are no live rows of the mirror. */
export function missingFrom(stage: Stage, expected: Iterable<string>): number {
  const live = new Set(stage.rows<{ id: string }>('SELECT id FROM live_tasks').map(({ id }) => id))
  return [...expected].filter((id) => !live.has(id)).length
}

export interface MirrorState {
  integrity: string
  tasks: number
  /** Distinct tasks met by the walk that began last. */
  met: number
  nextSkip: number
  windows: number
  walks: number
  runs: number
}

/** What another process finds in the mirror, in one read transaction; null where there is no mirror yet. */
export async function stateSeenByAnotherProcess(stage: Stage): Promise<MirrorState | null> {
  if (!existsSync(stage.mirrorPath)) return null
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', LOOK, stage.mirrorPath])
  return JSON.parse(stdout) as MirrorState
}

const LOOK = `
import { createRequire } from 'node:module'
const Database = createRequire(${JSON.stringify(import.meta.url)})('better-sqlite3')
const db = new Database(process.argv[1], { readonly: true })
const last = "FROM walks ORDER BY id DESC LIMIT 1"
const state = db.prepare(\`SELECT (SELECT count(*) FROM tasks) AS tasks,
  coalesce((SELECT met \${last}), 0) AS met, coalesce((SELECT next_skip \${last}), 0) AS nextSkip,
  coalesce((SELECT windows \${last}), 0) AS windows,
  (SELECT count(*) FROM walks) AS walks, (SELECT count(*) FROM runs) AS runs\`).get()
console.log(JSON.stringify({ integrity: db.pragma('integrity_check', { simple: true }), ...state }))
`
