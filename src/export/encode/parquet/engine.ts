// What a library that writes Parquet must offer to the export. Values come as SQLite gives them: text, bigint or null.

import type { Sink } from '../../publish/sink.ts'
import type { Column } from '../../read/columns.ts'
import type { Compression } from '../compression.ts'
import type { SnapshotWriter } from '../writer.ts'

export const ENGINES = ['hyparquet', 'parquetjs-lite'] as const
/** As `--engine` names it. */
export type EngineName = (typeof ENGINES)[number]

/** What an engine compresses with where nothing is asked for. */
export const COMPRESSION_OF: Record<EngineName, Compression> = { hyparquet: 'zstd', 'parquetjs-lite': 'gzip' }

export type Codec = 'ZSTD' | 'SNAPPY' | 'GZIP' | 'UNCOMPRESSED'

/** The name that Parquet has for a compression. */
export const CODEC_OF: Record<Compression, Codec> = {
  zstd: 'ZSTD',
  snappy: 'SNAPPY',
  gzip: 'GZIP',
  none: 'UNCOMPRESSED',
}

export interface ParquetOptions {
  compression: Compression
  /** Row groups are closed at about this many bytes before compression: what bounds memory, here and in readers. */
  rowGroupBytes: number
  /** `created_by` of the footer, as "name version x". */
  createdBy: string
}

export interface ParquetEngine {
  readonly name: EngineName
  /** Throws `usage-invalid` where it cannot write such columns or such a compression. */
  open(sink: Sink, columns: readonly Column[], options: ParquetOptions): SnapshotWriter
}
