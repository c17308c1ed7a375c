import { expect, test } from 'vitest'
import { COLUMNS } from '../../src/export/read/columns.ts'
import { makeMirror } from './mirror.ts'

const LEFT_OUT = ['seq', 'read_at', 'content_hash', 'list_hash', 'detail_at']
const TYPE_OF = { utf8: 'TEXT', json: 'TEXT', int64: 'INTEGER', timestamp_ms: 'INTEGER', variant: 'TEXT' }

test('the columns of a snapshot are the columns of tasks, in their order, types and nullability', () => {
  const { db } = makeMirror()
  const table = db.pragma('table_info(tasks)') as { name: string; type: string; notnull: 0 | 1 }[]
  const expected = table
    .filter((column) => !LEFT_OUT.includes(column.name))
    .map(({ name, type, notnull }) => [name, { type, nullable: notnull === 0 }] as const)
  const actual = COLUMNS.map(({ name, kind, nullable }) => [name, { type: TYPE_OF[kind], nullable }] as const)
  expect(actual.map(([name]) => name)).toEqual(expected.map(([name]) => name))
  // By name, so that a failure shows whose type it is.
  expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(expected))
})

test('every column of foreign text that is no key word counts as secret', () => {
  expect(COLUMNS.filter((column) => column.secret).map((column) => column.name)).toEqual([
    'data_url',
    'data_body',
    'data_header',
    'result_status_text',
    'result_header',
    'result_body',
    'extra',
  ])
})
