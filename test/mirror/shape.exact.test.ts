// Properties: any task goes from page text to columns and back to text without losing a digit, a field or a character.

import { expect, it } from 'vitest'
import { parseExact } from '../../src/json.ts'
import { contentHash } from '../../src/mirror/row-bytes.ts'
import { sameContent, shapeTask, taskText } from '../../src/mirror/shape.ts'
import { readPage } from '../../src/service/decode/wire.ts'
import { TASK_COLUMNS } from '../../src/task/columns.ts'
import type { Task, TaskRow } from '../../src/task.ts'
import fc from '../support/fc.ts'
import { canonical } from '../support/json-canon.ts'
import { taskText as anyTask, pageText } from '../support/json-text.ts'
import { SOAK } from '../support/soak.ts'

const rowsOf = (texts: string[]): TaskRow[] =>
  readPage(Buffer.from(pageText(texts))).items.map((item) => {
    if (item.kind !== 'task') throw new Error(item.reason)
    return shapeTask(item.task)
  })

it('gives any task back digit for digit, on one line', () => {
  fc.assert(
    fc.property(fc.array(anyTask, { minLength: 1, maxLength: 3 }), (texts) => {
      for (const [index, row] of rowsOf(texts).entries()) {
        const text = taskText(row)
        expect(canonical(text)).toBe(canonical(texts[index]!))
        expect(text).not.toMatch(/[\n\r]/)
        expect(text.isWellFormed()).toBe(true)
      }
    }),
    { numRuns: SOAK ? 5000 : 400 },
  )
})

it('keeps in extra only what is in no column, and only well-formed text in columns', () => {
  fc.assert(
    fc.property(anyTask, (text) => {
      const [row] = rowsOf([text]) as [TaskRow]
      for (const column of TASK_COLUMNS) {
        const value = row[column]
        if (typeof value === 'string') expect(value.isWellFormed()).toBe(true)
        if (typeof value === 'bigint') expect(BigInt.asIntN(64, value)).toBe(value)
      }
      // Without its extra the row is written as a part of the task: what extra adds is not there.
      const rest = shapeTask(parseExact(taskText({ ...row, extra: null })) as Task)
      expect(rest).toEqual({ ...row, extra: null })
    }),
    { numRuns: 500 },
  )
})

it('shapes its own text into the same row', () => {
  fc.assert(
    fc.property(anyTask, (text) => {
      const [row] = rowsOf([text]) as [TaskRow]
      const [again] = rowsOf([taskText(row)]) as [TaskRow]
      expect(sameContent(again, row)).toBe(true)
      expect({ ...again, extra: null }).toEqual({ ...row, extra: null })
    }),
    { numRuns: 500 },
  )
})

it('has the same content if and only if the texts mean the same', () => {
  fc.assert(
    fc.property(anyTask, anyTask, fc.boolean(), (one, other, same) => {
      const right = same ? canonical(one) : other
      const [a, b] = rowsOf([one, right]) as [TaskRow, TaskRow]
      expect(sameContent(a, b)).toBe(canonical(one) === canonical(right))
      if (contentHash(a).equals(contentHash(b))) expect(a).toEqual(b)
    }),
    { numRuns: 300 },
  )
})

it('hashes rows alike only where every column is equal', () => {
  const text = fc.option(
    fc.oneof(
      fc.constantFrom('', '~', '~~', '0:', '1:a', 'a', ';', '1;', '-', '5', '1:~', '\0', '😀', 'é', '3:0:~'),
      fc.string(),
    ),
  )
  const integer = fc.option(fc.oneof(fc.integer({ min: -11, max: 11 }), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)))
  const integers = new Set(['timeframe', 'created_at', 'completed_at', 'result_status_code'])
  const row = fc.record(
    Object.fromEntries(TASK_COLUMNS.map((name) => [name, integers.has(name) ? integer : text])),
  ) as unknown as fc.Arbitrary<TaskRow>
  // Neighbours of one row: text moved over the border of two columns, one column emptied or changed.
  const column = fc.constantFrom(...TASK_COLUMNS)
  fc.assert(
    fc.property(row, row, column, column, (a, other, first, second) => {
      const variants = [
        other,
        { ...a, [first]: other[first] },
        { ...a, [first]: null },
        { ...a, [first]: a[second], [second]: a[first] },
        { ...a, [first]: `${a[first]}${a[second]}`, [second]: null },
      ] as TaskRow[]
      for (const b of variants) {
        const equal = TASK_COLUMNS.every((name) =>
          a[name] === null ? b[name] === null : b[name] !== null && String(a[name]) === String(b[name]),
        )
        const mixed = TASK_COLUMNS.some((name) => integers.has(name) && typeof b[name] === 'string')
        if (!mixed) expect(contentHash(a).equals(contentHash(b))).toBe(equal)
      }
    }),
    { numRuns: 2000 },
  )
})
