// The simulation is worth what it finds: every deliberate bug of bugs.ts breaks a promise within some seeds, and the same
// seed holds without it.
import { afterAll, describe, expect, it, vi } from 'vitest'
import { BUGS, type Bug, withBug } from './bugs.ts'
import { scenarioOf } from './scenario.ts'
import { Stage, simulate } from './simulate.ts'

vi.mock('../../src/walk/chain.ts', async (real) => (await import('./bugs.ts')).breakChain(await real()))
vi.mock('../../src/walk/ties.ts', async (real) => (await import('./bugs.ts')).breakTies(await real()))
vi.mock('../../src/walk/end.ts', async (real) => (await import('./bugs.ts')).breakEnd(await real()))
vi.mock('../../src/walk/lap.ts', async (real) => (await import('./bugs.ts')).breakLap(await real()))
vi.mock('../../src/sync/writer/windows.ts', async (real) => (await import('./bugs.ts')).breakWindows(await real()))
vi.mock('../../src/sync/steps/walking.ts', async (real) => (await import('./bugs.ts')).breakWalking(await real()))
vi.mock('../../src/sync/steps/deletions.ts', async (real) => (await import('./bugs.ts')).breakDeletions(await real()))
vi.mock('../../src/sync/writer/intake.ts', async (real) => (await import('./bugs.ts')).breakIntake(await real()))

const MOST_SEEDS = 1_000

describe('the simulation finds that', () => {
  const stage = new Stage()
  afterAll(() => stage[Symbol.dispose]())

  const bugs = Object.entries(BUGS).map(([bug, { seed, about }]) => ({ bug: bug as Bug, seed, about }))
  it.each(bugs)('$about ($bug)', async ({ bug, seed: from }) => {
    for (let seed = from; seed < from + MOST_SEEDS; seed += 1) {
      const scenario = scenarioOf(seed)
      const broken = await withBug(bug, () => simulate(scenario, stage))
      if (!broken.violations.some(isBrokenPromise)) continue
      const whole = await simulate(scenario, stage)
      if (whole.violations.length === 0) return
    }
    expect.fail(`${MOST_SEEDS} seeds hold in spite of it`)
  })
})

/** A promise of the mirror, not a run that only proves less. */
function isBrokenPromise(violation: string): boolean {
  return !violation.startsWith('not complete')
}
