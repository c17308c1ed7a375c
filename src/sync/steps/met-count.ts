// How many items of a list a walk has accounted for, to be compared with how long the list is by its indexes, and what it
// met of tasks that had come in while the walk before it went on. Pure.
import type { ItemsWindow } from '../../walk/source.ts'

export class MetCount {
  /** Tasks met for the first time. */
  met: number
  /** By their identities, positions that cannot be read. */
  readonly unread = new Set<string>()
  /** Items that were new and stood in one answer more than once, the first of each aside. */
  #doubled = 0

  /** `met`: before another process goes on. */
  constructor(met: number) {
    this.met = met
  }

  joined({ ids, met }: ItemsWindow): void {
    const news = ids.filter((_, index) => met[index] === 0)
    this.#doubled += news.length - new Set(news).size
  }

  /** By so many items a list of `total` is longer than what was met; 0 or less: by none. */
  uncountedOf(total: number): number {
    return total - this.met - this.unread.size - this.#doubled
  }
}

/** Tasks that a walk met and the mirror had not held, created after the walk before it had begun, and before it began itself. */
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
    // What was created earlier may have been listed only now: an import explains nothing.
    const since = this.#since ?? until
    moments.forEach((moment, index) => {
      const isNew = met[index] === 0 && held[index] === 0
      if (isNew && moment !== null && moment >= since && moment < until) this.count += 1
    })
  }
}
