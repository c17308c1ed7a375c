// One row group: rows collected column by column off the JavaScript heap, then encoded. Never files or SQL.
import type { SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { type Column, type ColumnKind, positionOf } from '../../read/columns.ts'
import type { Encoded, Encoding, Packer } from '../format.ts'
import { bloomFilterOf } from './bloom.ts'
import { ColumnBuffer } from './column-buffer.ts'
import { type ChunkIndexes, type ChunkOptions, writeChunk } from './column-chunk.ts'
import { CODEC_OF, type Codec } from './engine.ts'

/** Size of a page, and so the grain of the page index: the least of a column that a reader has to read. */
const PAGE_BYTES = 256 * 1024

/** First size of the buffer for an encoded row group; it grows. */
const FIRST_BYTES = 1024 * 1024

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

/** A row group; offsets count from its own beginning. */
export interface PackedRowGroup extends Encoded {
  /** One per leaf of the schema, with what the footer says of it. */
  indexes: ChunkIndexes[]
}

/** A column of the row group that is being filled. */
interface Filling {
  column: Column
  position: number
  chunk: ChunkOptions
  buffer: ColumnBuffer
  /** Of a variant: its values, which are encoded at the end of the row group, and about how many bytes they are. */
  texts: (string | null)[] | null
  textBytes: number
}

/** Makes a row group of each piece. */
export function rowGroupPacker({ columns, compression }: Encoding, mostBytes: number): Packer<PackedRowGroup> {
  const codec = CODEC_OF[compression]
  const schema = schemaOf(columns)
  const fillings = columns.map((column) => fillingOf(column, codec))
  /** About how many bytes it holds before compression. */
  let bytes = 0

  async function writeColumn(writer: ByteWriter, { column, buffer, chunk, texts }: Filling): Promise<ChunkIndexes[]> {
    if (texts !== null) {
      // Loaded only where it is asked for.
      const { writeVariant } = await import('./variant.ts')
      return writeVariant(writer, column.name, texts, { schema, codec, pageSize: PAGE_BYTES })
    }
    const indexes = writeChunk(writer, buffer, chunk)
    return [column.key ? { ...indexes, bloomFilter: bloomFilterOf(buffer) } : indexes]
  }

  return {
    get isFull() {
      return bytes >= mostBytes
    },
    take(rows) {
      bytes = 0
      for (const filling of fillings) {
        const { position, buffer, texts } = filling
        if (texts === null) buffer.append(rows, position)
        else {
          for (const row of rows) {
            const text = row[position] as string | null
            texts.push(text)
            filling.textBytes += text?.length ?? 0
          }
        }
        bytes += buffer.plainBytes + filling.textBytes
      }
    },
    async end() {
      const writer = new ByteWriter(FIRST_BYTES)
      const indexes: ChunkIndexes[] = []
      for (const filling of fillings) {
        indexes.push(...(await writeColumn(writer, filling)))
        filling.buffer.reset()
        if (filling.texts !== null) filling.texts.length = 0
        filling.textBytes = 0
      }
      bytes = 0
      return { bytes: writer.getBytes(), indexes }
    },
  }
}

/** Adds `offset`, where these chunks begin, to what the footer says of them: they were written as if from 0 on. */
export function moveTo(offset: number, indexes: readonly ChunkIndexes[]): void {
  const by = BigInt(offset)
  for (const { chunk, offsetIndex } of indexes) {
    const meta = chunk.meta_data
    chunk.file_offset += by
    if (meta !== undefined) {
      meta.data_page_offset += by
      if (meta.dictionary_page_offset !== undefined) meta.dictionary_page_offset += by
    }
    for (const location of offsetIndex?.page_locations ?? []) location.offset += by
  }
}

/** The leaves and groups of the columns, below a root. */
export function schemaOf(columns: readonly Column[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.flatMap(elementsOf)]
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

/** The group of a variant column and its two leaves, as the schema lists them. */
function variantElements(name: string): SchemaElement[] {
  return [
    { name, repetition_type: 'OPTIONAL', num_children: 2, logical_type: { type: 'VARIANT' } },
    { name: 'metadata', type: 'BYTE_ARRAY', repetition_type: 'REQUIRED' },
    { name: 'value', type: 'BYTE_ARRAY', repetition_type: 'REQUIRED' },
  ]
}

function fillingOf(column: Column, codec: Codec): Filling {
  const element = elementsOf(column)[0]!
  // Statistics and page indexes repeat values in the clear: never for what can hold a secret.
  const hasBounds = !column.secret
  const isText = column.kind !== 'int64' && column.kind !== 'timestamp_ms'
  return {
    column,
    position: positionOf(column.name),
    chunk: { name: column.name, element, codec, hasBounds },
    buffer: new ColumnBuffer({ isText, hasBounds, mayRepeat: !column.key, pageBytes: PAGE_BYTES }),
    texts: column.kind === 'variant' ? [] : null,
    textBytes: 0,
  }
}
