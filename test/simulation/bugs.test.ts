// Deliberate bugs. Wherever the simulation is to find them, each breaks a promise within some seeds, and the same seed holds
// without it. Those of a walk's strategy, and of what is made of it, break none: only evidence may say `complete` (docs/proof.md). That they
// would is shown with a kernel that believes everything.
import { afterAll, describe, expect, it, vi } from 'vitest'
import { BUGS, type Bug, STRATEGY_BUGS, withBug } from './bugs.ts'
import { cutOffScenarioOf, restlessScenarioOf, type Scenario, scenarioOf, tiedScenarioOf } from './scenario.ts'
import { Stage, simulate } from './simulate.ts'

vi.mock('../../src/proof/kernel.ts', async (real) => (await import('./bugs.ts')).breakKernel(await real()))
vi.mock('../../src/proof/evidence.ts', async (real) => (await import('./bugs.ts')).breakEvidence(await real()))
vi.mock('../../src/walk/chain.ts', async (real) => (await import('./bugs.ts')).breakChain(await real()))
vi.mock('../../src/walk/ties.ts', async (real) => (await import('./bugs.ts')).breakTies(await real()))
vi.mock('../../src/walk/behind.ts', async (real) => (await import('./bugs.ts')).breakBehind(await real()))
vi.mock('../../src/sync/writer/windows.ts', async (real) => (await import('./bugs.ts')).breakWindows(await real()))
vi.mock('../../src/sync/steps/walking.ts', async (real) => (await import('./bugs.ts')).breakWalking(await real()))
vi.mock('../../src/sync/steps/deletions.ts', async (real) => (await import('./bugs.ts')).breakDeletions(await real()))
vi.mock('../../src/sync/writer/take-listed.ts', async (real) =>
  (await import('./bugs.ts')).breakTakeListed(await real()),
)

const MOST_SEEDS = 1_000

const STORIES: Partial<Record<Bug, (seed: number) => Scenario>> = {
  // The lap is for lists in which things move to the front.
  'no-lap': restlessScenarioOf,
  // Where answers hold all they were asked for, or as many as others, the number of tasks tells that some are missing.
  'known-is-met': cutOffScenarioOf,
  'progress-outside': cutOffScenarioOf,
  'ties-taken': tiedScenarioOf,
  'ties-unpaid': tiedScenarioOf,
}

describe('the simulation finds that', () => {
  const stage = new Stage()
  afterAll(() => stage[Symbol.dispose]())

  const bugs = Object.entries(BUGS).map(([bug, { seed, about }]) => ({ bug: bug as Bug, seed, about }))
  it.each(bugs)('$about ($bug)', async ({ bug, seed: from }) => {
    for (let seed = from; seed < from + MOST_SEEDS; seed += 1) {
      const scenario = (STORIES[bug] ?? scenarioOf)(seed)
      const broken = await withBug(bug, () => simulate(scenario, stage))
      if (brokenPromises(broken.violations).length === 0) continue
      const whole = await simulate(scenario, stage)
      if (whole.violations.length === 0) return
    }
    expect.fail(`${MOST_SEEDS} seeds hold in spite of it`)
  })
})

describe('a walk that is wrong of itself makes no false verdict, where', () => {
  const stage = new Stage()
  afterAll(() => stage[Symbol.dispose]())

  const bugs = Object.entries(STRATEGY_BUGS).map(([bug, { seed, about }]) => ({ bug: bug as Bug, seed, about }))
  it.each(bugs)('$about ($bug)', async ({ bug, seed: from }) => {
    for (let seed = from; seed < from + MOST_SEEDS; seed += 1) {
      const scenario = (STORIES[bug] ?? scenarioOf)(seed)
      const brokenIn = async (one: Bug | null, unproven: boolean) => {
        const { violations } = await withBug(one, () => simulate(scenario, stage), { unproven })
        return brokenPromises(violations)
      }
      // Whatever is proven, and only with the bug.
      if ((await brokenIn(bug, true)).length === 0 || (await brokenIn(null, true)).length > 0) continue
      expect(await brokenIn(bug, false), `seed ${seed}`).toEqual([])
      return
    }
    expect.fail(`${MOST_SEEDS} seeds hold in spite of it`)
  })
})

/** Promises of the mirror: a run that only proves less breaks none, nor does what it then leaves as it was. */
function brokenPromises(violations: string[]): string[] {
  const isPartial = violations.some((violation) => violation.startsWith('not complete'))
  return violations.filter((violation) => !(isPartial && /^not (complete|equal)/.test(violation)))
}
