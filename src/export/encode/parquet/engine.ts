// The libraries that write Parquet, and Parquet's names of compressions. Names only.

import type { Compression } from '../compression.ts'

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

/** Whether several threads can encode for one file. */
export const SHARES_WORK: Record<EngineName, boolean> = { hyparquet: true, 'parquetjs-lite': false }
