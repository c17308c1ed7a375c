import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FORMAT_NAMES } from '../../src/export/formats.ts'

test('every format has a test of its own, by its name, that reads what is written', () => {
  const untested = FORMAT_NAMES.filter((name) => !existsSync(new URL(`${name}.test.ts`, import.meta.url)))
  expect(untested, 'each wants a test/export/NAME.test.ts, as test/export/csv.test.ts').toEqual([])
})
