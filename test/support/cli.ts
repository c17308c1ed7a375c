// Runs the built command line as a user does: a process of its own, in a folder of its own, without this test's
// environment; or everything but the process, for tests that are not about one and run it often.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { isAbsolute } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { run } from '../../src/program.ts'
import { seeded } from '../../src/simulator/random.ts'
import { captured } from './captured.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
/** Runs several command lines in one process. */
export const IN_TURN = fileURLToPath(new URL('in-turn.ts', import.meta.url))
export const PROGRAM = fileURLToPath(new URL('../../dist/program.js', import.meta.url))

/** Of the choices that commands leave to chance. */
const SEED = 1

/** Commands that write somewhere below the working directory where they are not told where. */
const WRITES_FILES = new Set(['export', 'copy', 'report', 'demo'])

export interface CliOptions {
  /** Working directory. */
  cwd: string
  /** Added to an environment that holds only PATH, HOME and where Node keeps what it has compiled. */
  env?: Record<string, string>
  /** Ends the process when it takes longer, ms. */
  timeoutMs?: number
}

export interface CliResult {
  /** null where a signal ended the process. */
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** Runs to the end. */
export function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  return startCli(args, options).ended
}

/**
 * Runs to the end in this process: a fifth of the time. What is relative is so to the folder of all tests: paths in `args`
 * and `env` must be absolute, unless the test stands elsewhere. `clock` is all the time it knows, epoch ms; it must move where
 * the command waits. Chance is the same in every run: an open task of a sample is not due again for a minute. `isStopped`: once
 * it has said something it is to stop, as after a signal.
 */
export async function runHere(
  args: readonly string[],
  env: Record<string, string>,
  clock?: () => number,
  isStopped = false,
): Promise<CliResult> {
  const out = args.includes('--out') ? args[args.indexOf('--out') + 1]! : WRITES_FILES.has(args[0]!) ? 'nothing' : '-'
  if (process.cwd() === ROOT && out !== '-' && !isAbsolute(out))
    throw new Error(`${args.join(' ')} would write beside the tests`)
  const program = createRequire(import.meta.url)('../../dist/program.js') as { run: typeof run }
  const stop = new AbortController()
  const { text, streams } = captured(() => {
    if (isStopped) stop.abort()
  })
  const { PATH = '', HOME = '' } = process.env
  const chance = seeded(SEED)
  const surroundings = {
    ...streams,
    random: () => chance.next(),
    env: { PATH, HOME, ...env },
    ...(clock !== undefined && { clocks: { wall: clock, monotonic: clock } }),
  }
  const code = await program.run([...args], surroundings, stop.signal)
  return { code, signal: null, ...text }
}

/**
 * As `runCli`, but without a process of its own: for what is not about one. This process stands in the folder meanwhile, so one
 * after the other.
 */
export async function runInside(args: readonly string[], { cwd, env = {} }: CliOptions): Promise<CliResult> {
  if (process.cwd() !== ROOT) throw new Error(`${args.join(' ')} would run beside another command`)
  process.chdir(cwd)
  try {
    return await runHere(args, env)
  } finally {
    process.chdir(ROOT)
  }
}

export interface RunningCli {
  process: ChildProcess
  ended: Promise<CliResult>
  /** What stdout holds once it matches; rejects when the process ends before. */
  untilStdout(pattern: RegExp): Promise<string>
  untilStderr(pattern: RegExp): Promise<string>
}

/** What a process says, growing as it comes, and how it ended. */
export function listenTo(child: ChildProcessByStdio<null, Readable, Readable>) {
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk
    })
  }
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, ...text }))
  })
  return { text, ended }
}

/** When it hangs: a slow machine with much else to do needs minutes for what takes seconds elsewhere. */
export const HANGS_MS = 540_000

/** Starts the command line; the caller waits for `ended`. */
export function startCli(args: readonly string[], { cwd, env = {}, timeoutMs = HANGS_MS }: CliOptions): RunningCli {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const { text, ended } = listenTo(child)
  const until = (name: 'stdout' | 'stderr', pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (!pattern.test(text[name])) return
        child[name].off('data', look)
        resolve(text[name])
      }
      child[name].on('data', look)
      child.on('close', () => reject(new Error(`It ended before ${name} matched ${pattern}: ${JSON.stringify(text)}`)))
      look()
    })
  return {
    process: child,
    ended,
    untilStdout: (pattern) => until('stdout', pattern),
    untilStderr: (pattern) => until('stderr', pattern),
  }
}
