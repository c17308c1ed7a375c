// Whether the oracle tells a world that broke an assumption from a claim that is false without one.
import { expect, test } from 'vitest'
import { Kernel } from '../../src/proof/kernel.ts'
import { brokenFor, type Listing } from './assumptions.ts'
import { BROKEN, claimed, type EndedWalk } from './oracle.ts'
import { CALM, PLAIN, type Scenario } from './scenario.ts'
import { Stage, simulate } from './simulate.ts'

/** A walk over lists of tasks `a` to `z`, newest first, each answer as the list was then: what it proves, and what is broken for `z`; `inFront` is listed and never shown; `from`: where the answer begins, if not at `skip`; `most`: as many as it holds. */
function walkOver(
  answers: { listed: string; skip: number; take: boolean; from?: number; most?: number }[],
  inFront = '',
) {
  const kernel = new Kernel(null)
  const listings = new Map<number, Listing>()
  const met = new Set<string>()
  for (const [number, { listed, skip, take, from = skip, most = 3 }] of answers.entries()) {
    const shown = [...listed].slice(from, from + most)
    const moments = shown.map((id) => -id.charCodeAt(0))
    const times = { sent: number, received: number + 1 }
    const marks = shown.map((id) => (met.has(id) ? 1 : 0))
    kernel.tell({ skip, asked: 3, ...times, kind: 'items', ids: shown, moments, met: marks }, number)
    if (take) kernel.take(number)
    if (take) for (const id of shown) met.add(id)
    // The service's own numbers are others.
    const listing = {
      skip,
      asked: 3,
      count: shown.length,
      lastId: shown.at(-1) ?? null,
      listed: [...inFront, ...listed],
    }
    listings.set(100 + number, { ...listing, isTrue: true })
  }
  const missing = kernel.missing()
  const lines = [...kernel.takeEvidence(), { op: 'complete', isWhole: true } as const]
  return { missing, broken: brokenFor({ id: 'z', createdAt: 0 }, lines, [...listings.keys()], listings) }
}

const FIRST = { listed: 'bcdz', skip: 0, take: true }
const NOTHING = { skip: 3, take: false }
const NOTHING_LEFT = { skip: 6, take: false }
const AGAIN = { skip: 1, take: false }

test('what goes and what comes around two empty answers is the broken assumption of an end', () => {
  const moved = [FIRST, { ...NOTHING, listed: 'cdz' }, { ...NOTHING, listed: 'cdz' }, { ...AGAIN, listed: 'acdz' }]
  expect(walkOver(moved)).toEqual({ missing: null, broken: 'held' })
})

test('a task that is missing, although nothing moved, breaks none', () => {
  // Twice nothing, by mistake.
  const still = [FIRST, { ...NOTHING, listed: 'bcd' }, { ...NOTHING, listed: 'bcd' }, { ...AGAIN, listed: 'bcdz' }]
  expect(walkOver(still)).toEqual({ missing: null, broken: null })
})

test('a task that was passed over in front, although nothing moved, breaks none', () => {
  const still = [FIRST, NOTHING, NOTHING, AGAIN].map((answer) => ({ ...answer, listed: 'bcd' }))
  expect(walkOver(still, 'z')).toEqual({ missing: null, broken: null })
})

test('answers that begin further up than at their skip are the broken assumption of an end', () => {
  // Whole pages of six are counted, and three items of each are shown.
  const pages = [FIRST, { skip: 3, take: true, from: 0 }, NOTHING_LEFT, NOTHING_LEFT, { skip: 5, take: false, from: 0 }]
  expect(walkOver(pages.map((page) => ({ ...page, listed: 'bcdz' })))).toEqual({ missing: null, broken: 'stretch' })
})

test('an answer that begins further down, behind what is hidden, breaks none', () => {
  const still = [FIRST, NOTHING, NOTHING, AGAIN].map((answer) => ({ ...answer, listed: 'bcd' }))
  expect(walkOver(still, 'az')).toEqual({ missing: null, broken: null })
})

test('an answer that was cut in front of the last item is the broken assumption of an end', () => {
  const cut = { listed: 'bcdz', skip: 1, take: true, most: 2 }
  expect(walkOver([FIRST, cut])).toEqual({ missing: null, broken: 'even-cuts' })
  expect(walkOver([FIRST, { ...cut, listed: 'bcd' }])).toEqual({ missing: null, broken: null })
})

test('a walk speaks of what was listed since the first one began that its verdict rests on, in whatever run that was', () => {
  const ended = [
    [3, 'full', 50],
    [4, 'full', 70],
    [5, 'head', 70],
    [6, 'full', 70],
    [7, 'full', 70],
  ].map(([id, kind, startedAt]) => ({ id, kind, startedAt }) as EndedWalk)
  const spans = new Map(ended.map(({ id }) => [id, { first: 10 * id, last: 10 * id + 9, viewed: [] }]))
  expect(claimed(ended[3] as EndedWalk, ended, spans)).toMatchObject({ first: 40, last: 69 })
  expect(claimed(ended[0] as EndedWalk, ended, spans)).toMatchObject({ first: 30, last: 39 })
})

test('ties that change places at every request, in a list that leaves tasks out, are the broken assumption that the walk names', async () => {
  const run = (jumpMs: number, changes: number, command: 'sync' | 'backfill') =>
    ({ jumpMs, changes, request: { command }, kill: null }) as const
  const scenario: Scenario = {
    ...CALM,
    seed: 8_110_024_613,
    account: { ...PLAIN, order: 'created_asc', tasks: 11, spanDays: 1, shuffleTies: true, hiddenFraction: 0.2 },
    ...{ notFound: 'envelope-404', window: 11, overlap: 2, concurrency: 4, settleMs: 60_000, dateHeader: false },
    ...{ latencyMs: 50, changes: 0.05, places: ['now', 'behind', 'future'], lateMs: 180_002 },
    changeKinds: ['insert', 'insert', 'remove', 'finish', 'delist', 'restore'],
    runs: [
      run(0, 0, 'sync'),
      run(250_696_634, 0, 'sync'),
      {
        ...run(5_096_082, 20, 'sync'),
        request: { command: 'sync', allowMassDelete: true },
        kill: { at: 20, how: 'within' },
      },
      run(5_297_086, 20, 'backfill'),
    ],
  }
  using stage = new Stage()
  const { violations } = await simulate(scenario, stage)
  expect(new Set(violations.map((violation) => violation.split(':')[0]))).toEqual(
    new Set([`${BROKEN} "ties-keep-places"`]),
  )
})
