import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // The suite of s3rver, whole, and what is asked of moto's server without a proxy between.
    include: [
      'test/export/s3/*.test.ts',
      'test/export/verify.test.ts',
      'test/export/everywhere.test.ts',
      'test/s3/*.moto.ts',
    ],
    pool: 'forks',
    // One server for all: a test has it for itself.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})
