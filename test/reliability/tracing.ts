// Runs the built command line under strace, which kills it at a chosen system call or lets that call fail. Knows system
// calls and threads, nothing of what the program means by them.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLI, type CliResult, HANGS_MS, listenTo } from '../support/cli.ts'

/** The calls that make something durable or visible. */
export const DURABLE = ['fsync', 'fdatasync', 'rename', 'renameat', 'renameat2', 'link', 'linkat'] as const
/** The calls that change bytes. */
export const WRITING = ['write', 'pwrite64', 'ftruncate', 'unlink'] as const
const CALLS = [...DURABLE, ...WRITING].join()

/** Why no process can be traced here; null where one can. Looked up once. */
export const tracingMissing: string | null = lookUp()

function lookUp(): string | null {
  if (process.platform !== 'linux') return 'strace is for Linux'
  const found = spawnSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=fsync', '-o', '/dev/null', 'true'])
  if (found.error !== undefined) return 'strace is not installed'
  if (found.status !== 0) return `strace cannot trace here: ${found.stderr.toString().trim().split('\n')[0]}`
  return null
}

/** One system call of a run. */
export interface Point {
  call: string
  /** The how-many-th call of this name in its thread, from 1. */
  nth: number
  /** Whether the main thread made it. */
  isMain: boolean
  /** The path it went to, random parts taken out. */
  path: string
}

export interface TracedOptions {
  cwd: string
  env: Record<string, string>
  /** In strace's notation, such as `fsync:signal=KILL:when=3`. */
  inject?: string
  /** Trace the main thread alone: there its calls are counted by themselves. */
  mainOnly?: boolean
  /** Only calls that touch these files. */
  paths?: readonly string[]
}

export interface Traced extends CliResult {
  /** All calls in the order they began. */
  points: Point[]
}

let logs = 0

/** One thread of the pool, so that its calls have an order of their own. */
const POOL = { UV_THREADPOOL_SIZE: '1' }

/** Runs the command line to its end under strace. */
export async function runTraced(args: readonly string[], options: TracedOptions): Promise<Traced> {
  const { cwd, env, inject, mainOnly = false, paths = [] } = options
  logs += 1
  const log = join(cwd, `.trace-${logs}`)
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(
    'strace',
    [
      ...(mainOnly ? [] : ['-f']),
      // Quicker, but signals cannot be injected that way.
      ...(mainOnly || inject !== undefined ? [] : ['--seccomp-bpf']),
      ...['-y', '-e', `trace=${CALLS}`, '-e', 'signal=none', '-s', '0', '-o', log],
      ...(inject === undefined ? [] : ['-e', `inject=${inject}`]),
      ...paths.flatMap((path) => ['-P', path]),
      ...[process.execPath, CLI, ...args],
    ],
    { cwd, env: { PATH, HOME, ...POOL, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: HANGS_MS },
  )
  const result = await listenTo(child).ended
  return { ...result, points: pointsOf(readFileSync(log, 'utf8'), mainOnly) }
}

/** Reads a log of strace. The main thread is the one whose end is the last line. */
function pointsOf(log: string, mainOnly: boolean): Point[] {
  const lines = log.split('\n').filter((line) => line !== '')
  const main = lines.findLast((line) => line.includes('+++'))?.split(' ')[0]
  const counts = new Map<string, number>()
  const points: Point[] = []
  for (const line of lines) {
    const [, thread = '', call, rest = ''] = /^(\d+ +)?([a-z]\w+)\((.*)$/.exec(line) ?? []
    if (call === undefined) continue
    const key = `${thread}${call}`
    const nth = (counts.get(key) ?? 0) + 1
    counts.set(key, nth)
    points.push({ call, nth, isMain: mainOnly || thread.trim() === main, path: pathIn(rest) })
  }
  return points
}

/** The last path of a call: what a rename makes visible. */
function pathIn(text: string): string {
  const found = [...text.matchAll(/<(\/[^>]*)>|"([^"]*)"/g)]
    .map(([, handle, name]) => handle ?? name ?? '')
    .filter((name) => name !== '')
  const path = (found.at(-1) ?? '').split('/').slice(-2).join('/')
  return path
    .replace(/\.new-\d+/, '.new-PID')
    .replace(/task-mirror-\d+-[0-9a-z]+/, 'task-mirror-PID-RANDOM')
    .replaceAll(/\d{8}T\d{9}Z-\d+-[0-9a-f]{6}/g, 'SNAPSHOT')
    .replace(/^task-mirror-test-\w+/, '.')
}

/** A place to kill a run at, as `runTraced` takes it. */
export interface KillPoint extends Point {
  inject: string
  mainOnly: boolean
}

/**
 * How to kill at each of `points`: strace counts calls by thread, and the first thread to get to a count is the one that
 * dies; the calls of the main thread are reached by tracing it alone. What neither way reaches is left out.
 */
export function killPoints(points: readonly Point[]): KillPoint[] {
  const taken = new Set<string>()
  return points.flatMap((point) => {
    const { call, nth, isMain } = point
    const inject = `${call}:signal=KILL:when=${nth}`
    const isFirst = !taken.has(inject)
    taken.add(inject)
    if (!isFirst && !isMain) return []
    return [{ ...point, inject, mainOnly: !isFirst }]
  })
}

export function isDurable({ call }: Point): boolean {
  return (DURABLE as readonly string[]).includes(call)
}

/** Bytes of a file, not of a pipe or of the memory that processes share. */
export function isWrite({ call, path }: Point): boolean {
  return (WRITING as readonly string[]).includes(call) && path !== '' && !/-shm$|^anon|pipe:|socket:/.test(path)
}

export function titleOf({ call, nth, isMain, path }: Point): string {
  return `${call} ${nth} of ${isMain ? 'the main thread' : 'another thread'} (${path})`
}
