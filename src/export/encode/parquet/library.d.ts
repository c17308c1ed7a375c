// The part of parquetjs-lite that the export and its tests use; the package brings no types.
declare module 'parquetjs-lite' {
  class ParquetSchema {
    constructor(fields: Record<string, { type: string; optional: boolean; compression: string; statistics: boolean }>)
  }
  class ParquetEnvelopeWriter {
    constructor(
      schema: ParquetSchema,
      write: (bytes: Uint8Array) => Promise<void>,
      close: () => Promise<void>,
      offset: number,
      options: { pageSize: number; useDataPageV2: boolean; pageIndex: boolean },
    )
  }
  class ParquetWriter {
    constructor(schema: ParquetSchema, envelope: ParquetEnvelopeWriter, options: { rowGroupSize: number })
    appendRow(row: Record<string, unknown>): Promise<void>
    setRowGroupSize(rows: number): void
    setMetadata(key: string, value: string): void
    close(): Promise<void>
  }
  class ParquetReader {
    static openFile(path: string, options?: { rawStatistics: boolean }): Promise<ParquetReader>
    getCursor(columns?: string[]): { next(): Promise<Record<string, unknown> | null> }
    getRowCount(): bigint
    close(): Promise<void>
  }
  const library: {
    ParquetSchema: typeof ParquetSchema
    ParquetEnvelopeWriter: typeof ParquetEnvelopeWriter
    ParquetWriter: typeof ParquetWriter
    ParquetReader: typeof ParquetReader
  }
  export default library
}
