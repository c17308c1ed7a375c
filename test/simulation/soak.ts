// `node test/simulation/soak.ts KIND`, a part of `npm run test:soak`: seed after seed of one kind of world (KINDS) until
// SOAK_SECONDS are over (600) or SOAK_SEEDS were tried, from SOAK_SEED on (the present day's number). Prints every failing
// seed with its log (SOAK_LOGS=none: without) and, at the end, what each kind of service came to; the exit code is 1 where a
// seed failed. SIGINT ends it with what there is.
import { KINDS } from './kinds.ts'
import { BROKEN } from './oracle.ts'
import { Stage, simulate } from './simulate.ts'
import { WorldFigures } from './worlds.ts'

const kind = process.argv[2] ?? ''
const make = KINDS[kind]
if (make === undefined) throw new Error(`No kind "${kind}"; there are ${Object.keys(KINDS).join(', ')}`)
const seconds = Number(process.env.SOAK_SECONDS ?? 600)
const from = Number(process.env.SOAK_SEED ?? Math.floor(Date.now() / 86_400_000) * 1_000_000)
const most = Number(process.env.SOAK_SEEDS ?? Number.MAX_SAFE_INTEGER)
const logs = process.env.SOAK_LOGS !== 'none'

let isStopped = false
process.once('SIGINT', () => {
  isStopped = true
})

using stage = new Stage()
const started = Date.now()
const worlds = new WorldFigures()
let seeds = 0
let failed = 0
let broken = 0
let complete = 0
let verdicts = 0
let killed = 0
let runs = 0
while (Date.now() - started < seconds * 1000 && seeds < most && !isStopped) {
  const seed = from + seeds
  seeds += 1
  const scenario = make(seed)
  const outcome = await simulate(scenario, stage)
  worlds.add(scenario, outcome)
  verdicts += outcome.verdicts.length
  complete += outcome.verdicts.filter((verdict) => verdict === 'complete').length
  killed += outcome.killed
  runs += outcome.runs
  if (outcome.violations.length === 0) continue
  if (outcome.violations.every((violation) => violation.startsWith(BROKEN))) broken += 1
  else failed += 1
  console.log(`${kind} SOAK_SEED=${seed}: ${outcome.violations[0]}`)
  if (logs) console.log(`${JSON.stringify(scenario)}\n${outcome.log.join('\n')}\n`)
}
const rate = (seeds / ((Date.now() - started) / 1000)).toFixed(1)
const share = ((100 * complete) / Math.max(1, verdicts)).toFixed(0)
console.log(
  `${kind}: ${seeds} seeds (${rate}/s), ${runs} runs, ${killed} killed, ${verdicts} verdicts, ${share} % complete, ${failed} failed, ${broken} where an assumption was broken`,
)
console.log(worlds.table())
if (failed > 0) process.exitCode = 1
