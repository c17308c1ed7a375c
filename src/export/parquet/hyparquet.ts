// The default engine: hyparquet-writer's file format around columns that are collected off the JavaScript heap and
// compressed on other threads while the next rows come in. Knows Parquet's types, never SQL or tasks.
import { setImmediate as breathe } from 'node:timers/promises'
import type { FileMetaData, SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { writeBlooms } from 'hyparquet-writer/src/bloom.js'
import { writeIndexes } from 'hyparquet-writer/src/indexes.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { type Column, type ColumnKind, positionOf, type RawRow } from '../columns.ts'
import { bloomFilterOf } from './bloom.ts'
import { CODEC_OF, COMPRESSORS, type Codec } from './codecs.ts'
import { ColumnBuffer } from './column-buffer.ts'
import { type ChunkOptions, type PackedPages, packPages, writeChunk } from './column-chunk.ts'
import type { ParquetEngine } from './engine.ts'
import { variantElements, writeVariant } from './variant.ts'

/** "PAR1". */
const MAGIC = 0x31524150

/** Also the grain of the page index: a reader that knows the page reads this much of a column. */
const PAGE_BYTES = 256 * 1024

/** JSON columns are plain strings: Parquet's JSON type makes writers parse and write the text anew. */
const ELEMENT_OF: Record<Exclude<ColumnKind, 'variant'>, Partial<SchemaElement>> = {
  utf8: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  int64: { type: 'INT64' },
  timestamp_ms: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
}

/** A column of the row group that is being filled. */
interface Filling {
  column: Column
  position: number
  chunk: ChunkOptions
  buffer: ColumnBuffer
  /** Of a key or a variant: its values, which its bloom filter or its encoding is made of. */
  texts: (string | null)[] | null
}

interface RowGroup {
  rows: number
  bytes: number
  columns: Filling[]
}

/**
 * Emptied row groups of a file that was ended, by its columns: the next file of a dataset takes them over, because memory
 * off the heap is given back late.
 */
const IDLE = new WeakMap<readonly Column[], { codec: Codec; groups: [RowGroup, RowGroup] }>()

export const hyparquetEngine: ParquetEngine = {
  name: 'hyparquet',
  open(sink, columns, options) {
    const codec = CODEC_OF[options.compression]
    const schema = [{ name: 'root', num_children: columns.length }, ...columns.flatMap(elementsOf)]
    const bytes = new ByteWriter()
    const file = new ParquetWriter({
      writer: bytes,
      schema,
      codec,
      compressors: COMPRESSORS,
      createdBy: options.createdBy,
    })
    const sorting = sortingOf(columns)
    // Two take turns: while one is compressed and written, rows go into the other.
    const idle = IDLE.get(columns)
    IDLE.delete(columns)
    let [filling, spare] = idle?.codec === codec ? idle.groups : [emptyRowGroup(), emptyRowGroup()]
    let writing: Promise<void> = Promise.resolve()

    function emptyRowGroup(): RowGroup {
      return { rows: 0, bytes: 0, columns: columns.map((column) => fillingOf(column)) }
    }

    function fillingOf(column: Column): Filling {
      const element = column.kind === 'variant' ? variantElements(column.name)[0]! : elementsOf(column)[0]!
      // Statistics and page indexes repeat values in the clear: never for what can hold a secret.
      const hasBounds = !column.secret
      const isText = column.kind !== 'int64' && column.kind !== 'timestamp_ms'
      return {
        column,
        position: positionOf(column.name),
        chunk: { name: column.name, element, codec, hasBounds },
        buffer: new ColumnBuffer({ isText, hasBounds, mayRepeat: !column.key, pageBytes: PAGE_BYTES }),
        texts: column.key || column.kind === 'variant' ? [] : null,
      }
    }

    /** Brings what the writer has so far into the sink; offsets in the file go on counting. */
    async function flush(): Promise<void> {
      await sink.write(bytes.getBytes())
      bytes.index = 0
    }

    function take(rows: readonly RawRow[], from: number, to: number): void {
      for (const { column, position, buffer, texts } of filling.columns) {
        if (texts !== null) for (let i = from; i < to; i++) texts.push(rows[i]![position] as string | null)
        if (column.kind !== 'variant') buffer.append(rows, position, from, to)
      }
      filling.rows += to - from
    }

    /** Hands the filled row group over; waits only for the one before. */
    async function turn(): Promise<void> {
      await writing
      const full = filling
      filling = spare
      spare = full
      writing = writeRowGroup(full)
      // Its failure is thrown by the next turn or by close; until then it is nobody's.
      writing.catch(() => {})
    }

    async function writeRowGroup(group: RowGroup): Promise<void> {
      const packed = group.columns.map(({ column, buffer, chunk }) =>
        column.kind === 'variant' ? null : packPages(buffer, chunk),
      )
      const start = bytes.offset
      const chunks = []
      for (const [i, filled] of group.columns.entries()) {
        for (const indexes of await writeColumn(filled, packed[i] ?? null)) {
          chunks.push(indexes.chunk)
          file.pendingIndexes.push(indexes)
        }
        await flush()
        await breathe()
      }
      file.num_rows += BigInt(group.rows)
      file.row_groups.push({
        columns: chunks,
        total_byte_size: chunks.reduce((sum, chunk) => sum + (chunk.meta_data?.total_uncompressed_size ?? 0n), 0n),
        num_rows: BigInt(group.rows),
        total_compressed_size: BigInt(bytes.offset - start),
        ...(sorting.length > 0 && { sorting_columns: sorting }),
      })
      for (const { buffer, texts } of group.columns) {
        buffer.reset()
        if (texts !== null) texts.length = 0
      }
      group.rows = 0
      group.bytes = 0
    }

    async function writeColumn({ column, buffer, chunk, texts }: Filling, packed: PackedPages | null) {
      if (packed === null) return writeVariant(bytes, schema, column.name, texts!, codec, PAGE_BYTES)
      const indexes = await writeChunk(bytes, buffer, packed, chunk)
      return [column.key ? { ...indexes, bloomFilter: bloomFilterOf(texts as string[]) } : indexes]
    }

    return {
      async write(batch) {
        let from = 0
        for (let i = 0; i < batch.length; i++) {
          for (const value of batch[i]!) filling.bytes += typeof value === 'string' ? value.length + 4 : 8
          if (filling.bytes < options.rowGroupBytes) continue
          take(batch, from, i + 1)
          from = i + 1
          await turn()
        }
        take(batch, from, batch.length)
      },
      async close(about) {
        // Without any row one empty row group is written, as Arrow does it: some readers refuse a list of none.
        if (filling.rows > 0 || (spare.rows === 0 && file.row_groups.length === 0)) await turn()
        await writing
        finishFile(file, about)
        await flush()
        IDLE.set(columns, { codec, groups: [filling, spare] })
      },
    }
  },
}

function elementsOf(column: Column): SchemaElement[] {
  if (column.kind === 'variant') return variantElements(column.name)
  return [
    {
      name: column.name,
      repetition_type: column.nullable ? 'OPTIONAL' : 'REQUIRED',
      ...ELEMENT_OF[column.kind],
    },
  ]
}

/** The order of the rows in terms of the leaves of the schema; none where createdAt was left out. */
function sortingOf(columns: readonly Column[]) {
  const leaves = columns.flatMap(({ name, kind }) => (kind === 'variant' ? [name, name] : [name]))
  if (!leaves.includes('created_at')) return []
  return ['created_at', 'id']
    .filter((name) => leaves.includes(name))
    .map((name) => ({ column_idx: leaves.indexOf(name), descending: false, nulls_first: true }))
}

/**
 * Indexes, bloom filters and footer, as `ParquetWriter.finish` writes them but for the version, which is 1: what pages
 * are like says each for itself, and parquetjs-lite's reader opens no file of another version.
 */
function finishFile(file: ParquetWriter, about: Record<string, string>): void {
  const { writer, pendingIndexes, createdBy: created_by, schema, num_rows, row_groups } = file
  writeIndexes(writer, pendingIndexes)
  writeBlooms(writer, pendingIndexes)
  const key_value_metadata = Object.entries(about).map(([key, value]) => ({ key, value }))
  // The length is not part of what is written.
  const metadata = { version: 1, created_by, schema, num_rows, row_groups, key_value_metadata } as FileMetaData
  writeMetadata(writer, metadata)
  writer.appendUint32(MAGIC)
}
