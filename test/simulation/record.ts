// What every kept scenario, and 300 further seeds, plain and odd, come to: requests, verdicts, broken promises, and for what
// walks ended as partial, one line each in record.tsv; beside it what they came to before the kernel of proof judged walks.
// `node test/simulation/record.ts` writes the table, with `--compare` it tells what has changed since: exit code 1 where a
// verdict turned from complete to partial, or requests grew too much. In a world that changes with every request one request
// more makes another world of it: a single line says little, the sums do.
import { readFileSync, writeFileSync } from 'node:fs'
import { KEPT } from './kept-seeds.ts'
import { oddScenarioOf, type Scenario, scenarioOf } from './scenario.ts'
import { Stage, simulate } from './simulate.ts'

const FILE = new URL('record.tsv', import.meta.url)
const SEEDS = 150
const FROM = 50_000_000

interface Row {
  name: string
  requests: number
  /** One letter for each run that reached a verdict: c or p. */
  verdicts: string
  broken: number
  /** For what walks ended as partial, each once. */
  reasons: string
  /** Before the kernel. */
  earlier: { requests: string; verdicts: string }
}

function scenarios(): [name: string, scenario: Scenario][] {
  const seeds = Array.from({ length: SEEDS }, (_, index) => FROM + index)
  return [
    ...KEPT.map(({ story, scenario }): [string, Scenario] => [story, scenario]),
    ...seeds.map((seed): [string, Scenario] => [`plain ${seed}`, scenarioOf(seed)]),
    ...seeds.map((seed): [string, Scenario] => [`odd ${seed}`, oddScenarioOf(seed)]),
  ]
}

async function play(before: ReadonlyMap<string, Row>): Promise<Row[]> {
  using stage = new Stage()
  const rows: Row[] = []
  for (const [name, scenario] of scenarios()) {
    const { requests, verdicts, violations, log } = await simulate(scenario, stage)
    const reasons = log.flatMap((line) => /^ *ends walk \d+: partial (\S+)/.exec(line)?.[1] ?? [])
    rows.push({
      name,
      requests,
      verdicts: verdicts.map(([letter]) => letter).join(''),
      broken: violations.length,
      reasons: [...new Set(reasons)].join(' '),
      earlier: before.get(name)?.earlier ?? { requests: '', verdicts: '' },
    })
  }
  return rows
}

function readTable(): Map<string, Row> {
  const [, ...lines] = readFileSync(FILE, 'utf8').trimEnd().split('\n')
  return new Map(
    lines.map((line) => {
      const [name = '', requests, verdicts = '', broken, reasons = '', ...earlier] = line.split('\t')
      const [requestsBefore = '', verdictsBefore = ''] = earlier
      return [
        name,
        {
          name,
          requests: Number(requests),
          verdicts,
          broken: Number(broken),
          reasons,
          earlier: { requests: requestsBefore, verdicts: verdictsBefore },
        },
      ]
    }),
  )
}

function compare(before: ReadonlyMap<string, Row>, now: Row[]): void {
  let failed = 0
  const sums = { before: 0, now: 0, complete: 0, completeNow: 0 }
  for (const row of now) {
    const old = before.get(row.name)
    if (old === undefined) continue
    sums.before += old.requests
    sums.now += row.requests
    sums.complete += old.verdicts.split('c').length - 1
    sums.completeNow += row.verdicts.split('c').length - 1
    const told = [...old.verdicts].some((letter, at) => letter === 'c' && row.verdicts[at] === 'p')
    const isDoubled = row.requests > 2 * old.requests + 10
    if (row.broken === 0 && !isDoubled && !told) continue
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

const before = readTable()
const rows = await play(before)
if (process.argv.includes('--compare')) compare(before, rows)
else {
  const head = ['scenario', 'requests', 'verdicts', 'broken', 'partial for', 'requests before', 'verdicts before']
  const lines = rows.map(({ name, requests, verdicts, broken, reasons, earlier }) =>
    [name, requests, verdicts, broken, reasons, earlier.requests, earlier.verdicts].join('\t'),
  )
  writeFileSync(FILE, `${head.join('\t')}\n${lines.join('\n')}\n`)
}
