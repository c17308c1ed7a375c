import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    pool: 'forks',
    // One more than there are cores: a test that waits for a disk or a timer leaves its core to another.
    maxWorkers: availableParallelism() + 1,
    // Not how long a test may take, but when it hangs: on a machine with much else to do everything takes long. No test has
    // a shorter one of its own.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
  },
})
