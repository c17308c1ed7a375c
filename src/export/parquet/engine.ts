// What a library that writes Parquet must offer to the export. Values come as SQLite gives them: text, bigint or null.
import type { Column } from '../columns.ts'
import type { Sink } from '../sink.ts'
import type { Compression } from '../target.ts'
import type { SnapshotWriter } from '../writer.ts'

export const ENGINES = ['hyparquet', 'parquetjs-lite'] as const
/** As `--engine` names it. */
export type EngineName = (typeof ENGINES)[number]

export interface ParquetOptions {
  compression: Compression
  /** Row groups are closed at about this many bytes before compression: what bounds memory, here and in readers. */
  rowGroupBytes: number
  /** `created_by` of the footer, as "name version x". */
  createdBy: string
}

export interface ParquetEngine {
  readonly name: EngineName
  /** Throws `usage-invalid` where it cannot write such columns or such a compression. */
  open(sink: Sink, columns: readonly Column[], options: ParquetOptions): SnapshotWriter
}

/** Loads an engine; the other one stays unloaded. */
export async function engineOf(name: EngineName): Promise<ParquetEngine> {
  return name === 'parquetjs-lite'
    ? (await import('./parquetjs-lite.ts')).parquetjsLiteEngine
    : (await import('./hyparquet.ts')).hyparquetEngine
}
