// Writes a collected column into the file (https://github.com/apache/parquet-format): pages, dictionary, index.
import type { SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import { writePlain } from 'hyparquet-writer/src/plain.js'
import type { PageIndexes } from 'hyparquet-writer/src/types.js'
import { compress } from './codecs.ts'
import { type ColumnBuffer, compareValues, type DataPage, HEADROOM_BYTES, type Value } from './column-buffer.ts'
import type { Codec } from './engine.ts'

/** The column index of a chunk, with bounds that are not yet encoded as in the file. */
interface PageBounds {
  bounds: { min: Value | undefined; max: Value | undefined }[]
  null_pages: boolean[]
  boundary_order: 'ASCENDING' | 'DESCENDING' | 'UNORDERED'
  null_counts: bigint[]
}

/** What the footer says of a chunk. */
export interface ChunkIndexes extends PageIndexes {
  pageBounds?: PageBounds
}

export interface ChunkOptions {
  name: string
  element: SchemaElement
  codec: Codec
  /** The dictionary page written last: in the next row group it is mostly the same. */
  lastDictionary?: { plain: Uint8Array; packed: Uint8Array }
  /** Whether bounds may stand in the footer and the page index: they repeat values in the clear. */
  hasBounds: boolean
}

/** First size of the buffer for runs of levels or places; it grows. */
const FIRST_BYTES = 64

/** The bytes of a page's values: a slice of the column or, with a dictionary, the packed places in it. */
function valuesOf(column: ColumnBuffer, page: DataPage): Uint8Array {
  if (column.dictionary === null) return column.bytes.subarray(page.start, page.end)
  const width = Math.ceil(Math.log2(Math.max(column.dictionary.length, 1)))
  const writer = new ByteWriter(FIRST_BYTES)
  writer.appendUint8(width)
  writeRleBitPackedHybrid(writer, column.indexes.subarray(0, page.values) as never, width)
  return writer.getBytes()
}

function levelsOf(column: ColumnBuffer, { firstRow, rows, values }: DataPage): Uint8Array {
  const writer = new ByteWriter(FIRST_BYTES)
  if (values === rows || values === 0) {
    // Mostly all rows have a value, or none has: one run.
    writer.appendVarInt(rows * 2)
    writer.appendUint8(values === 0 ? 0 : 1)
  } else {
    writeRleBitPackedHybrid(writer, column.levels.subarray(firstRow, firstRow + rows) as never, 1)
  }
  return writer.getBytes()
}

/** A page: the length of its levels, its levels (which rows have a value), then its values. */
function withLevels(column: ColumnBuffer, page: DataPage): Uint8Array {
  const runs = levelsOf(column, page)
  const levels = Buffer.alloc(4 + runs.length)
  levels.writeUInt32LE(runs.length)
  levels.set(runs, 4)
  if (column.dictionary !== null || levels.length > HEADROOM_BYTES) {
    return Buffer.concat([levels, valuesOf(column, page)])
  }
  column.bytes.set(levels, page.start - levels.length)
  return column.bytes.subarray(page.start - levels.length, page.end)
}

/** Writes the column and returns what the footer has to say about it. */
export function writeChunk(writer: ByteWriter, column: ColumnBuffer, options: ChunkOptions): ChunkIndexes {
  const { name, element, codec, hasBounds } = options
  column.settle()
  const start = writer.offset
  const encoding = column.dictionary === null ? 'PLAIN' : 'PLAIN_DICTIONARY'
  let uncompressed = 0
  if (column.dictionary !== null) {
    uncompressed += writeDictionary(writer, column.dictionary, options)
  }
  const dataStart = writer.offset
  const offsetIndex: NonNullable<PageIndexes['offsetIndex']> = { page_locations: [] }
  for (const page of column.pages) {
    const plain = element.repetition_type === 'REQUIRED' ? valuesOf(column, page) : withLevels(column, page)
    const bytes = compress(plain, codec)
    const offset = writer.offset
    // Pages of version 1, with the name that version has for a dictionary: some readers in use know no others.
    writePageHeader(writer, {
      type: 'DATA_PAGE',
      uncompressed_page_size: plain.length,
      compressed_page_size: bytes.length,
      data_page_header: {
        // Nulls included.
        num_values: page.rows,
        encoding,
        definition_level_encoding: 'RLE',
        repetition_level_encoding: 'RLE',
      },
    })
    uncompressed += writer.offset - offset + plain.length
    writer.appendBytes(bytes)
    offsetIndex.page_locations.push({
      offset: BigInt(offset),
      compressed_page_size: writer.offset - offset,
      first_row_index: BigInt(page.firstRow),
    })
  }
  const bounds = column.pages.flatMap(({ min, max }) => (min === undefined || max === undefined ? [] : [{ min, max }]))
  const dictionaryPages =
    column.dictionary === null ? [] : [{ page_type: 'DICTIONARY_PAGE', encoding: 'PLAIN', count: 1 }]
  return {
    chunk: {
      file_offset: BigInt(start),
      meta_data: {
        type: element.type!,
        encodings: [encoding, 'RLE'],
        path_in_schema: [name],
        codec,
        num_values: BigInt(column.rows),
        total_uncompressed_size: BigInt(uncompressed),
        total_compressed_size: BigInt(writer.offset - start),
        data_page_offset: BigInt(dataStart),
        ...(column.dictionary !== null && { dictionary_page_offset: BigInt(start) }),
        ...(hasBounds && {
          statistics: {
            null_count: BigInt(column.nulls),
            ...(bounds.length > 0 && {
              min_value: bounds.map(({ min }) => min).reduce((a, b) => (compareValues(a, b) <= 0 ? a : b)),
              max_value: bounds.map(({ max }) => max).reduce((a, b) => (compareValues(a, b) >= 0 ? a : b)),
            }),
          },
        }),
        encoding_stats: [...dictionaryPages, { page_type: 'DATA_PAGE', encoding, count: column.pages.length }] as never,
      },
    },
    // One page needs no index: the chunk's own statistics say the same.
    ...(column.pages.length > 1 && { offsetIndex, ...(hasBounds && { pageBounds: boundsOf(column.pages) }) }),
  } as ChunkIndexes
}

function writeDictionary(writer: ByteWriter, values: readonly Value[], options: ChunkOptions): number {
  const page = new ByteWriter()
  writePlain(page, values as never, options.element.type!, undefined)
  const plain = page.getBytes()
  const last = options.lastDictionary
  const packed =
    last !== undefined && Buffer.compare(last.plain, plain) === 0 ? last.packed : compress(plain, options.codec)
  options.lastDictionary = { plain, packed }
  const start = writer.offset
  writePageHeader(writer, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: plain.length,
    compressed_page_size: packed.length,
    dictionary_page_header: { num_values: values.length, encoding: 'PLAIN_DICTIONARY' },
  })
  const headerBytes = writer.offset - start
  writer.appendBytes(packed)
  return headerBytes + plain.length
}

function boundsOf(pages: readonly DataPage[]): PageBounds {
  const bounded = pages.filter((page) => page.min !== undefined)
  const isOrdered = (sign: 1 | -1) =>
    bounded.every((page, i) => {
      const before = bounded[i - 1]
      if (before === undefined) return true
      return sign * compareValues(page.min!, before.min!) >= 0 && sign * compareValues(page.max!, before.max!) >= 0
    })
  return {
    bounds: pages.map(({ min, max }) => ({ min, max })),
    null_pages: pages.map((page) => page.values === 0),
    boundary_order: isOrdered(1) ? 'ASCENDING' : isOrdered(-1) ? 'DESCENDING' : 'UNORDERED',
    null_counts: pages.map((page) => BigInt(page.rows - page.values)),
  }
}
