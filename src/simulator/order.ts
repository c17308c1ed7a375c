// The order of a list: a sorted array of slots with binary search, so that any window of a million tasks is cheap.
import { type Random, shuffle } from './random.ts'

/** Negative where slot `a` comes first; never 0 for two different slots. */
export type Compare = (a: number, b: number) => number

export class ListOrder {
  readonly #compare: Compare
  readonly #slots: number[]

  constructor(slots: number[], compare: Compare) {
    this.#compare = compare
    this.#slots = slots.sort(compare)
  }

  get length(): number {
    return this.#slots.length
  }

  at(index: number): number {
    return this.#slots[index]!
  }

  copy(): ListOrder {
    return new ListOrder([...this.#slots], this.#compare)
  }

  all(): readonly number[] {
    return this.#slots
  }

  insert(slots: readonly number[]): void {
    if (slots.length > 32) {
      for (const slot of slots) this.#slots.push(slot)
      this.#slots.sort(this.#compare)
      return
    }
    for (const slot of slots) this.#slots.splice(this.#search(slot), 0, slot)
  }

  /** Call before changing anything that the comparison depends on. */
  remove(slots: readonly number[]): void {
    if (slots.length > 32) {
      const gone = new Set(slots)
      let kept = 0
      for (const slot of this.#slots) if (!gone.has(slot)) this.#slots[kept++] = slot
      this.#slots.length = kept
      return
    }
    for (const slot of slots) {
      const index = this.indexOf(slot)
      if (index >= 0) this.#slots.splice(index, 1)
    }
  }

  /** -1 where the slot is not in the list. */
  indexOf(slot: number): number {
    const index = this.#search(slot)
    return this.#slots[index] === slot ? index : -1
  }

  window(from: number, to: number): number[] {
    return this.#slots.slice(from, to)
  }

  /** A window of a list whose order is shuffled anew at every read. */
  shuffledWindow(from: number, to: number, random: Random): number[] {
    return shuffle([...this.#slots], random).slice(from, to)
  }

  /** A window in which each run of equal `keyOf`, even beyond the window, is shuffled, as without a tie-breaker. */
  tiesShuffledWindow(from: number, to: number, keyOf: (slot: number) => number, random: Random): number[] {
    let start = from
    let end = Math.min(to, this.#slots.length)
    if (start >= end) return []
    while (start > 0 && keyOf(this.at(start - 1)) === keyOf(this.at(start))) start--
    while (end < this.#slots.length && keyOf(this.at(end)) === keyOf(this.at(end - 1))) end++
    const shuffled: number[] = []
    for (let i = start; i < end; ) {
      let j = i + 1
      while (j < end && keyOf(this.at(j)) === keyOf(this.at(i))) j++
      shuffled.push(...shuffle(this.#slots.slice(i, j), random))
      i = j
    }
    return shuffled.slice(from - start, to - start)
  }

  /** The index of the slot, or where it would be inserted. */
  #search(slot: number): number {
    let low = 0
    let high = this.#slots.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(this.#slots[middle]!, slot) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
