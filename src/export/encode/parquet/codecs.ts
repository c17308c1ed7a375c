// Compression of Parquet pages by node:zlib; snappy is the writer's own.
import { promisify } from 'node:util'
import { constants, gzip, gzipSync, zstdCompress, zstdCompressSync } from 'node:zlib'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import type { Codec } from './engine.ts'

const { ZSTD_fast } = constants
/**
 * About level 1, with the window of an ordinary page. Against level 3 it takes three quarters of the time; recorded tasks
 * come out 3 % smaller, prose and program text 4 to 6 % larger. Spelled out, because told the size of a page zstd takes
 * tables that pack worse.
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

/** The memory that output is taken in: one piece for what an ordinary page comes to, hardly any for a small one. */
const chunks = (page: Uint8Array) => ({ chunkSize: Math.max(128, Math.min(page.length >> 2, 32 * 1024)) })

const zstdOnThread = promisify(zstdCompress) as (bytes: Uint8Array, options: object) => Promise<Buffer>
const gzipOnThread = promisify(gzip) as (bytes: Uint8Array, options: object) => Promise<Buffer>

/** For small pieces, on this thread. */
export const COMPRESSORS = {
  ZSTD: (page: Uint8Array): Uint8Array => zstdCompressSync(page, zstdOptions(page)),
  GZIP: (page: Uint8Array): Uint8Array => gzipSync(page, chunks(page)),
  SNAPPY: snappyCompress as (page: Uint8Array) => Uint8Array,
}

/** Below, handing a page to another thread costs more than it saves. */
const SMALL_BYTES = 4 * 1024

/** Gives the page compressed, at once or later; `page` may not change until then. */
export type CompressPage = (page: Uint8Array, codec: Codec) => Uint8Array | Promise<Uint8Array>

/** On this thread: where others are busy with work of their own, handing pages around costs more than it saves. */
export const compressHere: CompressPage = (page, codec) => (codec === 'UNCOMPRESSED' ? page : COMPRESSORS[codec](page))

/** The page, compressed; a large one on another thread where the codec can. `page` may not change until then. */
export async function compressPage(page: Uint8Array, codec: Codec): Promise<Uint8Array> {
  if (codec === 'UNCOMPRESSED') return page
  if (codec === 'SNAPPY' || page.length < SMALL_BYTES) return COMPRESSORS[codec](page)
  return codec === 'ZSTD' ? zstdOnThread(page, zstdOptions(page)) : gzipOnThread(page, chunks(page))
}
