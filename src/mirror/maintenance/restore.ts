// Puts a backup in the place of a mirror. Copying one there by hand beside the WAL of the old mirror destroys it:
// SQLite plays that WAL into whatever file it finds. Here the backup is copied, checked and given a name that the next
// run knows (`restoredPath`), then the old mirror goes with its WAL, then the new one takes its place. Whatever moment
// a kill comes at, the next run finds the old mirror whole, or the new one (`endRestore` in create.ts).
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, lstatSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMirrorError, MirrorError } from '../../errors.ts'
import { connect, lend } from '../connect.ts'
import { explain, explaining } from '../explain.ts'
import {
  makeFile,
  putAside,
  realMirrorPath,
  refuseOddFile,
  removeDrafts,
  restoredPath,
  restoringPrefix,
  sqliteFiles,
  syncPath,
} from '../files.ts'
import { takeLock } from '../lock.ts'
import { type Vacuumed, vacuumInto } from './vacuum.ts'
import { verifyMirror } from './verify.ts'

interface RestoreRequest {
  /** Where the mirror is, or is to be. */
  path: string
  /** The backup: a copy, or a mirror with its WAL beside it. It is only read. */
  from: string
  fileMode: number
  signal: AbortSignal
  /** Epoch ms. */
  now: () => number
  onProgress?(phase: string, rows: number, total: number | null): void
}

export interface Restored extends Vacuumed {
  path: string
  from: string
  bytes: number
  /** Where the old mirror is now, its WAL beside it; null where there was none. */
  movedTo: string | null
}

/**
 * Throws `usage-invalid`, `mirror-damaged` and what else `openReader` throws (of the backup), `mirror-locked`,
 * `disk-full`, `interrupted`.
 */
export async function restoreMirror(request: RestoreRequest): Promise<Restored> {
  const { path, from, fileMode, signal, now } = request
  refuseSame(from, path)
  const lock = takeLock(path, 'restore', now())
  const real = realMirrorPath(path)
  const folder = dirname(real)
  const prefix = restoringPrefix(real)
  const ready = restoredPath(real)
  try {
    removeDrafts(folder, prefix)
    // What is no file is not ours, and in the way of what is.
    if (lstatSync(ready, { throwIfNoEntry: false })?.isFile() === false) putAside(ready)
    const draft = join(folder, `${prefix}${randomBytes(6).toString('hex')}`)
    try {
      makeFile(draft, fileMode)
      const { tasks, cut } = await vacuumInto(from, draft, signal).catch((error) => {
        throw ofBackup(error)
      })
      await check(draft, request)
      makeWalMode(draft)
      const bytes = statSync(draft).size
      renameSync(draft, ready)
      syncPath(folder)
      lock.assertHeld()
      const movedTo = moveAway(real, now())
      renameSync(ready, real)
      syncPath(folder)
      return { path: real, from, tasks, cut, bytes, movedTo }
    } finally {
      for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
      // It could not be moved away, and stays.
      if (existsSync(real)) rmSync(ready, { force: true })
    }
  } catch (error) {
    throw explain(path, error)
  } finally {
    lock.release()
  }
}

function refuseSame(from: string, path: string): void {
  const backup = explaining(from, () => statSync(from, { throwIfNoEntry: false }))
  const isMirror = backup?.isFile() === true && realMirrorPath(from) === realMirrorPath(path)
  const why =
    backup === undefined ? 'does not exist' : !backup.isFile() ? 'is no file' : isMirror ? 'is the mirror' : null
  if (why === null) return
  throw new MirrorError('usage-invalid', `${from} ${why}`, {
    facts: { from },
    hint: 'Name a backup, such as a file that `task-mirror copy` has made; --db says where it goes.',
  })
}

/** What is wrong with a file that was opened as a mirror, said of one that was named as a backup. */
function ofBackup(error: unknown): unknown {
  if (!isMirrorError(error, 'mirror-foreign', 'mirror-missing', 'mirror-damaged', 'mirror-newer')) return error
  const { code, message, facts, cause } = error
  const way = code === 'mirror-newer' ? 'Restore it with the newer program, or name' : 'Name'
  const hint = `Nothing was changed. ${way} another backup, such as a file that \`task-mirror copy\` has made.`
  return new MirrorError(code, message, { facts, cause, hint })
}

async function check(draft: string, { from, signal, onProgress }: RestoreRequest): Promise<void> {
  const { faults } = await verifyMirror(draft, { signal, onProgress })
  const [first] = faults
  if (first === undefined) return
  throw new MirrorError('mirror-damaged', `The backup ${from} is not sound: ${first.message}`, {
    facts: { from, faults: faults.map((fault) => fault.check).join(' ') },
    hint: `Nothing was changed. \`task-mirror verify --db\` with that file tells more; take another backup.`,
  })
}

/** A copy for readers has no WAL; a mirror needs one, so that readers are never in the way of the writer. */
function makeWalMode(draft: string): void {
  lend(connect(draft, { fileMustExist: true }), (db) => {
    db.pragma('journal_mode = WAL')
    db.pragma('wal_checkpoint(TRUNCATE)')
  })
  syncPath(draft)
}

/** The old mirror under another name, with what SQLite had beside it; nothing of it stays at `path`. */
export function moveAway(path: string, now: number): string | null {
  const files = [path, ...sqliteFiles(path).filter((file) => !file.endsWith('-shm'))].filter((file) => existsSync(file))
  for (const file of sqliteFiles(path)) refuseOddFile(file)
  if (files.length === 0) return null
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const away = `${path}.before-${stamp}-${randomBytes(3).toString('hex')}`
  // First all of it has its second name; then the file goes, and only then the WAL that belongs to it.
  const isLinked = linkAll(files, (file) => away + file.slice(path.length))
  if (isLinked) syncPath(dirname(path))
  for (const file of files) {
    if (isLinked) rmSync(file)
    else renameSync(file, away + file.slice(path.length))
  }
  rmSync(`${path}-shm`, { force: true })
  syncPath(dirname(path))
  return away
}

/** False where the file system knows no second names. */
function linkAll(files: readonly string[], nameOf: (file: string) => string): boolean {
  try {
    for (const file of files) linkSync(file, nameOf(file))
    return true
  } catch (error) {
    for (const file of files) rmSync(nameOf(file), { force: true })
    if (/^(EPERM|ENOTSUP|EOPNOTSUPP|EMLINK|ENOSYS)$/.test(String((error as NodeJS.ErrnoException).code))) return false
    throw error
  }
}
