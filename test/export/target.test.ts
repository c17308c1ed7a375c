import { expect, test } from 'vitest'
import { refuseMisplaced } from '../../src/export/content.ts'
import { FORMAT_NAMES, formatEntry } from '../../src/export/formats.ts'
import type { ExportOptions } from '../../src/export/options.ts'
import { endingOf, targetOf } from '../../src/export/publish/target.ts'
import { runHere } from '../support/cli.ts'

type Asked = [out: string, format?: Parameters<typeof targetOf>[1], compression?: Parameters<typeof targetOf>[2]]

/** What becomes of a name and the flags: kind, format, compression, and what a dataset's files end in. */
function told([out, format, compression]: Asked, isFolder = false): string {
  const target = targetOf(out, format, compression, isFolder)
  return `${target.kind} ${target.format} ${target.compression} ${endingOf(target)}`
}

test('what names can end in is told in full by export --help', async () => {
  const { stdout } = await runHere(['help', 'export'], {})
  const told = stdout.replace(/\s+/g, ' ')
  const endings = FORMAT_NAMES.flatMap((format) => formatEntry(format).endings)
  expect(endings.filter((ending) => !told.includes(ending))).toEqual([])
  expect(told).toContain('.jsonl as .ndjson')
})

test.each<[Asked, string]>([
  [['a.parquet'], 'file parquet zstd .parquet'],
  [['A.PARQUET', undefined, 'snappy'], 'file parquet snappy .parquet'],
  [['a.parquet', undefined, 'gzip'], 'file parquet gzip .parquet'],
  [['a.parquet', undefined, 'none'], 'file parquet none .parquet'],
  [['a.ndjson'], 'file ndjson none .ndjson'],
  [['a.jsonl'], 'file ndjson none .ndjson'],
  [['a.NDJSON.GZ'], 'file ndjson gzip .ndjson.gz'],
  [['a.ndjson.zst'], 'file ndjson zstd .ndjson.zst'],
  [['a.jsonl.gz'], 'file ndjson gzip .ndjson.gz'],
  [['a.jsonl.zst'], 'file ndjson zstd .ndjson.zst'],
  [['a.ndjson.gz', 'ndjson'], 'file ndjson gzip .ndjson.gz'],
  [['a.ndjson.zst', 'ndjson', 'zstd'], 'file ndjson zstd .ndjson.zst'],
  [['a.bin', 'ndjson', 'zstd'], 'file ndjson zstd .ndjson.zst'],
  [['a.gz', 'ndjson'], 'file ndjson none .ndjson'],
  [['a.bin', 'parquet'], 'file parquet zstd .parquet'],
  [['a.csv'], 'file csv none .csv'],
  [['A.CSV.GZ'], 'file csv gzip .csv.gz'],
  [['a.csv.zst'], 'file csv zstd .csv.zst'],
  [['a.bin', 'csv', 'gzip'], 'file csv gzip .csv.gz'],
  [['-', 'csv'], 'stdout csv none .csv'],
  [['dir/', 'csv'], 'folder csv zstd .csv.zst'],
  [['dir/', 'csv', 'none'], 'folder csv none .csv'],
  [['-'], 'stdout ndjson none .ndjson'],
  [['-', undefined, 'gzip'], 'stdout ndjson gzip .ndjson.gz'],
  [['-', 'ndjson', 'zstd'], 'stdout ndjson zstd .ndjson.zst'],
  [['dir/'], 'folder parquet zstd .parquet'],
  [['dir/', undefined, 'snappy'], 'folder parquet snappy .parquet'],
  [['dir/', 'ndjson'], 'folder ndjson zstd .ndjson.zst'],
  [['dir/', 'ndjson', 'none'], 'folder ndjson none .ndjson'],
  [['a.ndjson.gz/'], 'folder parquet zstd .parquet'],
  [['s3://bucket/tasks.ndjson'], 's3 parquet zstd .parquet'],
  [['S3://bucket/x', 'ndjson', 'gzip'], 's3 ndjson gzip .ndjson.gz'],
  [['C://tasks/'], 'folder parquet zstd .parquet'],
  [['./gs://tasks/'], 'folder parquet zstd .parquet'],
])('%j is %s', (asked, expected) => {
  expect(told(asked)).toBe(expected)
})

test('a folder that stands there is a dataset whatever its name ends in', () => {
  expect(told(['a.ndjson'], true)).toBe('folder parquet zstd .parquet')
})

test.each<[Asked, string]>([
  [['a.txt'], 'Nothing tells the format of a.txt'],
  [['a.csv', 'parquet'], 'A name that ends in .csv does not go with --format parquet: a.csv'],
  [['a.parquet', 'ndjson'], 'A name that ends in .parquet does not go with --format ndjson: a.parquet'],
  [['a.ndjson.gz', 'csv', 'gzip'], 'A name that ends in .ndjson.gz does not go with --format csv: a.ndjson.gz'],
  [['a.csv', undefined, 'zstd'], 'A name that ends in .csv does not go with --compression zstd: a.csv'],
  [['a.csv.gz', 'csv', 'zstd'], 'A name that ends in .csv.gz does not go with --compression zstd: a.csv.gz'],
  [['a.jsonl.gz', undefined, 'none'], 'A name that ends in .jsonl.gz does not go with --compression none: a.jsonl.gz'],
  [['a.csv', undefined, 'snappy'], 'CSV cannot be compressed with snappy'],
  [['a.gz'], 'Nothing tells the format of a.gz'],
  [['ndjson'], 'Nothing tells the format of ndjson'],
  [['a.parquet.gz'], 'Nothing tells the format of a.parquet.gz'],
  [['a.bin', undefined, 'zstd'], 'Nothing tells the format of a.bin'],
  [[''], 'The snapshot has no name'],
  [['a.ndjson', undefined, 'snappy'], 'NDJSON cannot be compressed with snappy'],
  [['dir/', 'ndjson', 'snappy'], 'NDJSON cannot be compressed with snappy'],
  [['-', undefined, 'snappy'], 'NDJSON cannot be compressed with snappy'],
  [['-', 'parquet'], 'Parquet cannot be written to stdout'],
  [['gs://bucket/tasks/'], '"gs://bucket/tasks/" is neither a path nor in object storage'],
  [['az://x/y.parquet'], '"az://x/y.parquet" is neither a path nor in object storage'],
  [['file:///x/'], '"file:///x/" is neither a path nor in object storage'],
])('%j is refused with a hint: %s', (asked, message) => {
  expect(() => told(asked)).toThrow(
    expect.objectContaining({ code: 'usage-invalid', message, hint: expect.any(String) }),
  )
})

test.each<[string, Partial<ExportOptions>, string | null]>([
  ['a.ndjson', { columns: ['id'] }, '--columns'],
  ['a.ndjson', { variant: true }, '--variant'],
  ['a.ndjson', { engine: 'hyparquet' }, '--engine'],
  ['a.ndjson', { withMeta: true }, null],
  ['a.parquet', { columns: ['id'], variant: true, engine: 'hyparquet' }, null],
  // Parquet has these columns anyway.
  ['a.parquet', { withMeta: true }, null],
  ['a.parquet', { variant: false, columns: null, partitionBy: 'none', rowsPerFile: null, keep: null }, null],
  ['a.csv', { columns: ['id'], csvSafe: true, withMeta: true }, null],
  ['a.csv', { variant: true }, '--variant'],
  ['a.csv', { engine: 'hyparquet' }, '--engine'],
  ['a.ndjson', { csvSafe: true }, '--csv-safe'],
  ['a.parquet', { csvSafe: true }, '--csv-safe'],
  ['a.parquet', { partitionBy: 'month' }, '--partition-by'],
  ['a.parquet', { rowsPerFile: 5 }, '--rows-per-file'],
  ['a.parquet', { keep: 5 }, '--keep'],
  ['a.parquet', { partitionValues: { account: 'acme' } }, '--partition-value'],
  ['a/', { partitionBy: 'month', rowsPerFile: 5, keep: 5, partitionValues: { account: 'acme' } }, null],
  ['-', { changes: 'last' }, '--changes last'],
  ['-', { changes: 5 }, null],
  ['a/', { changes: 'last', columns: ['id', 'deleted_at'] }, '--changes'],
  ['a/', { changes: 'last', columns: ['id', 'deleted_at', 'change_seq'] }, null],
])('to %s with %j the flag that cannot be used is %s', (out, options, flag) => {
  const refusing = () => refuseMisplaced(targetOf(out), { ...options, out, dbPath: '', redact: [], toolVersion: '' })
  if (flag === null) refusing()
  else expect(refusing).toThrow(new RegExp(`^${flag} cannot be used here: `))
})
