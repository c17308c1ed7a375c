// What formats of lines have in common: one task is one line of text, a file is compressed as a whole.
import { createReadStream } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { type ClosableSink, compressingSink } from '../publish/sink.ts'
import type { RawRow } from '../read/columns.ts'
import type { Compression } from './compression.ts'
import type { Encoding, FileWriter, FormatCode, FoundRow, Packer } from './format.ts'

interface LineFormat {
  /** The first line of every file, its end included; empty for none. */
  head(encoding: Encoding): string
  /** Makes the line of a row, its end included. */
  liner(encoding: Encoding): (row: RawRow) => string
  /** Whether a line feed between double quotes is part of a line. No other character ends a line. */
  isQuoted: boolean
  /** What a line means, where another version may write it differently; absent: only its text counts. */
  meaningOf?(line: string): string
  /** See `FoundRow`. */
  idsOf(line: string, encoding: Encoding): readonly string[]
}

const LINE_FEED = 10
const QUOTE = 34

export function lineFormat({ head, liner, isQuoted, meaningOf, idsOf }: LineFormat): FormatCode {
  /** The lines of a file behind its head. */
  async function* linesOf(path: string, encoding: Encoding): AsyncGenerator<Buffer[]> {
    const first = Buffer.from(head(encoding))
    let isFirst = first.length > 0
    for await (const lines of linesIn(unpacked(path, encoding.compression), isQuoted)) {
      if (isFirst && lines.length > 0) {
        if (lines.shift()?.equals(first) !== true) throw new Error('its first line is another one')
        isFirst = false
      }
      yield lines
    }
    if (isFirst) throw new Error('it is empty')
  }

  return {
    encoder: async () => ({
      packer: (encoding, mostBytes) => linePacker(liner(encoding), mostBytes),
      open: (sink, encoding) => lineWriter(compressingSink(sink, encoding.compression), Buffer.from(head(encoding))),
    }),

    async countRows(path, encoding) {
      let rows = 0
      for await (const lines of linesOf(path, encoding)) rows += lines.length
      return rows
    },

    async *read(path, encoding) {
      const lineOf = liner(encoding)
      for await (const lines of linesOf(path, encoding)) {
        yield lines.map((bytes): FoundRow => {
          const line = bytes.toString()
          return {
            ids: idsOf(line, encoding),
            differsFrom(row) {
              const wanted = lineOf(row)
              const isSame = Buffer.from(wanted).equals(bytes) || (meaningOf && meaningOf(wanted) === meaningOf(line))
              return isSame ? null : 'its text'
            },
          }
        })
      }
    },
  }
}

function linePacker(lineOf: (row: RawRow) => string, mostBytes: number): Packer {
  const room = mostBytes + mostBytes / 4
  let buffer = Buffer.alloc(0)
  let bytes = 0
  return {
    get isFull() {
      return bytes >= mostBytes
    },
    take(rows) {
      if (bytes === 0) buffer = Buffer.allocUnsafeSlow(room)
      let text = ''
      for (const row of rows) text += lineOf(row)
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
      return { bytes: lines }
    },
  }
}

function lineWriter(sink: ClosableSink, head: Buffer): FileWriter {
  let isBegun = head.length === 0
  async function begin(): Promise<void> {
    if (!isBegun) await sink.write(head)
    isBegun = true
  }
  return {
    async add({ content }) {
      await begin()
      await sink.write(content.bytes)
    },
    async close() {
      await begin()
      await sink.close()
    },
    destroy: () => sink.destroy(),
  }
}

/** The lines with their ends, as many at a time as are found. Throws an `Error` where the last one has no end. */
async function* linesIn(pieces: AsyncIterable<Buffer>, isQuoted: boolean): AsyncGenerator<Buffer[]> {
  let begun: Buffer[] = []
  let isInside = false
  for await (const piece of pieces) {
    const lines: Buffer[] = []
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      if (isQuoted) {
        if (piece[at] === QUOTE) isInside = !isInside
        if (piece[at] !== LINE_FEED || isInside) continue
      } else {
        at = piece.indexOf(LINE_FEED, at)
        if (at === -1) break
      }
      lines.push(
        begun.length === 0 ? piece.subarray(from, at + 1) : Buffer.concat([...begun, piece.subarray(from, at + 1)]),
      )
      begun = []
      from = at + 1
    }
    if (from < piece.length) begun.push(piece.subarray(from))
    yield lines
  }
  if (begun.length > 0) throw new Error('its last line has no end')
}

function unpacked(path: string, compression: Compression): Readable {
  const file = createReadStream(path, { highWaterMark: 1024 * 1024 })
  if (compression === 'none') return file
  // `pipeline` closes the file as well, where the reader stops early or either stream fails.
  return pipeline(file, compression === 'gzip' ? createGunzip() : createZstdDecompress(), () => {})
}
