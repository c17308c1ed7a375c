import { expect, test } from 'vitest'
import { type Compression, type Format, targetOf } from '../../src/export/publish/target.ts'

test.each<[string, Format | undefined, Compression | undefined, string]>([
  ['a.parquet', undefined, undefined, 'parquet zstd'],
  ['A.PARQUET', undefined, 'snappy', 'parquet snappy'],
  ['a.ndjson', undefined, undefined, 'ndjson none'],
  ['a.ndjson.gz', undefined, undefined, 'ndjson gzip'],
  ['a.jsonl.zst', undefined, undefined, 'ndjson zstd'],
  ['a.ndjson.gz', undefined, 'none', 'ndjson none'],
  ['a.ndjson.gz', 'parquet', undefined, 'parquet zstd'],
  ['a.bin', 'ndjson', 'zstd', 'ndjson zstd'],
  ['-', undefined, undefined, 'ndjson none'],
  ['-', undefined, 'gzip', 'ndjson gzip'],
  ['dir/', undefined, undefined, 'parquet zstd'],
  ['dir/', 'ndjson', undefined, 'ndjson zstd'],
  ['s3://bucket/tasks.ndjson', undefined, undefined, 'parquet zstd'],
])('%s with --format %s and --compression %s is %s', (out, format, compression, expected) => {
  const target = targetOf(out, format, compression)
  expect(`${target.format} ${target.compression}`).toBe(expected)
})

test.each<[string, Format | undefined, Compression | undefined]>([
  ['a.csv', undefined, undefined],
  ['a.gz', undefined, undefined],
  ['', undefined, undefined],
  ['a.ndjson', undefined, 'snappy'],
  ['-', 'parquet', undefined],
])('"%s" with --format %s and --compression %s is refused with a hint', (out, format, compression) => {
  expect(() => targetOf(out, format, compression)).toThrow(
    expect.objectContaining({ code: 'usage-invalid', hint: expect.any(String) }),
  )
})
