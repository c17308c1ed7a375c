// An end of the list that moves, or grows, whenever it is looked at: how long a walk goes on trying.

/** Requests that a walk may make once it looks for its end: so many, and so many more for every window that had brought something by then. */
const REQUESTS = 240
const REQUESTS_PER_WINDOW = 4
/** What looks like the end, and is not proven to be it, is looked at anew so often. */
const MOST_MISSES = 2

export class MovingEnd {
  /** It had moved when it was looked at. */
  hasMoved = false
  /** From where it was looked further on, and nothing was there; null where it was not. */
  looked: number | null = null
  /**
   * How many requests the walk may have made, and what it had read when that was fixed; null where it has not looked at its end, or what
   * looked like it was passed.
   */
  private most: { requests: number; windows: number } | null = null
  private misses = 0

  /** The chain went on by a place, where the end had seemed to be. */
  passedBy(): void {
    this.hasMoved = false
    this.most = null
  }

  /** What the walk took for the end was not proven to be it: whether the walk gives up. */
  missed(): boolean {
    this.misses += 1
    return this.misses > MOST_MISSES
  }

  /**
   * It was looked at in vain: whether there are requests left for it, of so many of the walk so far. `new`: none, but the walk has got
   * further since it looked first. `windows`: those that brought something.
   */
  left(requests: number, windows: number): 'some' | 'new' | 'none' {
    this.most ??= { requests: requests + REQUESTS + REQUESTS_PER_WINDOW * windows, windows }
    if (requests <= this.most.requests) return 'some'
    return windows > this.most.windows ? 'new' : 'none'
  }
}
