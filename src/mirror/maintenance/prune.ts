// Removes the payloads of tombstoned tasks: the only thing that ever leaves the mirror. What remains says that the task
// was there, when, and when it was deleted. Works in synchronous batches and yields between them, to hear signals.
// Unused parts of the file may hold traces of what was removed until a VACUUM.
import { setImmediate as breathe } from 'node:timers/promises'
import { PAYLOAD_COLUMNS } from '../../task/columns.ts'
import type { Db } from '../connect.ts'
import { explaining } from '../explain.ts'
import { holding, type Lock, takeLock } from '../lock.ts'
import { openReader, openWriter, type WriterOptions, withReader } from '../open.ts'
import { contentHash } from '../row-bytes.ts'
import { TaskTable } from '../tables/tasks.ts'

interface PruneRequest extends WriterOptions {
  path: string
  /** Tombstones made before this moment, epoch ms. */
  deletedBefore: number
  dryRun: boolean
  signal: AbortSignal
  /** Epoch ms. */
  now(): number
  onProgress?(rows: number): void
}

export interface PruneResult {
  /** Tombstoned tasks that lost their payload, or would. */
  rows: number
  /** Bytes of the payloads as text. */
  bytes: number
}

const BATCH = 500

const size = PAYLOAD_COLUMNS.map((name) => `coalesce(length(CAST(${name} AS BLOB)), 0)`).join(' + ')
const due = `deleted_at < ? AND (${PAYLOAD_COLUMNS.map((name) => `${name} IS NOT NULL`).join(' OR ')})`

/** Throws `mirror-missing`, `mirror-locked` and as `openWriter`; what was committed stays. A dry run takes no lock. */
export async function pruneDeleted(request: PruneRequest): Promise<PruneResult> {
  const { path, deletedBefore } = request
  if (request.dryRun) return withReader(path, (db) => count(db, deletedBefore))
  // Throws where the mirror is missing: a writer would make one.
  openReader(path).close()
  const lock = takeLock(path, 'prune', request.now())
  try {
    const db = openWriter(path, request)
    try {
      return await prune(db, lock, request)
    } finally {
      db.close()
    }
  } finally {
    lock.release()
  }
}

function count(db: Db, deletedBefore: number): PruneResult {
  return db
    .prepare(`SELECT count(*) AS rows, coalesce(sum(${size}), 0) AS bytes FROM tasks WHERE ${due}`)
    .get(deletedBefore) as PruneResult
}

async function prune(
  db: Db,
  lock: Lock,
  { path, deletedBefore, signal, now, onProgress }: PruneRequest,
): Promise<PruneResult> {
  const tasks = new TaskTable(db)
  const assertHeld = holding(lock, db)
  const next = db.prepare(
    `SELECT seq, deleted_at AS deletedAt, ${size} AS bytes FROM tasks
     WHERE ${due} AND (deleted_at, seq) > (?, ?) ORDER BY deleted_at, seq LIMIT ${BATCH}`,
  )
  const done = { rows: 0, bytes: 0 }
  let last = { deletedAt: Number.MIN_SAFE_INTEGER, seq: 0 }
  const batch = db.transaction((): number => {
    const rows = next.all(deletedBefore, last.deletedAt, last.seq) as {
      seq: number
      deletedAt: number
      bytes: number
    }[]
    last = rows.at(-1) ?? last
    for (const { seq, bytes } of rows) {
      const row = tasks.read(seq)
      for (const name of PAYLOAD_COLUMNS) Object.assign(row, { [name]: null })
      tasks.strip(seq, row, contentHash(row), now())
      done.bytes += bytes
    }
    done.rows += rows.length
    assertHeld()
    return rows.length
  })
  while (explaining(path, () => batch.immediate()) > 0) {
    onProgress?.(done.rows)
    await breathe()
    signal.throwIfAborted()
  }
  return done
}
