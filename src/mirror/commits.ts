// Transactions of the writing connection: a piece of work each, or several windows in one, which costs a fraction.
import type { Statement } from 'better-sqlite3'
import type { Db } from './connect.ts'
import { explaining } from './explain.ts'

export interface Gathering {
  /** Pieces of work in one transaction at most; 1: each has its own. */
  pieces: number
  /** A transaction is ended this many ms after it was begun, also when nothing more comes. */
  ms: number
}

/** Every piece of work in a transaction of its own. */
export const BY_ITSELF: Gathering = { pieces: 1, ms: 0 }

/**
 * All methods throw what `work` throws, or `beforeCommit`, and `MirrorError` for errors of SQLite, of a transaction
 * that could not be ended since the last call as well; everything since the last end of a transaction is rolled back
 * then, and `onRollback` was called.
 */
export class Commits {
  readonly #db: Db
  readonly #path: string
  readonly #gathering: Gathering
  readonly #beforeCommit: () => void
  readonly #onRollback: (error: unknown) => void
  readonly #begin: Statement
  readonly #commit: Statement
  #pieces = 0
  #gathered = 0
  #isFirst = true
  #timer: NodeJS.Timeout | null = null
  #failed: { error: unknown } | null = null

  constructor(
    db: Db,
    path: string,
    gathering: Gathering,
    { beforeCommit, onRollback }: { beforeCommit(): void; onRollback(error: unknown): void },
  ) {
    this.#db = db
    this.#path = path
    this.#gathering = gathering
    this.#beforeCommit = beforeCommit
    this.#onRollback = onRollback
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
  }

  /**
   * Pieces of work so far, those included that are not committed yet; a rollback counts as one more, as rows may differ
   * then.
   */
  count(): number {
    return this.#pieces
  }

  /** One IMMEDIATE transaction; what was gathered before is committed first. */
  commit<T>(work: () => T): T {
    this.flush()
    return this.#alone(work)
  }

  /**
   * Like `commit`, but the transaction may end later, with the pieces that follow: at the next `commit` at the latest.
   */
  gather<T>(work: () => T): T {
    this.#throwFailed()
    const { pieces, ms } = this.#gathering
    // The first one alone: whoever watches sees rows as soon as there are any.
    const isAlone = this.#isFirst || pieces <= 1 || (this.#gathered === 0 && this.#db.inTransaction)
    this.#isFirst = false
    if (isAlone) return this.#alone(work)
    return this.#rollingBack(() => {
      if (this.#gathered === 0) {
        this.#begin.run()
        if (Number.isFinite(ms)) this.#timer = setTimeout(() => this.#onTimer(), ms)
      }
      this.#gathered += 1
      const result = work()
      this.#pieces += 1
      if (this.#gathered >= pieces) this.#end()
      return result
    })
  }

  /** Ends the transaction of what was gathered. */
  flush(): void {
    this.#throwFailed()
    this.#end()
  }

  #end(): void {
    this.#stopTimer()
    if (this.#gathered === 0) return
    this.#gathered = 0
    this.#rollingBack(() => {
      this.#beforeCommit()
      this.#commit.run()
    })
  }

  #rollingBack<T>(work: () => T): T {
    try {
      return explaining(this.#path, work)
    } catch (error) {
      this.#stopTimer()
      this.#gathered = 0
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
      this.#pieces += 1
      this.#onRollback(error)
      throw error
    }
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #onTimer(): void {
    try {
      this.#end()
    } catch (error) {
      this.#failed = { error }
    }
  }

  #throwFailed(): void {
    if (this.#failed === null) return
    const { error } = this.#failed
    this.#failed = null
    throw error
  }

  /** Inside of another transaction, a dry run, there is nothing to gather. */
  #alone<T>(work: () => T): T {
    const all = () => {
      const result = work()
      this.#beforeCommit()
      return result
    }
    try {
      const result = explaining(this.#path, () => this.#db.transaction(all).immediate())
      this.#pieces += 1
      return result
    } catch (error) {
      this.#pieces += 1
      this.#onRollback(error)
      throw error
    }
  }
}
