// The other engine: parquetjs-lite, for those who standardise on it. What it would write wrong is refused in words; see
// docs/decisions/parquet-engine.md for its limits. Knows Parquet's types, never SQL or tasks.
import parquetjs from 'parquetjs-lite'
import { MirrorError } from '../../../errors.ts'
import { type Column, positionOf, type RawRow } from '../../read/columns.ts'
import type { Compression } from '../compression.ts'
import type { Encoded, Encoder, Packed } from '../format.ts'
import { plainSize } from './column-buffer.ts'
import { CODEC_OF } from './engine.ts'

const TYPE_OF = { utf8: 'UTF8', json: 'UTF8', int64: 'INT64', timestamp_ms: 'TIMESTAMP_MILLIS' } as const

const NONE = new Uint8Array()

/** The library has no page size in bytes, and keeps every distinct value of a page in memory. */
const PAGE_ROWS = 1_000

// A CommonJS package whose names cannot be imported one by one.
const { ParquetEnvelopeWriter, ParquetSchema, ParquetWriter } = parquetjs

/** Rows as they came: the library encodes them itself. */
interface PackedRows extends Encoded {
  taken: readonly RawRow[]
}

/** Size of a row group before compression. */
const ROW_GROUP_BYTES = 8 * 1024 * 1024

export const parquetjsLiteEngine: Encoder = {
  packer(_, mostBytes) {
    let taken: RawRow[] = []
    let bytes = 0
    return {
      get isFull() {
        return bytes >= mostBytes
      },
      take(rows) {
        taken.push(...rows)
        for (const row of rows) for (const value of row) bytes += plainSize(value)
      },
      async end(): Promise<PackedRows> {
        const content = { bytes: NONE, taken }
        taken = []
        bytes = 0
        return content
      },
    }
  },
  open(sink, { columns, compression }, createdBy) {
    const schema = new ParquetSchema(schemaOf(columns, compression))
    // The library starts a write before the last one has ended; the sink wants one after the other.
    let written = Promise.resolve()
    const write = (bytes: Uint8Array) => {
      written = written.then(() => sink.write(bytes))
      written.catch(() => {})
      return written
    }
    const envelope = new ParquetEnvelopeWriter(schema, write, () => written, 0, {
      pageSize: PAGE_ROWS,
      useDataPageV2: true,
      pageIndex: false,
    })
    const writer = new ParquetWriter(schema, envelope, { rowGroupSize: Number.MAX_SAFE_INTEGER })
    const fields = columns.map((column) => ({ column, position: positionOf(column.name) }))
    let heldBytes = 0

    return {
      async add({ content }: Packed<PackedRows>) {
        for (const row of content.taken) {
          const record: Record<string, unknown> = {}
          for (const { column, position } of fields) record[column.name] = writable(column, row[position]!, row)
          for (const { position } of fields) heldBytes += plainSize(row[position]!)
          // The library counts only rows: reaching its limit makes it write the group, with this row as the last one.
          if (heldBytes >= ROW_GROUP_BYTES) {
            writer.setRowGroupSize(1)
            heldBytes = 0
          }
          await explaining(() => writer.appendRow(record))
          writer.setRowGroupSize(Number.MAX_SAFE_INTEGER)
        }
      },
      async close(about) {
        writer.setMetadata('created_by', createdBy)
        for (const [key, value] of Object.entries(about)) writer.setMetadata(key, value)
        await explaining(() => writer.close())
        await written
      },
      destroy() {},
    }
  },
}

function schemaOf(columns: readonly Column[], compression: Compression) {
  if (compression === 'zstd')
    throw refused('parquetjs-lite cannot write zstd', 'Use --compression gzip, snappy or none.')
  return Object.fromEntries(
    columns.map(({ name, kind, nullable }) => {
      if (kind === 'variant') throw refused('parquetjs-lite cannot write VARIANT', 'Use --engine hyparquet.')
      // The library's statistics repeat whole values, and order text otherwise than Parquet does.
      return [name, { type: TYPE_OF[kind], optional: nullable, compression: CODEC_OF[compression], statistics: false }]
    }),
  )
}

/** The value as the library takes it. Throws `value-refused` for one that it would round or cannot hold. */
function writable(column: Column, value: string | bigint | null, row: RawRow): string | number | null {
  if (typeof value !== 'bigint') return value
  const isMoment = column.kind === 'timestamp_ms'
  const number = Number(value)
  if (!Number.isSafeInteger(number) || (isMoment && number < 0)) {
    const id = row[positionOf('id')]
    throw new MirrorError(
      'value-refused',
      `parquetjs-lite cannot write ${column.name} ${value} of task ${id}: ${
        Number.isSafeInteger(number) ? 'it takes no moment before 1970' : 'it rounds integers beyond 2^53'
      }`,
      { facts: { column: column.name }, hint: 'Use --engine hyparquet, which writes every 64-bit integer exactly.' },
    )
  }
  return number
}

/** Turns the strings that the library throws into errors. */
async function explaining(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (typeof error !== 'string') throw error
    throw new MirrorError('value-refused', `parquetjs-lite refused a row: ${error}`, {
      hint: 'Use --engine hyparquet.',
    })
  }
}

function refused(message: string, hint: string): MirrorError {
  return new MirrorError('usage-invalid', message, { hint })
}
