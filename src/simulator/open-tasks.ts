// The open tasks of an account, arranged so that random ones are found without a search.
import type { Random } from './random.ts'

export class OpenTasks {
  readonly #slots: number[] = []
  readonly #index = new Map<number, number>()

  get size(): number {
    return this.#slots.length
  }

  has(slot: number): boolean {
    return this.#index.has(slot)
  }

  add(slot: number): void {
    if (!this.#index.has(slot)) this.#index.set(slot, this.#slots.push(slot) - 1)
  }

  /** The last task takes the place of the removed one. */
  delete(slot: number): void {
    const index = this.#index.get(slot)
    if (index === undefined) return
    const last = this.#slots.pop()!
    if (last !== slot) {
      this.#slots[index] = last
      this.#index.set(last, index)
    }
    this.#index.delete(slot)
  }

  /** `count` different tasks, or all where there are fewer. */
  some(count: number, random: Random): number[] {
    const chosen = new Set<number>()
    const wanted = Math.min(count, this.#slots.length)
    while (chosen.size < wanted) chosen.add(random.pick(this.#slots))
    return [...chosen]
  }
}
