// The default engine: hyparquet-writer's file format around row groups of our own making. Never SQL or tasks.
import type { FileMetaData } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import type { Column } from '../../read/columns.ts'
import type { Encoder, Packed } from '../format.ts'
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
    let footer: Promise<typeof import('./footer.ts')> | null = null

    /** Moves the writer's bytes into the sink; offsets in the file go on counting. */
    async function flush(): Promise<void> {
      await sink.write(bytes.getBytes())
      bytes.index = 0
    }

    /** Called once rows are on their way, when nobody has to wait while it loads. */
    function loadFooter(): Promise<typeof import('./footer.ts')> {
      footer ??= import('./footer.ts')
      // A failure is thrown where it is needed.
      footer.catch(() => {})
      return footer
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
      void loadFooter()
    }

    /** Version 1 of the file: each page tells its own version, and parquetjs-lite's reader opens no other file. */
    async function finish(texts: Record<string, string>): Promise<void> {
      const { writeFooter } = await loadFooter()
      writeFooter(bytes, indexes, {
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
        await finish(about)
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
