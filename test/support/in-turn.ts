// Runs command lines in this process, one after another, each to exit code 0: what is about the user, umask or environment of a
// process needs no process for each. Arguments: the module that runs a command line, then each line, its words between
// spaces. Prints what each has printed, as one JSON list.
import type { run } from '../../src/program.ts'
import { captured } from './captured.ts'

const [, , program = '', ...lines] = process.argv
const { run: runLine } = (await import(program)) as { run: typeof run }
const printed: string[] = []
for (const line of lines) {
  const { text, streams } = captured()
  const code = await runLine(line.split(' '), { ...streams, env: process.env }, new AbortController().signal)
  if (code !== 0) throw new Error(`${line}: exit ${code} ${text.stderr}`)
  printed.push(text.stdout)
}
process.stdout.write(JSON.stringify(printed))
