// The one way rows are encoded: a packer makes pieces of key ranges (several threads) or of the whole cut (one).
import { setImmediate as breathe } from 'node:timers/promises'
import { codeOf, type Format, factsOf } from '../formats.ts'
import { positionOf, type RawRow } from '../read/columns.ts'
import type { KeyRange } from '../read/key-ranges.ts'
import { type Redactor, redactRow } from '../read/redact.ts'
import type { CutReader } from '../read/rows.ts'
import type { Encoder, Encoding, Packer } from './format.ts'
import type { Encoded, Packed, PackedKeyRange } from './packed.ts'

/** What is packed how, as plain data. */
export interface Packing {
  format: Format
  encoding: Encoding
}

export type PackKeyRange = (keyRange: KeyRange) => Promise<PackedKeyRange>

/** Up to where `rows` go into a file that has `inFile` of them already; `from` itself where that file ends. */
export type FileCutter = (rows: readonly RawRow[], from: number, inFile: number) => number

/** A piece whose bytes may still be in the making. */
interface Piece extends Omit<Packed, 'content'> {
  content: Promise<Encoded>
  /** Whether it ended because it was full; then more rows may follow. */
  isFull: boolean
  last: RawRow
}

interface PieceOptions {
  redactor: Redactor
  /** Waited for after each batch of so many rows. */
  pause(rows: number): Promise<unknown>
  /** No piece holds rows of two files. */
  cutter: FileCutter | null
}

const ID = positionOf('id')
const CREATED_AT = positionOf('created_at')

/** Redacts and encodes the rows of `batches`. A piece is only asked for once the one before the last is written. */
export async function* packedPieces(
  batches: Iterable<RawRow[]>,
  packer: Packer,
  { redactor, pause, cutter }: PieceOptions,
): AsyncGenerator<Piece, void, void> {
  let rows = 0
  let inFile = 0
  let first: bigint | null = null
  let last: RawRow | null = null

  function end(row: RawRow): Piece {
    const { isFull } = packer
    const content = packer.end()
    // A failure is thrown to whoever takes the content.
    content.catch(() => {})
    // In order with nulls first: the ends tell both bounds.
    const piece = { rows, minCreatedAt: first, maxCreatedAt: createdAtOf(row), content, isFull, last: row }
    rows = 0
    first = null
    last = null
    return piece
  }

  for (const batch of batches) {
    if (redactor.names.length > 0) for (const row of batch) redactRow(row, redactor)
    for (let from = 0; from < batch.length; ) {
      const to = cutter === null ? batch.length : cutter(batch, from, inFile)
      const next = to === from ? from : packer.take(batch, from, to)
      for (let i = from; first === null && i < next; i++) first = createdAtOf(batch[i]!)
      if (next > from) last = batch[next - 1]!
      rows += next - from
      inFile = to === from ? 0 : inFile + next - from
      if (last !== null && (to === from || packer.isFull)) yield end(last)
      from = next
    }
    await pause(batch.length)
  }
  if (last !== null) yield end(last)
}

export async function encoderOf({ format, encoding }: Packing): Promise<Encoder> {
  return (await codeOf(format)).encoder(encoding)
}

export function pieceBytesOf({ format }: Packing): number {
  return factsOf(format).pieceBytes
}

/** Encodes key ranges of `cut`; leaves one off at twice the usual size, so that very large tasks fit into memory. */
export async function keyRangePacker(
  cut: CutReader,
  redactor: Redactor,
  packing: Packing,
  pause: () => Promise<unknown> = breathe,
): Promise<PackKeyRange> {
  const encoder = await encoderOf(packing)
  const packer = encoder.packer(packing.encoding, { mostBytes: 2 * pieceBytesOf(packing), alone: false })
  return async (keyRange) => {
    for await (const piece of packedPieces(cut.batches(keyRange), packer, { redactor, pause, cutter: null })) {
      const { rows, minCreatedAt, maxCreatedAt, content, isFull, last } = piece
      const packed = { rows, minCreatedAt, maxCreatedAt, content: await content }
      const after = { createdAt: createdAtOf(last), id: last[ID] as string }
      return { packed, rest: isFull ? { after, upTo: keyRange.upTo } : null }
    }
    return { packed: null, rest: null }
  }
}

function createdAtOf(row: RawRow): bigint | null {
  return row[CREATED_AT] as bigint | null
}
