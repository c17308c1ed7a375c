// Runs the built command line as a user does: a process of its own, in a folder of its own, without this test's
// environment.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export interface CliOptions {
  /** Working directory. */
  cwd: string
  /** Added to an environment that holds only PATH and HOME. */
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

export interface RunningCli {
  process: ChildProcess
  ended: Promise<CliResult>
  /** What stdout holds once it matches; rejects when the process ends before. */
  untilStdout(pattern: RegExp): Promise<string>
  untilStderr(pattern: RegExp): Promise<string>
}

/** Starts the command line; the caller waits for `ended`. */
export function startCli(args: readonly string[], { cwd, env = {}, timeoutMs = 30_000 }: CliOptions): RunningCli {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  const text = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text.stderr += chunk
  })
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, ...text }))
  })
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
