// Reads a file of NDJSON back, for checking it.
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import type { Compression } from './compression.ts'

const LINE_FEED = 10

/** The lines of the file, without their ends. Only line feeds end a line: JSON text may hold other separators. */
export async function* linesOf(path: string, compression: Compression): AsyncGenerator<string> {
  let begun: Buffer[] = []
  for await (const piece of unpacked(path, compression) as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...begun, piece.subarray(from, at)]).toString()
      begun = []
      from = at + 1
    }
    if (from < piece.length) begun.push(piece.subarray(from))
  }
  if (begun.length > 0) yield Buffer.concat(begun).toString()
}

export async function countLines(path: string, compression: Compression): Promise<number> {
  let lines = 0
  for await (const piece of unpacked(path, compression) as AsyncIterable<Buffer>) {
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, at + 1)) lines++
  }
  return lines
}

function unpacked(path: string, compression: Compression): Readable {
  const file = createReadStream(path, { highWaterMark: 1024 * 1024 })
  if (compression === 'none') return file
  const through = compression === 'gzip' ? createGunzip() : createZstdDecompress()
  file.on('error', (error) => through.destroy(error))
  return file.pipe(through)
}
