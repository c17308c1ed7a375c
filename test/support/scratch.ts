// A folder of its own for a test, removed afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Scratch extends Disposable {
  /** Absolute. */
  readonly dir: string
  /** The path of `name` in the folder. */
  path(...name: string[]): string
}

/** `using scratch = makeScratch()` removes the folder at the end of the test. */
export function makeScratch(): Scratch {
  const dir = mkdtempSync(join(tmpdir(), 'task-mirror-test-'))
  return {
    dir,
    path: (...name) => join(dir, ...name),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  }
}
