// Builds dist/ once per test run, so that tests of the command line run what a user runs.
import { execFileSync } from 'node:child_process'

export default function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}
