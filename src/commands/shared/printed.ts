// How text reaches stdout: without what a terminal would obey, in pieces, each when the one before has left.
import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as pause } from 'node:timers/promises'
import { MirrorError } from '../../errors.ts'
import { printable } from '../../shown.ts'

/** Characters that are written at once, where there are as many. */
const LEAST_WRITTEN = 65_536

/** Writes the text and a line feed. Throws `disk-full`; a reader that has gone is no error. */
export async function printPieces(out: Writable, pieces: Iterable<string>): Promise<void> {
  let held = ''
  for (const piece of pieces) {
    held += piece
    if (held.length < LEAST_WRITTEN) continue
    await writeOut(out, printable(held))
    held = ''
    // A reader may take everything at once: signals are looked at in between.
    await pause()
  }
  await writeOut(out, `${printable(held)}\n`)
}

function writeOut(out: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write(text, (error) => {
      const code = (error as NodeJS.ErrnoException | null | undefined)?.code
      if (error == null || code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') resolve()
      else reject(new MirrorError('disk-full', `stdout cannot be written (${code})`, { cause: error }))
    })
  })
}

/** Data of third parties on a terminal: what is written to it goes there as it is, but for what a terminal would obey. */
export function printableStream(terminal: Writable): Writable {
  const decoder = new StringDecoder()
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => void terminal.write(printable(decoder.write(chunk)), done),
  })
}
