// What only look-ups have brought to the mirror is not listed, as far as anybody knows: it leaves no room for others
// that came into the list.
import { expect, test } from 'vitest'
import { verifyMirror } from '../../src/mirror/maintenance/verify.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { replaySetAside } from '../../src/sync/one-off/replay.ts'
import type { SyncRequest } from '../../src/sync/plan.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** An account in which hours pass between runs. */
async function startStory(given: Parameters<typeof startSimulator>[0] = {}) {
  const scratch = makeScratch()
  let at = Date.parse('2026-07-01')
  const now = () => {
    at += 1
    return at
  }
  const simulator = await startSimulator({
    tasks: 300,
    newest: at,
    openFraction: 0,
    compression: 'none',
    now,
    ...given,
  })
  const context = () => makeRunContext(simulator.url, scratch.path('mirror.sqlite'), { sync: { window: 50 }, now })
  return {
    account: simulator.account,
    async run(ms: number, request: Partial<SyncRequest> = {}) {
      at += ms
      const { summary, exitCode } = await runSync(context(), { command: 'sync', ...request })
      const { plan, inserted, restored, deleted } = summary
      return { exitCode, inserted, restored, deleted, full: plan.includes('full') }
    },
    /** `ahead`: by how much the clock is wrong meanwhile, ms. */
    async replay(ahead = 0) {
      at += ahead
      const replayed = await replaySetAside(context())
      at -= ahead
      return replayed
    },
    faults: async () => (await verifyMirror(scratch.path('mirror.sqlite'), { signal: context().signal })).faults,
    async [Symbol.asyncDispose]() {
      await simulator.close()
      scratch[Symbol.dispose]()
    },
  }
}

const QUIET = { exitCode: 0, inserted: 0, restored: 0, deleted: 0, full: false }

test.each([false, true])(
  'tombstones that are found by id, but not listed (changed meanwhile: %s)',
  async (isChanged) => {
    await using story = await startStory()
    const { account, run } = story
    await run(0)
    const gone = account.remove(2, { where: 'behind' })
    expect(await run(DAY)).toMatchObject({ deleted: 2, full: true })
    account.restore(gone)
    if (isChanged) account.update(gone)
    account.delist(gone)
    expect(await run(DAY)).toMatchObject({ restored: 2, full: true, exitCode: 0 })
    expect(await run(HOUR)).toEqual(QUIET)
    account.insert(2, { where: 'middle', openShare: 0 })
    expect(await run(HOUR)).toEqual({ ...QUIET, inserted: 2, full: true })
  },
)

test.each([false, true])(
  'tasks that were asked for by id, and then again (changed meanwhile: %s)',
  async (isChanged) => {
    await using story = await startStory()
    const { account, run } = story
    const hidden = account.delist(2, { where: 'behind' })
    await run(0)
    expect(await run(HOUR, { command: 'backfill', ids: hidden })).toMatchObject({ inserted: 2, exitCode: 0 })
    if (isChanged) {
      account.restore(hidden)
      account.update(hidden)
      account.delist(hidden)
    }
    await run(HOUR, { command: 'backfill', ids: hidden })
    expect(await run(HOUR)).toEqual(QUIET)
    account.insert(2, { where: 'middle', openShare: 0 })
    expect(await run(HOUR)).toEqual({ ...QUIET, inserted: 2, full: true })
  },
)

const DEEP = `${'['.repeat(600)}${']'.repeat(600)}`

test.each(['replay', 'head', 'replay, head', 'refetch'])(
  'what was set aside when the list was counted is taken in by: %s',
  async (how) => {
    await using story = await startStory()
    const { account, run, replay } = story
    const id = account.idAt(2)
    const text = account.get(id) as string
    account.replaceText(id, text.replace('{', `{"extra":${DEEP},`))
    expect(await run(0)).toMatchObject({ inserted: 299, exitCode: 3 })
    expect(await run(HOUR)).toEqual(QUIET)
    account.replaceText(id, text)
    if (how.includes('replay')) expect(await replay()).toMatchObject({ taken: 1, left: 0 })
    if (how.includes('refetch')) await run(HOUR, { command: 'backfill', ids: [id] })
    if (how.includes('head')) await run(HOUR)
    account.insert(1, { where: 'middle', openShare: 0 })
    expect(await run(HOUR)).toMatchObject({ exitCode: 0, full: true })
    expect(await run(HOUR)).toEqual(QUIET)
  },
)

test('a task that was asked for by id, and is deleted then, is waited for no more', async () => {
  await using story = await startStory()
  const { account, run, faults } = story
  const hidden = account.delist(2, { where: 'behind' })
  await run(0)
  await run(HOUR, { command: 'backfill', ids: hidden })
  account.remove(account.restore(hidden))
  expect(await run(DAY)).toMatchObject({ deleted: 2, exitCode: 0 })
  expect(await faults()).toEqual([])
})

test('what the mirror held before it was set aside brings no full walk', async () => {
  await using story = await startStory()
  const { account, run } = story
  await run(0)
  const id = account.idAt(2)
  const text = account.get(id) as string
  account.replaceText(id, text.replace('{', `{"extra":${DEEP},`))
  expect(await run(HOUR)).toMatchObject({ exitCode: 3, full: false })
  account.replaceText(id, text.replace('{', '{"extra":1,'))
  expect(await run(HOUR)).toEqual(QUIET)
})

test('what was taken in by a clock that was ahead does not bring a full walk every time', async () => {
  await using story = await startStory()
  const { account, run, replay } = story
  const id = account.idAt(200)
  const text = account.get(id) as string
  account.replaceText(id, text.replace('{', `{"extra":${DEEP},`))
  await run(0)
  account.replaceText(id, text)
  expect(await replay(10 * DAY)).toMatchObject({ taken: 1, left: 0 })
  await run(HOUR)
  expect(await run(HOUR)).toMatchObject({ full: false })
})
