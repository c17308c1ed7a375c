// Reads single tasks for people and scripts. Readers use a connection of their own; see openReader.

import { TASK_COLUMNS } from '../../task/columns.ts'
import type { TaskRow } from '../../task.ts'
import { columnsAsMigrated } from '../as-migrated.ts'
import type { Db } from '../connect.ts'

interface StoredTask {
  row: TaskRow
  changeSeq: number
  /** Epoch ms of this mirror's clock, as the next two. */
  firstSeenAt: number
  changedAt: number
  /** null while the task lives. */
  deletedAt: number | null
}

const META = ['change_seq', 'first_seen_at', 'changed_at', 'deleted_at'] as const

/** The task with this id, tombstones included; null where the mirror does not hold it. */
export function readTask(db: Db, id: string): StoredTask | null {
  const found = db
    .prepare(`SELECT ${columnsAsMigrated(db, [...TASK_COLUMNS, ...META])} FROM tasks WHERE id = ?`)
    .safeIntegers()
    .get(id) as Record<string, string | bigint | null> | undefined
  if (found === undefined) return null
  const { change_seq, first_seen_at, changed_at, deleted_at, ...row } = Object.fromEntries(
    Object.entries(found).map(([name, value]) => [name, exactNumber(value)]),
  )
  return {
    row: row as unknown as TaskRow,
    changeSeq: change_seq as number,
    firstSeenAt: first_seen_at as number,
    changedAt: changed_at as number,
    deletedAt: deleted_at as number | null,
  }
}

/** A `number` where it holds the integer exactly, else the `bigint`. */
function exactNumber(value: string | bigint | null): string | number | bigint | null {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}
