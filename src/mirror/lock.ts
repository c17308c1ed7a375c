// The one-writer lock: an exclusively locked SQLite file next to the mirror. The kernel releases it when the holder dies,
// so there is no stale lock; who holds it stands as text beside it, for the message only.
import { chmodSync, closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { MirrorError } from '../errors.ts'
import { explaining } from './explain.ts'
import { refuseForeign } from './open.ts'

export interface Lock {
  release(): void
}

/**
 * Takes the lock of the mirror at `path` or throws `MirrorError` `mirror-locked` at once; `mirror-foreign` where something
 * else stands there.
 * `command` and `now` (epoch ms) are what another run will be told about the holder.
 */
export function takeLock(path: string, command: string, now: number): Lock {
  refuseForeign(path)
  const lockPath = `${path}.lock`
  const holderPath = `${path}.holder`
  return explaining(lockPath, () => {
    if (!existsSync(lockPath)) {
      try {
        closeSync(openSync(lockPath, 'wx', 0o600))
        chmodSync(lockPath, 0o600)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
    }
    const db = new Database(lockPath, { timeout: 0 })
    try {
      db.pragma('locking_mode = EXCLUSIVE')
      db.exec('BEGIN EXCLUSIVE')
    } catch (error) {
      db.close()
      if (!String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) throw error
      throw new MirrorError('mirror-locked', `Another run holds the mirror ${path}${describeHolder(holderPath)}`, {
        facts: { path },
        hint: 'Wait until it has finished; nothing was sent and nothing was changed.',
      })
    }
    const release = () => {
      try {
        rmSync(holderPath, { force: true })
      } finally {
        if (db.inTransaction) db.exec('ROLLBACK')
        db.close()
      }
    }
    const text = `pid ${process.pid}, ${command}, since ${new Date(now).toISOString()}`
    try {
      writeFileSync(holderPath, `${text}\n`, { mode: 0o600 })
    } catch (error) {
      // A disk that is full. The lock must not stay: a process that goes on could never take it again.
      release()
      throw error
    }
    return { release }
  })
}

function describeHolder(holderPath: string): string {
  try {
    return ` (${readFileSync(holderPath, 'utf8').trim()})`
  } catch {
    return ''
  }
}
