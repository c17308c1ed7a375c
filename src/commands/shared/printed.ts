// Writes text to stdout in pieces, each once the one before has left, with terminal control characters made visible.
import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as breathe } from 'node:timers/promises'
import { MirrorError, systemWords } from '../../errors.ts'
import { printable } from '../../shown.ts'

/** Pieces are collected until they have this many characters, then written at once. */
const LEAST_WRITTEN = 65_536

/** Writes the text and a line feed. Throws `disk-full`; a closed pipe is no error. */
export async function printPieces(out: Writable, pieces: Iterable<string>): Promise<void> {
  let held = ''
  for (const piece of pieces) {
    held += piece
    if (held.length < LEAST_WRITTEN) continue
    await writeOut(out, printable(held))
    held = ''
    // A fast reader never makes a write wait; this pause lets signals be handled between pieces.
    await breathe()
  }
  await writeOut(out, `${printable(held)}\n`)
}

function writeOut(out: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write(text, (error) => {
      const code = (error as NodeJS.ErrnoException | null | undefined)?.code
      if (error == null || code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') resolve()
      else reject(new MirrorError('disk-full', `stdout cannot be written: ${systemWords(error)}`, { cause: error }))
    })
  })
}

/** For tasks, which third parties wrote, on a terminal: passes text on with control characters made visible. */
export function printableStream(terminal: Writable): Writable {
  const decoder = new StringDecoder()
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => void terminal.write(printable(decoder.write(chunk)), done),
  })
}
