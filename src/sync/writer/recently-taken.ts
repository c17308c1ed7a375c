// What a walk has taken in since windows were looked up: brings an answer of the writer up to date, so that it need not
// be asked for again. Holds the ids of no more windows than that takes.

/** A look-up for a walk, made when `after` windows had been taken in. */
export interface LookedUpAt {
  walkId: number
  after: number
}

export class RecentlyTaken {
  #count = 0
  #walkId: number | null = null
  /** Which window brought an id last, of the windows that still matter. */
  readonly #takenAt = new Map<string, number>()
  readonly #windows: { number: number; ids: string[] }[] = []

  /** How many windows walks have taken in so far. */
  get count(): number {
    return this.#count
  }

  /** Forgets what earlier walks took in: it is of no use to this one. */
  add(walkId: number, ids: string[]): void {
    if (walkId !== this.#walkId) {
      this.#takenAt.clear()
      this.#windows.length = 0
      this.#walkId = walkId
    }
    for (const id of ids) this.#takenAt.set(id, this.#count)
    this.#windows.push({ number: this.#count, ids })
    this.#count += 1
  }

  /** Sets `met` to 1, by index, for those of `ids` that the walk has taken in since they were looked up. */
  bringUpToDate(met: Uint8Array, ids: readonly string[], { walkId, after }: LookedUpAt): void {
    if (walkId !== this.#walkId || after === this.#count) return
    ids.forEach((id, index) => {
      if ((this.#takenAt.get(id) ?? -1) >= after) met[index] = 1
    })
  }

  /** All look-ups that still matter were made when `after` windows or more had been taken in. */
  forgetBefore(after: number): void {
    const windows = this.#windows
    for (let oldest = windows[0]; oldest !== undefined && oldest.number < after; oldest = windows[0]) {
      for (const id of oldest.ids) if (this.#takenAt.get(id) === oldest.number) this.#takenAt.delete(id)
      windows.shift()
    }
  }
}
