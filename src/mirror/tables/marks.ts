// Which rows a walk has met: one bit per row, by seq. Bits live in memory, and are written in a window's transaction.
import type { Db } from '../connect.ts'
import { writeOne } from './statements.ts'

const CHUNK_BITS = 8192

/** A set of row numbers at one bit each. */
export class Bits {
  readonly chunks = new Map<number, Uint8Array>()

  has(seq: number): boolean {
    const bits = this.chunks.get(Math.floor(seq / CHUNK_BITS))
    const bit = seq % CHUNK_BITS
    return bits !== undefined && ((bits[bit >> 3] as number) & (1 << (bit & 7))) !== 0
  }

  /** True where the bit was not set before. */
  add(seq: number): boolean {
    const chunk = Math.floor(seq / CHUNK_BITS)
    let bits = this.chunks.get(chunk)
    if (bits === undefined) {
      bits = new Uint8Array(CHUNK_BITS / 8)
      this.chunks.set(chunk, bits)
    }
    const bit = seq % CHUNK_BITS
    const before = bits[bit >> 3] as number
    bits[bit >> 3] = before | (1 << (bit & 7))
    return bits[bit >> 3] !== before
  }

  /** How many numbers there are. */
  count(): number {
    let bits = 0
    for (const chunk of this.chunks.values()) for (let byte of chunk) for (; byte !== 0; byte &= byte - 1) bits += 1
    return bits
  }

  /** The numbers in order. */
  *values(): Generator<number> {
    for (const [chunk, bits] of [...this.chunks].sort(([one], [other]) => one - other))
      for (let bit = 0; bit < CHUNK_BITS; bit += 1)
        if (((bits[bit >> 3] as number) & (1 << (bit & 7))) !== 0) yield chunk * CHUNK_BITS + bit
  }

  /** Takes out every number above `highest`. */
  dropAbove(highest: number): void {
    const last = Math.floor(highest / CHUNK_BITS)
    for (const [chunk, bits] of this.chunks) {
      if (chunk > last) this.chunks.delete(chunk)
      else if (chunk === last)
        for (let bit = (highest % CHUNK_BITS) + 1; bit < CHUNK_BITS; bit += 1) bits[bit >> 3]! &= ~(1 << (bit & 7))
    }
  }
}

/** The rows that a walk has met, as the mirror holds them. */
export function marksOf(db: Db, walkId: number): Bits {
  const bits = new Bits()
  const load = db.prepare('SELECT chunk, bits FROM walk_marks WHERE walk_id = ?')
  for (const row of load.iterate(walkId) as Iterable<{ chunk: number; bits: Buffer }>)
    bits.chunks.set(row.chunk, Uint8Array.from(row.bits))
  return bits
}

/** The marks of a walk as the mirror holds them. After a rolled back transaction, open them anew. */
export function openMarks(db: Db, walkId: number) {
  const put = db.prepare('INSERT OR REPLACE INTO walk_marks (walk_id, chunk, bits) VALUES (?, ?, ?)')
  const begun = db.prepare('SELECT max_seq_at_start FROM walks WHERE id = ?').pluck()
  const highestBefore = (begun.get(walkId) as number | undefined) ?? 0
  const bits = marksOf(db, walkId)
  const changed = new Set<number>()
  return {
    /** The highest seq when the walk began. */
    highestBefore,
    has: (seq: number): boolean => bits.has(seq),
    /** True where the bit was not set before. Lasts once `save` was called and the transaction has ended. */
    add(seq: number): boolean {
      if (!bits.add(seq)) return false
      changed.add(Math.floor(seq / CHUNK_BITS))
      return true
    },
    /** Writes the chunks changed since the last save; call inside the window's transaction. */
    save(): void {
      for (const chunk of changed) writeOne(put, walkId, chunk, bits.chunks.get(chunk) as Uint8Array)
      changed.clear()
    },
    /** Seqs up to `highestBefore` that are not marked, in order. */
    *missing(): Generator<number> {
      for (let seq = 1; seq <= highestBefore; seq += 1) if (!bits.has(seq)) yield seq
    },
  }
}

export type Marks = ReturnType<typeof openMarks>
