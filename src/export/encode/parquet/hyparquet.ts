// The default engine: hyparquet-writer's file format around row groups of our own making. Never SQL or tasks.
import type { FileMetaData, SchemaElement } from 'hyparquet'
import { writeBlooms } from 'hyparquet-writer/src/bloom.js'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writeIndexes } from 'hyparquet-writer/src/indexes.js'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import type { PageIndexes } from 'hyparquet-writer/src/types.js'
import { unconvertMinMax } from 'hyparquet-writer/src/unconvert.js'
import type { Column } from '../../read/columns.ts'
import type { Encoder, Packed } from '../format.ts'
import type { Value } from './column-buffer.ts'
import type { ChunkIndexes } from './column-chunk.ts'
import { moveTo, type PackedRowGroup, rowGroupPacker, schemaOf } from './row-group.ts'

/** "PAR1". */
const MAGIC = 0x31524150

export const hyparquetEngine: Encoder = {
  packer: rowGroupPacker,
  open(sink, encoding, createdBy) {
    const { columns } = encoding
    const bytes = new ByteWriter()
    bytes.appendUint32(MAGIC)
    const indexes: ChunkIndexes[] = []
    const rowGroups: FileMetaData['row_groups'] = []
    let allRows = 0
    const sorting = sortingOf(columns)

    /** Moves the writer's bytes into the sink; offsets in the file go on counting. */
    async function flush(): Promise<void> {
      await sink.write(bytes.getBytes())
      bytes.index = 0
    }

    async function add(rows: number, group: PackedRowGroup): Promise<void> {
      if (bytes.index > 0) await flush()
      moveTo(bytes.offset, group.indexes)
      await sink.write(group.bytes)
      bytes.offset += group.bytes.length
      const chunks = group.indexes.map(({ chunk }) => chunk)
      indexes.push(...group.indexes)
      allRows += rows
      rowGroups.push({
        columns: chunks,
        total_byte_size: chunks.reduce((sum, chunk) => sum + (chunk.meta_data?.total_uncompressed_size ?? 0n), 0n),
        num_rows: BigInt(rows),
        total_compressed_size: BigInt(group.bytes.length),
        ...(sorting.length > 0 && { sorting_columns: sorting }),
      })
    }

    /** Version 1 of the file: each page tells its own version, and parquetjs-lite's reader opens no other file. */
    function finish(texts: Record<string, string>): void {
      const all = indexes.map(withBytes)
      writeIndexes(bytes, all)
      writeBlooms(bytes, all)
      // No `metadata_length`: the writer counts it.
      writeMetadata(bytes, {
        version: 1,
        created_by: createdBy,
        schema: schemaOf(columns),
        num_rows: BigInt(allRows),
        row_groups: rowGroups,
        key_value_metadata: Object.entries(texts).map(([key, value]) => ({ key, value })),
      } as FileMetaData)
      bytes.appendUint32(MAGIC)
    }

    return {
      add: ({ rows, content }: Packed<PackedRowGroup>) => add(rows, content),
      async close(about) {
        // Without any row one empty row group is written, as Arrow does it: some readers refuse a list of none.
        if (rowGroups.length === 0) await add(0, await rowGroupPacker(encoding, 0).end())
        finish(about)
        await flush()
      },
      destroy() {},
    }
  },
}

/** The order of the rows in terms of the leaves of the schema; none where createdAt was left out. */
function sortingOf(columns: readonly Column[]) {
  const leaves = columns.flatMap(({ name, kind }) => (kind === 'variant' ? [name, name] : [name]))
  if (!leaves.includes('created_at')) return []
  return ['created_at', 'id']
    .filter((name) => leaves.includes(name))
    .map((name) => ({ column_idx: leaves.indexOf(name), descending: false, nulls_first: true }))
}

const TEXT: SchemaElement = { name: '', type: 'BYTE_ARRAY', converted_type: 'UTF8' }
const INTEGER: SchemaElement = { name: '', type: 'INT64' }
const NONE = new Uint8Array()

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
