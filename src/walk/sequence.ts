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
   * Whether this walk and the `earlier` one agree on a list that changes only by deletions and by what comes or moves
   * to its front: below some place, all items follow one another as they did, and those are more than half of the list.
   */
  agreesWith(earlier: Sequence): boolean {
    if (!this.#isKept || !earlier.#isKept) return false
    let inFront = this.#length
    for (let before = earlier.#length - 1; inFront > 0 && before >= 0; before -= 1) {
      if (this.#at(inFront - 1) === earlier.#at(before)) inFront -= 1
    }
    return 2 * inFront < this.#length
  }

  #at(place: number): number | undefined {
    return this.#parts[Math.floor(place / PART)]?.[place % PART]
  }
}
