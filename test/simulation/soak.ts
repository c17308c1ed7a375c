// `npm run test:soak`: seed after seed until SOAK_SECONDS are over (600), from SOAK_SEED on (the present day's number); then
// again with SOAK_ODD=1, where the services are odd (oddities.ts), with SOAK_ODD=2, where they are so in two ways at once, and with
// SOAK_ODD=3, where the oldest writing comes first, SOAK_ODD=4, where answers hold nothing now and then, SOAK_ODD=5, where a list
// shows less than details do, and some runs ask for none, and SOAK_ODD=6, where its sequence depends on the window. Prints every failing seed with its log and, at the end, what each kind of
// world came to; the exit code is 1 where a seed failed. SIGINT ends it with what there is.
import { BROKEN } from './oracle.ts'
import {
  ascendingScenarioOf,
  blankScenarioOf,
  oddScenarioOf,
  scenarioOf,
  sparingScenarioOf,
  twiceOddScenarioOf,
  unsortedScenarioOf,
} from './scenario.ts'
import { Stage, simulate } from './simulate.ts'
import { WorldFigures } from './worlds.ts'

const seconds = Number(process.env.SOAK_SECONDS ?? 600)
const from = Number(process.env.SOAK_SEED ?? Math.floor(Date.now() / 86_400_000) * 1_000_000)
const most = Number(process.env.SOAK_SEEDS ?? Number.MAX_SAFE_INTEGER)
const make =
  [
    scenarioOf,
    oddScenarioOf,
    twiceOddScenarioOf,
    ascendingScenarioOf,
    blankScenarioOf,
    sparingScenarioOf,
    unsortedScenarioOf,
  ][Number(process.env.SOAK_ODD ?? 0)] ?? scenarioOf
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
  console.log(`seed ${seed}: ${outcome.violations[0]}`)
  if (logs) console.log(`${JSON.stringify(scenario)}\n${outcome.log.join('\n')}\n`)
}
const rate = (seeds / ((Date.now() - started) / 1000)).toFixed(0)
const share = ((100 * complete) / Math.max(1, verdicts)).toFixed(0)
console.log(
  `${seeds} seeds (${rate}/s), ${runs} runs, ${killed} killed, ${verdicts} verdicts, ${share} % complete, ${failed} failed, ${broken} where an assumption was broken`,
)
console.log(worlds.table())
process.exitCode = failed === 0 ? 0 : 1
