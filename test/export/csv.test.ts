// CSV read back by a strict reader of RFC 4180 and by DuckDB; formulas; verification.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { exportSnapshot } from '../../src/export/export.ts'
import type { ExportOptions } from '../../src/export/options.ts'
import { COLUMNS } from '../../src/export/read/columns.ts'
import { verifySnapshot } from '../../src/export/verify/verify.ts'
import fc from '../support/fc.ts'
import { SOAK } from '../support/soak.ts'
import { duck } from './duck.ts'
import { makeMirror, ordinaryRows } from './mirror.ts'
import { NAMES, publishFile, storedText, type TextRows } from './publishing.ts'
import { startStorage } from './s3/storage.ts'

/**
 * RFC 4180 to the letter, but that any character may stand in a cell: rows end in CRLF, all have as many cells, quotes stand
 * around a whole cell or not at all. A cell without quotes and without text is null.
 */
function readStrictly(csv: string): TextRows {
  const rows: TextRows = [[]]
  for (let at = 0; at < csv.length; ) {
    let end = at
    let value: string | null
    if (csv[at] === '"') {
      for (end = at + 1; csv[end] !== '"' || csv[end + 1] === '"'; end += csv[end] === '"' ? 2 : 1) {
        if (end >= csv.length) throw new Error('a quote is not closed')
      }
      value = csv.slice(at + 1, end).replaceAll('""', '"')
      end++
    } else {
      while (end < csv.length && !/[",\r\n]/.test(csv[end]!)) end++
      value = end === at ? null : csv.slice(at, end)
    }
    rows.at(-1)!.push(value)
    if (csv[end] === ',') at = end + 1
    else if (csv.startsWith('\r\n', end)) {
      at = end + 2
      rows.push([])
    } else throw new Error(`neither a comma nor CRLF behind cell ${rows.at(-1)!.length} of row ${rows.length}`)
  }
  if (rows.pop()!.length > 0) throw new Error('the last row has no end')
  if (rows.some(({ length }) => length !== rows[0]!.length)) throw new Error('rows differ in length')
  return rows
}

/** DuckDB reads an empty cell as NULL, and one of two quotes as an empty text, where it is told so. */
const duckRows = async (path: string) =>
  (await duck(
    `SELECT * FROM read_csv('${path}', all_varchar = true, header = true, strict_mode = true, auto_detect = false,
       delim = ',', quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, max_line_size = 100000000, parallel = false,
       columns = {${NAMES.map((name) => `'${name}': 'VARCHAR'`)}})`,
  )) as TextRows

const ODD: Record<string, string | number | bigint | null>[] = [
  { id: 'extremes', timeframe: 2n ** 63n - 1n, result_status_code: -(2n ** 63n), created_at: 1 },
  { id: 'beyond a double', timeframe: 2n ** 53n + 1n, result_body: '12345678901234567890', created_at: 3 },
  { id: 'nulls' },
  { id: 'empty', user_id: '', data_url: '', data_body: '', data_header: '{}', result_body: '""', created_at: 4 },
  { id: 'emoji \u{1f600} \u{10ffff} e\u0301', data_body: '\u{1f600}'.repeat(70), created_at: 5 },
  { id: 'lines', data_body: 'a\r\nb\nc\rd\u2028e', user_id: '\r', system_status: '\n', created_at: 6 },
  { id: 'quotes "a" ""', data_body: '"', user_id: '""', result_body: '{"a":"\\"\\n,"}', created_at: 7 },
  { id: 'commas, and; others\t|', data_body: ',', user_id: ' spaces ', created_at: 8 },
  { id: '"', data_body: ',"\r\n",', created_at: 9 },
  { id: 'half a pair', result_body: '"\\ud800"', extra: '{"data":{"body":"\\ud800"}}', created_at: 10 },
  { id: 'words', data_body: 'NULL', user_id: 'null', system_status: 'NaN', created_at: 11 },
  { id: 'before 1970', created_at: -1_000 },
  { id: 'deleted', deleted_at: 7, created_at: 12 },
]

test('a strict reader and DuckDB find every cell', async () => {
  const mirror = makeMirror(...ODD, ...ordinaryRows(300))
  const path = await publishFile(mirror, 'a.csv')
  const csv = readFileSync(path, 'utf8')
  expect(csv.slice(0, csv.indexOf('\n') + 1)).toBe(`${NAMES}\r\n`)
  expect(readStrictly(csv).slice(1)).toEqual(storedText(mirror))
  expect(await duckRows(path)).toEqual(storedText(mirror))
})

/** In a large cell; in the file each is one more. */
const QUOTES = SOAK ? 1_300_000 : 400_000

test('a NUL and a cell of megabytes come back', async () => {
  const mirror = makeMirror(
    { id: 'nul', user_id: '\0', data_body: 'a\0b', created_at: 1 },
    { id: 'large', created_at: 2, result_body: JSON.stringify('"a\n'.repeat(QUOTES)) },
  )
  const csv = readFileSync(await publishFile(mirror, 'a.csv'), 'utf8')
  expect(readStrictly(csv).slice(1)).toEqual(storedText(mirror))
})

test('any text comes back, also where it is long, empty or null', async () => {
  const any = fc.option(fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', '=', "'", 'a', '\u00e9', '\0') }))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(any, any), { maxLength: 20 }), async (texts) => {
      const mirror = makeMirror(...texts.map(([user_id, data_body], i) => ({ id: `i${i}`, user_id, data_body })))
      const expected = storedText(mirror)
      expect(readStrictly(readFileSync(await publishFile(mirror, 'a.csv'), 'utf8')).slice(1)).toEqual(expected)
      const safe = readStrictly(readFileSync(await publishFile(mirror, 'b.csv', { csvSafe: true }), 'utf8')).slice(1)
      const plain = safe.map((row, r) => row.map((cell, c) => (cell === `'${expected[r]![c]}` ? cell.slice(1) : cell)))
      expect(plain).toEqual(expected)
    }),
    { numRuns: SOAK ? 200 : 10 },
  )
})

test('the same bytes go to stdout and, compressed, into files and datasets', async () => {
  const mirror = makeMirror(...ODD)
  const plain = readFileSync(await publishFile(mirror, 'a.csv'))
  expect(gunzipSync(readFileSync(await publishFile(mirror, 'a.csv.gz'))).equals(plain)).toBe(true)
  expect(zstdDecompressSync(readFileSync(await publishFile(mirror, 'a.csv.zst'))).equals(plain)).toBe(true)
  const folder = await publishFile(mirror, 'lake/', { format: 'csv' })
  expect(zstdDecompressSync(readFileSync(join(folder, 'part-00000.csv.zst'))).equals(plain)).toBe(true)
  const stdout = new PassThrough()
  const printed = buffer(stdout)
  const options = { dbPath: mirror.path, redact: [], toolVersion: '0', filters: { includeDeleted: true } }
  await exportSnapshot({ ...options, out: '-', format: 'csv', stdout })
  stdout.end()
  expect((await printed).equals(plain)).toBe(true)
})

test('two threads write what one does, and no row is one header', async () => {
  const mirror = makeMirror(...ODD, ...ordinaryRows(6_000))
  const one = readFileSync(await publishFile(mirror, 'one.csv', { smallCutBytes: Number.POSITIVE_INFINITY }))
  const two = readFileSync(await publishFile(mirror, 'two.csv', { smallCutBytes: 0 }))
  expect(two.equals(one)).toBe(true)
  expect(readFileSync(await publishFile(makeMirror(), 'none.csv'), 'utf8')).toBe(`${NAMES}\r\n`)
})

const FORMULAS = ['=1+1', '+1', '-1', '@a', '\t=1', '\r=1', '\n=1', '\0=1', '\uff1d1', '=cmd|" /C calc"!A0']

test('with csvSafe no cell of text begins as a formula does, numbers stay numbers, and verify finds it equal', async () => {
  const rows = FORMULAS.map((formula, i) => ({
    id: formula,
    data_body: formula,
    timeframe: -5,
    created_at: -1_000 + i,
  }))
  const mirror = makeMirror(...rows, { id: 'json', result_body: '-5', created_at: 1 }, { id: "'=1+1", data_body: "'a" })
  const folder = await publishFile(mirror, 'lake/', { format: 'csv', csvSafe: true, compression: 'none' })
  const csv = readFileSync(join(folder, 'part-00000.csv'), 'utf8')
  const found = readStrictly(csv).slice(1)
  const isRisky = (cell: string | null) => /^[=+\-@\t\r\n\0\uff1d\uff0b\uff0d\uff20]/.test(cell ?? '')
  const expected = storedText(mirror).map((row) =>
    row.map((cell, i) => (/^(utf8|json)$/.test(COLUMNS[i]!.kind) && isRisky(cell) ? `'${cell}` : cell)),
  )
  expect(found).toEqual(expected)
  expect(found.flat().filter((cell) => isRisky(cell) && !/^-\d+$/.test(cell!))).toEqual([])
  const { filters } = JSON.parse(readFileSync(join(folder, '_manifest.json'), 'utf8'))
  expect(filters.csvSafe).toBe(true)
  const { problems, snapshots } = await verifySnapshot(folder, { deep: true, dbPath: mirror.path })
  expect([problems, snapshots[0]?.deep?.compared]).toEqual([[], rows.length + 2])
  await publishFile(mirror, 'plain/', { format: 'csv' })
  expect(readFileSync(await publishFile(mirror, 'plain.csv'), 'utf8')).not.toContain("'=cmd")
})

test.each<[string, Partial<ExportOptions>]>([
  ['by month', { partitionBy: 'month' }],
  ['of few rows', { rowsPerFile: 20, compression: 'gzip' }],
  ['redacted', { redact: ['cookie'], compression: 'none' }],
  ['of some columns', { columns: ['id', 'created_at', 'data_body'] }],
  ['made safe', { csvSafe: true, redact: ['cookie'] }],
  ['without half pairs', { filters: { includeDeleted: true, invalidJson: 'replace' } }],
])('a dataset %s is verified row by row, and what differs is found', async (_, more) => {
  const rows = ordinaryRows(60).map((row, i) => ({ ...row, data_header: `{"cookie":"c${i}","accept":"*"}` }))
  const mirror = makeMirror(...ODD, ...rows)
  const folder = await publishFile(mirror, 'lake/', { format: 'csv', ...more })
  const verify = () => verifySnapshot(folder, { deep: true, dbPath: mirror.path })
  const sound = await verify()
  expect(sound.problems).toEqual([])
  expect(sound.snapshots[0]).toMatchObject({ rows: 73, deep: { compared: 73, changedSince: 0 } })
  mirror.db.exec("UPDATE tasks SET data_body = 'x' WHERE id = 'lines'")
  expect((await verify()).problems).toMatchObject([{ check: 'content', message: 'Task lines differs in its text' }])
})

test('a file of other rows, without its header or its end, does not hold', async () => {
  const mirror = makeMirror(...ODD)
  const folder = await publishFile(mirror, 'lake/', { format: 'csv', compression: 'none' })
  const file = join(folder, 'part-00000.csv')
  const whole = readFileSync(file, 'utf8')
  const manifest = readFileSync(join(folder, '_manifest.json'), 'utf8')
  const { createHash } = await import('node:crypto')
  const found: string[] = []
  const header = `${NAMES}\r\n`
  for (const content of [whole + whole.slice(header.length), whole.slice(header.length), whole.slice(0, -1), '']) {
    writeFileSync(file, content)
    // Forged so that only the rows tell.
    const { bytes, files } = JSON.parse(manifest)
    const forged = manifest
      .replaceAll(`"bytes": ${bytes}`, `"bytes": ${Buffer.byteLength(content)}`)
      .replace(files[0].sha256, createHash('sha256').update(content).digest('hex'))
    writeFileSync(join(folder, '_manifest.json'), forged)
    const { problems } = await verifySnapshot(folder, { deep: false, dbPath: mirror.path })
    found.push(problems.map(({ message }) => message).join())
  }
  expect(found).toEqual([
    'It holds 26 rows instead of 13',
    'It cannot be read: its first line is another one',
    'It cannot be read: its last line has no end',
    'It cannot be read: it is empty',
  ])
})

test('a feed to object storage carries tombstones, and holds', async () => {
  const { env } = await startStorage()
  const mirror = makeMirror(...ordinaryRows(50))
  const options = { dbPath: mirror.path, out: 's3://lake/tasks', redact: [], toolVersion: '0', env } as const
  await exportSnapshot({ ...options, format: 'csv' })
  mirror.db.exec("UPDATE tasks SET deleted_at = 5, change_seq = 100 WHERE id = 'task-00000003'")
  const feed = await exportSnapshot({ ...options, format: 'csv', changes: 'last' })
  expect(feed).toMatchObject({ rows: 1, sinceSeq: 50, kind: 'changes' })
  // What was made safe is another feed.
  expect(await exportSnapshot({ ...options, format: 'csv', csvSafe: true, changes: 'last' })).toMatchObject({
    sinceSeq: 0,
  })
  const { problems } = await verifySnapshot('s3://lake/tasks', { deep: true, dbPath: mirror.path, env })
  expect(problems).toEqual([])
})
