// Encodes stretches of rows by themselves, so that several threads can work on one file. Knows formats, never files.
import { setImmediate as breathe } from 'node:timers/promises'
import { type Column, positionOf, type RawRow } from '../read/columns.ts'
import { type Redactor, redactRow } from '../read/redact.ts'
import type { CutReader } from '../read/rows.ts'
import type { Stretch } from '../read/stretches.ts'
import { taskLine } from './ndjson.ts'
import type { Packed, PackedStretch } from './packed.ts'
import type { Codec } from './parquet/engine.ts'

/** All that an encoder has to know, in a form that can cross to another thread. */
export type PackerOptions =
  | { format: 'ndjson'; withMeta: boolean }
  | { format: 'parquet'; columns: readonly Column[]; codec: Codec }

/** Takes rows until it is asked for their encoded form, and then begins anew. */
interface Packer {
  take(rows: readonly RawRow[]): void
  /** About what it holds, before compression. */
  readonly bytes: number
  end(): Promise<Packed['content']>
}

/** A stretch should come to about so much text: enough to be worth handing around, and a row group of the usual size. */
export const STRETCH_BYTES = { ndjson: 2 * 1024 * 1024, parquet: 8 * 1024 * 1024 } as const

const ID = positionOf('id')
const CREATED_AT = positionOf('created_at')

export type PackStretch = (stretch: Stretch) => Promise<PackedStretch>

/**
 * Reads stretches of `cut`, redacts and encodes them. A stretch is left off at twice the usual size: a run of very large
 * tasks never has to fit into memory. `pause` is waited for between batches.
 */
export async function stretchPacker(
  cut: CutReader,
  redactor: Redactor,
  options: PackerOptions,
  pause: () => Promise<unknown> = breathe,
): Promise<PackStretch> {
  const packer = await packerOf(options)
  const mostBytes = 2 * STRETCH_BYTES[options.format]
  return async (stretch) => {
    let rows = 0
    let first: bigint | null = null
    let last: RawRow | null = null
    let rest: Stretch | null = null
    for (const batch of cut.batches(stretch)) {
      if (redactor.names.length > 0) for (const row of batch) redactRow(row, redactor)
      packer.take(batch)
      rows += batch.length
      // In order with nulls first: the ends tell both bounds.
      first ??= batch.find((row) => row[CREATED_AT] !== null)?.[CREATED_AT] as bigint | null
      last = batch.at(-1) ?? last
      if (packer.bytes >= mostBytes && last !== null) {
        rest = { after: { createdAt: last[CREATED_AT] as bigint | null, id: last[ID] as string }, upTo: stretch.upTo }
        break
      }
      await pause()
    }
    if (last === null) return { packed: null, rest }
    const content = await packer.end()
    return {
      packed: { rows, minCreatedAt: first ?? null, maxCreatedAt: last[CREATED_AT] as bigint | null, content },
      rest,
    }
  }
}

async function packerOf(options: PackerOptions): Promise<Packer> {
  if (options.format === 'ndjson') return linePacker(options.withMeta)
  // Not loaded for NDJSON.
  const { rowGroupPacker } = await import('./parquet/row-group.ts')
  return rowGroupPacker(options.columns, options.codec)
}

function linePacker(withMeta: boolean): Packer {
  let buffer = Buffer.alloc(0)
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    take(rows) {
      if (bytes === 0) buffer = Buffer.allocUnsafeSlow(STRETCH_BYTES.ndjson + STRETCH_BYTES.ndjson / 4)
      let text = ''
      for (const row of rows) text += `${taskLine(row, withMeta)}\n`
      // UTF-8 takes at most three bytes per unit of a JS string; near the end of the buffer it is counted.
      if (bytes + text.length * 3 > buffer.length) {
        const size = bytes + Buffer.byteLength(text)
        if (size > buffer.length) {
          const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * buffer.length))
          buffer.copy(larger, 0, 0, bytes)
          buffer = larger
        }
      }
      bytes += buffer.write(text, bytes)
    },
    async end() {
      const lines = buffer.subarray(0, bytes)
      bytes = 0
      return lines
    },
  }
}
