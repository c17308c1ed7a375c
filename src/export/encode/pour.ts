// Brings a whole cut into files, by one thread or by two. Knows pieces and who makes them; nothing of formats.
import { setImmediate as breathe } from 'node:timers/promises'
import type { ExportOptions } from '../options.ts'
import { interrupted, ReaderGone } from '../publish/sink.ts'
import type { KeyRange } from '../read/key-ranges.ts'
import type { Redactor } from '../read/redact.ts'
import type { CutReader } from '../read/rows.ts'
import type { Packer } from './format.ts'
import type { HeadStart } from './head-start.ts'
import type { Packed } from './packed.ts'
import { encoderOf, type FileCutter, type Packing, type PackKeyRange, packedPieces, pieceBytesOf } from './pieces.ts'
import type { SecondThread } from './second-thread.ts'
import { packOnTwoThreads } from './two-threads.ts'
import { letYoungGenerationsGrow } from './young-generations.ts'

/** The other thread, which holds the same cut, and what this one has begun meanwhile. */
export interface TwoThreads {
  second: SecondThread
  /** Packs a key range there. */
  there: PackKeyRange
  head: HeadStart
}

/** Where pieces go: one file, or those of a dataset. */
export interface Files {
  /** null where rows do not decide which file they go into. */
  readonly cutter: FileCutter | null
  /** Adds a piece behind those before. Not to be called again before it has settled. */
  add(piece: Packed): Promise<void>
  close(): Promise<unknown>
}

interface Pouring {
  cut: CutReader
  packing: Packing
  redactor: Redactor
  /** null where this thread is to work alone. */
  both: TwoThreads | null
  files: Files
}

/** By then, about 32 MB of rows, this thread has the room that it needs. */
const GROWN_AFTER = 500

/** Brings all rows and closes the files. A reader of stdout that has gone away ends it without failure. */
export async function pour(
  { cut, packing, redactor, both, files }: Pouring,
  { signal, onProgress }: Pick<ExportOptions, 'signal' | 'onProgress'>,
): Promise<{ rows: number; readerGone: boolean }> {
  const total = onProgress ? cut.total() : null
  let rows = 0
  let batches = 0
  let own: Packer | null = null
  /** The piece on its way into the files, while the next one is made. */
  let adding: Promise<void> = Promise.resolve()

  async function add(made: Packed | Promise<Packed>): Promise<void> {
    await files.add(await made)
  }

  function took(count: number): void {
    rows += count
    onProgress?.(rows, total)
  }

  /** Waits for the piece before. A failure is thrown by the next one, or at the end. */
  async function addNext(made: Packed | Promise<Packed>): Promise<void> {
    await adding
    adding = add(made)
    adding.catch(() => {})
  }

  /** Lets signals and timers in, also where no write made it wait. */
  async function pause(count: number): Promise<void> {
    took(count)
    if (++batches === GROWN_AFTER) letYoungGenerationsGrow(false)
    await breathe()
    stopIfAborted(signal)
  }

  async function pourAlone(keyRange?: KeyRange): Promise<void> {
    own ??= (await encoderOf(packing)).packer(packing.encoding, { mostBytes: pieceBytesOf(packing), alone: true })
    for await (const piece of packedPieces(cut.batches(keyRange), own, { redactor, pause, cutter: files.cutter })) {
      await addNext(piece.content.then((content) => ({ ...piece, content })))
    }
  }

  async function pourWith({ second, there, head }: TwoThreads): Promise<void> {
    for await (const { packed, rest } of packOnTwoThreads(head.first, head.keyRanges, head.pack, there)) {
      stopIfAborted(signal)
      if (packed !== null) {
        await addNext(packed)
        took(packed.rows)
      }
      if (rest !== null) await pourAlone(rest)
      await breathe()
    }
    redactor.add(second.counts())
    // It takes a while to end, and the footer is written meanwhile.
    void second.close()
  }

  try {
    stopIfAborted(signal)
    if (both !== null) await pourWith(both)
    else await pourAlone()
    await adding
    await files.close()
    return { rows, readerGone: false }
  } catch (error) {
    // Files are only given up once nothing is being written to them.
    await adding.catch(() => {})
    if (error instanceof ReaderGone) return { rows, readerGone: true }
    throw error
  } finally {
    letYoungGenerationsGrow(true)
  }
}

/** Throws `interrupted`. */
export function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw interrupted()
}
