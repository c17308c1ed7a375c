// The sequence in which a walk met a list, small enough to be kept for another walk to be compared with. Pure.
import { idHash } from '../task/id-hash.ts'

/** A longer list is not compared: 32 MB. */
const LONGEST = 4_194_304
/** So many ids are kept of every list, 8 MB: it may still turn out to be in another order. */
const KEPT_ALWAYS = 1_048_576
/** So many numbers are allocated at once: growing by copies would take as much again. */
const PART = 65_536

/** Ids in the order in which they were met, as numbers of 52 bit. */
export class Sequence {
  #parts: Float64Array[] = []
  #length = 0
  #isKept = true

  get length(): number {
    return this.#length
  }

  /** `isLate`: it is dated after the walk before began. */
  add(id: string, isLate = false): void {
    if (!this.#isKept) return
    const at = this.#length % PART
    if (at === 0) this.#parts.push(new Float64Array(PART))
    const part = this.#parts.at(-1) as Float64Array
    part[at] = isLate ? -1 - idHash(id) : idHash(id)
    this.#length += 1
    if (this.#length > LONGEST) this.#forget()
  }

  /** So far the list is in an order that needs no second walk: a long sequence is not kept. */
  forgetIfLong(): void {
    if (this.#length >= KEPT_ALWAYS) this.#forget()
  }

  #forget(): void {
    this.#isKept = false
    this.#parts = []
  }

  /**
   * How many items stand in front of the place from which on all of them stand in the `earlier` walk, too, in the same sequence;
   * that may have others in between. Late ones that it does not have came in since, and may stand anywhere; where a clock is
   * wrong, all may be late. All items, where none is found. Null where either is not kept.
   */
  inFrontOf(earlier: Sequence): number | null {
    if (!this.#isKept || !earlier.#isKept) return null
    const late = new Set<number>()
    for (let at = 0; at < this.#length; at += 1) if (this.#at(at) < 0) late.add(toId(this.#at(at)))
    for (let at = 0; at < earlier.#length; at += 1) late.delete(toId(earlier.#at(at)))
    let inFront = this.#length
    let isAny = false
    for (let before = earlier.#length - 1; inFront > 0; ) {
      const last = toId(this.#at(inFront - 1))
      const isFound = before >= 0 && last === toId(earlier.#at(before))
      if (isFound || late.has(last)) inFront -= 1
      else if (before < 0) break
      if (!late.has(last)) before -= 1
      isAny ||= isFound
    }
    return isAny ? inFront : this.#length
  }

  #at(place: number): number {
    return this.#parts[Math.floor(place / PART)]?.[place % PART] as number
  }
}

/** The number of an id, late or not. */
function toId(kept: number): number {
  return kept < 0 ? -1 - kept : kept
}
