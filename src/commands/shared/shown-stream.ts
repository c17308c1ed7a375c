// Data of third parties on a terminal: as it is, but for what a terminal would obey.
import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { shown } from '../../shown.ts'

/** What is written to it goes to `terminal` through `shown`. */
export function shownStream(terminal: Writable): Writable {
  const decoder = new StringDecoder()
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => void terminal.write(shown(decoder.write(chunk)), done),
  })
}
