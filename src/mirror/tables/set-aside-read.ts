// Reads what was set aside, newest first. set-aside.ts writes.
import type { Db } from '../connect.ts'

interface SetAsideItem {
  id: number
  runId: number | null
  source: 'list' | 'detail'
  /** Its index in the list when it was met. */
  skip: number | null
  taskId: string | null
  /** Stable code, such as `no-id`. */
  reason: string
  message: string
  /** Bytes of the raw text. */
  bytes: number
  /** The raw text as sent; only where asked for, and read when it is looked at: all of them may be larger than memory. */
  readonly raw?: string
  seenAt: number
}

export interface SetAsideList {
  /** How many there are; `items` may hold fewer. */
  total: number
  items: SetAsideItem[]
}

/** What is set aside and has not been taken in since. `limit` bounds the items, `withRaw` brings their raw text. */
export function readSetAside(db: Db, { limit, withRaw }: { limit: number; withRaw: boolean }): SetAsideList {
  const rawOf = db.prepare('SELECT raw FROM rejected_items WHERE id = ?').pluck()
  return db.transaction(() => ({
    total: db.prepare('SELECT count(*) FROM rejected_items WHERE replayed_at IS NULL').pluck().get() as number,
    items: (
      db
        .prepare(
          `SELECT id, run_id AS runId, source, skip, task_id AS taskId, reason, message,
             length(CAST(raw AS BLOB)) AS bytes, seen_at AS seenAt
           FROM rejected_items WHERE replayed_at IS NULL ORDER BY id DESC LIMIT ?`,
        )
        .all(limit) as SetAsideItem[]
    ).map(({ seenAt, ...item }) => {
      if (!withRaw) return { ...item, seenAt }
      return {
        ...item,
        get raw() {
          return rawOf.get(item.id) as string
        },
        seenAt,
      }
    }),
  }))()
}
