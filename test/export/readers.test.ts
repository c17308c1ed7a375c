// Every reader that people use opens the files as they are, and finds the same rows: values as text, so that no reader's
// own types stand between.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import pl from 'nodejs-polars'
import { readParquet, Compression as WasmCompression, WriterPropertiesBuilder, writeParquet } from 'parquet-wasm'
import parquetjs from 'parquetjs-lite'
import { expect, test } from 'vitest'
import { COLUMNS } from '../../src/export/read/columns.ts'
import { few, SOAK } from '../support/soak.ts'
import { duck } from './duck.ts'
import { makeMirror, ordinaryRows } from './mirror.ts'
import { arrayBuffer, NAMES, parquetRows, publishFile, storedText, type TextRows, toText } from './publishing.ts'

type Reader = (path: string) => Promise<TextRows>

const isMoment = (name: string) => COLUMNS.some((column) => column.name === name && column.kind === 'timestamp_ms')

async function hyparquet(path: string): Promise<TextRows> {
  return fromParquet(arrayBuffer(readFileSync(path)))
}

async function fromParquet(file: ArrayBuffer): Promise<TextRows> {
  const rows = await parquetRows(file)
  return rows.map((row) => NAMES.map((name) => toText(row[name])))
}

const duckdb: Reader = async (path) => {
  const select = NAMES.map((name) => (isMoment(name) ? `epoch_ms(${name})::VARCHAR` : `${name}::VARCHAR`))
  return (await duck(`SELECT ${select} FROM '${path}'`)) as TextRows
}

/** arrow-rs reads it and writes it anew, without compression; what it wrote is what it read. */
const parquetWasm: Reader = async (path) => {
  const properties = new WriterPropertiesBuilder().setCompression(WasmCompression.UNCOMPRESSED).build()
  const written = writeParquet(readParquet(new Uint8Array(readFileSync(path))), properties)
  return fromParquet(arrayBuffer(written))
}

const polars: Reader = async (path) => {
  const columns = NAMES.map((name) => (isMoment(name) ? pl.col(name).cast(pl.Int64) : pl.col(name)).cast(pl.Utf8))
  const rows = pl
    .readParquet(path)
    .select(...columns)
    .toRecords()
  return rows.map((row) => NAMES.map((name) => toText(row[name])))
}

/** It throws at every moment, its own files included (`+value` of a BigInt), so these columns are not asked of it. */
const parquetjsLite: Reader = async (path) => {
  const reader = await parquetjs.ParquetReader.openFile(path, { rawStatistics: true })
  const cursor = reader.getCursor(NAMES.filter((name) => !isMoment(name)))
  const rows: TextRows = []
  for (let row = await cursor.next(); row !== null; row = await cursor.next()) {
    rows.push(NAMES.map((name) => toText(row![name])))
  }
  await reader.close()
  return rows
}

/** A Python that has pyarrow may be named by PYTHON. */
const PYTHON = process.env.PYTHON ?? 'python3'
const hasPyarrow = spawnSync(PYTHON, ['-c', 'import pyarrow.parquet']).status === 0

const pyarrow: Reader = async (path) => {
  const script = new URL('./read_with_pyarrow.py', import.meta.url).pathname
  const { stdout, stderr } = spawnSync(PYTHON, [script, path], { encoding: 'utf8', maxBuffer: 512 * 1024 * 1024 })
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}

const READERS: Record<string, Reader> = {
  duckdb,
  hyparquet,
  'parquet-wasm': parquetWasm,
  polars,
  ...(hasPyarrow && { pyarrow }),
}

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

/** What trips readers: extremes, nulls, empty strings, characters beyond the basic plane, columns of one value. */
const ODD: Record<string, string | number | bigint | null>[] = [
  { id: 'extremes', timeframe: MAX, result_status_code: MIN, created_at: 1 },
  { id: 'lowest', timeframe: MIN, completed_at: -1, created_at: 2 },
  { id: 'beyond a double', timeframe: 2n ** 53n + 1n, result_body: '12345678901234567890', created_at: 3 },
  { id: 'nulls' },
  { id: 'empty', user_id: '', data_url: '', data_body: '', data_header: '{}', result_body: '""', created_at: 4 },
  {
    id: 'emoji \u{1f600} \u{10ffff} e\u0301 \uffee',
    user_id: '\u0000',
    data_body: '\u{1f600}'.repeat(70),
    created_at: 5,
  },
  { id: 'a megabyte', result_body: JSON.stringify('x'.repeat(1_000_000)), created_at: 6 },
  { id: 'before 1970', created_at: -1_000 },
  { id: 'deleted', deleted_at: 7, created_at: 7 },
]

/** What parquetjs-lite can write: no integer beyond 2^53, no moment before 1970. */
const EVEN = ODD.filter(({ id }) => !['extremes', 'lowest', 'beyond a double', 'before 1970'].includes(String(id)))

const SAME_STATUS = ordinaryRows(1_000)
const SPREAD = ordinaryRows(1_000, 10_000).map((row, i) => ({
  ...row,
  system_status: i % 7 === 0 ? null : `S${i % 5}`,
  user_id: `u${i}`,
  result_status_code: i % 11 === 0 ? null : 200 + (i % 300),
}))

test.each(few(['zstd', 'snappy', 'gzip', 'none'] as const, (name) => name === 'zstd' || name === 'gzip'))(
  'all readers find every value in a %s file',
  async (compression) => {
    const mirror = makeMirror(...ODD, ...SAME_STATUS, ...SPREAD)
    const path = await publishFile(mirror, 'a.parquet', { compression })
    const expected = storedText(mirror)
    for (const [name, read] of Object.entries(READERS)) expect(await read(path), name).toEqual(expected)
  },
)

test.each(few(['snappy', 'gzip', 'none'] as const, (name) => name === 'gzip'))(
  'all readers find every value in a %s file of parquetjs-lite',
  async (compression) => {
    const mirror = makeMirror(...EVEN, ...SPREAD)
    const path = await publishFile(mirror, 'a.parquet', { compression, engine: 'parquetjs-lite' })
    const expected = storedText(mirror)
    for (const [name, read] of Object.entries(READERS)) expect(await read(path), name).toEqual(expected)
  },
)

test.each(['hyparquet', 'parquetjs-lite'] as const)(
  "parquetjs-lite's reader finds the values of %s files",
  async (engine) => {
    const mirror = makeMirror(...EVEN, ...SPREAD)
    const path = await publishFile(mirror, 'a.parquet', { compression: 'snappy', engine })
    const expected = storedText(mirror).map((row) => row.map((value, i) => (isMoment(NAMES[i]!) ? null : value)))
    expect(await parquetjsLite(path)).toEqual(expected)
  },
)

test('all readers find nothing, and all columns, where there are no rows', async () => {
  const mirror = makeMirror()
  const path = await publishFile(mirror, 'a.parquet')
  for (const [name, read] of Object.entries(READERS)) expect(await read(path), name).toEqual([])
  expect(pl.readParquet(path).columns).toEqual(NAMES)
})

/** Pairs of characters in a large cell. */
const PAIRS = SOAK ? 10_000_000 : 2_500_000

test(`a cell of ${(2 * PAIRS) / 1e6} MB, and columns that are null throughout a row group, come through`, async () => {
  const mirror = makeMirror(
    ...ordinaryRows(2),
    { id: 'large', created_at: 1_800_000_000_000, result_body: JSON.stringify('ab'.repeat(PAIRS)) },
    { id: 'empty', created_at: 1_900_000_000_000 },
  )
  const path = await publishFile(mirror, 'a.parquet')
  const expected = storedText(mirror)
  for (const [name, read] of Object.entries(READERS)) {
    const rows = await read(path)
    expect(rows.length, name).toBe(4)
    expect(
      rows.every((row, i) => row.every((value, k) => value === expected[i]![k])),
      name,
    ).toBe(true)
  }
})

test.each([
  [{ timeframe: 2n ** 53n }, 'rounds integers beyond 2^53'],
  [{ created_at: -1 }, 'before 1970'],
])('parquetjs-lite refuses %o in words and publishes nothing', async (odd, words) => {
  const mirror = makeMirror({ id: 'odd one', ...odd })
  await expect(publishFile(mirror, 'a.parquet', { engine: 'parquetjs-lite' })).rejects.toMatchObject({
    code: 'value-refused',
    message: expect.stringMatching(new RegExp(`odd one.*${words.replace('^', '\\^')}`)),
  })
})

test.each([{ compression: 'zstd' }, { variant: true }] as const)('parquetjs-lite with %o is refused', async (more) => {
  const running = publishFile(makeMirror(), 'a.parquet', { engine: 'parquetjs-lite', ...more })
  await expect(running).rejects.toMatchObject({ code: 'usage-invalid' })
})

test('chosen columns come in the order of the table', async () => {
  const mirror = makeMirror(...SPREAD)
  for (const engine of ['hyparquet', 'parquetjs-lite'] as const) {
    const path = await publishFile(mirror, `${engine}.parquet`, {
      engine,
      columns: ['change_seq', 'id', 'result_status_code'],
    })
    expect(pl.readParquet(path).columns).toEqual(['id', 'result_status_code', 'change_seq'])
    const sums = await duck(`SELECT count(*), sum(result_status_code), sum(change_seq) FROM '${path}'`)
    const expected = mirror.db
      .prepare('SELECT count(*), sum(result_status_code), sum(change_seq) FROM tasks')
      .raw()
      .get()
    expect(sums[0]!.map(Number)).toEqual(expected)
  }
})

test('a variant can be looked into, and tells a missing value from JSON null', async () => {
  const mirror = makeMirror(
    { id: 'a', created_at: 1, result_body: '{"user":{"name":"Ada","n":[1,2.5,true,null]}}' },
    { id: 'b', created_at: 2, result_body: 'null' },
    { id: 'c', created_at: 3, result_body: null },
    { id: 'd', created_at: 4, result_body: '"text \u{1f600}"' },
    ...ordinaryRows(500),
  )
  const path = await publishFile(mirror, 'a.parquet', { variant: true })
  const rows = await parquetReadObjects({
    file: arrayBuffer(readFileSync(path)),
    compressors,
    columns: ['id', 'result_body'],
    rowEnd: 4,
  })
  expect(rows).toEqual([
    { id: 'a', result_body: { user: { name: 'Ada', n: [1, 2.5, true, null] } } },
    { id: 'b', result_body: null },
    { id: 'c', result_body: undefined },
    { id: 'd', result_body: 'text \u{1f600}' },
  ])
  const names = await duck(
    `SELECT id, variant_extract(result_body, 'user')::JSON::VARCHAR FROM '${path}' WHERE id = 'a'`,
  )
  expect(JSON.parse(String(names[0]![1]))).toMatchObject({ name: 'Ada' })
  // DuckDB takes both for NULL.
  expect(await duck(`SELECT count(*) FROM '${path}' WHERE result_body IS NULL`)).toEqual([['2']])
  expect(
    await duck(`SELECT sum(variant_extract(result_body, 'n')::BIGINT)::BIGINT FROM '${path}' WHERE id LIKE 'task%'`),
  ).toEqual([[String((499 * 500) / 2)]])
})
