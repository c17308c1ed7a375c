// Every rule of design.md 6.3 about what a run does, as a table.
import { describe, expect, test } from 'vitest'
import type { WalkRow } from '../../src/mirror/tables/walks.ts'
import { mayBringForward, type PlanInput, planRun, type SyncRequest } from '../../src/sync/plan.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = 1_000 * HOUR

function makeWalk(walk: Partial<WalkRow>): WalkRow {
  return {
    id: 7,
    kind: 'full',
    rangeSince: null,
    rangeUntil: null,
    nextSkip: 0,
    windows: 3,
    met: 10,
    drift: 0,
    verdict: 'complete',
    reason: null,
    state: null,
    firstWindow: null,
    startedAt: NOW - HOUR,
    updatedAt: NOW - HOUR,
    finishedAt: NOW - HOUR,
    ...walk,
  }
}

const complete = (hoursAgo: number) =>
  makeWalk({ startedAt: NOW - hoursAgo * HOUR, finishedAt: NOW - hoursAgo * HOUR, verdict: 'complete' })
const partial = (hoursAgo: number) => makeWalk({ ...complete(hoursAgo), id: 9, verdict: 'partial', reason: 'ties' })
const cutOff = (hoursAgo: number) =>
  makeWalk({ id: 11, verdict: null, finishedAt: null, state: {}, updatedAt: NOW - hoursAgo * HOUR })

/** A mirror in good order: newest first, one complete full walk an hour ago. */
function makeInput(input: Partial<PlanInput> = {}): PlanInput {
  return {
    facts: { order: 'created_desc', frontier: NOW - HOUR, total: 100 },
    lastFull: complete(1),
    lastCompleteFull: complete(1),
    interrupted: null,
    details: 'auto',
    fullEveryMs: 24 * HOUR,
    settleMs: MINUTE,
    now: NOW,
    ...input,
  }
}

/** Such as `head open full(due) deletions details`. */
function planned(input: PlanInput, request: Partial<SyncRequest> = {}): string {
  return planRun(input, { command: 'sync', ...request })
    .map((step) =>
      step.kind === 'full' ? `full(${step.reason}${step.resume === null ? '' : ` ${step.resume}`})` : step.kind,
    )
    .join(' ')
}

const nothingYet = makeInput({ facts: {}, lastFull: null, lastCompleteFull: null })

describe('sync', () => {
  test.each<[string, PlanInput, Partial<SyncRequest>, string]>([
    ['the first run walks the whole list', nothingYet, {}, 'full(first) open deletions details'],
    ['newest first: a head walk', makeInput(), {}, 'head open deletions details'],
    [
      'oldest first: a tail walk',
      makeInput({ facts: { order: 'created_asc', frontier: 1 } }),
      {},
      'tail open deletions details',
    ],
    [
      'by last update: a head walk',
      makeInput({ facts: { order: 'updated_desc', front: ['a'] } }),
      {},
      'head open deletions details',
    ],
    [
      'by last update, and what stood in front has not settled: a full walk',
      makeInput({ facts: { order: 'updated_desc', front_next: { ids: ['a'], at: NOW } } }),
      {},
      'full(order) open deletions details',
    ],
    [
      'by id: a full walk every time',
      makeInput({ facts: { order: 'id_asc' } }),
      {},
      'full(order) open deletions details',
    ],
    [
      'no order: a full walk every time',
      makeInput({ facts: { order: 'none' } }),
      {},
      'full(order) open deletions details',
    ],
    ['order not known yet: a full walk', makeInput({ facts: {} }), {}, 'full(order) open deletions details'],
    ['--full: after the head walk', makeInput(), { full: true }, 'head full(asked-for) open deletions details'],
    [
      '--full: after a walk that was cut off, and what follows from that, for the next run may be cut off, too',
      makeInput({ interrupted: cutOff(1) }),
      { full: true },
      'head open full(asked-for 11) deletions details full(asked-for) deletions details',
    ],
    [
      'the last complete full walk is as old as sync.fullEveryMs',
      makeInput({ lastFull: complete(24), lastCompleteFull: complete(24) }),
      {},
      'head full(due) open deletions details',
    ],
    [
      'one that ended partial is not tried again within the hour',
      makeInput({ lastFull: partial(0.5), lastCompleteFull: complete(30) }),
      {},
      'head open deletions details',
    ],
    [
      'one that ended partial is tried again after an hour',
      makeInput({ lastFull: partial(1), lastCompleteFull: complete(30) }),
      {},
      'head full(due) open deletions details',
    ],
    [
      'partial, but the complete one is still young',
      makeInput({ lastFull: partial(2), lastCompleteFull: complete(3) }),
      {},
      'head open deletions details',
    ],
    [
      'nobody knows any more up to when everything has been met: a full walk',
      makeInput({ facts: { order: 'created_desc' }, lastFull: partial(0.5) }),
      {},
      'full(order) open deletions details',
    ],
    [
      'an interrupted full walk goes on, after the head walk and the open tasks',
      makeInput({ interrupted: cutOff(2) }),
      {},
      'head open full(resumed 11) deletions details',
    ],
    [
      'an interrupted first walk goes on',
      makeInput({ ...nothingYet, interrupted: cutOff(2) }),
      {},
      'open full(resumed 11) deletions details',
    ],
    [
      'one of which nothing could prove the beginning begins anew',
      makeInput({ interrupted: { ...cutOff(2), state: null } }),
      {},
      'head full(resumed) open deletions details',
    ],
    [
      'one interrupted more than a week ago does not',
      makeInput({ interrupted: cutOff(24 * 7 + 1) }),
      {},
      'head open deletions details',
    ],
    [
      'the last full walks are dated in the future: they are due, for nobody knows how old they are',
      makeInput({ lastFull: complete(-24 * 400), lastCompleteFull: complete(-24 * 400) }),
      {},
      'head full(due) open deletions details',
    ],
    [
      'a moment in the future by less than sync.settleMs is now',
      makeInput({ lastFull: complete(-1 / 60), lastCompleteFull: complete(-1 / 60) }),
      {},
      'head open deletions details',
    ],
    [
      'one that ended partial in the future does not hold the next one up',
      makeInput({ lastFull: partial(-48), lastCompleteFull: complete(30) }),
      {},
      'head full(due) open deletions details',
    ],
    [
      'an interrupted walk whose last window is dated in the future is not gone on with',
      makeInput({ interrupted: cutOff(-2) }),
      {},
      'head open deletions details',
    ],
    [
      '--allow-mass-delete walks a list in full that was much shorter than before',
      makeInput({ facts: { order: 'created_desc', frontier: NOW - HOUR, total: 100, shrunk_to: 3 } }),
      { allowMassDelete: true },
      'head full(asked-for) open deletions details',
    ],
    [
      '--allow-mass-delete walks from the beginning, too, where an interrupted walk has met what may be gone by now',
      makeInput({ interrupted: cutOff(1) }),
      { allowMassDelete: true },
      'head open full(resumed 11) deletions details full(asked-for) deletions details',
    ],
    [
      '--allow-mass-delete alone is no full walk',
      makeInput(),
      { allowMassDelete: true },
      'head open deletions details',
    ],
    [
      '--rebind: what was known may be of another account',
      makeInput({ interrupted: cutOff(2) }),
      { rebind: true },
      'full(order) open deletions details',
    ],
    ['--details never asks for no details', makeInput({ details: 'never' }), {}, 'head open deletions'],
    ['--details always asks for all', makeInput({ details: 'always' }), {}, 'head open refetch deletions details'],
  ])('%s', (_, input, request, expected) => {
    expect(planned(input, request)).toBe(expected)
  })
})

describe('backfill', () => {
  test.each<[string, PlanInput, Partial<SyncRequest>, string]>([
    ['is a full walk', makeInput(), {}, 'full(asked-for) deletions details'],
    [
      'goes on with an interrupted one',
      makeInput({ interrupted: cutOff(1) }),
      {},
      'full(asked-for 11) deletions details',
    ],
    ['of a range', makeInput(), { since: 1 }, 'range details'],
    ['of a range that ends', makeInput(), { until: 0 }, 'range details'],
    ['--refetch gets every detail again', makeInput(), { since: 1, refetch: true }, 'range refetch details'],
    ['of single ids asks for nothing else', makeInput(), { ids: ['a'] }, 'ids'],
  ])('%s', (_, input, request, expected) => {
    expect(planned(input, { command: 'backfill', ...request })).toBe(expected)
  })
})

test('another last task brings a full walk forward hourly at most', () => {
  expect(mayBringForward(complete(0.9), NOW, MINUTE)).toBe(false)
  expect(mayBringForward(complete(1), NOW, MINUTE)).toBe(true)
  expect(mayBringForward(null, NOW, MINUTE)).toBe(true)
})

test('a full walk that ended in the future does not keep another from being brought forward', () => {
  expect(mayBringForward(complete(-1), NOW, MINUTE)).toBe(true)
  expect(mayBringForward(complete(-0.01), NOW, MINUTE)).toBe(false)
})
