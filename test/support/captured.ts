// Where a command line that runs in this process writes to.
import { Writable } from 'node:stream'

/** Streams for `run` of src/program.ts, and the text that came. `onOut`: called behind every piece written to stdout. */
export function captured(onOut: () => void = () => undefined) {
  const text = { stdout: '', stderr: '' }
  const stdout = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _, done) {
      text.stdout += chunk.toString()
      onOut()
      done()
    },
  })
  const stderr = {
    isTTY: false,
    columns: () => undefined,
    write: (line: string) => {
      text.stderr += line
    },
  }
  return { text, streams: { stdout, stderr, onProgressRequest: () => undefined } }
}
