// Changes to the account while it is read, per request and per second; made when the next request comes.
import type { Account } from './account.ts'
import type { SimulatorOptions } from './options.ts'

/** At most this many changes at once, so that no request waits for more after a long silence. */
const MAX_DUE_AT_ONCE = 50_000

export class Changes {
  readonly #account: Account
  readonly #options: SimulatorOptions
  readonly #owed = new Map<keyof SimulatorOptions, number>()
  #at: number

  constructor(account: Account, options: SimulatorOptions) {
    this.#account = account
    this.#options = options
    this.#at = account.now()
  }

  /** Makes the changes that are due; call before every request. */
  apply(): void {
    this.#grow()
    const account = this.#account
    const { where } = this.#options
    account.insert(this.#due('insertsPerRequest', 1), { where })
    account.remove(this.#due('deletesPerRequest', 1), { where })
    account.finish(this.#due('finishesPerRequest', 1))
    account.update(this.#due('updatesPerRequest', 1))
    account.move(this.#due('movesPerRequest', 1))
  }

  #grow(): void {
    const account = this.#account
    const now = account.now()
    const seconds = Math.max(0, now - this.#at) / 1000
    const inserts = this.#due('insertsPerSecond', seconds)
    const { lateFraction, futureFraction } = account.options
    for (let i = 1; i <= inserts; i++) {
      // Dated to when they were due, not to this request; the account itself dates late and future ones.
      const where = lateFraction + futureFraction > 0 ? 'now' : Math.floor(this.#at + ((now - this.#at) * i) / inserts)
      account.insert(1, { where })
    }
    account.finish(this.#due('finishesPerSecond', seconds))
    account.remove(this.#due('deletesPerSecond', seconds))
    this.#at = Math.max(this.#at, now)
  }

  /** Whole changes that are due; the fraction is kept for the next time. */
  #due(key: `${string}Per${'Request' | 'Second'}` & keyof SimulatorOptions, factor: number): number {
    const owed = (this.#owed.get(key) ?? 0) + this.#options[key] * factor
    // Ten times 0.1 counts as 1, in spite of rounding in doubles.
    const whole = Math.floor(owed + 1e-9)
    const due = Math.min(MAX_DUE_AT_ONCE, whole)
    this.#owed.set(key, owed - whole)
    return due
  }
}
