// Which partition of a dataset a row belongs to, by its createdAt in UTC. Pure.

export type PartitionBy = 'none' | 'month' | 'day'

/** Which rows may share a file. */
export interface FileLimits {
  partitionBy: PartitionBy
  /** Most rows of a file; null for no such limit. */
  rowsPerFile: number | null
}

export interface Partition {
  /** Folder below the snapshot, in the spelling of Hive: `created_month=2026-11`; empty without partitions. */
  folder: string
  /** The same as name and value; null stands for rows whose moment has no date. */
  values: Record<string, string | null>
  /** Rows with a createdAt below this, in the order of createdAt, are of the same partition; null: all that follow. */
  until: bigint | null
}

const COLUMN_OF = { month: 'created_month', day: 'created_day' } as const

/** What Hive calls the partition of NULL: Spark, Trino, Athena and DuckDB read it as such. */
const NULL_FOLDER = '__HIVE_DEFAULT_PARTITION__'

/** 0001-01-01 and 10000-01-01: outside, dates have no spelling that every reader knows. */
const FIRST_DATE = -62_135_596_800_000n
const LAST_DATE = 253_402_300_800_000n

/** The partition of a row. `createdAt` is epoch ms, any 64-bit integer, or null. */
export function partitionOf(createdAt: bigint | null, by: PartitionBy): Partition {
  if (by === 'none') return { folder: '', values: {}, until: null }
  const column = COLUMN_OF[by]
  if (createdAt === null || createdAt < FIRST_DATE || createdAt >= LAST_DATE) {
    const until = createdAt !== null && createdAt >= LAST_DATE ? null : FIRST_DATE
    return { folder: `${column}=${NULL_FOLDER}`, values: { [column]: null }, until }
  }
  const date = new Date(Number(createdAt))
  const value = date.toISOString().slice(0, by === 'month' ? 7 : 10)
  const next = new Date(0)
  // Not Date.UTC, which takes the years 0 to 99 for those of the last century.
  next.setUTCFullYear(
    date.getUTCFullYear(),
    date.getUTCMonth() + (by === 'month' ? 1 : 0),
    by === 'month' ? 1 : date.getUTCDate() + 1,
  )
  return { folder: `${column}=${value}`, values: { [column]: value }, until: BigInt(next.getTime()) }
}

/** Whether a row is of `partition`, where rows come in the order of createdAt with nulls first. */
export function staysIn(partition: Partition, createdAt: bigint | null): boolean {
  return partition.until === null || createdAt === null || createdAt < partition.until
}
