// Runs command lines in this process, one after another, each to exit code 0: what is about the user, umask or environment of a
// process needs no process for each. Arguments: the module that runs a command line, then each line, its words between
// spaces. Prints what each has printed, as one JSON list.
import { Writable } from 'node:stream'
import type { run } from '../../src/program.ts'

const [, , program = '', ...lines] = process.argv
const { run: runLine } = (await import(program)) as { run: typeof run }
const printed: string[] = []
for (const line of lines) {
  const said = { stdout: '', stderr: '' }
  const stdout = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _, done) {
      said.stdout += chunk.toString()
      done()
    },
  })
  const stderr = {
    isTTY: false,
    columns: () => undefined,
    write: (text: string) => {
      said.stderr += text
    },
  }
  const streams = { stdout, stderr, env: process.env, onProgressRequest: () => undefined }
  const code = await runLine(line.split(' '), streams, new AbortController().signal)
  if (code !== 0) throw new Error(`${line}: exit ${code} ${said.stderr}`)
  printed.push(said.stdout)
}
process.stdout.write(JSON.stringify(printed))
