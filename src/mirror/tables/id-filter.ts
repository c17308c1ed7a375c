// Which ids a mirror that began empty may hold: no false "no", and 8 MB however many there are. Saves a first backfill the
// look-up of ids that cannot be there. A Bloom filter in blocks, so that an id costs one place in memory.

const BLOCKS = 1 << 17
/** Of 32 bits. */
const WORDS_PER_BLOCK = 16
/** Bits that an id sets in its block: beyond eight million ids, one in twenty is looked up in vain. */
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

  /** False as soon as `visit` says so. */
  private each(id: string, visit: (word: number, bit: number) => boolean): boolean {
    // FNV-1a over UTF-16 units, and the same over what it has come to: one for the block, the other for its bits.
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
      // Four bits for the word, five for the bit in it; then others of the same 32.
      if (!visit(block + (bits & (WORDS_PER_BLOCK - 1)), 1 << ((bits >>> 4) & 31))) return false
      bits = Math.imul(bits, 0x9e3779b1) ^ (bits >>> 15)
    }
    return true
  }
}
