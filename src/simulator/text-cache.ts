// Keeps texts for the next read, within a bound; a text that was dropped is made again.

const MAX_BYTES = 150_000_000

export class TextCache {
  readonly #texts = new Map<number, { text: string; bytes: number }>()
  #bytes = 0

  get(slot: number, make: () => string): string {
    const kept = this.#texts.get(slot)
    if (kept !== undefined) return kept.text
    const text = make()
    // Counting the bytes also makes V8 flatten a concatenated text, which then takes a third of the memory.
    const bytes = Buffer.byteLength(text)
    // Readers walk from end to end, so no entry is worth more than another: the cache is emptied as a whole.
    if (this.#bytes + bytes > MAX_BYTES) {
      this.#texts.clear()
      this.#bytes = 0
    }
    this.#bytes += bytes
    this.#texts.set(slot, { text, bytes })
    return text
  }

  forget(slot: number): void {
    const kept = this.#texts.get(slot)
    if (kept === undefined) return
    this.#bytes -= kept.bytes
    this.#texts.delete(slot)
  }
}
