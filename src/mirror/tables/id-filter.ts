// Which ids a mirror that began empty may hold: a Bloom filter in blocks, so that an id costs one place in memory. No
// false "no", and 8 MB for any number of ids. Saves a first backfill the look-up of ids that are not there.

const BLOCKS = 1 << 17
/** Words of 32 bits. */
const WORDS_PER_BLOCK = 16
/** Bits that an id sets in its block. With more than eight million ids, one new id in twenty is looked up in vain. */
const BITS_PER_ID = 4

export class IdFilter {
  private readonly words = new Int32Array(BLOCKS * WORDS_PER_BLOCK)

  add(id: string): void {
    this.each(id, (word, bit) => {
      this.words[word]! |= bit
      return true
    })
  }

  /** False only where `id` was never added. */
  mayHave(id: string): boolean {
    return this.each(id, (word, bit) => (this.words[word]! & bit) !== 0)
  }

  /** Visits the bits of an id; false as soon as `visit` returns false. */
  private each(id: string, visit: (word: number, bit: number) => boolean): boolean {
    // FNV-1a over UTF-16 units picks the block; a second hash, over each value that the first takes, picks its bits.
    let place = 0x811c9dc5
    let bits = 0
    for (let at = 0; at < id.length; at += 1) {
      place = Math.imul(place ^ id.charCodeAt(at), 0x01000193)
      bits = Math.imul(bits ^ place, 0x85ebca6b) ^ (place >>> 13)
    }
    place ^= place >>> 15
    bits ^= bits >>> 16
    const block = (place & (BLOCKS - 1)) * WORDS_PER_BLOCK
    for (let taken = 0; taken < BITS_PER_ID; taken += 1) {
      // Four bits pick the word, five the bit in it; then the same 32 bits are mixed anew.
      if (!visit(block + (bits & (WORDS_PER_BLOCK - 1)), 1 << ((bits >>> 4) & 31))) return false
      bits = Math.imul(bits, 0x9e3779b1) ^ (bits >>> 15)
    }
    return true
  }
}
