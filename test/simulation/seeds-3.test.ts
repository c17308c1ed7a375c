// A quarter of the 1,000 seeds of `npm test`; `npm run test:soak` plays as many as there is time for.
import { expect, it } from 'vitest'
import { checkSeeds } from './seeds.ts'

it('holds every promise in seeds 501 to 750', async () => {
  const { complete, partial, killed } = await checkSeeds(501, 250)
  expect(complete).toBeGreaterThan(partial)
  expect(killed).toBeGreaterThan(25)
})
