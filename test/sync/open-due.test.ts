// Which open tasks are due, in a real mirror: the most overdue first, and what counts as a check.
import { expect, test } from 'vitest'
import { prepareWindow } from '../../src/sync/writer/prepare.ts'
import { makeScratch } from '../support/scratch.ts'
import { openRun } from '../support/session.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = 20_000 * DAY

/** Each call is a run of its own: what one has met, the next one has not. */
function open(path: string, now: number) {
  const session = openRun(path, now, { asksDetails: false })
  let handles = 0
  const list = (...tasks: [id: string, createdAt: number][]): void => {
    const items = tasks.map(([id, createdAt]) => ({ id, systemStatus: 'PENDING', createdAt, data: { url: 'u' } }))
    handles += 1
    const raw = Buffer.from(JSON.stringify({ statusCode: 200, body: { items } }))
    session.hold(handles, prepareWindow(raw, new Set(['DONE'])), null)
    session.takeIn({ handle: handles, walkId: null, skip: 0, readAt: now, now })
  }
  const find = (id: string, createdAt: number): void => {
    const item = { id, systemStatus: 'PENDING', createdAt, data: { url: 'u' } }
    const { handle } = session.parseDetail(Buffer.from(JSON.stringify({ statusCode: 200, body: { item } })))
    session.takeDetails([{ kind: 'found', taskId: id, handle, readAt: now }], now)
  }
  const due = (limit = 100, at = now) => session.openDue(at, limit)
  return { session, list, find, due }
}

const AGES: [string, number][] = [
  ['month', NOW - 30 * DAY],
  ['day', NOW - DAY],
  ['hour', NOW - HOUR],
  ['fresh', NOW - 60_000],
]

test('new to the mirror they are due at once, the young first; then after a tenth of their age', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const first = open(path, NOW)
  first.list(...AGES)
  expect(first.due()).toEqual([])
  first.session.close()

  const second = open(path, NOW + 10_000)
  expect(second.due()).toEqual(['fresh', 'hour', 'day', 'month'])
  expect(second.due(2)).toEqual(['fresh', 'hour'])
  for (const [id, createdAt] of AGES) second.find(id, createdAt)
  expect(second.due()).toEqual([])
  second.session.close()

  const dueAfter = (ms: number): string[] => {
    const { session, due } = open(path, NOW + 10_000 + ms)
    const ids = due()
    session.close()
    return ids
  }
  expect(dueAfter(59_000)).toEqual([])
  expect(dueAfter(7 * 60_000)).toEqual(['fresh', 'hour'])
  expect(dueAfter(3 * HOUR)).toEqual(['fresh', 'hour', 'day'])
  expect(dueAfter(DAY + 1000)).toEqual(['fresh', 'hour', 'day', 'month'])
})

test('one that has waited as long as it has to comes before younger ones that have not', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const first = open(path, NOW)
  first.list(['day', NOW - DAY])
  first.session.close()
  const second = open(path, NOW + 5 * HOUR)
  second.list(['new', NOW + 4 * HOUR])
  second.session.close()
  const third = open(path, NOW + 5 * HOUR + 1000)
  expect(third.due()).toEqual(['day', 'new'])
  third.session.close()
})

test('a walk that shows one that was asked for before is a check; one that was never asked for is still due', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const first = open(path, NOW)
  first.list(...AGES)
  first.session.close()
  const second = open(path, NOW + 1000)
  second.find('day', NOW - DAY)
  second.session.close()

  const third = open(path, NOW + 4 * HOUR)
  third.list(...AGES)
  expect(third.due()).toEqual([])
  third.session.close()
  const fourth = open(path, NOW + 5 * HOUR)
  expect(fourth.due()).not.toContain('day')
  expect(fourth.due()).toContain('month')
  // Looked for in the list: what it has shown is checked, the others are named.
  fourth.list(['month', NOW - 30 * DAY])
  expect(fourth.session.openUnmet(['month', 'hour', 'unknown'], NOW + 5 * HOUR)).toEqual(['hour'])
  fourth.session.close()
  const fifth = open(path, NOW + 6 * HOUR)
  expect(fifth.due()).not.toContain('month')
  fifth.session.close()
})

test('where the list does not show a task whole, nothing is known of its place', () => {
  using scratch = makeScratch()
  const { session, list } = open(scratch.path('mirror.sqlite'), NOW)
  list(...AGES)
  const item = { id: 'hour', systemStatus: 'PENDING', createdAt: NOW - HOUR, data: { url: 'u' }, accuracy: 1 }
  const { handle } = session.parseDetail(Buffer.from(JSON.stringify({ statusCode: 200, body: { item } })))
  session.takeDetails([{ kind: 'found', taskId: 'hour', handle, readAt: NOW }], NOW)
  expect([...session.openDistances(['month', 'unknown', 'fresh', 'hour', 'day'], 100)]).toEqual([
    0,
    Number.NaN,
    3,
    Number.NaN,
    1,
  ])
  session.close()
})
