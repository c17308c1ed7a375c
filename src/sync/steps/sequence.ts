// The sequence in which a walk met a list, small enough to be kept for another walk to be compared with. Pure.
import { idHash } from '../../task/id-hash.ts'

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

  add(id: string): void {
    if (!this.#isKept) return
    const at = this.#length % PART
    if (at === 0) this.#parts.push(new Float64Array(PART))
    const part = this.#parts.at(-1) as Float64Array
    part[at] = idHash(id)
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
   * How many items stand in front of the place from which on all of them stand in the `earlier` walk, too, in the same
   * sequence; that may have others in between. Null where either is not kept.
   */
  inFrontOf(earlier: Sequence): number | null {
    if (!this.#isKept || !earlier.#isKept) return null
    let inFront = this.#length
    for (let before = earlier.#length - 1; inFront > 0 && before >= 0; before -= 1) {
      if (this.#at(inFront - 1) === earlier.#at(before)) inFront -= 1
    }
    return inFront
  }

  #at(place: number): number | undefined {
    return this.#parts[Math.floor(place / PART)]?.[place % PART]
  }
}
