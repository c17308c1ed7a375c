// The one way rows are encoded: a packer makes a piece of each key range, on whichever thread.
import { codeOf, type Format, formatEntry } from '../formats.ts'
import { positionOf, type RawRow } from '../read/columns.ts'
import type { KeyRange } from '../read/key-ranges.ts'
import { type Redactor, rowRedactor } from '../read/redact.ts'
import type { CutReader } from '../read/rows.ts'
import type { Encoder, Encoding, PackedKeyRange } from './format.ts'

/** The format and how it is encoded, as plain data. */
export interface Packing {
  format: Format
  encoding: Encoding
}

export type PackKeyRange = (keyRange: KeyRange) => Promise<PackedKeyRange>

const ID = positionOf('id')
const CREATED_AT = positionOf('created_at')

export async function encoderOf({ format, encoding }: Packing): Promise<Encoder> {
  return (await codeOf(format)).encoder(encoding)
}

/** Encodes key ranges of `cut`. Breaks one off at twice the usual size, so that very large tasks fit into memory. */
export async function keyRangePacker(
  cut: CutReader,
  redactor: Redactor,
  packing: Packing,
  pause: () => Promise<void>,
): Promise<PackKeyRange> {
  const encoder = await encoderOf(packing)
  const packer = encoder.packer(packing.encoding, 2 * formatEntry(packing.format).pieceBytes)
  const redact = rowRedactor(redactor, packing.encoding.columns)
  return async (keyRange) => {
    let rows = 0
    let first: bigint | null = null
    let last: RawRow | null = null
    for (const batch of cut.batches(keyRange)) {
      if (redactor.names.length > 0) for (const row of batch) redact(row)
      packer.take(batch)
      rows += batch.length
      for (let i = 0; first === null && i < batch.length; i++) first = createdAtOf(batch[i]!)
      last = batch.at(-1) ?? last
      await pause()
      if (packer.isFull) break
    }
    if (last === null) return { packed: null, rest: null }
    const rest = packer.isFull ? restOf(keyRange, rows, last) : null
    // Rows are in order with nulls first, so the first and the last one tell both bounds.
    const packed = { rows, minCreatedAt: first, maxCreatedAt: createdAtOf(last), content: await packer.end() }
    return { packed, rest }
  }
}

/** What is left of a key range behind its first `rows` rows, the last of which is `last`. */
function restOf(keyRange: KeyRange, rows: number, last: RawRow): KeyRange {
  if ('seqs' in keyRange) return { seqs: keyRange.seqs.slice(rows) }
  return { after: { createdAt: createdAtOf(last), id: last[ID] as string }, upTo: keyRange.upTo }
}

function createdAtOf(row: RawRow): bigint | null {
  return row[CREATED_AT] as bigint | null
}
