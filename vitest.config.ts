import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * Files with a process of their own: they measure it, leave it with another folder, clock or modules, or fill its memory. All
 * others leave the process as they found it and share one: what they load is loaded and compiled once for all of them.
 */
const APART = [
  'docs-commands',
  'export/redact',
  'progress',
  'proof/*',
  'reliability/{fuzz,large-tasks,leaving,limits-of-the-machine,responsive,shared-folder}',
  'shown',
  'simulation/bugs',
].map((name) => `test/${name}.test.ts`)

export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/threads.ts'],
    pool: 'forks',
    // One more than there are cores: a test that waits for a disk or a timer leaves its core to another.
    maxWorkers: availableParallelism() + 1,
    // Of one file. Each has a writer thread, which is slow until V8 has compiled what it runs often.
    maxConcurrency: 2,
    // Not how long a test may take, but when it hangs: on a machine with much else to do everything takes long. No test has
    // a shorter one of its own.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    projects: [
      { extends: true, test: { name: 'sharing', include: ['test/**/*.test.ts'], exclude: APART, isolate: false } },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
  },
})
