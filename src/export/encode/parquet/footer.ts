// The end of a Parquet file: page indexes, bloom filters, footer. Loaded apart: nothing needs it before the last row.
import type { FileMetaData, SchemaElement } from 'hyparquet'
import { writeBlooms } from 'hyparquet-writer/src/bloom.js'
import type { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writeIndexes } from 'hyparquet-writer/src/indexes.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import type { PageIndexes } from 'hyparquet-writer/src/types.js'
import { unconvertMinMax } from 'hyparquet-writer/src/unconvert.js'
import type { Value } from './column-buffer.ts'
import type { ChunkIndexes } from './column-chunk.ts'

const TEXT: SchemaElement = { name: '', type: 'BYTE_ARRAY', converted_type: 'UTF8' }
const INTEGER: SchemaElement = { name: '', type: 'INT64' }
const NONE = new Uint8Array()

/** Writes all that follows the rows, except the magic number. */
export function writeFooter(writer: ByteWriter, indexes: readonly ChunkIndexes[], about: FileMetaData): void {
  const all = indexes.map(withBytes)
  writeIndexes(writer, all)
  writeBlooms(writer, all)
  // `about` needs no `metadata_length`: the writer counts it.
  writeMetadata(writer, about)
}

function withBytes({ pageBounds, ...rest }: ChunkIndexes): PageIndexes {
  if (pageBounds === undefined) return rest
  const { bounds, ...others } = pageBounds
  const columnIndex = {
    ...others,
    min_values: bounds.map(({ min }) => bytesOf(min, false)),
    max_values: bounds.map(({ max }) => bytesOf(max, true)),
  }
  return { ...rest, columnIndex } as PageIndexes
}

/** The bytes of a bound; a text is cut short in such a way that it is still a bound. */
function bytesOf(value: Value | undefined, isMax: boolean): Uint8Array {
  const element = typeof value === 'string' ? TEXT : INTEGER
  return (unconvertMinMax(value, element, isMax) as Uint8Array | undefined) ?? NONE
}
