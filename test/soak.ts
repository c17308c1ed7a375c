// `npm run test:soak [-- PART...]`: the suite with all its cases, then every search that takes minutes, as many at once as the
// machine has cores; or the named ones alone. Each line of output says which part it is of, and the last one how many parts
// passed. The exit code is 1 where one failed. Ctrl-C ends all of them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { KINDS } from './simulation/kinds.ts'

/** The commands of the parts, by name. */
const PARTS: Record<string, string> = {
  suite: 'vitest run',
  nodes: 'npm run --silent test:nodes',
  // The small worlds keep what they have seen in memory.
  proof: 'node --max-old-space-size=12288 test/proof/soak.ts',
  memory: 'node test/schedule/memory-soak.ts',
  ...Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, `node test/simulation/soak.ts ${kind}`])),
}
/** Tests have time limits: these parts share the processor with no other. */
const ALONE = ['suite', 'nodes']

const named = process.argv.slice(2)
const unknown = named.filter((name) => !(name in PARTS))
if (unknown.length > 0) {
  console.error(`No part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`)
  process.exit(2)
}
const names = named.length > 0 ? named : Object.keys(PARTS)
const failed: string[] = []
let isStopped = false

/** Runs one part to its end, its output line by line. */
async function run(name: string): Promise<void> {
  const started = Date.now()
  const [program, ...args] = (PARTS[name] as string).split(' ') as [string, ...string[]]
  const env = name === 'suite' ? { ...process.env, SOAK: '1' } : process.env
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => console.log(`[${name}] ${line}`))
  const [code] = await once(child, 'close')
  if (code !== 0) failed.push(name)
  const minutes = ((Date.now() - started) / 60_000).toFixed(1)
  console.log(`[${name}] ${code === 0 ? 'passed' : 'FAILED'} after ${minutes} minutes`)
}

/** Runs one part after the other, whatever is next. */
async function runEach(waiting: string[]): Promise<void> {
  for (let name = waiting.shift(); name !== undefined && !isStopped; name = waiting.shift()) await run(name)
}

// The terminal sends it to the parts, too: each ends with what it has.
process.on('SIGINT', () => {
  isStopped = true
})
await runEach(names.filter((name) => ALONE.includes(name)))
const together = names.filter((name) => !ALONE.includes(name))
await Promise.all(Array.from({ length: availableParallelism() }, () => runEach(together)))
console.log(
  `${names.length - failed.length} passed, ${failed.length} failed${failed.map((name) => `, ${name}`).join('')}`,
)
if (failed.length > 0) process.exitCode = 1
