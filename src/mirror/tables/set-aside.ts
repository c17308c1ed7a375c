// Writes `rejected_items`: what could not be taken in, once per item and not once per run, bounded in bytes.
import { createHash } from 'node:crypto'
import { MirrorError } from '../../errors.ts'
import type { Db } from '../connect.ts'
import { writeOne } from './statements.ts'

export interface SetAside {
  source: 'list' | 'detail'
  skip: number | null
  taskId: string | null
  /** Stable code: not-an-object, no-id, id-too-long, id-malformed, too-deep, unreadable, other-id, other-identity. */
  reason: string
  message: string
  /** As sent; empty where nothing could be read. */
  raw: string
  /** What recognises the item in later runs; the raw text itself where absent. */
  identity?: string
}

/** Recognises the same item in later runs; another task's identity is the same one in the list and by id. */
function identityHash(item: Pick<SetAside, 'source' | 'reason' | 'raw' | 'identity'>): Buffer {
  const source = item.reason === 'other-identity' ? 'list' : item.source
  const hash = createHash('sha256').update(source).update('\0').update(item.reason).update('\0')
  return hash
    .update(item.identity ?? item.raw, 'utf8')
    .digest()
    .subarray(0, 16)
}

export function setAsideTable(db: Db, maxBytes: number) {
  const held = db
    .prepare('SELECT coalesce(sum(length(CAST(raw AS BLOB))), 0) FROM rejected_items WHERE replayed_at IS NULL')
    .pluck()
  const insert = db.prepare(
    `INSERT INTO rejected_items (run_id, source, skip, task_id, reason, message, raw, raw_hash, seen_at)
     VALUES (@runId, @source, @skip, @taskId, @reason, @message, @raw, @identity, @now)
     ON CONFLICT (raw_hash) DO UPDATE SET replayed_at = NULL, seen_at = excluded.seen_at, run_id = excluded.run_id
     WHERE replayed_at IS NOT NULL`,
  )
  const meetAgain = db.prepare('UPDATE rejected_items SET seen_at = ? WHERE raw_hash = ?')
  const replayed = db.prepare(
    'UPDATE rejected_items SET replayed_at = ? WHERE task_id = ? AND replayed_at IS NULL AND source = coalesce(?, source)',
  )
  const pendingIds = db
    .prepare('SELECT count(*) FROM rejected_items WHERE task_id IS NOT NULL AND replayed_at IS NULL')
    .pluck()
  let bytes: number | undefined
  let pending: number | undefined
  return {
    /** False where it is there already. Throws `rejected-full` at the bound. Call inside the window's transaction. */
    add(item: SetAside, runId: number, now: number): boolean {
      bytes ??= held.get() as number
      const size = Buffer.byteLength(item.raw)
      const identity = identityHash(item)
      const done = insert.run({ ...item, runId, raw: item.raw.toWellFormed(), identity, now })
      if (done.changes === 0) {
        writeOne(meetAgain, now, identity)
        return false
      }
      if (bytes + size > maxBytes) {
        throw new MirrorError(
          'rejected-full',
          `The set-aside store is full: this item of ${size} bytes would take it beyond ${maxBytes} bytes`,
          {
            facts: { bytes, size, maxBytes },
            hint: 'See `task-mirror rejected`; raise rejected.maxBytes, or have the service mended, and run again.',
          },
        )
      }
      bytes += size
      if (item.taskId !== null) pending = undefined
      return true
    },
    /** The task has been taken in after all: what was set aside of it is done with, of one source where it is given. */
    resolve: (taskId: string, now: number, source: SetAside['source'] | null = null): void => {
      pending ??= pendingIds.get() as number
      if (pending === 0 || replayed.run(now, taskId, source).changes === 0) return
      bytes = undefined
      pending = undefined
    },
    reload: (): void => {
      bytes = undefined
      pending = undefined
    },
  }
}

export type SetAsideTable = ReturnType<typeof setAsideTable>
