// The part of parquetjs-lite that the export and its tests use; the package brings no types.
declare module 'parquetjs-lite' {
  export class ParquetSchema {
    constructor(fields: Record<string, { type: string; optional: boolean; compression: string; statistics: boolean }>)
  }
  export class ParquetEnvelopeWriter {
    constructor(
      schema: ParquetSchema,
      write: (bytes: Uint8Array) => Promise<void>,
      close: () => Promise<void>,
      offset: number,
      options: { pageSize: number; useDataPageV2: boolean; pageIndex: boolean },
    )
  }
  export class ParquetWriter {
    constructor(schema: ParquetSchema, envelope: ParquetEnvelopeWriter, options: { rowGroupSize: number })
    appendRow(row: Record<string, unknown>): Promise<void>
    setRowGroupSize(rows: number): void
    setMetadata(key: string, value: string): void
    close(): Promise<void>
  }
  export class ParquetReader {
    static openFile(path: string): Promise<ParquetReader>
    getCursor(columns?: string[]): { next(): Promise<Record<string, unknown> | null> }
    getRowCount(): Promise<bigint>
    close(): Promise<void>
  }
}
