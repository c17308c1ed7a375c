// Which ids a mirror that began empty may hold: 4 bytes per id, no false "no". Saves a first backfill the look-up of ids
// that cannot be there.

export class IdFilter {
  private slots = new Int32Array(1 << 14)
  private count = 0

  add(id: string): void {
    if (this.count * 2 >= this.slots.length) this.grow()
    this.put(hashOf(id))
  }

  /** False only where `id` was never added. */
  mayHave(id: string): boolean {
    const hash = hashOf(id)
    const mask = this.slots.length - 1
    for (let at = hash & mask; this.slots[at] !== 0; at = (at + 1) & mask) if (this.slots[at] === hash) return true
    return false
  }

  private put(hash: number): void {
    const mask = this.slots.length - 1
    let at = hash & mask
    for (; this.slots[at] !== 0; at = (at + 1) & mask) if (this.slots[at] === hash) return
    this.slots[at] = hash
    this.count += 1
  }

  private grow(): void {
    const before = this.slots
    this.slots = new Int32Array(before.length * 2)
    this.count = 0
    for (const hash of before) if (hash !== 0) this.put(hash)
  }
}

/** FNV-1a over UTF-16 units, never 0. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  hash ^= hash >>> 15
  return hash === 0 ? 1 : hash
}
