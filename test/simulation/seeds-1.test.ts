// A quarter of the 2,000 seeds of `npm test`; `npm run test:soak` plays as many as there is time for.
import { expect, it } from 'vitest'
import { checkSeeds } from './seeds.ts'

it('holds every promise in seeds 1 to 500', { timeout: 300_000 }, async () => {
  const { complete, partial, killed } = await checkSeeds(1, 500)
  expect(complete).toBeGreaterThan(partial)
  expect(killed).toBeGreaterThan(50)
})
