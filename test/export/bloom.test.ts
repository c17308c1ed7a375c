import { hashParquetValue, sbbfContains } from 'hyparquet/src/bloom.js'
import { xxhash64 as reference } from 'hyparquet/src/xxhash.js'
import { expect, test } from 'vitest'
import { bloomFilterOf } from '../../src/export/encode/parquet/bloom.ts'
import { ColumnBuffer } from '../../src/export/encode/parquet/column-buffer.ts'
import { word, xxhash64 } from '../../src/export/encode/parquet/xxhash64.ts'
import fc from '../support/fc.ts'

const element = { name: 'id', type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
const hashOf = (value: string) => hashParquetValue(value, element)!

function hash(bytes: Uint8Array): bigint {
  const out = word()
  // Anywhere in a larger piece.
  xxhash64(Uint8Array.of(1, 2, 3, ...bytes, 4), 3, bytes.length, out)
  return (BigInt(out.hi >>> 0) << 32n) | BigInt(out.lo >>> 0)
}

/** The filter of a column of so many texts, in pages of a few. */
function filterOf(values: readonly string[]): Uint32Array {
  const column = new ColumnBuffer({ isText: true, hasBounds: true, mayRepeat: false, pageBytes: 4096 })
  const rows = values.map((value) => [value])
  column.append(rows, 0, 0, rows.length)
  return bloomFilterOf(column)
}

test('the hash of nothing is the one the specification gives', () => {
  expect(hash(new Uint8Array())).toBe(0xef46db3751d8e999n)
})

test('the hash is that of another implementation for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(hash(bytes)).toBe(reference(bytes))
    }),
    { numRuns: 500 },
  )
})

test('a filter holds every value it was made of, whatever the text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { minLength: 1 }), (values) => {
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
