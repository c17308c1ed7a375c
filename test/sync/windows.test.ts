// Windows on the writing side, in a real mirror: what is looked up early stays right, and nothing is built on windows
// that were rolled back.
import { renameSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { RunEnd } from '../../src/mirror/tables/runs.ts'
import { prepareWindow } from '../../src/sync/writer/prepare.ts'
import { openSession } from '../../src/sync/writer/session.ts'
import { makeScratch } from '../support/scratch.ts'
import { openRun } from '../support/session.ts'

const DONE = new Set(['DONE'])
const ENDED: RunEnd = {
  plan: [],
  outcome: 'ok',
  verdict: null,
  drift: 0,
  exitCode: 0,
  error: null,
  requests: 0,
  retries: 0,
  bytes: 0,
  waitedMs: 0,
}

/** From now on the mirror takes in no task c. */
function refuseC(path: string): void {
  const meddler = new Database(path)
  meddler.exec(
    `CREATE TRIGGER stops BEFORE INSERT ON tasks WHEN new.id = 'c' BEGIN SELECT raise(ABORT, 'no more'); END`,
  )
  meddler.close()
}

function open(path: string, pieces = 1, ms = Number.POSITIVE_INFINITY) {
  const session = openSession({
    path,
    command: 'sync',
    now: 1,
    toolVersion: '0',
    busyTimeoutMs: 0,
    fileMode: 0o600,
    rejectedMaxBytes: 1_000_000,
    finalStatuses: [...DONE],
    settleMs: 60_000,
    openEveryMs: 86_400_000,
    asksDetails: false,
    acceptOthers: false,
    dryRun: false,
    gathering: { pieces, ms },
  })
  const walkId = session.beginWalk('full', { since: null, until: null }, 1)
  let handles = 0
  const hold = (...items: [id: string, url: string][]): number => {
    const tasks = items.map(([id, url]) => ({ id, systemStatus: 'DONE', createdAt: 5, data: { url }, result: {} }))
    handles += 1
    const raw = Buffer.from(JSON.stringify({ statusCode: 200, body: { items: tasks } }))
    session.hold(handles, prepareWindow(raw, DONE), walkId)
    return handles
  }
  const takeIn = (handle: number, readAt = 1) =>
    session.takeIn({
      handle,
      walkId,
      skip: 0,
      readAt,
      now: readAt,
      progress: { nextSkip: handle, drift: 0, evidence: '[]', state: { handle } },
    })
  /** How many of the ids the mirror holds. */
  const known = (...ids: string[]): number =>
    session.look(hold(...ids.map((id): [string, string] => [id, 'one'])), walkId).known
  return { session, walkId, hold, takeIn, known }
}

test.each([1, 8])(
  'a row that another window changed since it was looked up is looked up again (%i in one)',
  (pieces) => {
    using scratch = makeScratch()
    const path = scratch.path('mirror.sqlite')
    const { session, hold, takeIn } = open(path, pieces)
    const first = hold(['a', 'one'], ['b', 'one'])
    const second = hold(['b', 'two'], ['c', 'two'], ['b', 'two'])
    expect(takeIn(first)).toEqual({ newlyMet: 2 })
    expect(takeIn(second, 2)).toEqual({ newlyMet: 1 })
    session.endRun(ENDED, 3)
    expect(session.counts()).toMatchObject({ windows: 2, seen: 3, inserted: 3, updated: 1 })
    session.close()
    const db = new Database(path, { readonly: true })
    expect(db.prepare('SELECT id, data_url FROM tasks ORDER BY seq').raw().all()).toEqual([
      ['a', 'one'],
      ['b', 'two'],
      ['c', 'two'],
    ])
    db.close()
  },
)

test('a window that was asked for earlier and is taken in later does not take back what this run has read', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const { session, hold, takeIn } = open(path)
  const earlier = hold(['a', 'old'], ['b', 'old'])
  takeIn(hold(['a', 'new']), 20)
  takeIn(earlier, 10)
  takeIn(hold(['b', 'new']), 30)
  session.close()
  const db = new Database(path, { readonly: true })
  expect(db.prepare('SELECT id, data_url FROM tasks ORDER BY id').raw().all()).toEqual([
    ['a', 'new'],
    ['b', 'new'],
  ])
  db.close()
})

test.each<[string, 'deleted' | 'restored']>([
  ['marked deleted', 'deleted'],
  ['found again', 'restored'],
])('a task that was read under a clock ahead and is %s now: what a later window shows is taken in', (_, first) => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const day = 86_400_000
  const run = (now: number) => {
    const session = openRun(path, now, { asksDetails: false })
    const list = (url: string, readAt: number): void => {
      const item = { id: 'a', systemStatus: 'DONE', createdAt: 1, data: { url }, result: {} }
      const raw = Buffer.from(JSON.stringify({ statusCode: 200, body: { items: [item] } }))
      session.hold(readAt, prepareWindow(raw, new Set(['DONE'])), null)
      session.takeIn({ handle: readAt, walkId: null, skip: 0, readAt, now: readAt })
    }
    const gone = (readAt: number) => session.takeDetails([{ kind: 'absent', taskId: 'a', readAt }], readAt)
    return { session, list, gone }
  }
  const ahead = run(2 * day)
  ahead.list('one', 2 * day)
  if (first === 'restored') ahead.gone(2 * day + 1)
  ahead.session.close()

  const { session, list, gone } = run(day)
  if (first === 'restored') list('one', day)
  else gone(day)
  list('two', day + 1)
  session.close()
  const db = new Database(path, { readonly: true })
  expect(db.prepare('SELECT data_url, deleted_at FROM tasks').raw().all()).toEqual([['two', null]])
  db.close()
})

test('what walks have shown is compared once', () => {
  using scratch = makeScratch()
  const { session, hold, takeIn } = open(scratch.path('mirror.sqlite'))
  session.setFacts({ forms_compared: { at: 1, final: 1, open: 0, longest: {} } }, 1)
  session.beginSample(true, 1)
  takeIn(hold(['a', 'one']))
  expect(session.sampled().map(({ id }) => id)).toEqual(['a'])
  expect(session.sampled()).toEqual([])
  session.close()
})

test.each([1, 8])(
  'what the mirror holds of a window is told as it is now, however early it was looked up (%i in one)',
  (pieces) => {
    using scratch = makeScratch()
    const { session, hold, takeIn } = open(scratch.path('mirror.sqlite'), pieces)
    const first = hold(['a', 'one'], ['b', 'one'])
    const second = hold(['b', 'one'], ['a', 'two'], ['c', 'one'])
    const told = () => {
      const { seqs, isAsBefore } = session.knownState(second)
      return [[...seqs], [...isAsBefore]]
    }
    expect(told()).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ])
    takeIn(first)
    expect(told()).toEqual([
      [2, 1, 0],
      [1, 0, 0],
    ])
    session.close()
  },
)

test('what was looked up before windows were rolled back is looked up again', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const { session, walkId, hold, takeIn } = open(path, 8)
  takeIn(hold(['a', 'one']))
  refuseC(path)
  takeIn(hold(['b', 'one']))
  const held = hold(['b', 'one'])
  expect(session.look(held, walkId).known).toBe(1)
  expect(() => takeIn(hold(['c', 'one']))).toThrow('no more')
  expect(session.look(held, walkId).known).toBe(0)
  session.close()
})

test('behind a window that was rolled back nothing of its walk is taken in, marked or ended', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const { session, walkId, hold, takeIn, known } = open(path, 8)
  takeIn(hold(['a', 'one']))
  refuseC(path)
  takeIn(hold(['b', 'one']))
  expect(() => takeIn(hold(['c', 'one']))).toThrow('no more')
  expect(() => takeIn(hold(['d', 'one']))).toThrow('no more')
  expect(() => session.markMet(walkId, ['a'])).toThrow('no more')
  const ended = {
    verdict: 'complete',
    reason: null,
    ordering: null,
    evidence: '[]',
    facts: {},
    candidates: true,
    now: 2,
  } as const
  expect(() => session.endWalk({ walkId, ...ended })).toThrow('no more')
  expect(session.walk(walkId)).toMatchObject({ nextSkip: 1, windows: 1, met: 1, verdict: null })
  expect(known('a', 'b', 'c', 'd')).toBe(1)
  const next = session.beginWalk('full', { since: null, until: null }, 3)
  expect(() => session.endWalk({ walkId: next, ...ended, verdict: 'partial' })).not.toThrow()
  session.close()
})

test('windows that could not be committed in time are told of once, and the run can still be closed', async () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const { session, walkId, hold, takeIn, known } = open(path, 8, 1)
  takeIn(hold(['a', 'one']))
  // What fails when the transaction ends, and not before.
  renameSync(`${path}.lock`, `${path}.away`)
  takeIn(hold(['b', 'one']))
  await expect.poll(() => known('b')).toBe(0)
  renameSync(`${path}.away`, `${path}.lock`)
  expect(() => takeIn(hold(['c', 'one']))).toThrow('removed or replaced')
  expect(() => session.flush()).toThrow('removed or replaced')
  expect(session.counts()).toMatchObject({ windows: 1, inserted: 1 })
  session.endRun(ENDED, 3)
  session.close()
  const db = new Database(path, { readonly: true })
  expect(db.prepare('SELECT outcome FROM runs').pluck().all()).toEqual(['ok'])
  expect(db.prepare('SELECT met FROM walks WHERE id = ?').pluck().get(walkId)).toBe(1)
  db.close()
})

test('where the set-aside store is full, the windows before stay', () => {
  using scratch = makeScratch()
  const { session, walkId, hold, takeIn, known } = open(scratch.path('mirror.sqlite'), 8)
  takeIn(hold(['a', 'one']))
  takeIn(hold(['b', 'one']))
  const tooLarge = hold(['c', 'one'], ['', 'x'.repeat(1_000_001)])
  expect(() => takeIn(tooLarge)).toThrow('The set-aside store is full')
  expect(known('a', 'b', 'c')).toBe(2)
  expect(session.walk(walkId)).toMatchObject({ nextSkip: 2, windows: 2, met: 2 })
  session.close()
})

test('a walk is not called complete where its evidence does not say so, whoever asks for it', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const { session } = open(path, 1)
  const ended = { verdict: 'complete', reason: null, ordering: null, facts: { total: 1 }, candidates: true } as const
  for (const evidence of ['[]', '[["begun",null,2],["complete",true]]', '[[']) {
    const walkId = session.beginWalk('full', { since: null, until: null }, 1)
    expect(() => session.endWalk({ walkId, ...ended, evidence, now: 2 })).toThrow('which its evidence does not show')
    expect(session.walk(walkId)).toMatchObject({ verdict: 'partial', reason: 'not-proven' })
    expect(session.opened().facts.total).toBeUndefined()
  }
  session.close()
})

test('marks and evidence of a walk that proved nothing go when the next one begins; those of one that goes on stay', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const { session, walkId, hold, takeIn } = open(path, 1)
  const kept = () => {
    const db = new Database(path, { readonly: true })
    const [marks, evidence] = ['walk_marks', 'walk_evidence'].map((table) =>
      db.prepare(`SELECT DISTINCT walk_id FROM ${table} ORDER BY 1`).pluck().all(),
    )
    db.close()
    expect(marks).toEqual(evidence)
    return evidence
  }
  takeIn(hold(['a', 'one']))
  expect(kept()).toEqual([walkId])
  // A head walk beside a full walk that was cut off, and may go on.
  const head = session.beginWalk('head', { since: null, until: null }, 2)
  expect(kept()).toEqual([walkId])
  session.endWalk({
    ...{ walkId: head, verdict: 'partial', reason: 'ties', ordering: null, evidence: '[]', facts: {}, now: 3 },
    candidates: false,
  })
  session.beginWalk('full', { since: null, until: null }, 4)
  expect(kept()).toEqual([])
  session.close()
})

test('a window that was asked for before the look-up that proved a deletion does not bring the task back', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const session = openRun(path, 1_000, { asksDetails: false })
  const item = { id: 'a', systemStatus: 'DONE', createdAt: 1, completedAt: 0, data: { url: 'u' }, result: {} }
  const list = (handle: number, readAt: number): void => {
    const raw = Buffer.from(JSON.stringify({ statusCode: 200, body: { items: [item] } }))
    session.hold(handle, prepareWindow(raw, new Set(['DONE'])), null)
    session.takeIn({ handle, walkId: null, skip: 0, readAt, now: 5_000 })
  }
  list(1, 1_000)
  session.takeDetails([{ kind: 'absent', taskId: 'a', readAt: 3_000 }], 4_000)
  list(2, 2_000)
  session.close()
  const db = new Database(path, { readonly: true })
  expect(db.prepare('SELECT deleted_at, completed_at, read_at FROM tasks').raw().all()).toEqual([[4_000, null, 3_000]])
  db.close()
})

test('a window that was asked for before the one in which a task came back does not replace it', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const session = openRun(path, 1_000, { asksDetails: false })
  const list = (url: string, readAt: number): void => {
    const item = { id: 'a', systemStatus: 'DONE', createdAt: 1, data: { url }, result: {} }
    const raw = Buffer.from(JSON.stringify({ statusCode: 200, body: { items: [item] } }))
    session.hold(readAt, prepareWindow(raw, DONE), null)
    session.takeIn({ handle: readAt, walkId: null, skip: 0, readAt, now: 9_000 })
  }
  list('one', 1_000)
  session.takeDetails([{ kind: 'absent', taskId: 'a', readAt: 3_000 }], 4_000)
  list('one', 6_000)
  list('two', 5_000)
  session.close()
  const db = new Database(path, { readonly: true })
  expect(db.prepare('SELECT data_url, deleted_at FROM tasks').raw().all()).toEqual([['one', null]])
  db.close()
})

/** One run whose answers about task a come as they may where several are under way at once; `done` and `open` as listed. */
function overlappingRun(path: string) {
  // As a service may show open tasks: with the members of finished ones.
  const open = { id: 'a', systemStatus: 'NEW', createdAt: 1, completedAt: 0, data: { url: 'u' }, result: {} }
  const done = { ...open, systemStatus: 'DONE', completedAt: 2 }
  const listIn = (session: ReturnType<typeof openRun>, item: object, readAt: number, now: number): void => {
    const raw = Buffer.from(JSON.stringify({ statusCode: 200, body: { items: [item] } }))
    session.hold(now, prepareWindow(raw, DONE), null)
    session.takeIn({ handle: now, walkId: null, skip: 0, readAt, now })
  }
  const before = openRun(path, 1, { asksDetails: true })
  listIn(before, open, 1, 2)
  before.close()
  const session = openRun(path, 1_000, { asksDetails: true })
  return {
    open,
    done,
    list: (item: object, readAt: number, now: number) => listIn(session, item, readAt, now),
    lookUp(item: object, readAt: number, now: number): void {
      const { handle } = session.parseDetail(Buffer.from(JSON.stringify({ statusCode: 200, body: { item } })))
      session.takeDetails([{ kind: 'found', taskId: 'a', handle, readAt }], now)
    },
    /** The status in the mirror, and how many details are owed. */
    held(): unknown[] {
      const db = new Database(path, { readonly: true })
      const status = db.prepare('SELECT system_status FROM tasks').pluck().get()
      const owed = db.prepare("SELECT count(*) FROM open_checks WHERE reason = 'detail'").pluck().get()
      db.close()
      return [status, owed]
    },
    [Symbol.dispose]: () => session.close(),
  }
}

test.each([
  ['later', 2_000, 3_000],
  ['earlier', 3_000, 2_000],
])(
  'of two windows that were under way at once, the one asked for %s does not put back what the other shows',
  (_, first, second) => {
    using scratch = makeScratch()
    using run = overlappingRun(scratch.path('mirror.sqlite'))
    run.list(run.done, first, 4_000)
    expect(run.held()).toEqual(['DONE', 0])
    run.list(run.open, second, 5_000)
    expect(run.held()).toEqual(['DONE', 1])
    run.lookUp(run.done, 6_000, 6_001)
    expect(run.held()).toEqual(['DONE', 0])
    // Asked for after both: nothing is in doubt.
    run.list(run.open, 7_000, 8_000)
    expect(run.held()[0]).toBe('NEW')
  },
)

test('an end that a window shows, asked for before a look-up that found the task open, is asked for once more', () => {
  using scratch = makeScratch()
  using run = overlappingRun(scratch.path('mirror.sqlite'))
  run.lookUp(run.open, 3_000, 3_001)
  run.list(run.done, 2_000, 4_000)
  expect(run.held()).toEqual(['NEW', 1])
  run.lookUp(run.done, 5_000, 5_001)
  expect(run.held()).toEqual(['DONE', 0])
  run.list(run.open, 2_500, 6_000)
  expect(run.held()).toEqual(['DONE', 0])
})
