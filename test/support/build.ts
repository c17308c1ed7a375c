// Builds dist/ where a source is newer than the last build, so that tests of the command line run what a user runs; and
// lets Node keep what it has compiled, and files live in memory where there is room: both halve the time it takes.
import { execFileSync } from 'node:child_process'
import { accessSync, constants, readdirSync, statfsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Nothing here is about what a machine still has after it has lost its power. */
const MEMORY = '/dev/shm'
const ROOM_BYTES = 2 ** 31

export default function build(): void {
  process.env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/task-mirror')
  if (isRoomy(MEMORY)) process.env.TMPDIR ??= MEMORY
  const built = statSync('dist/packages.json', { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (Math.max(newestIn('src'), newestIn('build')) <= built) return
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}

/** When anything in the folder last changed, ms. */
function newestIn(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Math.max(...[folder, ...entries.map((name) => join(folder, name))].map((path) => statSync(path).mtimeMs))
}

function isRoomy(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > ROOM_BYTES
  } catch {
    return false
  }
}
