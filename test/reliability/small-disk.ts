// A file system of a few megabytes of memory, for tests that fill it. Only root may mount one.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeScratch } from '../support/scratch.ts'

export interface SmallDisk extends Disposable {
  readonly dir: string
  path(name: string): string
  /** Makes it as large as that, such as `64m`. */
  resize(size: string): void
  /** Remounts it read-only. */
  makeReadOnly(): void
  /** Takes every byte that is left. */
  fill(): void
}

/** Why none can be mounted here; null where one can. Looked up once. */
export const smallDiskMissing: string | null = lookUp()

function lookUp(): string | null {
  if (process.platform !== 'linux') return 'tmpfs is for Linux'
  if (process.getuid?.() !== 0) return 'only root may mount a file system'
  try {
    makeSmallDisk('1m')[Symbol.dispose]()
    return null
  } catch (error) {
    return `no file system can be mounted here: ${(error as Error).message}`
  }
}

export function makeSmallDisk(size: string): SmallDisk {
  const scratch = makeScratch()
  const dir = scratch.path('disk')
  mkdirSync(dir)
  mount(['-t', 'tmpfs', '-o', `size=${size},mode=0755`, 'tmpfs', dir])
  return {
    dir,
    path: (name) => join(dir, name),
    resize: (to) => mount(['-o', `remount,size=${to}`, dir]),
    makeReadOnly: () => mount(['-o', 'remount,ro', dir]),
    fill() {
      for (let bytes = 1024 * 1024, n = 0; bytes >= 1; n += 1) {
        try {
          writeFileSync(join(dir, `filler-${n}`), Buffer.alloc(bytes))
        } catch {
          bytes >>= 1
        }
      }
    },
    [Symbol.dispose]() {
      spawnSync('umount', ['-l', dir])
      rmSync(scratch.dir, { recursive: true, force: true })
    },
  }
}

function mount(args: string[]): void {
  const { status, stderr, error } = spawnSync('mount', args)
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(stderr.toString().trim())
}
