import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/packed/**/*.pack.ts'],
    globalSetup: ['test/support/build.ts'],
    pool: 'forks',
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})
