// A split block bloom filter over texts, for "is this id in this row group".
// Source: https://github.com/apache/parquet-format/blob/master/BloomFilter.md
import { word, xxhash64 } from './xxhash64.ts'

const SALT = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31]
const WORDS_PER_BLOCK = 8
/** Bits per distinct value for one false answer in a hundred: -8 / ln(1 - 0.01^(1/8)). */
const BITS_PER_VALUE = 9.69
/** As parquet-java caps it unless told otherwise. */
const MAX_BYTES = 1024 * 1024

const encoder = new TextEncoder()
let scratch = new Uint8Array(4096)
const hash = word()

/** The words of a filter that holds every text of `values`; a power of two of bytes, as Arrow C++ demands. */
export function bloomFilterOf(values: readonly string[]): Uint32Array {
  let bytes = 32
  while (bytes * 8 < values.length * BITS_PER_VALUE && bytes < MAX_BYTES) bytes *= 2
  const filter = new Uint32Array(bytes / 4)
  const blocks = filter.length / WORDS_PER_BLOCK
  for (const value of values) {
    if (value.length * 3 > scratch.length) scratch = new Uint8Array(value.length * 3)
    xxhash64(scratch, encoder.encodeInto(value, scratch).written, hash)
    const first = Math.floor(((hash.hi >>> 0) * blocks) / 2 ** 32) * WORDS_PER_BLOCK
    for (let i = 0; i < WORDS_PER_BLOCK; i++) {
      filter[first + i]! |= 1 << (Math.imul(hash.lo, SALT[i]!) >>> 27)
    }
  }
  return filter
}
