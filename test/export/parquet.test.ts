import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet'
import { readColumnIndex, readOffsetIndex } from 'hyparquet/src/indexes.js'
import { compressors } from 'hyparquet-compressors'
import { expect, test } from 'vitest'
import { DEFAULTS } from '../../src/config/defaults.ts'
import type { Compression } from '../../src/export/encode/compression.ts'
import { hyparquetEngine } from '../../src/export/encode/parquet/hyparquet.ts'
import { exportSnapshot } from '../../src/export/export.ts'
import type { ExportOptions } from '../../src/export/options.ts'
import { COLUMNS } from '../../src/export/read/columns.ts'
import { duck } from './duck.ts'
import { type FilledMirror, makeMirror, ordinaryRows } from './mirror.ts'
import { arrayBuffer, parquetRows, stored } from './publishing.ts'

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

async function parquet(mirror: FilledMirror, more: Partial<ExportOptions> = {}) {
  const out = join(mirror.folder, 'tasks.parquet')
  const result = await exportSnapshot({
    dbPath: mirror.path,
    out,
    redact: DEFAULTS.export.redactHeaders,
    toolVersion: '1.2.3',
    ...more,
  })
  return { result, file: arrayBuffer(readFileSync(out)) }
}

const ODD_ROWS: Record<string, string | number | bigint | null>[] = [
  { id: 'extremes', created_at: MAX, completed_at: MIN, timeframe: MAX, result_status_code: MIN, first_seen_at: MIN },
  { id: 'lowest', created_at: MIN, timeframe: MIN },
  { id: 'beyond a double', created_at: 1, timeframe: 2n ** 53n + 1n, result_body: '12345678901234567890' },
  { id: 'nulls' },
  {
    id: 'empty strings',
    created_at: 2,
    user_id: '',
    data_url: '',
    data_body: '',
    data_header: '{}',
    result_body: '""',
  },
  { id: 'emoji 😀 \u{10ffff} e\u0301', created_at: 3, data_body: '😀'.repeat(50), user_id: '\u0000' },
  { id: 'a megabyte', created_at: 4, result_body: JSON.stringify('x'.repeat(1_000_000)) },
  { id: 'digits', created_at: 5, result_body: '{"a":1.0,"b":1e400}', extra: '{"timeframe":1.0}' },
  { id: 'deleted', created_at: 6, deleted_at: 7 },
]

test.each<Compression>(['zstd', 'snappy', 'gzip', 'none'])(
  'every value comes back from a %s file exactly, 64-bit extremes, nulls and large cells included',
  async (compression) => {
    const mirror = makeMirror(...ODD_ROWS, ...ordinaryRows(50))
    const { file } = await parquet(mirror, { compression, filters: { includeDeleted: true }, redact: [] })
    expect(await parquetRows(file)).toEqual(stored(mirror))
  },
)

test('DuckDB reads the same rows with the types of the table', async () => {
  const mirror = makeMirror(...ODD_ROWS.slice(2), ...ordinaryRows(3_000))
  const { result } = await parquet(mirror, { filters: { includeDeleted: true }, redact: [] })
  const types = await duck(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${result.path}')`)
  const expectedType = {
    utf8: 'VARCHAR',
    json: 'VARCHAR',
    int64: 'BIGINT',
    timestamp_ms: 'TIMESTAMP WITH TIME ZONE',
    variant: 'VARIANT',
  }
  expect(types).toEqual(COLUMNS.map(({ name, kind }) => [name, expectedType[kind]]))
  const select = COLUMNS.map(({ name, kind }) => (kind === 'timestamp_ms' ? `epoch_ms(${name})` : name))
  const rows = await duck(`SELECT ${select} FROM '${result.path}'`)
  const text = (value: unknown) => (typeof value === 'bigint' ? String(value) : value)
  expect(rows.map((row) => row.map(text))).toEqual(stored(mirror).map((row) => Object.values(row).map(text)))
})

test('DuckDB finds rows by id and by moment, and nothing where there is nothing', async () => {
  const mirror = makeMirror(...ordinaryRows(3_000))
  const { result } = await parquet(mirror)
  const where = async (condition: string) =>
    Number((await duck(`SELECT count(*) FROM '${result.path}' WHERE ${condition}`))[0]![0])
  expect(await where("id = 'task-00001234'")).toBe(1)
  expect(await where("id = 'task-00009999'")).toBe(0)
  expect(await where('created_at >= make_timestamptz(1700001000000000)')).toBe(2_000)
  expect(await where('change_seq > 2990')).toBe(10)
})

test('64-bit extremes of timeframe reach DuckDB', async () => {
  const mirror = makeMirror({ id: 'a', timeframe: MAX, created_at: 1 }, { id: 'b', timeframe: MIN, created_at: 2 })
  const { result } = await parquet(mirror)
  expect(await duck(`SELECT timeframe FROM '${result.path}'`)).toEqual([[String(MAX)], [String(MIN)]])
})

test('no rows give a whole file with the same schema', async () => {
  const full = await parquet(makeMirror(...ordinaryRows(2)))
  const empty = await parquet(makeMirror())
  expect(empty.result.rows).toBe(0)
  expect(await parquetRows(empty.file)).toEqual([])
  expect(parquetMetadata(empty.file).schema).toEqual(parquetMetadata(full.file).schema)
  expect(await duck(`SELECT count(*) FROM '${empty.result.path}'`)).toEqual([['0']])
})

test('strings are plain strings, moments are UTC milliseconds, and only the id and the own columns are required', async () => {
  const { file } = await parquet(makeMirror(...ordinaryRows(1)))
  const elements = parquetSchema(parquetMetadata(file)).children.map((child) => child.element)
  for (const [i, { name, kind, nullable }] of COLUMNS.entries()) {
    const element = elements[i]!
    expect(element.name).toBe(name)
    expect(element.repetition_type).toBe(nullable ? 'OPTIONAL' : 'REQUIRED')
    if (kind === 'utf8' || kind === 'json') expect(element.logical_type).toEqual({ type: 'STRING' })
    if (kind === 'timestamp_ms') {
      expect(element.logical_type).toEqual({ type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' })
    }
  }
})

test('the footer names the tool, the cut and what was redacted', async () => {
  const rows = ordinaryRows(2)
  rows[0]!.data_header = '{"cookie":"x"}'
  const { file, result } = await parquet(makeMirror(...rows))
  const metadata = parquetMetadata(file)
  expect(metadata.created_by).toBe('task-mirror version 1.2.3')
  const about = Object.fromEntries(metadata.key_value_metadata!.map(({ key, value }) => [key, value]))
  expect(about).toMatchObject({
    'task-mirror.version': '1.2.3',
    'task-mirror.cut': '2',
    'task-mirror.snapshot': result.snapshotId,
  })
  expect(JSON.parse(about['task-mirror.redacted']!)).toEqual({
    names: [...DEFAULTS.export.redactHeaders, '*'],
    values: { cookie: 1 },
  })
})

/** Everything behind the data pages: indexes, bloom filters and footer. */
function tail(file: ArrayBuffer): Buffer {
  const chunks = parquetMetadata(file).row_groups.flatMap((group) => group.columns)
  const end = chunks.map(({ meta_data: meta }) => {
    const start = meta!.dictionary_page_offset ?? meta!.data_page_offset
    return Number(start + meta!.total_compressed_size)
  })
  return Buffer.from(file).subarray(Math.max(...end))
}

test('a redacted secret is nowhere in the file; an open one is in the pages only', async () => {
  const rows = ordinaryRows(2_000)
  for (const [i, row] of rows.entries()) {
    row.data_header = '{"authorization":"CANARY"}'
    row.result_header = '{"set-cookie":["CANARY"]}'
    row.data_url = 'CANARY'
    // Distinct and long: several pages, so that a page index would be written.
    row.data_body = `CANARY${i}${'x'.repeat(300)}`
    row.result_status_text = 'CANARY'
    row.result_body = '"CANARY"'
  }
  const open = await parquet(makeMirror(...rows), { redact: [], compression: 'none' })
  expect(Buffer.from(open.file).includes('CANARY')).toBe(true)
  expect(tail(open.file).includes('CANARY')).toBe(false)
  expect(tail(open.file).includes('task-00000000')).toBe(true)
  for (const row of rows) {
    Object.assign(row, { data_url: '', data_body: '', result_status_text: '', result_body: '""' })
  }
  const closed = await parquet(makeMirror(...rows), { compression: 'none' })
  expect(Buffer.from(closed.file).includes('CANARY')).toBe(false)
})

test('the bounds of every page hold its values, and a long text is cut so that they still do', async () => {
  // A common beginning that is longer than what the index keeps, and one that cannot be cut and raised in its last byte.
  const userOf = (i: number) =>
    i === 20_000 ? '\u{10ffff}'.repeat(20) : `account of a customer ${i % 2 === 0 ? 'é' : 'z'} ${i}`
  const rows = ordinaryRows(36_000).map(({ id = '', created_at = 0 }, i) => ({
    id,
    created_at,
    user_id: userOf(i),
    completed_at: i < 34_000 ? BigInt(i - 17_000) : null,
  }))
  const { file } = await parquet(makeMirror(...rows), { columns: ['user_id', 'completed_at', 'created_at'] })
  const found = await parquetRows(file)
  const reader = (at: bigint, length: number) => ({
    view: new DataView(file, Number(at), length),
    offset: 0,
  })
  const { row_groups: groups } = parquetMetadata(file)
  let pages = 0
  for (const { columns, num_rows } of groups) {
    const rowsOfGroup = found.splice(0, Number(num_rows))
    for (const { meta_data: about, ...at } of columns) {
      const name = about!.path_in_schema[0] as string
      if (at.column_index_offset === undefined) continue
      const schema = { name, type: 'BYTE_ARRAY' } as const
      const asTheyAre = { stringFromBytes: (bytes: Uint8Array) => bytes } as never
      const index = readColumnIndex(reader(at.column_index_offset, at.column_index_length!), schema, asTheyAre)
      const { page_locations } = readOffsetIndex(reader(at.offset_index_offset!, at.offset_index_length!))
      for (const [i, { first_row_index }] of page_locations.entries()) {
        const behind = page_locations[i + 1]?.first_row_index ?? num_rows
        const values = rowsOfGroup.slice(Number(first_row_index), Number(behind)).map((row) => row[name])
        const present = values.filter((value) => value !== null)
        expect(index.null_pages[i]).toBe(present.length === 0)
        expect(index.null_counts![i]).toBe(BigInt(values.length - present.length))
        if (present.length === 0) continue
        const [min, max] = [index.min_values[i], index.max_values[i]] as unknown as [Uint8Array, Uint8Array]
        const outside = present.filter((value) => {
          if (typeof value === 'bigint')
            return value < Buffer.from(min).readBigInt64LE() || value > Buffer.from(max).readBigInt64LE()
          const bytes = Buffer.from(value as string)
          return Buffer.compare(bytes, min) < 0 || Buffer.compare(bytes, max) > 0
        })
        expect(outside).toEqual([])
        pages++
      }
    }
  }
  // Of each column.
  expect(pages).toBeGreaterThanOrEqual(8)
})

test('row groups are bounded in bytes, sorted, and the id has a bloom filter', async () => {
  const pieces: Buffer[] = []
  const sink = {
    bytes: 0,
    async write(piece: Uint8Array) {
      pieces.push(Buffer.from(piece))
    },
  }
  const encoding = { compression: 'zstd', columns: COLUMNS, engine: 'hyparquet', switches: {} } as const
  const writer = hyparquetEngine.open(sink, encoding, 'test version 0')
  const packer = hyparquetEngine.packer(encoding, 100_000)
  const rows = Array.from({ length: 1_000 }, (_, i) =>
    COLUMNS.map(({ name, kind, nullable }) => {
      if (name === 'id') return `id-${i}`
      if (name === 'result_body') return JSON.stringify('y'.repeat(900))
      return nullable ? null : kind === 'utf8' ? '' : BigInt(i)
    }),
  )
  for (let from = 0; from < rows.length; ) {
    const begun = from
    for (; !packer.isFull && from < rows.length; from += 10) packer.take(rows.slice(from, from + 10))
    await writer.add({ rows: from - begun, minCreatedAt: null, maxCreatedAt: null, content: await packer.end() })
  }
  await writer.close({})
  const file = arrayBuffer(Buffer.concat(pieces))
  const { row_groups: groups } = parquetMetadata(file)
  expect(groups.length).toBeGreaterThanOrEqual(10)
  for (const group of groups) {
    expect(Number(group.total_byte_size)).toBeLessThan(120_000)
    expect(group.columns[0]!.meta_data!.bloom_filter_offset).toBeDefined()
    expect(group.sorting_columns?.map((by) => COLUMNS[by.column_idx]!.name)).toEqual(['created_at', 'id'])
  }
  expect(groups.reduce((sum, group) => sum + Number(group.num_rows), 0)).toBe(1_000)
  const filter = { id: { $eq: 'id-777' } }
  expect(await parquetReadObjects({ file, compressors, filter, columns: ['id', 'change_seq'] })).toEqual([
    { id: 'id-777', change_seq: 777n },
  ])
})
