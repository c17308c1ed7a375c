import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * Files that leave the process as they found it, and may share one: what they load is loaded once for all of them. All others
 * have a process of their own, because they measure it, change its folder or environment, or replace modules.
 */
const SHARING = [
  'acceptance',
  'config',
  'mirror',
  'notify',
  'report',
  'service',
  'simulator',
  'sync',
  'task',
  'walk',
].map((folder) => `test/${folder}/**/*.test.ts`)

export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts'],
    pool: 'forks',
    // One more than there are cores: a test that waits for a disk or a timer leaves its core to another.
    maxWorkers: availableParallelism() + 1,
    // Not how long a test may take, but when it hangs: on a machine with much else to do everything takes long. No test has
    // a shorter one of its own.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'sharing', include: SHARING, isolate: false, setupFiles: ['test/support/threads.ts'] },
      },
      { extends: true, test: { name: 'apart', include: ['test/**/*.test.ts'], exclude: SHARING } },
    ],
  },
})
