// The table of columns and what is written from it.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ORDINARY_TEXT, ordinaryTextSource, refuseOutdated, TASK_ROW, taskRowSource } from '../../build/spelled-out.ts'
import { hashedBytes, rowBytes } from '../../src/mirror/row-bytes.ts'
import { COLUMNS_BY_NUMBER, FIRST_COLUMNS, TABLE, TASK_COLUMNS } from '../../src/task/columns.ts'
import { emptyRow } from '../../src/task/row.ts'
import fc from '../support/fc.ts'

test('what is spelled out is current: npm run columns writes it', () => {
  expect(readFileSync(TASK_ROW, 'utf8')).toBe(taskRowSource())
  expect(readFileSync(ORDINARY_TEXT, 'utf8')).toBe(ordinaryTextSource())
})

test.each([TASK_ROW, ORDINARY_TEXT])('no build begins where %s is older than the table', (file) => {
  const read = (asked: URL) => readFileSync(asked, 'utf8').replace(asked === file ? 'user_id' : /^$/, '')
  expect(() => refuseOutdated(read)).toThrow('run npm run columns')
})

test('each column has a number of its own, without a gap, and those of the first version keep theirs', () => {
  expect(COLUMNS_BY_NUMBER.map(({ number }) => number)).toEqual(TABLE.map((_, index) => index))
  expect(TASK_COLUMNS.slice(0, FIRST_COLUMNS)).toEqual([
    ...['id', 'user_id', 'system_status', 'accuracy', 'timeframe', 'created_at', 'completed_at'],
    ...['data_method', 'data_url', 'data_body', 'data_header'],
    ...['result_status_code', 'result_status_text', 'result_header', 'result_body', 'extra'],
  ])
})

test('there are no more columns than an integer has bits for', () => {
  const places = 'RowStrings of mirror/row-bytes.ts and sync/writer/plain-items.ts keep a bit for each: widen both'
  expect(TASK_COLUMNS.length, places).toBeLessThanOrEqual(31)
})

const SLOT = 9
const NULL = Buffer.alloc(SLOT)
const textSlot = (length: number) => {
  const slot = Buffer.alloc(SLOT)
  slot[0] = 1
  slot.writeDoubleBE(length, 1)
  return slot
}
const first = rowBytes({ ...emptyRow('a'), user_id: 'someone', result_body: '{"n":1}' })
const head = FIRST_COLUMNS * SLOT
/** The row as a version with these further columns encodes it; null: empty. */
function later(texts: (string | null)[]): Buffer {
  const slots = texts.map((text) => (text === null ? NULL : textSlot(Buffer.byteLength(text))))
  const heap = texts.map((text) => Buffer.from(text ?? ''))
  return Buffer.concat([first.subarray(0, head), ...slots, first.subarray(head), ...heap])
}
const hashed = (texts: (string | null)[]) =>
  Buffer.from(hashedBytes(later(texts), FIRST_COLUMNS + texts.length)).toString('hex')

test('a column that came later leaves the hash of a row without it as it was', () => {
  expect(hashed([])).toBe(first.toString('hex'))
  expect(hashed([null])).toBe(first.toString('hex'))
  expect(hashed([null, null, null])).toBe(first.toString('hex'))
  expect(hashed([null, 'x'])).toBe(hashed([null, 'x', null]))
})

test('rows that differ in later columns are hashed over other bytes', () => {
  expect(hashed([''])).not.toBe(hashed([null]))
  expect(hashed(['x', null])).not.toBe(hashed([null, 'x']))
  const columns = fc.array(fc.option(fc.string({ maxLength: 24 }), { nil: null }), { minLength: 3, maxLength: 3 })
  fc.assert(
    fc.property(columns, columns, (one, other) => {
      expect(hashed(one) === hashed(other)).toBe(one.join('\u0000') === other.join('\u0000') && sameNulls(one, other))
    }),
  )
})

const sameNulls = (one: (string | null)[], other: (string | null)[]) =>
  one.every((text, index) => (text === null) === (other[index] === null))
