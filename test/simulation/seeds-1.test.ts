// A half of the 12 seeds of `npm test`; SOAK=1 plays 1,000, and soak.ts new ones for as long as there is time.
import { expect, it } from 'vitest'
import { checkSeeds, SEEDS_EACH } from './seeds.ts'

it(`holds every promise in ${SEEDS_EACH} seeds from 1 on`, async () => {
  const { complete, partial, killed } = await checkSeeds(1, SEEDS_EACH)
  expect(complete).toBeGreaterThan(partial)
  expect(killed).toBeGreaterThan(SEEDS_EACH / 10)
})
