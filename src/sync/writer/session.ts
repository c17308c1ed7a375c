// Everything that happens on the writing connection: windows that are ready (prepare.ts) and details are looked up and
// committed, with the walks, the run and what is owed. Synchronous, so that nothing can await inside a transaction.
// Runs in the writer thread (worker.ts), and directly in tests; knows the mirror and the wire format, not the network.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Db } from '../../mirror/connect.ts'
import { putAsideStale } from '../../mirror/create.ts'
import { explaining } from '../../mirror/explain.ts'
import { inodeOf, sqliteFiles } from '../../mirror/files.ts'
import { holding, type Lock, takeLock } from '../../mirror/lock.ts'
import { beginDryRun, closeWriter, endDryRun, openWriter } from '../../mirror/open.ts'
import { walBytes } from '../../mirror/wal.ts'
import type { Detail } from '../../service/decode/wire.ts'
import { detailIntake } from './details-intake.ts'
import { formIntake } from './form-intake.ts'
import { replayIntake } from './replay-intake.ts'
import { runIntake, walkIntake } from './run-intake.ts'
import { wantedTasks } from './wanted-tasks.ts'
import { windowIntake } from './windows.ts'
import { Writing, type WritingOptions } from './writing.ts'

export interface SessionOptions extends WritingOptions {
  busyTimeoutMs: number
  fileMode: number
  /** Everything is rolled back at the end; a missing mirror is made elsewhere, and removed. */
  dryRun: boolean
}

export type Session = ReturnType<typeof openSession>

/** Takes the lock, opens the mirror and begins the run. Throws what `takeLock` and `openWriter` throw. */
export function openSession(options: SessionOptions) {
  const { path } = options
  const scratch = options.dryRun && !existsSync(path) ? mkdtempSync(join(tmpdir(), 'task-mirror-dry-')) : null
  const removeScratch = () => scratch !== null && rmSync(scratch, { recursive: true, force: true })
  const lock: Lock =
    scratch === null
      ? takeLock(path, options.command, options.now)
      : { assertHeld() {}, release: () => void removeScratch() }
  let db: Db | null = null
  try {
    db = openWriter(scratch === null ? path : join(scratch, 'mirror.sqlite'), options)
    if (options.dryRun) beginDryRun(db)
    // SQLite has its files open by now, and no one else wants them: so not even a kill leaves what the service sent.
    try {
      removeScratch()
    } catch {
      // Windows and NFS keep what is open; it goes at the end.
    }
    return beginSession(db, options, lock)
  } catch (error) {
    db?.close()
    lock.release()
    throw error
  }
}

/** Begins the run on an open mirror; the lock is released when it is closed. */
export function beginSession(db: Db, options: SessionOptions, lock: Lock) {
  const file = inodeOf(db.name)
  const assertHeld = holding(lock, db)
  const writing = new Writing(db, options, assertHeld)
  const beside = sqliteFiles(db.name).map(inodeOf)
  const isTakenAway = () => inodeOf(db.name) !== file
  const details = new Map<number, Detail>()

  return {
    ...runIntake(writing, options.now),
    ...walkIntake(writing),
    ...windowIntake(writing),
    ...detailIntake(writing, details),
    ...formIntake(writing, details),
    ...replayIntake(writing),
    ...wantedTasks(writing),

    /** Commits the windows that were taken in; throws why they could not be committed, unless a call has told it. */
    flush: writing.flush,

    /**
     * Closes the connection and gives the lock back, whatever happens. Windows gathered since the last commit are lost,
     * so `endRun` comes before. Returns the size in bytes of a WAL that readers keep from being folded back. Throws
     * where the disk keeps it from that (nothing is lost, the next run folds it back), and where somebody has taken a
     * file away, which SQLite does not notice: the WAL of a mirror that is gone is put aside, or would be played into
     * what stands there now.
     */
    close(): number {
      try {
        endDryRun(db)
        explaining(options.path, () => closeWriter(db, assertHeld))
      } finally {
        try {
          if (isTakenAway()) explaining(options.path, () => putAsideStale(db.name, (ino) => beside.includes(ino)))
        } finally {
          lock.release()
        }
      }
      return walBytes(options.path)
    },
  }
}
