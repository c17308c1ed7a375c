// Where a head walk may end: known tasks prove nothing by themselves, neighbours do.
import { describe, expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import {
  type Candidate,
  holdsNeighbours,
  inOrder,
  type NeighbourRules,
  neighboursKept,
} from '../../src/sync/steps/neighbours.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const NEWEST_FIRST: NeighbourRules = { order: 'created_desc', inversionMs: 0, wanted: 3 }

/** Tasks created at these moments, which name them, as the list shows them; those of `changed` in another form than before. */
function listed(moments: number[], changed: number[] = []): Candidate[] {
  return moments.map((moment, seq) => ({ id: `t${seq}`, seq, moment, isAsBefore: !changed.includes(moment) }))
}

/** Whether the list holds a run, given all createdAt of the mirror. */
function hasRun(shown: Candidate[], mirror: number[], rules = NEWEST_FIRST): boolean {
  const stretches = inOrder(shown, rules)
  // As many of the mirror's places as there are tasks with that createdAt, by descending id.
  const all = mirror.toSorted((a, b) => b - a)
  const sorted = shown.toSorted((a, b) => b.moment - a.moment || (a.id < b.id ? 1 : -1))
  const used = new Map<number, number>()
  const placeOf = new Map(
    sorted.map(({ seq, moment }) => {
      const place = all.indexOf(moment) + (used.get(moment) ?? 0)
      used.set(moment, (used.get(moment) ?? 0) + 1)
      return [seq, place]
    }),
  )
  const first = shown.find(({ moment }) => moment === all[0])?.seq ?? null
  return stretches.some((stretch) => holdsNeighbours(stretch, placeOf, rules, first))
}

const MIRROR = Array.from({ length: 60 }, (_, index) => index + 1)

describe('newest first', () => {
  test('neighbours of the mirror are a run wherever they stand', () => {
    expect(hasRun(listed([50, 49, 48]), MIRROR)).toBe(true)
    expect(hasRun(listed([9, 8, 7]), MIRROR)).toBe(true)
  })

  test('fewer than wanted are none', () => {
    expect(hasRun(listed([50, 49]), MIRROR)).toBe(false)
  })

  test('known tasks that were updated stand in front without their neighbours', () => {
    expect(hasRun(listed([40, 30, 20, 10]), MIRROR)).toBe(false)
    expect(hasRun(listed([48, 49, 50]), MIRROR)).toBe(false)
    expect(hasRun(listed([41, 40, 30, 29, 20, 19]), MIRROR)).toBe(false)
  })

  test('what stands behind a task that went back in order fills no gap before it', () => {
    expect(hasRun(listed([50, 30, 29, 49, 48]), MIRROR)).toBe(false)
  })

  test('a deleted task leaves a gap, and the run is found behind it', () => {
    expect(hasRun(listed([50, 49, 47, 46]), MIRROR)).toBe(false)
    expect(hasRun(listed([50, 49, 47, 46, 45]), MIRROR)).toBe(true)
  })

  test('neighbours that changed do not count: those are what an update brings to the front, in order by chance', () => {
    expect(hasRun(listed([50, 49, 48, 47, 46], [48]), MIRROR)).toBe(false)
    expect(hasRun(listed([50, 49, 48, 47, 46, 45], [48]), MIRROR)).toBe(true)
  })

  test('ten times as many are enough where the list shows everything in another form each time', () => {
    const many = neighboursKept(NEWEST_FIRST)
    const all = Array.from({ length: many }, (_, index) => 60 - index)
    expect(hasRun(listed(all, all), MIRROR)).toBe(true)
    expect(hasRun(listed(all.slice(1), all), MIRROR)).toBe(false)
  })

  test('but only where they begin with the newest: others may have been written to in their order', () => {
    const many = Array.from({ length: neighboursKept(NEWEST_FIRST) }, (_, index) => 59 - index)
    expect(hasRun(listed(many, many), MIRROR)).toBe(false)
    expect(hasRun(listed([...many, 60], many), MIRROR)).toBe(false)
    expect(hasRun(listed([60, ...many], [60, ...many]), MIRROR)).toBe(true)
    const rules: NeighbourRules = { ...NEWEST_FIRST, order: 'created_asc' }
    const oldestFirst = many.toReversed()
    expect(hasRun(listed([...oldestFirst, 60], [...oldestFirst, 60]), MIRROR, rules)).toBe(true)
    const oldest = Array.from({ length: neighboursKept(rules) }, (_, index) => index + 1)
    expect(hasRun(listed([...oldest, 60], [...oldest, 60]), MIRROR, rules)).toBe(false)
  })

  test('equal createdAt may come in any order', () => {
    const shown = listed([50, 50, 50, 49])
      .toReversed()
      .toSorted((a, b) => b.moment - a.moment)
    expect(hasRun(shown, [50, 50, 50, 49])).toBe(true)
  })

  test('inversions that are known to be in the list make no cut', () => {
    const rules = { ...NEWEST_FIRST, inversionMs: 2 }
    expect(hasRun(listed([50, 48, 49, 47]), MIRROR, rules)).toBe(true)
    expect(hasRun(listed([50, 48, 49, 47]), MIRROR)).toBe(false)
  })
})

test('oldest first the same holds the other way round', () => {
  const rules: NeighbourRules = { ...NEWEST_FIRST, order: 'created_asc' }
  expect(hasRun(listed([48, 49, 50]), MIRROR, rules)).toBe(true)
  expect(hasRun(listed([50, 49, 48]), MIRROR, rules)).toBe(false)
  expect(hasRun(listed([20, 30, 40]), MIRROR, rules)).toBe(false)
})

test('a walk past many windows of new tasks ends with the first that shows known ones', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 1_000, openFraction: 0, compression: 'none' })
  const sync = async () => {
    const context = { sync: { window: 20, overlap: 5 }, service: { concurrency: 1 } }
    return (await runSync(makeRunContext(simulator.url, scratch.path('m.sqlite'), context), { command: 'sync' }))
      .summary
  }
  await sync()
  simulator.account.insert(270, { openShare: 0 })
  const before = simulator.requests
  const { inserted, verdict } = await sync()
  const asked = simulator.log.filter(({ n, operation }) => n >= before && operation === 'list')
  expect({ inserted, verdict }).toEqual({ inserted: 270, verdict: 'complete' })
  // The end is looked for from where it was.
  expect(asked.filter(({ skip }) => skip !== null && skip > 290 && skip < 900)).toEqual([])
})
