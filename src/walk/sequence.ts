// The sequence in which a walk met a list, small enough to be kept for another walk to be compared with. Pure.
import { idHash } from '../task/id-hash.ts'

/** A longer list is not compared: 32 MB. */
const LONGEST = 4_194_304

/** Ids in the order in which they were met, as numbers of 52 bit. */
export class Sequence {
  #hashes = new Float64Array(1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(id: string): void {
    if (this.#length > LONGEST) return
    if (this.#length === this.#hashes.length) {
      const longer = new Float64Array(2 * this.#length)
      longer.set(this.#hashes)
      this.#hashes = longer
    }
    this.#hashes[this.#length] = idHash(id)
    this.#length += 1
  }

  /**
   * Whether this walk and the `earlier` one agree on a list that changes only by deletions and by what comes or moves to
   * its front: all that stands below some place follows one another as it did, and that is more than half of the list.
   */
  agreesWith(earlier: Sequence): boolean {
    if (this.#length > LONGEST || earlier.#length > LONGEST) return false
    let below = this.#length
    for (let before = earlier.#length - 1; below > 0 && before >= 0; before -= 1) {
      if (this.#hashes[below - 1] === earlier.#hashes[before]) below -= 1
    }
    return 2 * below < this.#length
  }
}
