// Runs the built command line from a line of shell, where `"$@"` stands for it: for umask, other users and pipes.
import { spawn, spawnSync } from 'node:child_process'
import { CLI, type CliResult, HANGS_MS, listenTo } from '../support/cli.ts'

/** The environment is `env`, PATH and where Node keeps what it has compiled: no HOME. */
export function runShell(
  script: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<CliResult> {
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, CLI, ...args], {
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
