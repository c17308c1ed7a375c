// A search for a place in a list by looking at one place after another: forward or back in growing steps, then by
// halving between two bounds. The list may move meanwhile: a bound that no longer holds is given up. Pure.

/** No list is longer than this. */
const FARTHEST = 2 ** 40

export interface SearchOptions {
  /** The unit of a step, items. */
  stride?: number
  /** By how much each step is larger than the one before. */
  growth?: number
  /**
   * Known bounds. With `near` the search is over where both meet; without it, a look shows what is sought itself, and
   * bounds that meet mean that the list has moved. A moving list may undo a bound: the caller limits the looks.
   */
  near?: number
  far?: number | null
}

export class Search {
  /** Where to look next. */
  place: number
  /** What is sought lies at `near` or further on, and at `far` or before; null where that is not known. */
  near: number | null
  far: number | null
  readonly #stride: number
  readonly #growth: number
  readonly #mayMeet: boolean
  /** How many strides the next place lies beyond the one directly behind, or before, the place looked at. */
  #leap: number

  constructor(place: number, { stride = 1, growth = 2, near, far = null }: SearchOptions = {}) {
    this.place = place
    this.near = near ?? null
    this.#mayMeet = near !== undefined
    this.far = far
    this.#stride = stride
    // Without bounds, what is sought is first looked for close by.
    this.#leap = this.#mayMeet ? 1 : 0
    this.#growth = growth
  }

  /** The bounds have met: in a list that stands still, what is sought lies there. */
  get isClosed(): boolean {
    return this.near !== null && this.near === this.far
  }

  /** The look showed that what is sought lies behind the `count` items from `place` on. */
  tooNear(count = 1): void {
    this.near = this.place + count
    if (this.far !== null && !this.#holds(this.near, this.far)) this.far = null
    this.place = this.far === null ? this.near + this.#grow() * this.#stride : middleOf(this.near, this.far)
  }

  /** The look showed that what is sought lies at `place` or before; false where there is nothing before it. */
  tooFar(): boolean {
    this.far = this.place
    if (this.near !== null && !this.#holds(this.near, this.far)) this.near = null
    if (this.place === 0) return false
    this.place =
      this.near === null ? Math.max(0, this.far - (this.#grow() + 1) * this.#stride) : middleOf(this.near, this.far)
    return true
  }

  #holds(near: number, far: number): boolean {
    return this.#mayMeet ? near <= far : near < far
  }

  #grow(): number {
    const leap = this.#leap
    this.#leap = Math.min(this.#growth * leap + this.#growth - 1, FARTHEST / this.#stride)
    return leap
  }
}

/** The first place from `near` on that is `beyond`, as `far` is, found by halving alone. */
export async function firstBeyond(
  near: number,
  far: number,
  beyond: (place: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [near, far]
  while (low < high) {
    const place = middleOf(low, high)
    if (await beyond(place)) high = place
    else low = place + 1
  }
  return high
}

function middleOf(near: number, far: number): number {
  return near + Math.floor((far - near) / 2)
}
