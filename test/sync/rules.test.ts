// The small rules of a run, each as a pure function: deletions, open tasks, frontier, head and range walks.

import { describe, expect, test } from 'vitest'
import { isMassDelete, madeUpId, notFoundShape } from '../../src/sync/steps/deletions.ts'
import { coveringWindows } from '../../src/sync/steps/owed-details.ts'
import { rangeRequest } from '../../src/sync/steps/range.ts'
import { frontierOf } from '../../src/sync/steps/walking.ts'
import { layOver } from '../../src/sync/writer/intake.ts'
import { nextHiddenCheck, nextResultCheck, openWait, overdueOf } from '../../src/sync/writer/open-checks.ts'
import type { Task } from '../../src/task.ts'
import type { WalkResult } from '../../src/walk/request.ts'
import type { ItemsWindow } from '../../src/walk/source.ts'
import fc from '../support/fc.ts'

function makeWindow(moments: (number | null)[], met: number[] = moments.map(() => 0)): ItemsWindow {
  return {
    kind: 'items',
    sent: 0,
    received: 1,
    skip: 0,
    asked: moments.length,
    ids: moments.map((_, index) => `t${index}`),
    moments,
    met: Uint8Array.from(met),
    held: Uint8Array.from(moments, () => 1),
    serviceDate: null,
    startedAt: 0,
    handle: 1,
  }
}

describe('deletions', () => {
  test.each([
    [100, 1000, false],
    [101, 1000, true],
    [101, 2000, false],
    [5, 5, false],
    [2000, 0, true],
  ])('%i candidates of %i tasks: allowed only by hand: %s', (candidates, live, refused) => {
    expect(isMassDelete(candidates, live, 0.1, 100)).toBe(refused)
  })

  test('a made-up id has the form of a real one and is another', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })), (id, stream) => {
        const made = madeUpId(id, () => stream.next().value as number)
        // Services may refuse a UUID of another version or variant as malformed, which is not their "not found".
        expect(made).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      }),
    )
    expect(madeUpId('TASK-42', () => 0.5)).toMatch(/^[A-Z]{4}-\d\d$/)
  })

  test('only an answer to the question can mean "not found"', () => {
    const refused = { kind: 'refused' as const, httpStatus: 404, statusCode: 404, message: 'no' }
    expect(notFoundShape(refused)).toBe('http 404, envelope 404')
    expect(notFoundShape({ kind: 'failed', reason: 'status', httpStatus: 500, message: 'oops' })).toBeNull()
    const value = { handle: 1, statusCode: 200, message: null }
    const ok = { kind: 'ok' as const, startedAt: 0, serviceDate: null, bytes: 0 }
    expect(notFoundShape({ ...ok, value: { ...value, hasPayload: false } })).toBe('http 200, envelope 200, no item')
    expect(notFoundShape({ ...ok, value: { ...value, hasPayload: true } })).toBeNull()
  })
})

describe('open tasks', () => {
  const MINUTE = 60_000
  test.each([
    ['a task one minute old', MINUTE, MINUTE],
    ['ten hours old', 600 * MINUTE, 60 * MINUTE],
    ['a month old', 30 * 1440 * MINUTE, 1440 * MINUTE],
  ])('unchanged, %s waits in proportion to its age, a day at most', (_, age, wait) => {
    const now = 10_000_000 * MINUTE
    const task = { createdAt: now - age, firstSeenAt: now, changedAt: now }
    expect(openWait(task, now, 1440 * MINUTE)).toBe(wait)
    expect(openWait(task, now, wait / 2)).toBe(wait / 2)
  })

  test('a task that was seen to change waits as one that young', () => {
    const now = 10_000_000 * MINUTE
    const old = { createdAt: now - 43_200 * MINUTE, firstSeenAt: now - 4320 * MINUTE, changedAt: now - 4320 * MINUTE }
    expect(openWait(old, now, 1440 * MINUTE)).toBe(1440 * MINUTE)
    expect(openWait({ ...old, changedAt: now - 100 * MINUTE }, now, 1440 * MINUTE)).toBe(10 * MINUTE)
    expect(openWait({ ...old, createdAt: null }, now, 1440 * MINUTE)).toBe(432 * MINUTE)
    expect(openWait({ ...old, createdAt: now + 1 }, now, 1440 * MINUTE)).toBe(MINUTE)
    const ahead = now + 1440 * MINUTE
    expect(openWait({ ...old, createdAt: ahead }, now, 1440 * MINUTE)).toBe(432 * MINUTE)
    const unknown = { createdAt: ahead, firstSeenAt: ahead, changedAt: ahead }
    expect(openWait(unknown, now, 1440 * MINUTE)).toBe(MINUTE)
  })

  test('is the more overdue the longer it waits, and most where nobody knows how long', () => {
    const now = 10_000_000 * MINUTE
    const task = { createdAt: now - 600 * MINUTE, firstSeenAt: now, changedAt: now }
    expect(overdueOf(task, now - 30 * MINUTE, now, 1440 * MINUTE)).toBe(0.5)
    expect(overdueOf(task, now - 270 * MINUTE, now, 1440 * MINUTE)).toBe(4)
    expect(overdueOf(task, now, now, 1440 * MINUTE)).toBe(0)
    expect(overdueOf(task, now + 2 * MINUTE, now, 1440 * MINUTE)).toBe(Number.POSITIVE_INFINITY)
  })

  test.each([
    ['is asked for again by the next run', 0, 0, 0],
    ['then after half a minute', 1, 0, MINUTE / 2],
    ['then less and less often', 4, 0, 8 * MINUTE],
    ['after a tenth of the time since it ended', 1, 600 * MINUTE, 60 * MINUTE],
    ['every three days in the end', 500, 0, 3 * 1440 * MINUTE],
    ['every three days where it ended long ago', 1, 365 * 1440 * MINUTE, 3 * 1440 * MINUTE],
  ])('one that is final but has no result %s', (_, attempts, age, wait) => {
    const now = 10_000_000 * MINUTE
    expect(nextResultCheck(attempts, now - age, now) - now).toBe(wait)
    if (age === 0) expect(nextResultCheck(attempts, null, now) - now).toBe(wait)
  })

  test.each([
    [0, 12],
    [72, 72],
    [365 * 24, 30 * 24],
    // By a clock that was wrong.
    [-72, 12],
  ])('one that has been hidden for %i hours is asked for again in %i', (hidden, wait) => {
    const now = 10_000_000 * MINUTE
    expect((nextHiddenCheck(now - hidden * 60 * MINUTE, now) - now) / 60 / MINUTE).toBe(wait)
  })

  test('windows cover every place, and no fewer would in the order of the list', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5000), { maxLength: 60 }), fc.integer({ min: 4, max: 500 }), (places, size) => {
        const margin = Math.floor(size / 4)
        const starts = coveringWindows(places, size, margin)
        for (const place of places) {
          expect(
            starts.some(
              (start) =>
                start <= Math.max(0, place - margin) && place + Math.min(margin, size - margin - 1) < start + size,
            ),
          ).toBe(true)
        }
        expect(starts.length).toBeLessThanOrEqual(new Set(places).size)
      }),
    )
  })
})

describe('the frontier', () => {
  const result = (more: Partial<WalkResult>) =>
    ({ firstServiceDate: null, firstStartedAt: null, ...more }) as WalkResult

  test.each([
    ['quiet account: its newest task', 500, { firstServiceDate: 10_000, firstStartedAt: 99_000 }, 500],
    ['busy account: the start of the walk less the settling time', 9_990, { firstServiceDate: 10_000 }, 9_000],
    ['a task dated in the future hides nothing', 1_000_000, { firstServiceDate: 10_000 }, 9_000],
    ['without a Date header the own clock stands in', 1_000_000, { firstStartedAt: 20_000 }, 19_000],
    ['a Date header that is ahead hides nothing', 50_000, { firstServiceDate: 40_000, firstStartedAt: 10_000 }, 9_000],
    ['an empty list', null, { firstServiceDate: 10_000 }, 9_000],
  ])('%s', (_, newest, more, expected) => {
    expect(frontierOf(result(more), newest, 1_000)).toBe(expected)
  })
})

describe('a range walk', () => {
  test('newest first it enters above `until` and ends below `since`', () => {
    const { entry, accepts, reached } = rangeRequest(
      { order: 'created_desc', slackMs: 5 },
      { since: 100, until: 200 },
      2,
    )
    expect(entry).toBe(200)
    expect(accepts(makeWindow([205, 190]))).toBe(true)
    expect(accepts(makeWindow([204, 190]))).toBe(false)
    expect(reached?.(makeWindow([150, 94]))).toBe(false)
    expect(reached?.(makeWindow([93]))).toBe(true)
  })

  test('oldest first it enters below `since` and ends above `until`', () => {
    const { entry, accepts, reached } = rangeRequest(
      { order: 'created_asc', slackMs: 5 },
      { since: 100, until: 200 },
      2,
    )
    expect(entry).toBe(100)
    expect(accepts(makeWindow([94, 110]))).toBe(true)
    expect(accepts(makeWindow([95, 110]))).toBe(false)
    expect(reached?.(makeWindow([150, 205]))).toBe(false)
    expect(reached?.(makeWindow([206]))).toBe(true)
  })

  test('without a far bound it goes on to the end of the list', () => {
    expect(rangeRequest({ order: 'created_desc', slackMs: 0 }, { since: null, until: 200 }, 2).reached).toBeUndefined()
  })

  test('believes that it is behind its range only once it came by what is known to be new', () => {
    const { reached } = rangeRequest(
      { order: 'created_desc', slackMs: 5, frontier: 300 },
      { since: 100, until: null },
      2,
    )
    expect(reached?.(makeWindow([80, 70, 60]))).toBe(false)
    expect(reached?.(makeWindow([290, 50, 40]))).toBe(false)
    expect(reached?.(makeWindow([295, 50]))).toBe(false)
    expect(reached?.(makeWindow([40]))).toBe(true)
  })

  test('is open at either end', () => {
    expect(rangeRequest({ order: 'created_desc', slackMs: 0 }, { since: 5, until: null }, 2).entry).toBeNull()
  })
})

test('a listed item never empties a stored part', () => {
  const stored = {
    id: 'a',
    data: { url: 'u', body: 'b' },
    result: { body: 1 },
    extra: 5,
    systemStatus: 'RUNNING',
  } as Task
  const listed = { id: 'a', data: { url: 'v' }, systemStatus: 'DONE', result: null } as unknown as Task
  expect(layOver(stored, listed)).toEqual({
    id: 'a',
    data: { url: 'v', body: 'b' },
    result: null,
    extra: 5,
    systemStatus: 'DONE',
  })
})
