// Brings a whole cut into files, piece by piece. Knows nothing of formats, nor of who packs.
import { setImmediate as breathe } from 'node:timers/promises'
import type { ExportOptions } from '../options.ts'
import { interrupted, ReaderGone } from '../publish/sink.ts'
import type { CutReader } from '../read/rows.ts'
import type { Packed } from './format.ts'
import type { CutPacker } from './pack-in-order.ts'
import { letYoungGenerationsGrow } from './young-generations.ts'

/** Where pieces go: one file, or those of a dataset. */
interface Files {
  /** Adds a piece behind those before. Not to be called again before it has settled. */
  add(piece: Packed): Promise<void>
  close(): Promise<unknown>
}

/** After so many pieces, the young generation of each thread is as large as it needs to be. */
const GROWN_AFTER = 12

/** Writes all rows and closes the files. Where the reader of stdout has gone away, this ends without a failure. */
export async function pour(
  cut: CutReader,
  packer: CutPacker,
  files: Files,
  { signal, onProgress }: Pick<ExportOptions, 'signal' | 'onProgress'>,
): Promise<{ rows: number; readerGone: boolean }> {
  const total = onProgress ? cut.total() : null
  let rows = 0
  let pieces = 0
  /** The piece on its way into the files, while the next one is made. */
  let adding: Promise<void> = Promise.resolve()

  try {
    stopIfAborted(signal)
    for await (const piece of packer.pieces()) {
      stopIfAborted(signal)
      // A failure is thrown by the next `await adding`, here or at the end.
      await adding
      adding = files.add(piece)
      adding.catch(() => {})
      rows += piece.rows
      onProgress?.(rows, total)
      if (++pieces === GROWN_AFTER) letYoungGenerationsGrow(false)
      await breathe()
    }
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
