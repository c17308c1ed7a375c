// `rejected_items`: what could not be taken in, one row per item (not per run), bounded in bytes; and its way back.
import { createHash } from 'node:crypto'
import { latestKnown } from '../../clock.ts'
import { MirrorError } from '../../errors.ts'
import type { Db } from '../connect.ts'
import { writeOne } from './statements.ts'

export interface SetAside {
  source: 'list' | 'detail'
  /** Its index in the list when it was met. */
  skip: number | null
  /** Null where it has no usable id. */
  taskId: string | null
  /**
   * Stable code: not-an-object, no-id, id-too-long, id-malformed, too-deep, too-many-values, unreadable, other-id,
   * other-identity.
   */
  reason: string
  message: string
  /** As sent; empty where nothing could be read. */
  raw: string
  /** What recognises the item in later runs; the raw text itself where absent. */
  identity?: string
}

/** Recognises the same item in later runs. Another task's identity is one item, whether listed or asked for by id. */
function identityHash(item: Pick<SetAside, 'source' | 'reason' | 'raw' | 'identity'>): Buffer {
  const source = item.reason === 'other-identity' ? 'list' : item.source
  const hash = createHash('sha256').update(source).update('\0').update(item.reason).update('\0')
  return hash
    .update(item.identity ?? item.raw, 'utf8')
    .digest()
    .subarray(0, 16)
}

/** Bytes that an item takes besides its texts: its row, its places in indexes, and in the memory of a walk. */
const ITEM_BYTES = 200

export function setAsideTable(db: Db, maxBytes: number) {
  const held = db
    .prepare(
      `SELECT coalesce(sum(${ITEM_BYTES} + octet_length(message) + octet_length(raw)), 0)
       FROM rejected_items WHERE replayed_at IS NULL`,
    )
    .pluck()
  const insert = db.prepare(
    `INSERT INTO rejected_items (run_id, source, skip, task_id, reason, message, raw, raw_hash, seen_at)
     VALUES (@runId, @source, @skip, @taskId, @reason, @message, @raw, @identity, @now)
     ON CONFLICT (raw_hash) DO UPDATE SET
       replayed_at = NULL, seen_at = excluded.seen_at, run_id = excluded.run_id, skip = coalesce(excluded.skip, skip)
     WHERE replayed_at IS NOT NULL`,
  )
  // The item may stand elsewhere by now; an answer by id has no `skip`, so the old one stays.
  const meetAgain = db.prepare(
    'UPDATE rejected_items SET seen_at = @now, skip = coalesce(@skip, skip) WHERE raw_hash = @identity',
  )
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
      const size = ITEM_BYTES + Buffer.byteLength(item.message) + Buffer.byteLength(item.raw)
      const identity = identityHash(item)
      const done = insert.run({ ...item, runId, raw: item.raw.toWellFormed(), identity, now })
      if (done.changes === 0) {
        writeOne(meetAgain, { now, skip: item.skip, identity })
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
    /** Settles what was set aside of a task that has been taken in after all; of one source where it is given. */
    settle: (taskId: string, now: number, source: SetAside['source'] | null = null): void => {
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

interface SetAsideItem extends Pick<SetAside, 'source' | 'skip' | 'taskId' | 'reason' | 'message'> {
  id: number
  runId: number | null
  /** Bytes of the raw text. */
  bytes: number
  /** The raw text as sent, where asked for. Read when it is looked at: all of them may be larger than memory. */
  readonly raw?: string
  /** When it was last met, epoch ms. */
  seenAt: number
}

export interface SetAsideList {
  /** How many there are; `items` may hold fewer. */
  total: number
  items: SetAsideItem[]
}

/** What is set aside and not taken in since, newest first. `limit` bounds the items, `withRaw` adds their raw texts. */
export function readSetAside(db: Db, { limit, withRaw }: { limit: number; withRaw: boolean }): SetAsideList {
  const list = db.prepare(
    `SELECT id, run_id AS runId, source, skip, task_id AS taskId, reason, message,
       length(CAST(raw AS BLOB)) AS bytes, seen_at AS seenAt
     FROM rejected_items WHERE replayed_at IS NULL ORDER BY id DESC LIMIT ?`,
  )
  const count = db.prepare('SELECT count(*) FROM rejected_items WHERE replayed_at IS NULL').pluck()
  const withRawText = ({ seenAt, ...item }: SetAsideItem): SetAsideItem => ({
    ...item,
    get raw() {
      return rawTextOf(db, item.id)
    },
    seenAt,
  })
  return db.transaction(() => {
    const items = list.all(limit) as SetAsideItem[]
    return { total: count.get() as number, items: withRaw ? items.map(withRawText) : items }
  })()
}

/** What replaying needs of an item. */
export type WaitingItem = Pick<SetAsideItem, 'id' | 'source' | 'taskId' | 'seenAt'>

/** What is set aside and not taken in since, by rising id, without raw texts. `after`: the last id seen so far. */
export function waitingItems(db: Db, after: number, limit: number): WaitingItem[] {
  return db
    .prepare(
      `SELECT id, source, task_id AS taskId, seen_at AS seenAt FROM rejected_items
       WHERE replayed_at IS NULL AND id > ? ORDER BY id LIMIT ?`,
    )
    .all(after, limit) as WaitingItem[]
}

/** The raw text of an item; empty where nothing could be read. */
export function rawTextOf(db: Db, id: number): string {
  return db.prepare('SELECT raw FROM rejected_items WHERE id = ?').pluck().get(id) as string
}

/** Call inside a transaction. */
export function markReplayed(db: Db, id: number, now: number): void {
  db.prepare('UPDATE rejected_items SET replayed_at = ? WHERE id = ? AND replayed_at IS NULL').run(now, id)
}

/**
 * Items of the list that are set aside and were last met before `before`, epoch ms, or later than `latest`, under a
 * clock that was ahead: those with a task id, and those with nothing in them by which a later version of this program
 * could take them in.
 */
export function lastMetBefore(db: Db, before: number, latest: number): Pick<WaitingItem, 'id' | 'taskId'>[] {
  return db
    .prepare(
      `SELECT id, task_id AS taskId FROM rejected_items WHERE replayed_at IS NULL AND source = 'list'
       AND (seen_at < ? OR seen_at > ?)
       AND (task_id IS NOT NULL OR reason IN ('unreadable', 'not-an-object', 'no-id'))`,
    )
    .all(before, latest) as Pick<WaitingItem, 'id' | 'taskId'>[]
}

/** What was read of a list: the indexes from `from` to `to`, the end where that is null, from `since` to `now`, epoch ms. */
export interface ReadAgain {
  from: number
  to: number | null
  since: number
  now: number
}

/**
 * Whether other positions cannot be read than at `lastFull`, epoch ms: one is there that no run up to then met, one
 * that was read again has not been met again, or a task that was set aside is in the mirror now.
 */
export function haveUnreadChanged(db: Db, at: ReadAgain & { lastFull: number | null }): boolean {
  const changed = db.prepare(
    `SELECT EXISTS (SELECT 1 FROM rejected_items WHERE reason = 'unreadable' AND replayed_at IS NULL AND (
       (skip >= @from AND skip < coalesce(@to, skip + 1) AND seen_at < @since) OR run_id > coalesce((SELECT max(id) FROM runs WHERE started_at <= @lastFull), 0)
     )) OR EXISTS (SELECT 1 FROM rejected_items WHERE source = 'list' AND replayed_at > @lastFull AND replayed_at <= @latest
       AND (task_id IS NULL OR EXISTS (SELECT 1 FROM tasks WHERE id = task_id AND first_seen_at > @lastFull)))`,
  )
  return changed.pluck().get({ ...at, latest: latestKnown(at.now) }) === 1
}
