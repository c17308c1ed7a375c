// How many items of a list a walk has accounted for, to be compared with the list's length by its indexes; and how many
// tasks it met that had come in while the walk before it went on. Pure.
import { type ItemsWindow, newIds } from '../../walk/source.ts'

export class MetCount {
  /** How many tasks were met for the first time. */
  met: number
  /** Positions that cannot be read, by their identities. */
  readonly unread = new Set<string>()
  /** New items that stood in the same answer before: an item three times in one answer counts two. */
  #doubled = 0

  /** `met`: how many an earlier process of this walk had met. */
  constructor(met: number) {
    this.met = met
  }

  joined(window: ItemsWindow): void {
    this.#doubled += window.met.filter((met) => met === 0).length - newIds(window).size
  }

  /** By how many items a list of `total` is longer than what was met; 0 or less: it is not. */
  uncountedOf(total: number): number {
    return total - this.met - this.unread.size - this.#doubled
  }
}

/** Counts tasks met that the mirror had not held, created between the beginnings of the walk before and this one. */
export class Newcomers {
  readonly #since: number | null
  #until: number | null = null
  count = 0

  /** `since`: when the walk before began, epoch ms by the service's clock; null where there was none. */
  constructor(since: number | null) {
    this.#since = since
  }

  joined({ met, held, moments, serviceDate, startedAt }: ItemsWindow): void {
    this.#until ??= serviceDate ?? startedAt
    const until = this.#until
    // A task created earlier may have been listed only now: an import explains nothing.
    const since = this.#since ?? until
    moments.forEach((moment, index) => {
      const isNew = met[index] === 0 && held[index] === 0
      if (isNew && moment !== null && moment >= since && moment < until) this.count += 1
    })
  }
}
