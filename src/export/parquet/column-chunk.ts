// Brings a collected column into the file: pages, dictionary, statistics, page index. The layout follows
// https://github.com/apache/parquet-format; headers and run-length encoding are hyparquet-writer's.
import type { SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import { writePlain } from 'hyparquet-writer/src/plain.js'
import type { PageIndexes } from 'hyparquet-writer/src/types.js'
import { unconvertMinMax } from 'hyparquet-writer/src/unconvert.js'
import { type Codec, compressPage } from './codecs.ts'
import { type ColumnBuffer, compareValues, type Page, type Value } from './column-buffer.ts'

export interface ChunkOptions {
  name: string
  element: SchemaElement
  codec: Codec
  /** The dictionary page written last: in the next row group it is mostly the same. */
  lastDictionary?: { plain: Uint8Array; packed: Uint8Array }
  /** Whether bounds may stand in the footer and the page index: they repeat values in the clear. */
  hasBounds: boolean
}

/** Pages on their way through the compressor, in order. */
export type PackedPages = {
  page: Page
  levels: Uint8Array
  plain: Uint8Array
  packed: Promise<Uint8Array>
}[]

/** Below, a compressor's frame and the time to set it up cost more than is saved; the page's header says which it is. */
const NOT_WORTH_BYTES = 2 * 1024

/** Begins compressing all pages of the column, on other threads. It may not be changed until all have come back. */
export function packPages(column: ColumnBuffer, { element, codec }: ChunkOptions): PackedPages {
  column.settle()
  return column.pages.map((page, i) => {
    const levels = new ByteWriter()
    if (element.repetition_type !== 'REQUIRED') {
      writeRleBitPackedHybrid(levels, column.levels.subarray(page.firstRow, page.firstRow + page.rows) as never, 1)
    }
    const plain = valuesOf(column, page, column.pages[i + 1])
    const packed = plain.length < NOT_WORTH_BYTES ? Promise.resolve(plain) : compressPage(plain, codec)
    packed.catch(() => {})
    return { page, levels: levels.getBytes(), plain, packed }
  })
}

/** The bytes of a page's values: a piece of the column's own, or the packed places of a dictionary's. */
function valuesOf(column: ColumnBuffer, page: Page, next: Page | undefined): Uint8Array {
  if (column.dictionary === null) return column.bytes.subarray(page.start, next?.start ?? column.length)
  const bytes = new ByteWriter()
  const width = Math.ceil(Math.log2(column.dictionary.length))
  bytes.appendUint8(width)
  writeRleBitPackedHybrid(bytes, column.indexes.subarray(0, page.values) as never, width)
  return bytes.getBytes()
}

/** Writes the column and tells what the footer has to say about it. */
export async function writeChunk(
  writer: ByteWriter,
  column: ColumnBuffer,
  pages: PackedPages,
  options: ChunkOptions,
): Promise<PageIndexes> {
  const { name, element, codec, hasBounds } = options
  const start = writer.offset
  const encoding = column.dictionary === null ? 'PLAIN' : 'RLE_DICTIONARY'
  let uncompressed = 0
  if (column.dictionary !== null) {
    uncompressed += await writeDictionary(writer, column.dictionary, options)
  }
  const dataStart = writer.offset
  const offsetIndex: NonNullable<PageIndexes['offsetIndex']> = { page_locations: [] }
  for (const { page, levels, plain, packed } of pages) {
    const bytes = await packed
    const offset = writer.offset
    writePageHeader(writer, {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: levels.length + plain.length,
      compressed_page_size: levels.length + bytes.length,
      data_page_header_v2: {
        num_values: page.rows,
        num_nulls: page.rows - page.values,
        num_rows: page.rows,
        encoding,
        definition_levels_byte_length: levels.length,
        repetition_levels_byte_length: 0,
        is_compressed: bytes !== plain,
      },
    })
    uncompressed += writer.offset - offset + levels.length + plain.length
    writer.appendBytes(levels)
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
        encodings: column.dictionary === null ? [encoding] : ['PLAIN', encoding],
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
        encoding_stats: [...dictionaryPages, { page_type: 'DATA_PAGE_V2', encoding, count: pages.length }] as never,
      },
    },
    // One page needs no index: the chunk's own statistics say the same.
    ...(pages.length > 1 && { offsetIndex, ...(hasBounds && { columnIndex: indexOf(column.pages, element) }) }),
  } as PageIndexes
}

async function writeDictionary(writer: ByteWriter, values: readonly Value[], options: ChunkOptions): Promise<number> {
  const page = new ByteWriter()
  writePlain(page, values as never, options.element.type!, undefined)
  const plain = page.getBytes()
  const last = options.lastDictionary
  const packed =
    last !== undefined && Buffer.compare(last.plain, plain) === 0
      ? last.packed
      : await compressPage(plain, options.codec)
  options.lastDictionary = { plain, packed }
  const start = writer.offset
  writePageHeader(writer, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: plain.length,
    compressed_page_size: packed.length,
    dictionary_page_header: { num_values: values.length, encoding: 'PLAIN' },
  })
  const headerBytes = writer.offset - start
  writer.appendBytes(packed)
  return headerBytes + plain.length
}

function indexOf(pages: readonly Page[], element: SchemaElement): PageIndexes['columnIndex'] {
  const empty = new Uint8Array()
  const bounded = pages.filter((page) => page.min !== undefined)
  const isOrdered = (sign: 1 | -1) =>
    bounded.every((page, i) => {
      const before = bounded[i - 1]
      if (before === undefined) return true
      return sign * compareValues(page.min!, before.min!) >= 0 && sign * compareValues(page.max!, before.max!) >= 0
    })
  return {
    null_pages: pages.map((page) => page.values === 0),
    min_values: pages.map((page) => (unconvertMinMax(page.min, element, false) as Uint8Array | undefined) ?? empty),
    max_values: pages.map((page) => (unconvertMinMax(page.max, element, true) as Uint8Array | undefined) ?? empty),
    boundary_order: isOrdered(1) ? 'ASCENDING' : isOrdered(-1) ? 'DESCENDING' : 'UNORDERED',
    null_counts: pages.map((page) => BigInt(page.rows - page.values)),
  } as PageIndexes['columnIndex']
}
