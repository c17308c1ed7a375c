// Compression of Parquet pages by node:zlib; snappy is the writer's own.
import { promisify } from 'node:util'
import { constants, gzip, gzipSync, zstdCompress, zstdCompressSync } from 'node:zlib'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import type { Compression } from '../target.ts'

export type Codec = 'ZSTD' | 'SNAPPY' | 'GZIP' | 'UNCOMPRESSED'

/** The name that Parquet has for a compression. */
export const CODEC_OF: Record<Compression, Codec> = {
  zstd: 'ZSTD',
  snappy: 'SNAPPY',
  gzip: 'GZIP',
  none: 'UNCOMPRESSED',
}

/** Holds what a page of ordinary text comes to, so that one piece of memory does. */
const CHUNK = { chunkSize: 64 * 1024 }
const LEVEL = { [constants.ZSTD_c_compressionLevel]: 3 }
/**
 * For an ordinary page a window of its size: the result is the same, and two megabytes less are set up and torn down for
 * each. Not told the size itself: the tables zstd would take for it are a twelfth worse.
 */
const ZSTD_PAGE = { ...CHUNK, params: { ...LEVEL, [constants.ZSTD_c_windowLog]: 18 } }
const ZSTD_LARGE = { ...CHUNK, params: LEVEL }
const zstdOptions = (page: Uint8Array) => (page.length <= 2 ** 18 + 2 ** 12 ? ZSTD_PAGE : ZSTD_LARGE)

const zstdOnThread = promisify(zstdCompress) as (bytes: Uint8Array, options: typeof ZSTD_LARGE) => Promise<Buffer>
const gzipOnThread = promisify(gzip) as (bytes: Uint8Array, options: typeof CHUNK) => Promise<Buffer>

/** For small pieces, on this thread. */
export const COMPRESSORS = {
  ZSTD: (page: Uint8Array): Uint8Array => zstdCompressSync(page, zstdOptions(page)),
  GZIP: (page: Uint8Array): Uint8Array => gzipSync(page),
  SNAPPY: snappyCompress as (page: Uint8Array) => Uint8Array,
}

/** Below, handing a page to another thread costs more than it saves. */
const SMALL_BYTES = 4 * 1024

/** The page, compressed; a large one on another thread where the codec can. `page` may not change until then. */
export async function compressPage(page: Uint8Array, codec: Codec): Promise<Uint8Array> {
  if (codec === 'UNCOMPRESSED') return page
  if (codec === 'SNAPPY' || page.length < SMALL_BYTES) return COMPRESSORS[codec](page)
  return codec === 'ZSTD' ? zstdOnThread(page, zstdOptions(page)) : gzipOnThread(page, CHUNK)
}
