// What every group of measurements works with: the built program, the server, a scratch folder, and the rows it fills.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cost, measure, type Spread, spreadOf } from './measure.ts'
import type { BenchServer } from './server.ts'

/** One line of the results: what several runs of the same thing cost. */
export interface Row {
  group: string
  name: string
  /** Tasks each run handled; null where that means nothing. */
  tasks: number | null
  ms: Spread
  cpuMs: Spread | null
  peakMb: Spread | null
  /** Requests, and bytes of the answers' bodies after decompression; null where nobody counted them. */
  requests: Spread | null
  wireBytes: Spread | null
  tasksPerSecond: number | null
  /** Bytes on disk per task, where something was written. */
  bytesPerTask: number | null
}

/** A comparison of two rows of one run with what is asked for. */
export interface Bar {
  name: string
  value: number
  unit: string
  atLeast?: number
  atMost?: number
  met: boolean
}

export interface Stage {
  server: BenchServer
  tasks: number
  repeats: number
  folder: string
  rows: Row[]
  bars: Bar[]
}

const ROOT = new URL('..', import.meta.url).pathname
const BUILD = join(ROOT, 'bench/results/build')

/** Builds the program into a folder of its own, so that nobody's build gets in the way of a run that takes minutes. */
export async function buildProgram(): Promise<void> {
  rmSync(BUILD, { recursive: true, force: true })
  mkdirSync(BUILD, { recursive: true })
  await measure([process.execPath, join(ROOT, 'build/bundle.ts'), join(BUILD, 'dist')])
  cpSync(join(ROOT, 'package.json'), join(BUILD, 'package.json'))
}

export function scratchFolder(): string {
  return mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'task-mirror-bench-'))
}

export function node(script: string, ...args: string[]): Promise<Cost> {
  return measure([process.execPath, join(ROOT, 'bench', script), ...args])
}

/** The built command line; BENCH_CLI names another build of it. */
export function programPath(): string {
  return process.env.BENCH_CLI ?? join(BUILD, 'dist/cli.js')
}

export function taskMirror(...args: string[]): Promise<Cost> {
  return measure([process.execPath, programPath(), ...args])
}

/** What a run at the service cost. */
export interface RunCost extends Cost {
  requests: number
  wireBytes: number
}

export interface Summary {
  inserted: number
  unchanged: number
  seen: number
  requests: number
  /** Bytes of the answers' bodies after decompression. */
  bytes: number
  /** Tasks read by id. */
  details: number
  rejected: number
  verdict: string | null
  plan: string[]
}

/** A run that talks to the service. Throws where it did not prove the whole list. */
export async function run(command: string[], base: string, db: string): Promise<{ cost: RunCost; summary: Summary }> {
  const cost = await taskMirror(...command, '--base-url', base, '--db', db, '--json', '--no-progress', '--quiet')
  const summary = JSON.parse(cost.stdout) as Summary
  if (summary.verdict !== 'complete') throw new Error(`${command.join(' ')}: ${cost.stdout}`)
  return { cost: { ...cost, requests: summary.requests, wireBytes: summary.bytes }, summary }
}

export function expectCount(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found} tasks, expected ${expected}`)
}

export function sizeOf(path: string): number {
  return ['', '-wal'].reduce((sum, end) => sum + (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0), 0)
}

export function emptyScript(folder: string): string {
  const path = join(folder, 'empty.mjs')
  writeFileSync(path, '')
  return path
}

/** Adds a line for runs of the same thing. */
export function addRow(
  stage: Stage,
  group: string,
  name: string,
  tasks: number | null,
  costs: readonly Omit<Cost & Partial<RunCost>, 'stdout'>[],
  bytes: number | null = null,
): Row {
  const ms = spreadOf(costs.map((cost) => cost.ms))
  if (ms === null) throw new Error(`${name} was never run`)
  const row: Row = {
    group,
    name,
    tasks,
    ms,
    cpuMs: spreadOf(costs.map((cost) => cost.cpuMs)),
    peakMb: spreadOf(costs.map((cost) => cost.peakMb)),
    requests: spreadOf(costs.map(({ requests = null }) => requests)),
    wireBytes: spreadOf(costs.map(({ wireBytes = null }) => wireBytes)),
    tasksPerSecond: tasks === null ? null : tasks / (ms.median / 1000),
    bytesPerTask: bytes === null || tasks === null ? null : bytes / tasks,
  }
  stage.rows.push(row)
  return row
}

export function addBar(
  stage: Stage,
  name: string,
  value: number,
  unit: string,
  limit: { atLeast?: number; atMost?: number },
): void {
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = limit
  stage.bars.push({ name, value, unit, ...limit, met: value >= atLeast && value <= atMost })
}

/** How busy the machine is with other things: its load average, where there is one. */
export function loadAverage(): number | null {
  try {
    return Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0])
  } catch {
    return null
  }
}
