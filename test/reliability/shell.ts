// Runs the built command line from a line of shell, where `"$@"` stands for it: for umask, other users and pipes.
import { spawn, spawnSync } from 'node:child_process'
import { expect } from 'vitest'
import { CLI, type CliResult, HANGS_MS, IN_TURN, listenTo, PROGRAM } from '../support/cli.ts'
import { SOAK } from '../support/soak.ts'

interface ShellOptions {
  cwd: string
  env: Record<string, string>
}

/** The environment is `env`, PATH and where Node keeps what it has compiled: no HOME. */
export function runShell(script: string, args: readonly string[], options: ShellOptions): Promise<CliResult> {
  return runScript(script, [CLI, ...args], options)
}

/**
 * The same with several command lines, of which each must end with 0 and whose words stand between spaces: in one process, in
 * the soak in one each. Gives what each has printed.
 */
export async function runShellInTurn(
  script: string,
  lines: readonly string[],
  options: ShellOptions,
): Promise<string[]> {
  if (!SOAK) {
    const { code, stdout, stderr } = await runScript(script, [IN_TURN, PROGRAM, ...lines], options)
    expect({ lines, code }, stderr).toEqual({ lines, code: 0 })
    return JSON.parse(stdout) as string[]
  }
  const printed: string[] = []
  for (const line of lines) {
    const { code, stdout, stderr } = await runShell(script, line.split(' '), options)
    expect({ line, code }, stderr).toEqual({ line, code: 0 })
    printed.push(stdout)
  }
  return printed
}

function runScript(script: string, words: readonly string[], { cwd, env }: ShellOptions): Promise<CliResult> {
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, ...words], {
    cwd,
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: HANGS_MS,
  })
  return listenTo(child).ended
}

/** Why nothing can be run as another user here; null where it can. Looked up once. */
export const uidMissing: string | null = lookUp()

function lookUp(): string | null {
  if (process.getuid?.() !== 0) return 'only root may become another user'
  const other = ['--reuid=12345', '--regid=12345', '--clear-groups', process.execPath, CLI, '--version']
  const found = spawnSync('setpriv', other)
  if (found.error !== undefined) return 'setpriv is not installed'
  return found.status === 0 ? null : 'another user cannot run the program from here'
}
