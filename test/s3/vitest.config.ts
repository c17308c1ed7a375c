import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/s3/**/*.moto.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
