// A cache that shows nothing but the Date of the answer it gives again: seen by the run after, whatever its clock says.
import { expect, test } from 'vitest'
import { withReader } from '../../src/mirror/open.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const HOUR = 3_600_000

test('the same Date in a later run dates what is fresh back to the run before', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  // However long a run takes this machine, one answer is as old as the other.
  const begun = Date.now()
  let ahead = 0
  const now = () => begun + ahead
  await using plain = await startSimulator({ tasks: 300, openFraction: 0, now })
  const sync = (url: string, rebind = false) =>
    runSync(makeRunContext(url, path, { now, sync: { fullEveryMs: 100 * HOUR } }), { command: 'sync', rebind })
  const freshFor = () => now() - (withReader(path, readStatus).freshAt as number)
  expect((await sync(plain.url)).exitCode).toBe(0)
  const { account } = plain
  await using cached = await startSimulator({ account, cacheMs: 10 * HOUR, cacheSigns: 'date', cacheHeeds: false })
  for (const rebind of [true, false]) expect(await sync(cached.url, rebind)).toMatchObject({ exitCode: 0, notes: [] })
  for (const hours of [1, 2]) {
    ahead = hours * HOUR
    const { exitCode, notes } = await sync(cached.url)
    expect({ exitCode, notes }).toEqual({
      exitCode: 0,
      notes: [expect.stringMatching(/from a cache on the way.* s old/)],
    })
    expect(freshFor()).toBeGreaterThanOrEqual(hours * HOUR)
    expect(freshFor()).toBeLessThan((hours + 0.5) * HOUR)
  }
  // Another Date, and all is well.
  ahead = 11 * HOUR
  expect(await sync(cached.url)).toMatchObject({ exitCode: 0, notes: [] })
  expect(freshFor()).toBeLessThan(HOUR)
})
