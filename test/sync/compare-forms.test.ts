// Listed tasks compared with their details, where a run has little of either.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

test.each([
  { tasks: 1, others: 0 },
  { tasks: 30, others: 0 },
  { tasks: 4, others: 1 },
])(
  '$tasks tasks of a run that was cut off, listed no more, and $others others: what the list showed is not taken for all',
  async ({ tasks, others }) => {
    using scratch = makeScratch()
    const path = scratch.path('m.sqlite')
    await using simulator = await startSimulator({ tasks, openFraction: 0, listOmits: ['result.body'] })
    const cut = new AbortController()
    const isEnd = simulator.onBeforeRequest(({ operation, skip }) => {
      if (operation === 'list' && skip === tasks) cut.abort()
    })
    expect(
      (await runSync(makeRunContext(simulator.url, path, { signal: cut.signal }), { command: 'sync' })).summary,
    ).toMatchObject({
      inserted: tasks,
      verdict: null,
    })
    isEnd()
    simulator.account.delist(tasks)
    simulator.account.insert(others, { openShare: 1 })
    const { exitCode } = await runSync(makeRunContext(simulator.url, path), { command: 'sync' })
    const db = new Database(path, { readonly: true })
    const cutTasks = db
      .prepare('SELECT count(*) FROM tasks WHERE completed_at IS NOT NULL AND result_body IS NULL')
      .pluck()
      .get()
    db.close()
    expect({ exitCode, cutTasks }).toEqual({ exitCode: 3, cutTasks: 0 })
  },
)

test('all final tasks are gone when they are to be compared, and the open ones are not: that says nothing of final ones', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 30, openFraction: 0.3, listOmits: ['result.body'] })
  const { account } = simulator
  const isOver = simulator.onBeforeRequest(({ operation }) => {
    if (operation !== 'get') return
    isOver()
    account.remove(account.ids().filter((id) => /"completedAt":\d/.test(account.get(id) ?? '')))
  })
  const { exitCode, summary, notes } = await runSync(makeRunContext(simulator.url, scratch.path('m.sqlite')), {
    command: 'sync',
  })
  expect({ exitCode, verdict: summary?.verdict }).toEqual({ exitCode: 3, verdict: 'complete' })
  expect(notes.join()).toMatch('could not be compared')
})
