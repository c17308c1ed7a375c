// Builds dist/ where a source is newer than the last build, so that tests of the command line run what a user runs; and
// lets Node keep what it has compiled, which halves the time of tests that start threads and processes.
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

export default function build(): void {
  process.env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/task-mirror')
  if (newestIn('src') <= (statSync('dist/cli.js', { throwIfNoEntry: false })?.mtimeMs ?? 0)) return
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}

/** When anything in the folder last changed, ms. */
function newestIn(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Math.max(...[folder, ...entries.map((name) => join(folder, name))].map((path) => statSync(path).mtimeMs))
}
