// What every format looks like to the export: rows go in, in order; closing makes the content whole.

import type { ClosableSink } from '../publish/sink.ts'
import type { RawRow } from '../read/columns.ts'
import { taskLine } from './ndjson.ts'
import type { Packed } from './packed.ts'

export interface SnapshotWriter {
  /** Takes rows in order. The array is the writer's from here on. */
  write(rows: RawRow[]): Promise<void>
  /** Takes rows that are encoded already, behind those it was given before. */
  add(packed: Packed): Promise<void>
  /** Writes what is held back and, where the format has a place for it, `about` as names and texts. */
  close(about: Record<string, string>): Promise<void>
}

const BUFFER_BYTES = 2 * 1024 * 1024

/** One JSON text per line. NDJSON has no place for `about`. */
export function ndjsonWriter(sink: ClosableSink, withMeta: boolean): SnapshotWriter {
  // Two buffers take turns: while one is compressed or written on another thread, the next lines go into the other.
  const none = Buffer.alloc(0)
  let [filling, writing] = [none, none]
  let inFlight: Promise<void> = Promise.resolve()
  return {
    async write(rows) {
      if (filling === none) filling = Buffer.allocUnsafeSlow(BUFFER_BYTES)
      let text = ''
      for (const row of rows) text += `${taskLine(row, withMeta)}\n`
      // UTF-8 takes at most three bytes per unit of a JS string; a batch with a very long cell gets a buffer of its own.
      const piece = text.length * 3 <= BUFFER_BYTES ? filling.subarray(0, filling.write(text)) : Buffer.from(text)
      await inFlight
      inFlight = sink.write(piece)
      inFlight.catch(() => {})
      ;[filling, writing] = [writing, filling]
    },
    async add({ content }) {
      if (!(content instanceof Uint8Array)) throw new Error('a row group is no NDJSON')
      await inFlight
      inFlight = sink.write(content)
      inFlight.catch(() => {})
    },
    async close() {
      await inFlight
      await sink.close()
    },
  }
}
