// Windows that are asked for before the walk wants them, and where asking is of use. Asks nothing itself.

interface EarlyWindow<Answer> {
  skip: number
  answer: Promise<Answer>
  hasCome: boolean
}

/** The windows asked for, by place and size. */
export class EarlyWindows<Answer> {
  readonly #asked = new Map<string, EarlyWindow<Answer>>()

  get size(): number {
    return this.#asked.size
  }

  /** How many have come and wait. */
  get come(): number {
    return [...this.#asked.values()].filter(({ hasCome }) => hasCome).length
  }

  has(skip: number, take: number): boolean {
    return this.#asked.has(`${skip}:${take}`)
  }

  add(skip: number, take: number, answer: Promise<Answer>): void {
    const early = { skip, answer, hasCome: false }
    const note = () => {
      early.hasCome = true
    }
    // The answer may be read later, or never: its error is not to count as unhandled.
    answer.then(note, note)
    this.#asked.set(`${skip}:${take}`, early)
  }

  /** Takes a window out, if it was asked for. */
  take(skip: number, take: number): EarlyWindow<Answer> | undefined {
    const early = this.#asked.get(`${skip}:${take}`)
    this.#asked.delete(`${skip}:${take}`)
    return early
  }

  /** Takes all windows out. */
  clear(): EarlyWindow<Answer>[] {
    const all = [...this.#asked.values()]
    this.#asked.clear()
    return all
  }
}

/** Where a list seems to end: behind an answer that held less than was asked for, and less than others did. */
export class SeemingEnd {
  #largest = 0
  #index = Number.POSITIVE_INFINITY

  saw(skip: number, take: number, count: number): void {
    if (count < Math.min(take, this.#largest)) this.#index = Math.min(this.#index, skip + count)
    this.#largest = Math.max(this.#largest, count)
  }

  /** The walk goes on at `skip`: if that is behind the seeming end, the walk knows better. */
  goesOn(skip: number): void {
    if (skip > this.#index) this.#index = Number.POSITIVE_INFINITY
  }

  liesBefore(skip: number): boolean {
    return skip > this.#index
  }
}
