// An end of the list that moves, or grows, whenever it is looked at: how long a walk goes on trying.
import { inVain, TRIES } from './attempts.ts'

/** Requests that a window with something new is worth in the middle of the list. */
const WORTH = 8

export class MovingEnd {
  /** It had moved when it was looked at. */
  hasMoved = false
  /** How often its requests were made ahead: no bound counts those. */
  foreseen = 0
  /** From where it was looked further on, and nothing was there; null where it was not. */
  looked: number | null = null
  /** Up to this index the list was seen to go on. */
  farTo = 0
  /**
   * The limit of the walk's requests, with the windows counted into it so far; null until the walk looks for its end, or once what
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
    return this.misses >= TRIES
  }

  /** It was looked at in vain: whether the walk gives up. `requests`: its own so far; `windows`: those that brought something. */
  isSpent(requests: number, windows: number): boolean {
    this.most ??= { requests: requests + inVain(windows), windows }
    return requests > this.most.requests
  }

  /** It is not the end that was looked at: so many windows have brought something since, and each is worth some requests. */
  defer(windows: number): void {
    if (this.most === null) return
    this.most = { requests: this.most.requests + WORTH * (windows - this.most.windows), windows }
  }
}
