// The account's life while it is read: changes per request and per second, done when the next request comes.
import type { Account } from './account.ts'
import type { SimulatorOptions } from './options.ts'

/** After a long silence no request shall wait for more than this. */
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

  /** Does what is due; call before every request. */
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
      // Created when they were due, not when somebody looked; late and future ones are dated by the account.
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
    // A tenth ten times is one, whatever doubles make of it.
    const whole = Math.floor(owed + 1e-9)
    const due = Math.min(MAX_DUE_AT_ONCE, whole)
    this.#owed.set(key, owed - whole)
    return due
  }
}
