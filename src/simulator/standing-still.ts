// Simulates a lagging replica: for a while, one of two servers, chosen at random for each read, shows an old list.
import type { SimulatorOptions } from './options.ts'
import { unitAt } from './random.ts'

const SALT = 0x57111

export class StandingStill<List> {
  readonly #options: SimulatorOptions
  #kept: { list: List; since: number } | null = null

  constructor(options: SimulatorOptions) {
    this.#options = options
  }

  /** The list that answers window number `read`; `keep` copies the present list. */
  shown(present: List, read: number, now: number, keep: () => List): List {
    const { seed, stillFrom, stillMs, stillAgain } = this.#options
    if (stillMs === 0 || read < stillFrom) return present
    const isOver = this.#kept !== null && now - this.#kept.since >= stillMs
    if (this.#kept === null || (isOver && stillAgain)) this.#kept = { list: keep(), since: now }
    const { list, since } = this.#kept
    return now - since < stillMs && unitAt(seed, read, SALT) < 0.5 ? list : present
  }
}
