import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/packed/**/*.pack.ts'],
    globalSetup: ['test/support/build.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
