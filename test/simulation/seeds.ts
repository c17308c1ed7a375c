// Plays seed after seed and tells of those that break a promise, with everything that happened: shared by the test files,
// which divide the seeds among them so that they run side by side.
import { expect } from 'vitest'
import { SOAK } from '../support/soak.ts'
import { type Scenario, scenarioOf } from './scenario.ts'
import { Stage, simulate } from './simulate.ts'

/** Seeds of each of the two files: as many as fit into `npm test`, or into a soak. */
export const SEEDS_EACH = SOAK ? 500 : 6
/** Failing scenarios that are told in full. */
const TOLD = 2

export interface Tally {
  runs: number
  complete: number
  partial: number
  killed: number
}

export async function checkSeeds(from: number, count: number): Promise<Tally> {
  return check(Array.from({ length: count }, (_, index) => [`seed ${from + index}`, scenarioOf(from + index)]))
}

/** Fails with the log of what does not hold. */
export async function check(scenarios: [name: string, scenario: Scenario][]): Promise<Tally> {
  using stage = new Stage()
  const tally = { runs: 0, complete: 0, partial: 0, killed: 0 }
  const failed: string[] = []
  const told: string[] = []
  for (const [name, scenario] of scenarios) {
    const { violations, log, verdicts, runs, killed } = await simulate(scenario, stage)
    tally.runs += runs
    tally.killed += killed
    for (const verdict of verdicts) tally[verdict] += 1
    if (violations.length === 0) continue
    failed.push(`${name}: ${violations[0]}`)
    if (told.length < TOLD) told.push(`${name}\n${JSON.stringify(scenario)}\n${log.join('\n')}`)
  }
  expect(failed, told.join('\n\n')).toEqual([])
  return tally
}
