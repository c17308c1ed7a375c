// Encoded rows: nothing is lost on the way through bytes, and SQLite stores from them what it stores from values.

import { expect, test } from 'vitest'
import type { Db } from '../../src/mirror/connect.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { boundValues, contentHash, hashOfRowBytes, RowBytes, rowBytes, rowOf } from '../../src/mirror/row-bytes.ts'
import { shapeTask } from '../../src/mirror/shape.ts'
import { TaskTable } from '../../src/mirror/tables/tasks.ts'
import { INTEGER_COLUMNS, TASK_COLUMNS } from '../../src/task/columns.ts'
import { valuesOf } from '../../src/task/row.ts'
import type { TaskRow } from '../../src/task.ts'
import fc from '../support/fc.ts'
import { makeScratch } from '../support/scratch.ts'

const EMPTY = shapeTask({ id: 'x' })

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constant(''),
  fc.constant('\u0000'),
  fc.constant('a\u0000b'),
  fc.constant('😀é\u2028'),
)
const integer = fc.oneof(
  fc.maxSafeInteger(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
  fc.constant(-(2n ** 63n)),
)
const anyRow: fc.Arbitrary<TaskRow> = fc.record(
  Object.fromEntries(
    TASK_COLUMNS.map((name) => [
      name,
      name === 'id' ? fc.uuid() : fc.option<unknown, null>(INTEGER_COLUMNS.has(name) ? integer : text, { nil: null }),
    ]),
  ),
) as unknown as fc.Arbitrary<TaskRow>

test('the columns are listed in the order of the table', () => {
  const row = Object.fromEntries(TASK_COLUMNS.map((name) => [name, name])) as unknown as TaskRow
  expect(valuesOf(row)).toEqual([...TASK_COLUMNS])
})

test('a row comes back from its bytes as it was, also behind and before others', () => {
  fc.assert(
    fc.property(fc.array(anyRow, { minLength: 1, maxLength: 4 }), (rows) => {
      const bytes = new RowBytes(1)
      const ends = rows.map((row) => {
        bytes.append(row)
        return bytes.end
      })
      const back = ends.map((end, index) => rowOf(Buffer.from(bytes.between(index === 0 ? 0 : ends[index - 1]!, end))))
      expect(back).toEqual(rows)
    }),
    { numRuns: 500 },
  )
})

test('rows that differ anywhere have other bytes', () => {
  fc.assert(
    fc.property(anyRow, anyRow, (one, other) => {
      const same = valuesOf(one).every((value, column) => value === valuesOf(other)[column])
      expect(rowBytes(one).equals(rowBytes(other))).toBe(same)
    }),
  )
  // The same letters, divided otherwise.
  const [left, right] = [
    { ...EMPTY, user_id: 'ab', accuracy: 'c' },
    { ...EMPTY, user_id: 'a', accuracy: 'bc' },
  ]
  expect(contentHash(left).equals(contentHash(right))).toBe(false)
  expect(contentHash({ ...EMPTY, user_id: '' }).equals(contentHash(EMPTY))).toBe(false)
})

test('the hash of a row is that of its bytes, whatever was hashed before it', () => {
  const long = { ...EMPTY, result_body: `"${'é😀'.repeat(500_000)}"` }
  const before = contentHash(EMPTY).toString('hex')
  expect(contentHash(long).toString('hex')).toBe(hashOfRowBytes(rowBytes(long)))
  expect(contentHash(EMPTY).toString('hex')).toBe(before)
  expect(rowOf(rowBytes(long))).toEqual(long)
})

test('SQLite stores the same from bytes as from values', () => {
  using scratch = makeScratch()
  const db: Db = openWriter(scratch.path('mirror.sqlite'), { busyTimeoutMs: 0, fileMode: 0o600 })
  const tasks = new TaskTable(db)
  const stored = db
    .prepare(
      `SELECT ${TASK_COLUMNS.map((name) => `typeof(${name}), hex(${name}), ${name}`).join()} FROM tasks WHERE seq = ?`,
    )
    .safeIntegers()
    .raw()
  const hash = Buffer.alloc(16)
  const times = { readAt: 1, now: 1 }
  db.exec('BEGIN')
  fc.assert(
    fc.property(anyRow, (row) => {
      const hashes = { contentHash: hash, listHash: hash }
      const [one, other] = [1, 2].map(() => {
        return tasks.insert({ ...row, id: `${row.id}-${tasks.highestSeq()}` }, hashes, times)
      }) as [number, number]
      tasks.replace(one, { ...row, id: `${row.id}-${tasks.highestSeq()}` }, hashes, times)
      // Apart from the ids.
      expect((stored.get(other) as unknown[]).slice(3)).toEqual((stored.get(one) as unknown[]).slice(3))
      expect(boundValues(rowBytes(row))).toHaveLength(TASK_COLUMNS.length)
    }),
    { numRuns: 300 },
  )
  db.exec('COMMIT')
  db.close()
})
