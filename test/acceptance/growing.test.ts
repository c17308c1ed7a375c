// Issue 12, item 10: oldest first, and the list grows while it is read. The built command line over real HTTP.
import { expect, test } from 'vitest'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { LARGE_WINDOW, makeStage, missingFrom } from './stage.ts'

const TASKS = 3.5 * LARGE_WINDOW
const WINDOWS = 4
const FIVE_MINUTES = 300_000

const paces: Record<string, Partial<SimulatorOptions>> = {
  'one insert with every request': { insertsPerRequest: 1, where: 'behind' },
  'ten inserts a second': { insertsPerSecond: 10 },
}
const clocks: Record<string, Partial<SimulatorOptions>> = {
  'its clock right': {},
  'its clock five minutes fast': { clockSkewMs: FIVE_MINUTES },
  'its clock five minutes slow': { clockSkewMs: -FIVE_MINUTES },
  'no Date': { dateHeader: false },
}
const CASES = Object.keys(paces).flatMap((pace) => Object.keys(clocks).map((clock) => ({ pace, clock })))

test.concurrent.for(CASES)('oldest first, $pace, $clock: complete, and so is the next run', async ({ pace, clock }) => {
  const options = { ...paces[pace], ...clocks[clock] }
  await using stage = await makeStage({
    window: LARGE_WINDOW,
    tasks: TASKS,
    order: 'created_asc',
    openFraction: 0,
    openInserts: 0,
    // However busy this machine is.
    stepMs: 100,
    ...options,
  })
  for (const run of ['first', 'second']) {
    const stayed = stage.listedThroughout()
    const { code, summary, asked } = await stage.sync()
    expect({ run, code, verdict: summary.verdict }).toEqual({ run, code: 0, verdict: 'complete' })
    expect(missingFrom(stage, stayed())).toBe(0)
    const lists = asked.filter(({ operation }) => operation === 'list')
    const windows = run === 'first' ? WINDOWS : 1
    expect(lists.length, run).toBeLessThanOrEqual(windows + 20)
  }
})
