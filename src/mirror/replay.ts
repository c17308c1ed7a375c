// Set-aside items on their way back: which ones wait, their raw text, and marking those that are done with.
import type { Db } from './connect.ts'

export interface WaitingItem {
  id: number
  source: 'list' | 'detail'
  /** Null where it has no usable id. */
  taskId: string | null
  reason: string
  /** When it was last met, epoch ms. */
  seenAt: number
}

/** What is set aside and not taken in since, by rising id, without the raw texts; `after` is the last id seen so far. */
export function waitingItems(db: Db, after: number, limit: number): WaitingItem[] {
  return db
    .prepare(
      `SELECT id, source, task_id AS taskId, reason, seen_at AS seenAt FROM rejected_items
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
 * What of the list is set aside and was last met before `before`, epoch ms: items with a task id, and those that show nothing
 * by which a later version of this program could take them in.
 */
export function lastMetBefore(db: Db, before: number): Pick<WaitingItem, 'id' | 'taskId'>[] {
  return db
    .prepare(
      `SELECT id, task_id AS taskId FROM rejected_items WHERE replayed_at IS NULL AND source = 'list' AND seen_at < ?
       AND (task_id IS NOT NULL OR reason IN ('unreadable', 'not-an-object', 'no-id'))`,
    )
    .all(before) as Pick<WaitingItem, 'id' | 'taskId'>[]
}
