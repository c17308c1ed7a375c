// Progress of open tasks and of ranges: how many there are, and how many are done.
import { expect, test } from 'vitest'
import { BY_ITSELF } from '../../src/mirror/commits.ts'
import type { ProgressUpdate } from '../../src/progress.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { openWriterThread } from '../../src/sync/begin.ts'
import type { SyncRequest } from '../../src/sync/plan.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

test('open tasks and ranges are told with their number', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 3_000, openFraction: 0.1, seed: 3 })
  const told: ProgressUpdate[] = []
  const progress = {
    set: (facts: ProgressUpdate) => void told.push(facts),
    print: () => undefined,
    finish: () => undefined,
  }
  const run = async (request: SyncRequest): Promise<void> => {
    told.length = 0
    const { exitCode } = await runSync(
      makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { progress }),
      request,
    )
    expect(exitCode).toBe(0)
  }
  await run({ command: 'sync' })
  await run({ command: 'sync' })
  const open = told.filter(({ phase }) => phase === 'open tasks')
  expect(open.length).toBeGreaterThan(8)
  const { done, total } = open.at(-1) as ProgressUpdate
  // The head walk has met some of them.
  expect(total).toBeGreaterThan(50)
  expect(done).toBe(total)
  for (const facts of open) expect(facts.done).toBeLessThanOrEqual(facts.total as number)

  const at = (index: number) =>
    (JSON.parse(simulator.account.get(simulator.account.idAt(index)) as string) as { createdAt: number }).createdAt
  await run({ command: 'backfill', since: at(2_500), until: at(1_200) })
  const range = told.filter(({ phase, total }) => phase === 'range walk' && total != null)
  expect(range.at(-1)).toMatchObject({ isEstimate: true })
  expect(range.at(-1)?.total).toBeGreaterThan(500)
  expect(range.at(-1)?.total).toBeLessThan(2_500)
})

test.each([
  [0.03, false],
  [0.3, true],
])(
  'where open tasks stand is asked of the mirror only if they are many: %f of 300, %s',
  async (openFraction, isAsked) => {
    using scratch = makeScratch()
    await using simulator = await startSimulator({ tasks: 300, openFraction, seed: 3, order: 'created_asc' })
    const context = makeRunContext(simulator.url, scratch.path('mirror.sqlite'))
    const called = new Set<string>()
    for (let turn = 0; turn < 2; turn += 1) {
      const thread = await openWriterThread(context, { command: 'sync' }, BY_ITSELF)
      const writer = new Proxy(thread, {
        get(_, name: keyof typeof thread) {
          called.add(name)
          return thread[name]
        },
      })
      // What the list shows whole counts as a check.
      Object.assign(simulator.account.options, { listOmits: turn === 0 ? [] : ['accuracy'] })
      expect((await runSync(context, { command: 'sync' }, { writer })).exitCode).toBe(0)
    }
    expect([called.has('openDue'), called.has('openDistances')]).toEqual([true, isAsked])
  },
)
