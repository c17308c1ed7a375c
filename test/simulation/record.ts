// What every kept scenario, and 300 further seeds, plain and odd, come to: requests, verdicts and broken promises, one line
// each in record.tsv. `node test/simulation/record.ts` writes the table, with `--compare` it tells what has changed since:
// exit code 1 where a verdict turned from complete to partial without its reason in REASONS, or requests grew too much.
import { readFileSync, writeFileSync } from 'node:fs'
import { KEPT } from './kept-seeds.ts'
import { oddScenarioOf, type Scenario, scenarioOf } from './scenario.ts'
import { Stage, simulate } from './simulate.ts'

const FILE = new URL('record.tsv', import.meta.url)
const SEEDS = 150
const FROM = 50_000_000

/** Worlds in which a walk says less than it did, and why it must. */
const REASONS: Record<string, string> = {}

interface Row {
  name: string
  requests: number
  /** One letter for each run that reached a verdict: c or p. */
  verdicts: string
  broken: number
}

function scenarios(): [name: string, scenario: Scenario][] {
  const seeds = Array.from({ length: SEEDS }, (_, index) => FROM + index)
  return [
    ...KEPT.map(({ story, scenario }): [string, Scenario] => [story, scenario]),
    ...seeds.map((seed): [string, Scenario] => [`plain ${seed}`, scenarioOf(seed)]),
    ...seeds.map((seed): [string, Scenario] => [`odd ${seed}`, oddScenarioOf(seed)]),
  ]
}

async function play(): Promise<Row[]> {
  using stage = new Stage()
  const rows: Row[] = []
  for (const [name, scenario] of scenarios()) {
    const { requests, verdicts, violations } = await simulate(scenario, stage)
    rows.push({ name, requests, verdicts: verdicts.map(([letter]) => letter).join(''), broken: violations.length })
  }
  return rows
}

function readTable(): Row[] {
  const [, ...lines] = readFileSync(FILE, 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const [name, requests, verdicts, broken] = line.split('\t') as [string, string, string, string]
    return { name, requests: Number(requests), verdicts, broken: Number(broken) }
  })
}

function compare(before: Row[], now: Row[]): void {
  const earlier = new Map(before.map((row) => [row.name, row]))
  let failed = 0
  const sums = { before: 0, now: 0, complete: 0, completeNow: 0 }
  for (const row of now) {
    const old = earlier.get(row.name)
    if (old === undefined) continue
    sums.before += old.requests
    sums.now += row.requests
    sums.complete += old.verdicts.split('c').length - 1
    sums.completeNow += row.verdicts.split('c').length - 1
    const told = [...old.verdicts].some((letter, at) => letter === 'c' && row.verdicts[at] === 'p')
    const isDoubled = row.requests > 2 * old.requests + 10
    if (row.broken === 0 && !isDoubled && (!told || row.name in REASONS)) continue
    failed += 1
    console.log(
      `${row.name}: ${old.requests} -> ${row.requests} requests, ${old.verdicts} -> ${row.verdicts}, ${row.broken} broken`,
    )
  }
  console.log(
    `${now.length} worlds: ${sums.before} -> ${sums.now} requests, ${sums.complete} -> ${sums.completeNow} complete, ${failed} to be looked at`,
  )
  process.exitCode = failed === 0 ? 0 : 1
}

const rows = await play()
if (process.argv.includes('--compare')) compare(readTable(), rows)
else {
  const lines = rows.map(({ name, requests, verdicts, broken }) => [name, requests, verdicts, broken].join('\t'))
  writeFileSync(FILE, `${['scenario', 'requests', 'verdicts', 'broken'].join('\t')}\n${lines.join('\n')}\n`)
}
