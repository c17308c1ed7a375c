// What a library that writes Parquet must offer to the export. Values come as SQLite gives them: text, bigint or null.
import type { Column } from '../columns.ts'
import type { Sink } from '../sink.ts'
import type { Compression } from '../target.ts'
import type { SnapshotWriter } from '../writer.ts'

export interface ParquetOptions {
  compression: Compression
  /** Row groups are closed at about this many bytes before compression: what bounds memory, here and in readers. */
  rowGroupBytes: number
  /** `created_by` of the footer, as "name version x". */
  createdBy: string
}

export interface ParquetEngine {
  /** As `--engine` names it. */
  readonly name: string
  open(sink: Sink, columns: readonly Column[], options: ParquetOptions): SnapshotWriter
}
