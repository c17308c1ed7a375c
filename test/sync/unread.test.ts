// A list with positions that cannot be read, one of them near its newest end: a later run reads that end alone, unless what cannot be
// read, or could not, may hide that something came in elsewhere.
import { expect, test } from 'vitest'
import type { Account } from '../../src/simulator/account.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const TASKS = 300
const MIDDLE = Date.parse('2026-06-01')

/** What each run shows after the first one and the `change`. */
async function syncsAfter(
  poison: string[],
  change: (account: Account) => void,
  { runs = 1, inserts = 0, order = 'created_asc' as 'created_asc' | 'created_desc' } = {},
) {
  using scratch = makeScratch()
  await using simulator = await startSimulator({
    tasks: TASKS,
    order,
    newest: Date.parse('2026-07-01'),
    poison,
    compression: 'none',
  })
  const sync = () => {
    const context = { service: { maxRetries: 0 }, sync: { window: 100 } }
    return runSync(makeRunContext(simulator.url, scratch.path('mirror.sqlite'), context), { command: 'sync' })
  }
  await sync()
  change(simulator.account)
  const done: { verdict: string | null; inserted: number; full: boolean }[] = []
  for (let run = 0; run < runs; run += 1) {
    simulator.account.insert(inserts, { openShare: 0 })
    const { plan, inserted, verdict } = (await sync()).summary
    done.push({ verdict, inserted, full: plan.includes('full') })
  }
  return done
}

test.each([0, 5])('%i new tasks behind what cannot be read need no full walk', async (count) => {
  const [done] = await syncsAfter(['0', '70', '299'], (account) => account.insert(count))
  expect(done).toEqual({ verdict: 'complete', inserted: count, full: false })
})

test.each([
  ['the last position', ['0', '70', '299'], 2],
  ['the one behind it', ['0', '70', '300'], 1],
  ['both', ['299', '300'], 1],
  ['none', [], 1],
])('a task that came in elsewhere is found where %s cannot be read', async (_, poison, inserted) => {
  const [done] = await syncsAfter(poison, (account) => account.insert(1, { where: MIDDLE, openShare: 0 }))
  expect(done).toEqual({ verdict: 'complete', inserted, full: true })
})

test('newest first, tasks that can be read at last do not hide others that came in elsewhere', async () => {
  const heal = (account: Account) => {
    account.options.poison.length = 0
    account.insert(3, { where: MIDDLE, openShare: 0 })
  }
  const done = await syncsAfter(['40', '41', '42'], heal, { runs: 2, order: 'created_desc' })
  expect(done).toEqual([
    { verdict: 'complete', inserted: 6, full: true },
    { verdict: 'complete', inserted: 0, full: false },
  ])
})

test('newest first, a task that cannot be read needs one full walk at most as others come in before it', async () => {
  const options = { tasks: TASKS, order: 'created_desc' as const, newest: Date.parse('2026-07-01') }
  await using other = await startSimulator(options)
  const bad = other.account.ids()[80] as string
  const done = await syncsAfter([bad], () => {}, { runs: 6, order: 'created_desc', inserts: 8 })
  expect(done.map(({ verdict, inserted }) => ({ verdict, inserted }))).toEqual(
    done.map(() => ({ verdict: 'complete', inserted: 8 })),
  )
  expect(done.filter(({ full }) => full).length).toBeLessThanOrEqual(1)
})

test('a task that cannot be read, and stands further up by now, needs one full walk', async () => {
  const options = { tasks: TASKS, order: 'created_asc' as const, newest: Date.parse('2026-07-01') }
  await using other = await startSimulator(options)
  const bad = other.account.ids()[260] as string
  const done = await syncsAfter([bad], (account) => account.remove(20, { where: 'middle' }), { runs: 4 })
  expect(done.map(({ verdict }) => verdict)).toEqual(done.map(() => 'complete'))
  expect(done.filter(({ full }) => full)).toHaveLength(1)
})
