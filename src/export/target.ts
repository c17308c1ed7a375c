// Which format and compression a snapshot gets: what the flags say, else what the file's name ends in. Pure.
import { MirrorError } from '../errors.ts'

export type Format = 'ndjson' | 'parquet'
export type Compression = 'zstd' | 'snappy' | 'gzip' | 'none'

export interface Target {
  /** `-` for stdout, else the file's path as given. */
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

/** Throws `usage-invalid` where nothing tells the format, or where format, compression and place do not go together. */
export function targetOf(out: string, format?: Format, compression?: Compression): Target {
  if (out === '') throw refused('The snapshot has no name', 'Name a file with --out, or - for stdout.')
  if (out.endsWith('/')) throw refused(`${out} names a folder`, 'Name a file such as tasks.parquet.')
  const ending = ENDINGS.find(([text]) => out.toLowerCase().endsWith(text))
  const chosen = format ?? ending?.[1] ?? (out === '-' ? 'ndjson' : undefined)
  if (chosen === undefined) {
    throw refused(
      `Nothing tells the format of ${out}`,
      'Let the name end in .parquet, .ndjson, .ndjson.gz or .ndjson.zst, or give --format.',
    )
  }
  // The ending's compression holds only for the ending's own format.
  const implied = ending?.[1] === chosen ? ending[2] : null
  const packed = compression ?? implied ?? DEFAULT_COMPRESSION[chosen]
  if (chosen === 'ndjson' && packed === 'snappy') {
    throw refused('NDJSON cannot be compressed with snappy', 'Use zstd, gzip or none.')
  }
  if (chosen === 'parquet' && out === '-') {
    throw refused('Parquet cannot be written to stdout', 'Name a file with --out, or use --format ndjson.')
  }
  return { out, format: chosen, compression: packed }
}

function refused(message: string, hint: string): MirrorError {
  return new MirrorError('usage-invalid', message, { hint })
}
