// What exports write, byte for byte: readers elsewhere compare checksums, and a change here is one for all of them.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportSnapshot } from '../../src/export/export.ts'
import type { ExportOptions } from '../../src/export/options.ts'
import { makeMirror, ordinaryRows } from './mirror.ts'

/** Columns full, empty, with some nulls, with few values and with many; a tombstone, odd numbers and odd text. */
const ROWS: Record<string, string | number | null>[] = [
  ...ordinaryRows(40).map((row, i) => ({
    ...row,
    accuracy: i % 3 === 0 ? null : 'MINUTE',
    data_method: i < 20 ? 'GET' : (['GET', 'POST', null, 'PUT', 'DELETE'][i % 5] as string | null),
    result_status_code: i % 7 === 0 ? null : 200 + (i % 4),
    result_status_text: null,
    completed_at: i % 2 === 0 ? null : (row.completed_at as number),
  })),
  { id: 'bare' },
  {
    id: 'odd "\u00e9,\u{1f600}',
    created_at: 1,
    data_body: '=1+1\r\n',
    extra: '{"n":12345678901234567890,"s":"\\ud800"}',
  },
  { id: 'gone', created_at: 5, deleted_at: 6 },
]

/** Those of today: whoever adds one need not come here. */
const COLUMNS = [
  ...['id', 'created_at', 'completed_at', 'accuracy', 'timeframe', 'system_status', 'data_method', 'data_body'],
  ...['data_header', 'result_status_code', 'result_status_text', 'result_body', 'extra'],
]

/** The first half of the SHA-256 of what is written of all rows and of none; names of snapshots differ each time. */
async function digests(name: string, options: Partial<ExportOptions>): Promise<string[]> {
  const found: string[] = []
  for (const rows of [ROWS, []]) {
    const { folder, path: dbPath } = makeMirror(...rows)
    const out = join(folder, name)
    const more = { redact: ['accept'], toolVersion: '0.0.0', now: () => 1e12, filters: { includeDeleted: true } }
    const { snapshotId } = await exportSnapshot({ dbPath, out, compression: 'none', ...more, ...options })
    const bytes = readFileSync(out, 'latin1').replaceAll(snapshotId, 'name')
    found.push(createHash('sha256').update(bytes, 'latin1').digest('hex').slice(0, 32))
  }
  return found
}

// Not compressed: another version of zlib or zstd may write other bytes for the same.
test.each<[string, Partial<ExportOptions>, string[]]>([
  ['a.ndjson', {}, ['564d044fc4c0269bfacc85d80a6fec7d', 'e3b0c44298fc1c149afbf4c8996fb924']],
  [
    'a.ndjson',
    { withMeta: true, filters: { includeDeleted: true, invalidJson: 'replace' } },
    ['a3b5b54babe186321f555ebfb6d6201c', 'e3b0c44298fc1c149afbf4c8996fb924'],
  ],
  ['a.csv', { columns: COLUMNS }, ['8a75d1dfad66b08b06927d4d58c0c8f5', '422e484644089d7fa0b7125d00c280e8']],
  [
    'a.csv',
    { columns: COLUMNS, csvSafe: true },
    ['a10955e497b972ff2610f146b75647e7', '422e484644089d7fa0b7125d00c280e8'],
  ],
  ['a.parquet', { columns: COLUMNS }, ['f9f7d3f30df6e5801cec3bce0d804af7', 'e2b385ef8e22fc7abf0590c578419ca7']],
  [
    'a.parquet',
    { columns: COLUMNS, variant: true },
    ['f8a7f8a061328c560377dbe96fd59a44', 'cf73d7c225c8ec4eb44b05d48c2e323a'],
  ],
  [
    'a.parquet',
    { columns: COLUMNS, engine: 'parquetjs-lite' },
    ['71b90bb1cf12f17cca746871eedd5f3b', 'cbbf7eb3778407b76d074234b0690e0b'],
  ],
])(
  '%s with %j has the bytes that it always had: if others are meant, CHANGELOG.md says so',
  async (name, options, known) => {
    expect(await digests(name, options)).toEqual(known)
  },
)
