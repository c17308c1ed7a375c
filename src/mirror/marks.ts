// Which rows a walk has met: one bit per row, by seq. Bits live in memory and are written with the window's transaction.
import type { Db } from './open.ts'

const CHUNK_BITS = 8192

export interface Marks {
  has(seq: number): boolean
  /** True where the bit was not set before. */
  add(seq: number): boolean
  /** Writes the chunks changed since the last save; call inside the window's transaction. */
  save(): void
  /** Drops what was added since the last save: the transaction was rolled back. */
  rollback(): void
  /** Seqs from 1 to `highest` that are not marked, in order. */
  missing(highest: number): Generator<number>
}

export function openMarks(db: Db, walkId: number): Marks {
  const put = db.prepare('INSERT OR REPLACE INTO walk_marks (walk_id, chunk, bits) VALUES (?, ?, ?)')
  const load = db.prepare('SELECT chunk, bits FROM walk_marks WHERE walk_id = ?')
  const chunks = new Map<number, Uint8Array>()
  const changed = new Set<number>()
  const added: number[] = []
  for (const { chunk, bits } of load.iterate(walkId) as Iterable<{ chunk: number; bits: Buffer }>) {
    chunks.set(chunk, Uint8Array.from(bits))
  }
  const has = (seq: number): boolean => {
    const bits = chunks.get(Math.floor(seq / CHUNK_BITS))
    const bit = seq % CHUNK_BITS
    return bits !== undefined && ((bits[bit >> 3] as number) & (1 << (bit & 7))) !== 0
  }
  return {
    has,
    add(seq) {
      if (has(seq)) return false
      const chunk = Math.floor(seq / CHUNK_BITS)
      let bits = chunks.get(chunk)
      if (bits === undefined) {
        bits = new Uint8Array(CHUNK_BITS / 8)
        chunks.set(chunk, bits)
      }
      const bit = seq % CHUNK_BITS
      bits[bit >> 3] = (bits[bit >> 3] as number) | (1 << (bit & 7))
      changed.add(chunk)
      added.push(seq)
      return true
    },
    save() {
      for (const chunk of changed) put.run(walkId, chunk, chunks.get(chunk) as Uint8Array)
      changed.clear()
      added.length = 0
    },
    rollback() {
      for (const seq of added) {
        const bits = chunks.get(Math.floor(seq / CHUNK_BITS)) as Uint8Array
        const bit = seq % CHUNK_BITS
        bits[bit >> 3] = (bits[bit >> 3] as number) & ~(1 << (bit & 7))
      }
      changed.clear()
      added.length = 0
    },
    *missing(highest) {
      for (let seq = 1; seq <= highest; seq += 1) if (!has(seq)) yield seq
    },
  }
}

/** Forgets the marks of every walk but `walkId`: once a walk has ended and its candidates are owed, they are not needed. */
export function forgetMarks(db: Db, keepWalkId: number | null): void {
  db.prepare('DELETE FROM walk_marks WHERE walk_id IS NOT ?').run(keepWalkId)
}
