// Python environments for comparisons: made from requirements locked with hashes, kept in a folder of the machine's cache.
// The product needs none of this; where Python or PyPI is not there, the reason comes back in one line.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { measure } from './measure.ts'

export interface Environment {
  /** Folder of its programs, `python` among them. */
  bin: string
}

/** Why there is no environment. */
export interface Missing {
  reason: string
}

/** Where environments and downloads are kept: BENCH_CACHE, or a folder of the user's cache. */
export function cacheFolder(): string {
  return process.env.BENCH_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'task-mirror-bench')
}

/**
 * The environment that `files` (paths of requirements with hashes, installed one after the other) describe; made where it
 * is not there yet. PYTHON names the interpreter (default: python3).
 */
export async function environmentOf(name: string, files: readonly string[]): Promise<Environment | Missing> {
  const python = process.env.PYTHON ?? 'python3'
  const digest = createHash('sha256')
  for (const file of files) digest.update(readFileSync(file))
  const folder = join(cacheFolder(), `${name}-${digest.update(python).digest('hex').slice(0, 12)}`)
  const bin = join(folder, 'bin')
  if (existsSync(join(folder, 'complete'))) return { bin }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(cacheFolder(), { recursive: true })
  const env = { HOME: homedir(), ...pipSettings() }
  try {
    await measure([python, '-m', 'venv', folder], env)
  } catch (error) {
    return { reason: `${python} makes no environment: ${lastLine(error)}` }
  }
  try {
    for (const file of files) {
      await measure(
        [join(bin, 'pip'), 'install', '--quiet', '--require-hashes', '--no-deps', '--no-build-isolation', '-r', file],
        env,
      )
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    return { reason: `PyPI does not give what ${name} needs: ${lastLine(error)}` }
  }
  writeFileSync(join(folder, 'complete.part'), '')
  renameSync(join(folder, 'complete.part'), join(folder, 'complete'))
  return { bin }
}

/** What the user has set for pip: an index of his own, a proxy, certificates. */
function pipSettings(): Record<string, string> {
  const names = /^(PIP_.*|https?_proxy|no_proxy|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)$/i
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => names.test(entry[0]) && entry[1] !== undefined,
    ),
  )
}

function lastLine(error: unknown): string {
  const lines = (error as Error).message.trim().split('\n')
  return lines
    .findLast((line) => line.trim() !== '')!
    .trim()
    .slice(0, 300)
}
