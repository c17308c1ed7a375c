// `rejected --replay` against the simulator over HTTP, on real mirrors.
import { expect, test } from 'vitest'
import { openWriter, withReader } from '../../src/mirror/open.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { readSetAside, type SetAside, setAsideTable } from '../../src/mirror/tables/set-aside.ts'
import { readTask } from '../../src/mirror/tables/tasks.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { replaySetAside } from '../../src/sync/one-off/replay.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

function setAside(path: string, seenAt: number, ...items: Partial<SetAside>[]): void {
  const db = openWriter(path, { busyTimeoutMs: 1000, fileMode: 0o600 })
  const table = setAsideTable(db, 1_000_000)
  const blank = { source: 'list', skip: null, taskId: null, reason: 'too-deep', message: 'made here', raw: '' } as const
  for (const item of items) table.add({ ...blank, ...item }, 1, seenAt)
  db.close()
}

test('a text that can be read now is taken in as it was sent, and what cannot stays set aside', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 5 })
  const context = makeRunContext(simulator.url, path)
  await runSync(context, { command: 'sync' })
  const requests = simulator.requests
  const raw = '{"id":"late","createdAt":1700000000000,"systemStatus":"DONE","data":{},"result":{},"n":1.0}'
  setAside(path, Date.now(), { raw }, { reason: 'no-id', raw: '{"n":1}' }, { reason: 'not-an-object', raw: '7' })

  const result = await replaySetAside(context)
  expect(result).toEqual({ schemaVersion: 1, tried: 3, taken: 1, settled: 0, left: 2 })
  expect(simulator.requests).toBe(requests)
  expect(withReader(path, (db) => readTask(db, 'late')?.row.extra)).toBe('{"data":{},"result":{},"n":1.0}')
  expect(
    withReader(path, (db) => readSetAside(db, { limit: 9, withRaw: false }).items.map(({ reason }) => reason)),
  ).toEqual(['not-an-object', 'no-id'])
  expect(withReader(path, (db) => readStatus(db).runs[0])).toMatchObject({
    command: 'rejected',
    outcome: 'partial',
    exitCode: 3,
    inserted: 1,
  })
})

test('an item with a task id is asked for by id, and the answer wins over the old text', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 5, openFraction: 0, key: 'k' })
  const context = makeRunContext(simulator.url, path, { apiKey: 'k' })
  await runSync(context, { command: 'sync' })
  const id = simulator.account.idAt(2)
  const isNow = simulator.account.get(id)!
  simulator.account.update([id])
  setAside(path, Date.now() + 60_000, { taskId: id, raw: isNow }, { taskId: 'nobody', raw: '[' })

  expect(await replaySetAside(context)).toMatchObject({ tried: 2, taken: 1, left: 1 })
  const { extra, data_url, ...row } = withReader(path, (db) => readTask(db, id))!.row
  expect(JSON.parse(simulator.account.get(id)!)).toMatchObject({ id, data: { url: data_url } })
  expect(row.result_body).toBe(JSON.stringify(JSON.parse(simulator.account.get(id)!).result.body))
  expect(simulator.account.get(id)).not.toBe(isNow)
})

test('ids that were given to other tasks stay set aside, however many, and what waits beside them is taken in', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 60, openFraction: 0 })
  const context = makeRunContext(simulator.url, path)
  await runSync(context, { command: 'sync' })
  const { account } = simulator
  for (let at = 0; at < 20; at += 1) {
    const id = account.idAt(at)
    account.replaceText(id, JSON.stringify({ ...JSON.parse(account.get(id)!), userId: 'somebody else' }))
  }
  await runSync(context, { command: 'sync', full: true })
  account.insert(1, { openShare: 0 })
  const late = account.idAt(0)
  setAside(path, Date.now(), { taskId: late, raw: '[' })

  expect(await replaySetAside(context)).toMatchObject({ tried: 21, taken: 1, left: 20 })
  expect(withReader(path, (db) => readTask(db, late))).not.toBeNull()
  expect(withReader(path, (db) => readStatus(db).runs[0])).toMatchObject({
    command: 'rejected',
    exitCode: 3,
    inserted: 1,
  })
})

test('another account with the same ids is refused, and nothing is taken in', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  const simulator = await startSimulator({ tasks: 60, openFraction: 0, idSeed: 7 })
  await runSync(makeRunContext(simulator.url, path), { command: 'sync' })
  const { port } = simulator
  await simulator.close()
  await using other = await startSimulator({ tasks: 61, openFraction: 0, seed: 99, idSeed: 7, port })
  const ids = Array.from({ length: 61 }, (_, at) => other.account.idAt(at))
  const late = ids.find((id) => withReader(path, (db) => readTask(db, id)) === null)!
  setAside(path, Date.now(), { taskId: late, raw: '[' })
  await expect(replaySetAside(makeRunContext(other.url, path))).rejects.toMatchObject({ code: 'other-account' })
  expect(withReader(path, (db) => readTask(db, late))).toBeNull()
})

test('where the service answers no look-ups, no more than a few are asked for, and all stay set aside', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 5, openFraction: 0, key: 'k' })
  const context = makeRunContext(simulator.url, path, { apiKey: 'k' })
  context.config.service.maxRetries = 0
  await runSync(context, { command: 'sync' })
  setAside(path, Date.now(), ...Array.from({ length: 60 }, (_, at) => ({ taskId: `unread-${at}`, raw: `[${at}` })))
  simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 500 } : null))
  const before = simulator.log.length
  expect(await replaySetAside(context)).toMatchObject({ tried: 60, taken: 0, left: 60 })
  expect(simulator.log.slice(before).filter(({ operation }) => operation === 'get').length).toBeLessThan(25)
})

test('an old text neither replaces newer content nor takes a tombstone back', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 30, openFraction: 0 })
  const context = makeRunContext(simulator.url, path)
  await runSync(context, { command: 'sync' })
  const [gone, kept] = [simulator.account.idAt(3), simulator.account.idAt(4)]
  simulator.account.remove([gone])
  await runSync(context, { command: 'sync', full: true })
  setAside(
    path,
    1000,
    { raw: `{"id":${JSON.stringify(gone)},"old":true}` },
    { raw: `{"id":${JSON.stringify(kept)},"old":true}` },
  )

  expect(await replaySetAside(context)).toMatchObject({ tried: 2, taken: 2, left: 0 })
  expect(withReader(path, (db) => readTask(db, gone)?.deletedAt)).not.toBeNull()
  expect(withReader(path, (db) => readTask(db, kept)?.row.extra)).toBeNull()
})

test('an unreadable place is settled by a later complete full walk that does not meet it, also one of an earlier version', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 40, openFraction: 0, poison: ['17'] })
  const context = makeRunContext(simulator.url, path, { random: () => 0 })
  await runSync(context, { command: 'sync' })
  expect(await replaySetAside(context)).toMatchObject({ tried: 1, taken: 0, settled: 0, left: 1 })

  // Another full walk meets it again: it is as unreadable as before.
  await runSync(context, { command: 'sync', full: true })
  expect(await replaySetAside(context)).toMatchObject({ tried: 1, settled: 0, left: 1 })

  simulator.options.poison.length = 0
  await runSync(context, { command: 'sync', full: true })
  expect(withReader(path, (db) => readStatus(db).tasks)).toMatchObject({ live: 40, setAside: 0 })
  setAside(path, 1000, { reason: 'unreadable' })
  expect(await replaySetAside(context)).toEqual({ schemaVersion: 1, tried: 1, taken: 0, settled: 1, left: 0 })
  expect(withReader(path, (db) => readStatus(db).tasks)).toMatchObject({ live: 40, setAside: 0 })
})

test('there is nothing to replay without a mirror, and none is made', async () => {
  using scratch = makeScratch()
  const context = makeRunContext('http://127.0.0.1:9', scratch.path('m.sqlite'))
  await expect(replaySetAside(context)).rejects.toMatchObject({ code: 'mirror-missing' })
  expect(() => withReader(scratch.path('m.sqlite'), () => 0)).toThrow(/no mirror/)
})
