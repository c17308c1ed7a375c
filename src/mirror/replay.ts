// Set-aside items on their way back: which ones wait, their raw text, and marking those that are done with.
import { latestKnown } from '../clock.ts'
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
 * Marks the unreadable places that a later full walk did not meet: one that began after the place was last met and ended
 * `complete` has read whatever lies there now. A walk dated in the future proves nothing. Returns how many. There is no text that could be lost.
 */
export function markReadPlaces(db: Db, now: number): number {
  return db
    .prepare(
      `UPDATE rejected_items SET replayed_at = ? WHERE reason = 'unreadable' AND replayed_at IS NULL AND seen_at <
         (SELECT CASE WHEN started_at <= ? THEN started_at END FROM walks
          WHERE kind = 'full' AND verdict = 'complete' ORDER BY id DESC LIMIT 1)`,
    )
    .run(now, latestKnown(now)).changes
}
