import { writeFileSync } from 'node:fs'
import { test } from 'vitest'
import { oddScenarioOf, scenarioOf } from './scenario.ts'
import { Stage, simulate } from './simulate.ts'

test('x', async () => {
  using stage = new Stage()
  for (const seed of (process.env.SEEDS ?? '').split(',').map(Number)) {
    const scenario = process.env.ODD ? oddScenarioOf(seed) : scenarioOf(seed)
    const { violations, log } = await simulate(scenario, stage)
    writeFileSync(
      `/tmp/scratch/${seed}.log`,
      `${JSON.stringify(scenario)}\n${log.join('\n')}\n${violations.join('\n')}`,
    )
    console.log(seed, violations)
  }
}, 300000)
