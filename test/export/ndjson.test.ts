import { expect, test } from 'vitest'
import { taskLine } from '../../src/export/encode/ndjson.ts'
import { COLUMNS, type RawRow } from '../../src/export/read/columns.ts'
import { shapeTask, taskText } from '../../src/mirror/shape.ts'
import { TABLE } from '../../src/task/columns.ts'
import type { Task, TaskRow } from '../../src/task.ts'
import fc from '../support/fc.ts'

/** The array that SQLite would give for a row. */
function rawRow(row: Partial<TaskRow>, meta: Record<string, bigint | null> = {}): RawRow {
  const values: Record<string, unknown> = { first_seen_at: 1n, changed_at: 2n, change_seq: 3n, ...row, ...meta }
  return COLUMNS.map(({ name }) => {
    const value = values[name] ?? null
    return (typeof value === 'number' ? BigInt(value) : value) as string | bigint | null
  })
}

const text = fc.option(fc.string({ unit: 'grapheme' }), { nil: null })
const integer = fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: null })
const json = fc.option(fc.json(), { nil: null })
const VALUES = { text, integer, moment: integer, json }
const rows = fc.record({
  ...Object.fromEntries(TABLE.map(({ name, kind }) => [name, VALUES[kind] as fc.Arbitrary<unknown>])),
  id: fc.string({ minLength: 1 }),
  extra: fc.option(fc.constantFrom('{"new":1.0,"data":{"more":null}}', '{"data":[]}'), { nil: null, freq: 4 }),
}) as fc.Arbitrary<TaskRow>

test('a line is what taskText makes of the row, whichever columns it has', () => {
  fc.assert(
    fc.property(rows, (row) => {
      expect(taskLine(rawRow(row), false)).toBe(taskText(row))
    }),
  )
})

test('a task with unknown fields and odd numbers comes out as it came in', () => {
  const task = { id: 'a', createdAt: 5, data: { header: {}, more: [null] }, result: null, fresh: '\ud800' } as Task
  expect(JSON.parse(taskLine(rawRow(shapeTask(task)), false))).toEqual(task)
})

test('what withMeta adds, other formats have as columns', () => {
  const added = Object.keys(JSON.parse(taskLine(rawRow({ id: 'a' }), true))._mirror)
  const columns = added.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  expect(COLUMNS.map(({ name }) => name)).toEqual(expect.arrayContaining(columns))
})

test('withMeta adds what the mirror knows as the last field', () => {
  const line = taskLine(rawRow({ id: 'a' }, { change_seq: 9n, deleted_at: 7n }), true)
  expect(line).toBe('{"id":"a","_mirror":{"changeSeq":9,"firstSeenAt":1,"changedAt":2,"deletedAt":7}}')
  expect(taskLine(rawRow({ id: 'a', extra: '{"b":1}' }), true)).toBe(
    '{"id":"a","b":1,"_mirror":{"changeSeq":3,"firstSeenAt":1,"changedAt":2,"deletedAt":null}}',
  )
})
