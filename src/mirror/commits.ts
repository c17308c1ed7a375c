// Transactions of the writing connection: a piece of work each, or several windows in one, which costs a fraction.

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

interface Commits {
  /** Pieces of work so far, those included that are not committed yet. */
  count(): number
  /** One IMMEDIATE transaction; what was gathered before is committed first. */
  commit<T>(work: () => T): T
  /** Like `commit`, but the transaction may end later, with the pieces that follow: at the next `commit` at the latest. */
  gather<T>(work: () => T): T
  /** Ends the transaction of what was gathered. */
  flush(): void
}

/**
 * All throw what `work` throws, and `MirrorError` for errors of SQLite, of a transaction that could not be ended since
 * the last call as well; everything since the last end of a transaction is rolled back then, and `onRollback` was called.
 */
export function commitsTo(db: Db, path: string, gathering: Gathering, onRollback: (error: unknown) => void): Commits {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const end = db.prepare('COMMIT')
  let pieces = 0
  let gathered = 0
  let isFirst = true
  let timer: NodeJS.Timeout | null = null
  let failed: { error: unknown } | null = null

  function flush(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (gathered === 0) return
    gathered = 0
    rollingBack(() => void end.run())
  }

  function rollingBack<T>(work: () => T): T {
    try {
      return explaining(path, work)
    } catch (error) {
      if (timer !== null) clearTimeout(timer)
      timer = null
      gathered = 0
      if (db.inTransaction) db.exec('ROLLBACK')
      onRollback(error)
      throw error
    }
  }

  function onTimer(): void {
    timer = null
    try {
      flush()
    } catch (error) {
      failed = { error }
    }
  }

  function throwFailed(): void {
    if (failed === null) return
    const { error } = failed
    failed = null
    throw error
  }

  /** Inside of another transaction, a trial, there is nothing to gather. */
  function alone<T>(work: () => T): T {
    try {
      const result = explaining(path, () => db.transaction(work).immediate())
      pieces += 1
      return result
    } catch (error) {
      onRollback(error)
      throw error
    }
  }

  return {
    count: () => pieces,
    commit(work) {
      throwFailed()
      flush()
      return alone(work)
    },
    flush() {
      throwFailed()
      flush()
    },
    gather(work) {
      throwFailed()
      // The first one alone: whoever watches sees rows as soon as there are any.
      const isAlone = isFirst || gathering.pieces <= 1 || (gathered === 0 && db.inTransaction)
      isFirst = false
      if (isAlone) return alone(work)
      return rollingBack(() => {
        if (gathered === 0) {
          begin.run()
          if (Number.isFinite(gathering.ms)) timer = setTimeout(onTimer, gathering.ms)
        }
        gathered += 1
        const result = work()
        pieces += 1
        if (gathered >= gathering.pieces) flush()
        return result
      })
    },
  }
}
