import { hashParquetValue, sbbfContains } from 'hyparquet/src/bloom.js'
import { expect, test } from 'vitest'
import { bloomFilterOf } from '../../src/export/encode/parquet/bloom.ts'
import { ColumnBuffer } from '../../src/export/encode/parquet/column-buffer.ts'
import fc from '../support/fc.ts'

const element = { name: 'id', type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
const hashOf = (value: string) => hashParquetValue(value, element)!

/** The filter of a column of so many texts, in pages of a few. */
function filterOf(values: readonly string[]): Uint32Array {
  const column = new ColumnBuffer({ isText: true, hasBounds: true, mayRepeat: false, pageBytes: 4096 })
  const rows = values.map((value) => [value])
  column.append(rows, 0)
  return bloomFilterOf(column)
}

test('a filter holds every value it was made of, whatever the text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { minLength: 1 }), (values) => {
      const filter = filterOf(values)
      for (const value of values) expect(sbbfContains(filter, hashOf(value))).toBe(true)
    }),
  )
})

test('one in a hundred other values, or fewer, is taken for one of them', () => {
  const filter = filterOf(Array.from({ length: 10_000 }, (_, i) => `in-${i}`))
  let wrong = 0
  for (let i = 0; i < 10_000; i++) if (sbbfContains(filter, hashOf(`out-${i}`))) wrong++
  expect(wrong).toBeLessThan(150)
  expect(Math.log2(filter.byteLength) % 1).toBe(0)
})

test('a filter never outgrows a megabyte', () => {
  const longId = 'x'.repeat(10_000)
  expect(sbbfContains(filterOf([longId]), hashOf(longId))).toBe(true)
  expect(filterOf(Array.from({ length: 1_000_000 }, () => 'same')).byteLength).toBe(1024 * 1024)
})
