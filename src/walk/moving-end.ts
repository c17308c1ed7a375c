// How long a walk goes on trying where answers bring nothing new, or the list's end moves whenever it is looked at.

/** How often to try what may have failed only because the list had just moved. */
export const TRIES = 4

/** How many requests a walk may make in vain, by the number of its windows that brought something new. */
export function inVain(windows: number): number {
  return 240 + 4 * windows
}

/** Requests that a window with something new is worth in the middle of the list. */
const WORTH = 8

export class MovingEnd {
  /** The end had moved when the walk looked at it. */
  hasMoved = false
  /** How often requests for the end were made ahead: no other bound counts those. */
  foreseen = 0
  /** The index behind which the walk looked further on and saw nothing; null where it has not looked. */
  looked: number | null = null
  /** Up to this index the list was seen to go on. */
  farTo = 0
  /**
   * The limit of the walk's requests, and the windows counted into it so far; null until the walk looks for its end,
   * and again once what looked like the end was passed.
   */
  private most: { requests: number; windows: number } | null = null
  private misses = 0

  /** The chain went on, by a place, where the list had seemed to end. */
  passedBy(): void {
    this.hasMoved = false
    this.most = null
  }

  /** What the walk took for the end was not proven to be it. Returns whether the walk gives up. */
  missed(): boolean {
    this.misses += 1
    return this.misses >= TRIES
  }

  /** The end was looked at in vain. Returns whether the walk gives up, by its `requests` and `windows` with news. */
  isSpent(requests: number, windows: number): boolean {
    this.most ??= { requests: requests + inVain(windows), windows }
    return requests > this.most.requests
  }

  /** What was looked at is not the end: each window that has brought something since is worth some requests. */
  defer(windows: number): void {
    if (this.most === null) return
    this.most = { requests: this.most.requests + WORTH * (windows - this.most.windows), windows }
  }
}
