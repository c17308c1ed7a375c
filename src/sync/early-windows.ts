// Windows that are asked for before the walk wants them, and where asking is of use. Asks nothing itself.

interface EarlyWindow<Answer> {
  skip: number
  answer: Promise<Answer>
}

/** The windows asked for, by place and size. */
export class EarlyWindows<Answer> {
  readonly #asked = new Map<string, EarlyWindow<Answer>>()
  readonly #come: Set<string>

  /** `come`: windows that have come and wait. Where several `EarlyWindows` share it, a window of both counts once. */
  constructor(come: Set<string>) {
    this.#come = come
  }

  get size(): number {
    return this.#asked.size
  }

  has(skip: number, take: number): boolean {
    return this.#asked.has(`${skip}:${take}`)
  }

  add(skip: number, take: number, answer: Promise<Answer>): void {
    const key = `${skip}:${take}`
    const note = () => {
      if (this.#asked.get(key)?.answer === answer) this.#come.add(key)
    }
    // The answer may be read later, or never: its error is not to count as unhandled.
    answer.then(note, note)
    this.#asked.set(key, { skip, answer })
  }

  /** Takes a window out, if it was asked for. */
  take(skip: number, take: number): { answer: Promise<Answer>; hasCome: boolean } | undefined {
    const key = `${skip}:${take}`
    const early = this.#asked.get(key)
    if (early === undefined) return undefined
    this.#asked.delete(key)
    return { answer: early.answer, hasCome: this.#come.delete(key) }
  }

  /** Takes all windows out. */
  clear(): EarlyWindow<Answer>[] {
    const all = [...this.#asked.values()]
    for (const key of this.#asked.keys()) this.#come.delete(key)
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
