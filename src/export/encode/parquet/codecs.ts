// Compresses Parquet pages by node:zlib, snappy by the writer's own code. Blocks its thread: each has its own pages.
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import type { Codec } from './engine.ts'

const { ZSTD_fast } = constants
/**
 * About level 1, with the window of an ordinary page. It takes three quarters of the time of level 3; recorded tasks
 * come out 3 % smaller, prose and program text 4 to 6 % larger. Every parameter is given, because zstd takes tables
 * that pack worse once it knows the size of a page.
 */
const ZSTD_PAGE = {
  [constants.ZSTD_c_compressionLevel]: 1,
  [constants.ZSTD_c_windowLog]: 18,
  [constants.ZSTD_c_chainLog]: 13,
  [constants.ZSTD_c_hashLog]: 16,
  [constants.ZSTD_c_searchLog]: 1,
  [constants.ZSTD_c_minMatch]: 6,
  [constants.ZSTD_c_targetLength]: 0,
  [constants.ZSTD_c_strategy]: ZSTD_fast,
}
const ZSTD_LARGE = { ...ZSTD_PAGE, [constants.ZSTD_c_windowLog]: 21 }
const zstdOptions = (page: Uint8Array) => ({
  ...chunks(page),
  params: page.length <= 2 ** 18 + 2 ** 12 ? ZSTD_PAGE : ZSTD_LARGE,
})

/** Size of the output's buffers: one is enough for an ordinary page, and a small page takes hardly any memory. */
const chunks = (page: Uint8Array) => ({ chunkSize: Math.max(128, Math.min(page.length >> 2, 32 * 1024)) })

export const COMPRESSORS = {
  ZSTD: (page: Uint8Array): Uint8Array => zstdCompressSync(page, zstdOptions(page)),
  GZIP: (page: Uint8Array): Uint8Array => gzipSync(page, chunks(page)),
  SNAPPY: snappyCompress as (page: Uint8Array) => Uint8Array,
}

export function compress(page: Uint8Array, codec: Codec): Uint8Array {
  return codec === 'UNCOMPRESSED' ? page : COMPRESSORS[codec](page)
}
