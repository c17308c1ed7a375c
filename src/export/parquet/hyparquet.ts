// The default engine: hyparquet-writer, column by column, so that one row group of many megabytes is never one long
// pause of the event loop. Knows Parquet's types, never SQL or tasks.
import { setImmediate as breathe } from 'node:timers/promises'
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { writeColumn } from 'hyparquet-writer/src/column.js'
import { type ColumnKind, positionOf, type RawRow } from '../columns.ts'
import { bloomFilterOf } from './bloom.ts'
import { CODEC_OF, COMPRESSORS } from './codecs.ts'
import type { ParquetEngine } from './engine.ts'

/** Also the grain of the page index: a reader that knows the page reads this much of a column. */
const PAGE_BYTES = 256 * 1024

/** JSON columns are plain strings: Parquet's JSON type makes writers parse and write the text anew. */
const ELEMENT_OF: Record<ColumnKind, Partial<SchemaElement>> = {
  utf8: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  variant: { type: 'BYTE_ARRAY' },
  int64: { type: 'INT64' },
  timestamp_ms: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
}

const ROOT: SchemaElement = { name: 'root' }

export const hyparquetEngine: ParquetEngine = {
  name: 'hyparquet',
  open(sink, columns, options) {
    const elements = columns.map(
      (column): SchemaElement => ({
        name: column.name,
        repetition_type: column.nullable ? 'OPTIONAL' : 'REQUIRED',
        ...ELEMENT_OF[column.kind],
      }),
    )
    const codec = CODEC_OF[options.compression]
    const bytes = new ByteWriter()
    const file = new ParquetWriter({
      writer: bytes,
      schema: [{ ...ROOT, num_children: columns.length }, ...elements],
      codec,
      compressors: COMPRESSORS,
      createdBy: options.createdBy,
    })
    const { compressors } = file
    const positions = columns.map((column) => positionOf(column.name))
    const ordering = ['created_at', 'id'].map((name) => columns.findIndex((column) => column.name === name))
    // Without createdAt the order cannot be told in terms of the columns that are there.
    const sorting = ordering[0] === -1 ? [] : ordering.filter((index) => index !== -1)
    let rows: RawRow[] = []
    let heldBytes = 0

    /** Brings what the writer has so far into the sink; offsets in the file go on counting. */
    async function flush(): Promise<void> {
      await sink.write(bytes.getBytes())
      bytes.index = 0
    }

    async function writeRowGroup(): Promise<void> {
      const start = bytes.offset
      const chunks = []
      for (const [i, column] of columns.entries()) {
        const position = positions[i]!
        const values = rows.map((row) => row[position]!)
        const result = writeColumn({
          writer: bytes,
          column: {
            columnName: column.name,
            element: elements[i]!,
            schemaPath: [ROOT, elements[i]!],
            codec,
            compressors,
            // Statistics and column indexes repeat values in the clear: never for what can hold a secret.
            stats: !column.secret,
            columnIndex: !column.secret,
            offsetIndex: true,
            pageSize: PAGE_BYTES,
            ...(column.key ? { encoding: 'PLAIN' as const } : {}),
          },
          pageData: {
            values,
            definitionLevels: column.nullable ? values.map((value) => (value === null ? 0 : 1)) : [],
            repetitionLevels: [],
            maxDefinitionLevel: column.nullable ? 1 : 0,
          },
        })
        chunks.push(result.chunk)
        file.pendingIndexes.push(column.key ? { ...result, bloomFilter: bloomFilterOf(values as string[]) } : result)
        await flush()
        await breathe()
      }
      const rowCount = BigInt(rows.length)
      file.num_rows += rowCount
      file.row_groups.push({
        columns: chunks,
        total_byte_size: chunks.reduce((sum, chunk) => sum + (chunk.meta_data?.total_uncompressed_size ?? 0n), 0n),
        num_rows: rowCount,
        total_compressed_size: BigInt(bytes.offset - start),
        ...(sorting.length > 0 && {
          sorting_columns: sorting.map((column_idx) => ({ column_idx, descending: false, nulls_first: true })),
        }),
      })
      rows = []
      heldBytes = 0
    }

    return {
      async write(batch) {
        for (const row of batch) {
          rows.push(row)
          for (const value of row) heldBytes += typeof value === 'string' ? value.length + 4 : 8
          if (heldBytes >= options.rowGroupBytes) await writeRowGroup()
        }
      },
      async close(about) {
        if (rows.length > 0) await writeRowGroup()
        file.kvMetadata = Object.entries(about).map(([key, value]) => ({ key, value }))
        await file.finish()
        await flush()
      },
    }
  },
}
