// Runs a command as a whole process and tells what it cost: wall clock, processor time, peak memory. Medians and spread
// of several runs. Knows nothing of what is measured.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'

export interface Cost {
  /** From the start of the process to its end, ms. */
  ms: number
  /** User and system time of the process and its threads, ms; null without GNU time. */
  cpuMs: number | null
  /** Peak resident memory, MB (2^20); null without GNU time. */
  peakMb: number | null
  stdout: string
}

const GNU_TIME = '/usr/bin/time'
const hasGnuTime = process.platform === 'linux' && existsSync(GNU_TIME)

/** Runs `command` to its end; `started` is called with its process id. Throws with its last words where the exit code is not 0. */
export async function measure(
  command: string[],
  env: Record<string, string> = {},
  started?: (pid: number) => void,
): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), 'task-mirror-time-'))
  const report = join(folder, 'time')
  const [file, ...args] = hasGnuTime ? [GNU_TIME, '-f', '%U %S %M', '-o', report, ...command] : command
  const startedAt = performance.now()
  const child = spawn(file as string, args, {
    env: { PATH: process.env.PATH ?? '', TZ: 'UTC', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (child.pid !== undefined) started?.(child.pid)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  try {
    const [exitCode] = (await once(child, 'close')) as [number]
    const ms = performance.now() - startedAt
    if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}: ${stderr.slice(-2000)}`)
    if (!hasGnuTime) return { ms, cpuMs: null, peakMb: null, stdout }
    const [user = 0, system = 0, peakKb = 0] = readFileSync(report, 'utf8').trim().split(/\s+/).map(Number)
    return { ms, cpuMs: (user + system) * 1000, peakMb: peakKb / 1024, stdout }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export interface Spread {
  median: number
  least: number
  most: number
  of: number
}

/** Null where there is nothing to tell. */
export function spreadOf(values: readonly (number | null)[]): Spread | null {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b)
  if (sorted.length === 0) return null
  const middle = sorted.length / 2
  const median = sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return { median, least: sorted[0]!, most: sorted.at(-1)!, of: sorted.length }
}
