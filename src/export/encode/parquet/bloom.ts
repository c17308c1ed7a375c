// A split block bloom filter over texts, for "is this id in this row group".
// Source: https://github.com/apache/parquet-format/blob/master/BloomFilter.md
import xxhash from 'xxhash-wasm'

const SALT = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31]
const WORDS_PER_BLOCK = 8
/** Bits per distinct value for one false answer in a hundred: -8 / ln(1 - 0.01^(1/8)). */
const BITS_PER_VALUE = 9.69
/** The default limit of parquet-java. */
const MAX_BYTES = 1024 * 1024

const { h64Raw } = await xxhash()
/** The current hash, and its halves, the low one first. */
const hash = new BigUint64Array(1)
const halves = new Uint32Array(hash.buffer)

/** Texts in Parquet's PLAIN encoding, each behind its length, as the pages of a column hold them. */
interface PlainTexts {
  bytes: Uint8Array
  pages: readonly { start: number; end: number; values: number }[]
}

/** The words of a filter that holds every text of `texts`; a power of two of bytes, as Arrow C++ demands. */
export function bloomFilterOf({ bytes, pages }: PlainTexts): Uint32Array {
  const values = pages.reduce((sum, page) => sum + page.values, 0)
  let size = 32
  while (size * 8 < values * BITS_PER_VALUE && size < MAX_BYTES) size *= 2
  const filter = new Uint32Array(size / 4)
  const blocks = filter.length / WORDS_PER_BLOCK
  for (const { start, end } of pages) {
    for (let at = start; at < end; ) {
      const length = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
      // The other library, hyparquet-writer, hashes by bigint, which took a third of an export.
      hash[0] = h64Raw(bytes.subarray(at + 4, at + 4 + length))
      at += 4 + length
      const first = Math.floor((halves[1]! * blocks) / 2 ** 32) * WORDS_PER_BLOCK
      for (let i = 0; i < WORDS_PER_BLOCK; i++) {
        filter[first + i]! |= 1 << (Math.imul(halves[0]!, SALT[i]!) >>> 27)
      }
    }
  }
  return filter
}
