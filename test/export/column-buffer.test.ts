import { expect, test } from 'vitest'
import { ColumnBuffer, compareValues } from '../../src/export/encode/parquet/column-buffer.ts'
import type { RawRow } from '../../src/export/read/columns.ts'
import fc from '../support/fc.ts'

const text = (more: object = {}) =>
  new ColumnBuffer({ isText: true, hasBounds: true, mayRepeat: true, pageBytes: 64, ...more })

function append(column: ColumnBuffer, values: (string | bigint | null)[]): void {
  const rows: RawRow[] = values.map((value) => [value])
  column.append(rows, 0)
}

/** What a reader of the format would make of it. */
function valuesOf(column: ColumnBuffer): (string | null)[] {
  const plain: string[] = []
  for (const { start, end } of column.pages) {
    for (let at = start; at < end; ) {
      const size = column.bytes.readUInt32LE(at)
      plain.push(column.bytes.toString('utf8', at + 4, at + 4 + size))
      at += 4 + size
    }
  }
  let taken = 0
  return Array.from(column.levels.subarray(0, column.rows), (level) => {
    if (level === 0) return null
    const i = taken++
    return column.dictionary === null ? plain[i]! : String(column.dictionary[column.indexes[i]!])
  })
}

test('what goes in comes out, by dictionary or plain, page by page, however it is cut into batches', () => {
  const value = fc.oneof(fc.constantFrom('DONE', 'OPEN', null), fc.string({ unit: 'grapheme', maxLength: 30 }))
  fc.assert(
    fc.property(
      fc.array(fc.array(value, { maxLength: 300 }), { maxLength: 12 }),
      fc.boolean(),
      (batches, mayRepeat) => {
        const column = text({ mayRepeat })
        // The buffer is used again for every row group.
        for (const used of [batches.slice(0, 3), batches]) {
          column.reset()
          for (const batch of used) append(column, batch)
          column.settle()
          const all = used.flat()
          expect(valuesOf(column)).toEqual(all)
          expect(column.nulls).toBe(all.filter((one) => one === null).length)
          expect(column.pages.reduce((sum, page) => sum + page.rows, 0)).toBe(all.length)
          for (const { firstRow, rows, values, min, max } of column.pages) {
            const page = all.slice(firstRow, firstRow + rows).filter((one) => one !== null)
            expect(values).toBe(page.length)
            const ordered = page
              .map((one) => Buffer.from(one))
              .sort(Buffer.compare)
              .map(String)
            expect([min, max]).toEqual([ordered[0], ordered.at(-1)])
          }
        }
      },
    ),
  )
})

test.each([
  ['few values, often', (i: number) => `status ${i % 3}`, true],
  ['every value another', (i: number) => `id ${i}`, false],
  ['different ones first, then always the same', (i: number) => (i < 900 ? `id ${i}` : 'same'), true],
  ['the same first, then always different ones', (i: number) => (i < 100 ? 'same' : `id ${i}`), false],
])('%s: whether a dictionary is kept', (_, valueAt, isKept) => {
  const column = text()
  append(
    column,
    Array.from({ length: 5_000 }, (_, i) => valueAt(i)),
  )
  column.settle()
  expect(column.dictionary !== null).toBe(isKept)
  expect(valuesOf(column)[4_999]).toBe(valueAt(4_999))
})

test('integers lie in 8 bytes each, the extremes of 64 bits included', () => {
  const column = new ColumnBuffer({ isText: false, hasBounds: true, mayRepeat: false, pageBytes: 1_000_000 })
  const values = [2n ** 63n - 1n, -(2n ** 63n), 0n, -1n, ...Array.from({ length: 20_000 }, (_, i) => BigInt(i))]
  append(column, values)
  const start = column.pages[0]!.start
  expect(Array.from({ length: values.length }, (_, i) => column.bytes.readBigInt64LE(start + i * 8))).toEqual(values)
  expect(column.pages[0]).toMatchObject({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
})

test('large values that do not repeat are not held as a dictionary, those that do are', () => {
  const large = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(100_000, '.'))
  const column = text({ pageBytes: 256 * 1024 })
  append(column, large.slice(0, 12))
  expect(column.dictionary).toBeNull()
  append(column, large.slice(12))
  column.settle()
  expect(valuesOf(column)).toEqual(large)
  const few = text({ pageBytes: 256 * 1024 })
  append(
    few,
    Array.from({ length: 60 }, (_, i) => large[i % 4] as string),
  )
  few.settle()
  expect(few.dictionary).toHaveLength(4)
})

test('integers come out by dictionary as they went in, also where only their high bits differ', () => {
  const value = fc.constantFrom(0n, 64n, -64n, 2n ** 32n, 2n ** 63n - 64n, -(2n ** 63n), 1n, 65n, null)
  fc.assert(
    fc.property(fc.array(value, { maxLength: 400 }), (values) => {
      const column = new ColumnBuffer({ isText: false, hasBounds: true, mayRepeat: true, pageBytes: 64 })
      // The buffer is used again for every row group.
      for (const used of [values.toReversed(), values]) {
        column.reset()
        append(column, used)
        const present = used.filter((one) => one !== null)
        expect(Array.from(present, (_, i) => column.dictionary![column.indexes[i]!])).toEqual(present)
        expect(column.plainBytes).toBe(8 * present.length)
      }
    }),
  )
})

test('text is ordered as its UTF-8 bytes are, also beyond the basic plane', () => {
  expect(compareValues('\u{1f600}', '\uffee')).toBeGreaterThan(0)
  expect('\u{1f600}' > '\uffee').toBe(false)
  expect(compareValues('a', 'b')).toBeLessThan(0)
  expect(compareValues('é', 'z')).toBeGreaterThan(0)
  expect(compareValues(2n, 10n)).toBeLessThan(0)
})
