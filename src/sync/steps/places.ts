// The places of a list that a walk has accounted for, to be compared with how long the list is by its indexes. Pure.
import type { ItemsWindow } from '../../walk/source.ts'

export class Places {
  /** Tasks met for the first time. */
  met: number
  /** By their identities, positions that cannot be read. */
  readonly unread = new Set<string>()
  /** Items that an answer lists more than once, the first of each aside. */
  #doubled = 0

  /** `met`: before another process goes on. */
  constructor(met: number) {
    this.met = met
  }

  joined({ ids }: ItemsWindow): void {
    this.#doubled += ids.length - new Set(ids).size
  }

  /** By so many items a list of `total` is longer than what was met; 0 or less: by none. */
  missingOf(total: number): number {
    return total - this.met - this.unread.size - this.#doubled
  }
}
