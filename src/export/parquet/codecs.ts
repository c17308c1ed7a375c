// Compression of Parquet pages by node:zlib; snappy is the writer's own.
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import type { Compression } from '../target.ts'

export type Codec = 'ZSTD' | 'SNAPPY' | 'GZIP' | 'UNCOMPRESSED'

/** The name that Parquet has for a compression. */
export const CODEC_OF: Record<Compression, Codec> = {
  zstd: 'ZSTD',
  snappy: 'SNAPPY',
  gzip: 'GZIP',
  none: 'UNCOMPRESSED',
}

const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }

export const COMPRESSORS = {
  ZSTD: (page: Uint8Array): Uint8Array => zstdCompressSync(page, ZSTD),
  GZIP: (page: Uint8Array): Uint8Array => gzipSync(page),
}
