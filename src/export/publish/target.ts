// Where a snapshot goes, in which format and compression: what the flags say, else what the name ends in. Pure.
import { MirrorError } from '../../errors.ts'

export type Format = 'ndjson' | 'parquet'
export type Compression = 'zstd' | 'snappy' | 'gzip' | 'none'

export interface Target {
  /** stdout; one file; a folder of the file system or a prefix of an object store, either of which holds a dataset. */
  kind: 'stdout' | 'file' | 'folder' | 's3'
  /** `-` for stdout, else the path or URL as given. */
  out: string
  format: Format
  compression: Compression
}

const ENDINGS: readonly (readonly [string, Format, Compression | null])[] = [
  ['.parquet', 'parquet', null],
  ['.ndjson', 'ndjson', null],
  ['.jsonl', 'ndjson', null],
  ['.ndjson.gz', 'ndjson', 'gzip'],
  ['.jsonl.gz', 'ndjson', 'gzip'],
  ['.ndjson.zst', 'ndjson', 'zstd'],
  ['.jsonl.zst', 'ndjson', 'zstd'],
]

const DEFAULT_COMPRESSION: Record<Format, Compression> = { parquet: 'zstd', ndjson: 'none' }

/**
 * `isFolder`: a folder stands at `out`. Throws `usage-invalid` where nothing tells the format, or where format,
 * compression and place do not go together.
 */
export function targetOf(out: string, format?: Format, compression?: Compression, isFolder = false): Target {
  if (out === '') throw refused('The snapshot has no name', 'Name a file or a folder with --out, or - for stdout.')
  const kind = /^s3:/i.test(out) ? 's3' : out === '-' ? 'stdout' : isFolder || out.endsWith('/') ? 'folder' : 'file'
  const isDataset = kind === 'folder' || kind === 's3'
  const ending = isDataset ? undefined : ENDINGS.find(([text]) => out.toLowerCase().endsWith(text))
  const chosen = format ?? ending?.[1] ?? (isDataset ? 'parquet' : kind === 'stdout' ? 'ndjson' : undefined)
  if (chosen === undefined) {
    throw refused(
      `Nothing tells the format of ${out}`,
      'Let the name end in .parquet, .ndjson, .ndjson.gz, .ndjson.zst or, for a folder, in /; or give --format.',
    )
  }
  // The ending's compression holds only for the ending's own format.
  const implied = ending?.[1] === chosen ? ending[2] : null
  const packed = compression ?? implied ?? (isDataset ? 'zstd' : DEFAULT_COMPRESSION[chosen])
  if (chosen === 'ndjson' && packed === 'snappy') {
    throw refused('NDJSON cannot be compressed with snappy', 'Use zstd, gzip or none.')
  }
  if (chosen === 'parquet' && kind === 'stdout') {
    throw refused('Parquet cannot be written to stdout', 'Name a file with --out, or use --format ndjson.')
  }
  return { kind, out, format: chosen, compression: packed }
}

const PACKED: Record<Compression, string> = { zstd: '.zst', gzip: '.gz', snappy: '', none: '' }

/** What the names of a dataset's files end in. */
export function endingOf({ format, compression }: Target): string {
  return format === 'parquet' ? '.parquet' : `.ndjson${PACKED[compression]}`
}

function refused(message: string, hint: string): MirrorError {
  return new MirrorError('usage-invalid', message, { hint })
}
