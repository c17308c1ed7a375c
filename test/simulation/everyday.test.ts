// The everyday worlds of docs/reliability.md in small, and the bars of lists that are learned: nothing is
// missing or altered anywhere, and a run ends with 0 wherever that can be proven.
import { expect, test } from 'vitest'
import { few, SOAK } from '../support/soak.ts'
import { BARS, leastWindows, measure, meets, play, WORLDS } from './everyday.ts'

/** Those that test/acceptance/ has for itself, in orders, cache, growing, exact, quirks and limits, are the soak's. */
const ELSEWHERE =
  /^(oldest first|by last update|by completion, .*|a cache that .*|bulk import, nothing newer yet|5 % of all answers are faults)$/

test.concurrent.for(few(WORLDS, ({ name }) => !ELSEWHERE.test(name)))('$name', async (world) => {
  // One request at a time: what comes in while a list is read then does so at the same request on every machine.
  const env = { TASK_MIRROR_SERVICE_CONCURRENCY: '1' }
  const size = SOAK ? 100 : 50
  const { runs, wrong } = await play(world, (world.share === undefined ? 6 : 10) * size, size, env)
  expect(wrong).toEqual({ missing: 0, extra: 0, altered: 0 })
  for (const { run, code, verdict, missing } of runs) {
    expect({ run, code, missing }).toEqual({ run, code: verdict === 'complete' ? 0 : 3, missing: 0 })
    const mayFallShort = world.isUnprovable === true || (run === 'busy' && world.prepare !== undefined)
    if (!mayFallShort) expect({ run, verdict }).toEqual({ run, verdict: 'complete' })
  }
})

// The other bars are those of test/acceptance/growing.test.ts and uneven.test.ts.
test.concurrent.for(BARS.filter(({ learning }) => learning !== undefined))('$name, in small', async (bar) => {
  const figures = await measure({ ...bar, options: { ...bar.options, tasks: 1_000 }, window: 100 })
  expect(meets(bar, figures), JSON.stringify(figures)).toBe(true)
})

test('the fewest windows that hold what is new', () => {
  const list = [...'abcdefghij']
  expect(leastWindows(list, new Set(), 3)).toBe(0)
  expect(leastWindows(list, new Set(['a', 'c']), 3)).toBe(1)
  expect(leastWindows(list, new Set(['a', 'd', 'j']), 3)).toBe(3)
  expect(leastWindows(list, new Set(list), 3)).toBe(4)
})
