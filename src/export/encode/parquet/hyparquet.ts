// The default engine: hyparquet-writer's file format around row groups of our own making, which are compressed on other
// threads while the next rows come in, or come ready-made. Knows Parquet's files, never SQL or tasks.
import { setImmediate as breathe } from 'node:timers/promises'
import type { FileMetaData } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import type { Column } from '../../read/columns.ts'
import type { ChunkIndexes } from '../packed.ts'
import { compressPage } from './codecs.ts'
import { CODEC_OF, type Codec, type ParquetEngine } from './engine.ts'
import { movedTo, RowGroup, schemaOf } from './row-group.ts'

/** "PAR1". */
const MAGIC = 0x31524150

/**
 * Emptied row groups of a file that was ended, by its columns: the next file of a dataset takes them over, because memory
 * off the heap is given back late.
 */
const IDLE = new WeakMap<readonly Column[], { codec: Codec; groups: [RowGroup, RowGroup] }>()

export const hyparquetEngine: ParquetEngine = {
  name: 'hyparquet',
  open(sink, columns, options) {
    const codec = CODEC_OF[options.compression]
    const bytes = new ByteWriter()
    bytes.appendUint32(MAGIC)
    const indexes: ChunkIndexes[] = []
    const rowGroups: FileMetaData['row_groups'] = []
    let allRows = 0
    const sorting = sortingOf(columns)
    let footer: Promise<typeof import('./footer.ts')> | null = null
    // Two take turns: while one is compressed and written, rows go into the other. Neither is there before a row is.
    let groups = IDLE.get(columns)
    IDLE.delete(columns)
    if (groups?.codec !== codec) groups = undefined
    let writing: Promise<void> = Promise.resolve()

    function filling(): RowGroup {
      const make = () => new RowGroup(columns, codec, compressPage)
      groups ??= { codec, groups: [make(), make()] }
      return groups.groups[0]
    }

    /** Brings what the writer has so far into the sink; offsets in the file go on counting. */
    async function flush(): Promise<void> {
      await sink.write(bytes.getBytes())
      bytes.index = 0
    }

    /** Hands the filled row group over; waits only for the one before. */
    async function turn(): Promise<void> {
      await writing
      const full = filling()
      groups!.groups.reverse()
      writing = writeRowGroup(full)
      // Its failure is thrown by the next turn or by close; until then it is nobody's.
      writing.catch(() => {})
    }

    async function writeRowGroup(group: RowGroup): Promise<void> {
      const { rows } = group
      const start = bytes.offset
      const packed = await group.pack(bytes, async () => {
        await flush()
        await breathe()
      })
      enter(rows, packed, bytes.offset - start)
    }

    /** Called once rows are on their way, when loading it keeps nobody waiting. */
    function loadFooter(): Promise<typeof import('./footer.ts')> {
      footer ??= import('./footer.ts')
      // A failure is thrown where it is needed.
      footer.catch(() => {})
      return footer
    }

    function enter(rows: number, packed: readonly ChunkIndexes[], size: number): void {
      const chunks = packed.map(({ chunk }) => chunk)
      indexes.push(...packed)
      allRows += rows
      rowGroups.push({
        columns: chunks,
        total_byte_size: chunks.reduce((sum, chunk) => sum + (chunk.meta_data?.total_uncompressed_size ?? 0n), 0n),
        num_rows: BigInt(rows),
        total_compressed_size: BigInt(size),
        ...(sorting.length > 0 && { sorting_columns: sorting }),
      })
      void loadFooter()
    }

    /** The version is 1: what pages are like says each for itself, and parquetjs-lite's reader opens no other file. */
    async function finish(texts: Record<string, string>): Promise<void> {
      const { writeFooter } = await loadFooter()
      writeFooter(bytes, indexes, {
        version: 1,
        created_by: options.createdBy,
        schema: schemaOf(columns),
        num_rows: BigInt(allRows),
        row_groups: rowGroups,
        key_value_metadata: Object.entries(texts).map(([key, value]) => ({ key, value })),
      } as FileMetaData)
      bytes.appendUint32(MAGIC)
    }

    return {
      async write(batch) {
        for (let from = 0; from < batch.length; ) {
          const group = filling()
          from = group.take(batch, from, options.rowGroupBytes)
          if (group.bytes >= options.rowGroupBytes) await turn()
        }
      },
      async add({ rows, content }) {
        if (content instanceof Uint8Array) throw new Error('bytes of NDJSON are no row group')
        if (groups !== undefined && filling().rows > 0) await turn()
        await writing
        await flush()
        const moved = movedTo(bytes.offset, content.indexes)
        await sink.write(content.bytes)
        bytes.offset += content.bytes.length
        enter(rows, moved, content.bytes.length)
      },
      async close(about) {
        if (groups !== undefined && filling().rows > 0) await turn()
        await writing
        // Without any row one empty row group is written, as Arrow does it: some readers refuse a list of none.
        if (rowGroups.length === 0) await writeRowGroup(filling())
        await finish(about)
        await flush()
        if (groups !== undefined) IDLE.set(columns, groups)
      },
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
