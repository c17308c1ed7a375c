// Issue 12: a task is its id with createdAt and userId. Another account that counts its ids alike is refused; single tasks
// that carry another identity are set aside.
import { describe, expect, test } from 'vitest'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { few, SOAK } from '../support/soak.ts'
import { makeStage, type Stage, WINDOW } from './stage.ts'

const IDS = 7
/** More than may be deleted unasked. */
const KNOWN = SOAK ? 300 : 120
const ORDERS = ['created_desc', 'created_asc', 'id_asc'] as const

/** But for the moment of the last detail: a full walk compares a few of them with the list. */
const content = (stage: Stage) =>
  stage.rows<object>('SELECT * FROM tasks ORDER BY seq').map((row) => ({ ...row, detail_at: null }))
const waiting = (stage: Stage) =>
  stage.rows<{ task_id: string }>(
    "SELECT task_id FROM rejected_items WHERE reason = 'other-identity' AND replayed_at IS NULL",
  )

/** What the stage's address shows from now on. */
async function replaceAccount(stage: Stage, options: Partial<SimulatorOptions>) {
  const { port } = stage.simulator
  await stage.simulator.close()
  return startSimulator({ port, compression: 'none', ...options })
}

describe.concurrent('another account with the same ids ends with 7, and nothing is written', () => {
  const ACCOUNTS = [
    { order: 'created_desc', key: 'another key', tasks: 300 },
    { order: 'created_desc', key: '', tasks: 300 },
    { order: 'created_asc', key: '', tasks: 300 },
    { order: 'id_asc', key: '', tasks: 300 },
    // Its newest tasks are not known: the mirror's are looked up by id.
    { order: 'created_desc', key: '', tasks: 300 + 2 * WINDOW },
    { order: 'created_desc', key: '', tasks: 5 },
  ] as const
  const isEnough = ({ order, key, tasks }: (typeof ACCOUNTS)[number]) =>
    order === 'created_desc' && (key !== '' || tasks !== 300)
  test.for(few(ACCOUNTS, isEnough))('$order, key "$key", $tasks tasks', async ({ order, key, tasks }) => {
    await using stage = await makeStage({ window: WINDOW, seed: IDS, tasks: 300, order, openFraction: 0.05 })
    expect((await stage.sync()).code).toBe(0)
    const before = content(stage)
    await using other = await replaceAccount(stage, { seed: 99, idSeed: IDS, tasks, order, key })
    const env: Record<string, string> = key === '' ? {} : { TASK_MIRROR_API_KEY: key }
    const id = other.account.idAt(0)
    const others = [['backfill'], ['backfill', '--since', '400d'], ['backfill', '--id', id], ['get', '--refresh', id]]
    for (const args of [['sync'], ...(key === '' && !SOAK ? [['sync', '--full']] : others)]) {
      const { code, stderr } = await stage.runHere([...args, '--json'], env)
      expect({ args, code, stderr }).toEqual({ args, code: 7, stderr: expect.stringContaining('other-account') })
      expect(content(stage)).toEqual(before)
    }
    expect(waiting(stage)).toEqual([])
    const accepted = await stage.runHere(['sync', '--full', '--rebind', '--allow-mass-delete', '--json'], env)
    expect(accepted.code).toBe(0)
    expect(stage.value('SELECT count(*) FROM live_tasks')).toBe(tasks)
  })
})

test.concurrent('a task of an account without one of the known tasks, asked for by id, ends with 7 and is not written', async () => {
  await using stage = await makeStage({ tasks: KNOWN, openFraction: 0 })
  await stage.sync()
  const before = content(stage)
  await using other = await replaceAccount(stage, { seed: 99, idSeed: 99, tasks: KNOWN })
  const id = other.account.idAt(0)
  for (const args of [
    ['get', '--refresh', id],
    ['backfill', '--id', id],
  ])
    expect({ args, code: (await stage.runHere([...args, '--json'])).code }).toEqual({ args, code: 7 })
  expect(content(stage)).toEqual(before)
})

test.concurrent('with a new key of the same account a new task can be asked for by id before anything else', async () => {
  await using stage = await makeStage({ tasks: 30, openFraction: 0 })
  await stage.sync()
  stage.simulator.account.insert(1, { openShare: 0 })
  const id = stage.simulator.account.idAt(0)
  const { code } = await stage.runHere(['get', '--refresh', id, '--json'], { TASK_MIRROR_API_KEY: 'another key' })
  expect({ code, held: stage.value('SELECT count(*) FROM live_tasks WHERE id = ?', id) }).toEqual({ code: 0, held: 1 })
})

test.concurrent('a new key of the same account is accepted after more new tasks than a window holds', async () => {
  await using stage = await makeStage({ window: WINDOW, tasks: 3 * WINDOW, openFraction: 0.3 })
  expect((await stage.sync()).code).toBe(0)
  stage.simulator.account.insert(2 * WINDOW)
  const { code, summary } = await stage.runJson(['sync'], { TASK_MIRROR_API_KEY: 'another key' })
  expect({ code, inserted: summary.inserted }).toEqual({ code: 0, inserted: 2 * WINDOW })
})

test.concurrent.for(few(ORDERS, (order) => order === 'created_asc'))(
  'an account without one of the known tasks ends with 7, and nothing is written until it is accepted, %s',
  async (order) => {
    await using stage = await makeStage({ seed: IDS, tasks: KNOWN, order, openFraction: 0.05 })
    expect((await stage.sync()).code).toBe(0)
    const before = content(stage)
    await using other = await replaceAccount(stage, { seed: 99, idSeed: 98, tasks: 1.2 * KNOWN, order })
    for (const flags of [[], ['--full']]) {
      const { code, stderr } = await stage.runHere(['sync', ...flags, '--json'])
      expect({ flags, code, stderr }).toEqual({ flags, code: 7, stderr: expect.stringContaining('other-account') })
      expect(content(stage)).toEqual(before)
    }
    expect((await stage.sync('--full', '--allow-mass-delete')).code).toBe(0)
    expect(stage.value('SELECT count(*) FROM live_tasks')).toBe(other.account.listed)
  },
)

test.concurrent('an account that is accepted takes the place of the one before at once, and with permission where many tasks go', async () => {
  await using stage = await makeStage({ tasks: 60, openFraction: 0 })
  await stage.sync()
  await using other = await replaceAccount(stage, { seed: 99, idSeed: 99, tasks: 130, openFraction: 0 })
  expect(await stage.sync('--rebind')).toMatchObject({ code: 0, summary: { inserted: 130, deleted: 60 } })
  await other.close()
  await using third = await startSimulator({ port: stage.simulator.port, seed: 5, tasks: 70, openFraction: 0 })
  for (const flags of [['--rebind'], []])
    expect(await stage.sync(...flags)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('130 tasks no longer'),
    })
  expect(await stage.sync('--allow-mass-delete')).toMatchObject({ code: 0, summary: { deleted: 130 } })
  expect(stage.value('SELECT count(*) FROM live_tasks')).toBe(third.account.listed)
})

test.concurrent('no walk over the list of the account before is resumed once another one was accepted', async () => {
  await using stage = await makeStage({ window: WINDOW, tasks: 4 * WINDOW, openFraction: 0 })
  stage.simulator.setFaults(({ skip }) => ((skip ?? 0) > WINDOW ? { hang: true } : null))
  let seconds = 1
  do {
    expect((await stage.sync('--max-duration', `${seconds}s`)).code).toBe(4)
    seconds *= 2
    // A slow machine has not come there.
  } while (stage.rows('SELECT 1 FROM walks WHERE windows > 0').length === 0)
  await using other = await replaceAccount(stage, { seed: 99, idSeed: 99, tasks: 130, openFraction: 0 })
  expect((await stage.runHere(['backfill', '--id', other.account.idAt(0), '--rebind'])).code).toBe(0)
  expect(await stage.sync('--allow-mass-delete')).toMatchObject({ code: 0, summary: { verdict: 'complete' } })
  expect(stage.value('SELECT count(*) FROM live_tasks')).toBe(other.account.listed)
})

test.concurrent('an account that was accepted for one id is read as a whole by the next run, with no head walk first', async () => {
  await using stage = await makeStage({ tasks: 90, openFraction: 0 })
  expect((await stage.sync()).code).toBe(0)
  await using other = await replaceAccount(stage, { seed: 99, idSeed: 99, tasks: 130, openFraction: 0 })
  expect((await stage.runHere(['backfill', '--id', other.account.idAt(0), '--rebind'])).code).toBe(0)
  expect(await stage.sync()).toMatchObject({
    code: 0,
    summary: { verdict: 'complete', deleted: 90, plan: ['full', 'open', 'deletions', 'details'] },
  })
})

test.concurrent('a list that is much shorter than that of the account before is believed once its account was accepted', async () => {
  await using stage = await makeStage({ tasks: 130, openFraction: 0 })
  expect((await stage.sync()).code).toBe(0)
  await using other = await replaceAccount(stage, { seed: 99, idSeed: 99, tasks: 20, openFraction: 0 })
  expect((await stage.runHere(['backfill', '--id', other.account.idAt(0), '--rebind'])).code).toBe(0)
  expect(await stage.sync()).toMatchObject({
    code: 3,
    summary: { verdict: 'complete', lastFullWalk: { reason: null } },
    stderr: expect.stringContaining('130 tasks no longer'),
  })
})

test.concurrent('the key of an account that was here before is refused: what the mirror holds of it are tombstones', async () => {
  const former = { seed: IDS, tasks: 60, openFraction: 0, newest: Date.UTC(2026, 0, 1) }
  await using stage = await makeStage(former)
  const keys = (key: string) => ({ TASK_MIRROR_API_KEY: key })
  expect((await stage.runHere(['sync'], keys('first'))).code).toBe(0)
  await using second = await replaceAccount(stage, { seed: 99, idSeed: 99, tasks: 70, openFraction: 0 })
  expect((await stage.runHere(['sync', '--rebind'], keys('second'))).code).toBe(0)
  const rows = content(stage)
  await second.close()
  await using first = await replaceAccount(stage, former)
  expect(first.account.get(first.account.idAt(0))).toBe(stage.simulator.account.get(stage.simulator.account.idAt(0)))
  expect(await stage.runHere(['sync'], keys('first'))).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('other-account'),
  })
  expect(content(stage)).toEqual(rows)
})

describe.concurrent('single ids that were given to other tasks', () => {
  const changed = (text: string, more: object) => JSON.stringify({ ...JSON.parse(text), ...more })

  test.for(few(ORDERS, (order) => order === 'id_asc'))('are told once and set aside, %s', async (order) => {
    await using stage = await makeStage({ tasks: 300, order, openFraction: 0 })
    await stage.sync()
    const before = content(stage)
    const { account } = stage.simulator
    // A full walk asks for its first task by id as well, and for others by chance: that is no second time.
    const [first, second] = [account.idAt(0), account.idAt(298)] as [string, string]
    account.replaceText(first, changed(account.get(first) as string, { userId: 'somebody else' }))
    account.replaceText(second, changed(account.get(second) as string, { createdAt: 1_700_000_000_000 }))
    const { code, summary } = await stage.sync('--full')
    expect({ code, ...summary }).toMatchObject({ code: 3, rejected: 2, updated: 0, inserted: 0, deleted: 0 })
    expect(
      waiting(stage)
        .map(({ task_id }) => task_id)
        .sort(),
    ).toEqual([first, second].sort())
    // It is no news a second time, and neither is it when the other task changes.
    account.replaceText(first, changed(account.get(first) as string, { systemStatus: 'FAILED' }))
    expect(await stage.sync('--full')).toMatchObject({ code: 0, summary: { rejected: 0 } })
    expect(content(stage)).toEqual(before)
    expect((await stage.runHere(['rejected', '--replay'])).code).toBe(3)
    expect(content(stage)).toEqual(before)
    expect(await stage.sync('--full', '--rebind')).toMatchObject({ code: 0, summary: { updated: 2 } })
    expect(waiting(stage)).toEqual([])
    expect(stage.value('SELECT user_id FROM tasks WHERE id = ?', first)).toBe('somebody else')
  })

  test('by id they replace nothing either', async () => {
    await using stage = await makeStage({ tasks: 300, openFraction: 0 })
    await stage.sync()
    const { account } = stage.simulator
    const id = account.idAt(5)
    const text = account.get(id) as string
    account.replaceText(id, text, changed(text, { userId: 'somebody else' }))
    const { code, summary } = await stage.runJson(['backfill', '--id', id])
    expect({ code, rejected: summary.rejected, updated: summary.updated }).toEqual({ code: 3, rejected: 1, updated: 0 })
    expect(stage.value('SELECT user_id FROM tasks WHERE id = ?', id)).toBe(JSON.parse(text).userId)
  })

  test('an id whose task is known to be deleted may be given away again', async () => {
    await using stage = await makeStage({ tasks: 300, openFraction: 0 })
    await stage.sync()
    const { account } = stage.simulator
    const id = account.idAt(5)
    const text = account.get(id) as string
    account.remove([id])
    expect((await stage.sync('--full')).summary.deleted).toBe(1)
    account.replaceText(id, changed(text, { userId: 'somebody else' }))
    account.restore([id])
    expect(await stage.sync('--full')).toMatchObject({ code: 0, summary: { restored: 1, rejected: 0 } })
    expect(stage.value('SELECT user_id FROM live_tasks WHERE id = ?', id)).toBe('somebody else')
  })
})
