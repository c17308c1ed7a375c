// How open tasks are asked for: a table of worlds, in which what is planned is added up independently of the plan.
import { expect, test } from 'vitest'
import { seeded } from '../../src/simulator/random.ts'
import {
  budgetOf,
  limitBeforeAWalk,
  marginOf,
  type OpenPlan,
  planOpenTasks,
  type RequestCosts,
  wantedWindows,
  widestGap,
  windowsOver,
} from '../../src/sync/steps/open-plan.ts'

const KB = 1024
const OVERLAP = 10

interface World {
  total: number
  density: number
  latencyMs: number
  taskBytes: number
  cap: number
  concurrency?: number
  requestsPerSecond?: number | null
  /** Open tasks stand all over the list, or mostly at its head. */
  where?: 'even' | 'head'
}

/** Bytes come at 50 MB/s for each request. */
const itemMsOf = (bytes: number): number => bytes / 50_000

function costsOf({ total, latencyMs, taskBytes, cap, concurrency = 8, requestsPerSecond = null }: World): RequestCosts {
  return {
    requestMs: latencyMs + itemMsOf(taskBytes),
    itemMs: itemMsOf(taskBytes),
    itemBytes: taskBytes,
    detailBytes: taskBytes,
    concurrency,
    requestsPerSecond,
    capacity: cap,
    total,
  }
}

/** Places of the open tasks, in any sequence. */
function placesOf({ total, density, where = 'even' }: World): number[] {
  const random = seeded(1, total)
  const places = new Set<number>()
  const wanted = Math.round(total * density)
  while (places.size < wanted)
    places.add(
      Math.floor(total * (where === 'head' ? random.next() ** 3 : (places.size + random.next()) / wanted)) % total,
    )
  return [...places].sort(() => random.next() - 0.5)
}

/** Requests carried out one after another by whoever is free: what they take, and what they bring. */
function carriedOut(requests: { items: number }[], world: World) {
  const { latencyMs, taskBytes, concurrency = 8, requestsPerSecond = null } = world
  const freeAt = new Array<number>(concurrency).fill(0)
  let mayBeSent = 0
  let bytes = 0
  for (const { items } of requests) {
    const free = freeAt.indexOf(Math.min(...freeAt))
    const sentAt = Math.max(freeAt[free] as number, mayBeSent)
    if (requestsPerSecond !== null) mayBeSent = sentAt + 1000 / requestsPerSecond
    freeAt[free] = sentAt + latencyMs + items * itemMsOf(taskBytes)
    bytes += items * taskBytes
  }
  return { ms: Math.max(...freeAt), bytes }
}

/** As a full walk reads it: the first window by itself, all others side by side, the end, the head again. */
function fullWalk(world: World) {
  const { total, cap, latencyMs, taskBytes } = world
  const windows = Math.ceil(total / (cap - Math.min(OVERLAP, cap / 2)))
  const read = carriedOut(
    Array.from({ length: windows }, () => ({ items: Math.min(total, cap) })),
    world,
  )
  return { ms: read.ms + 3 * latencyMs, bytes: Math.max(read.bytes, total * taskBytes) }
}

function requestsOf(plan: OpenPlan, { cap, total }: World, margin: number): { skip: number; items: number }[] {
  const windows = plan.spans.flatMap(({ from, to }) => windowsOver(from - margin, to - from + 1 + 2 * margin, cap))
  return [
    ...windows.map(({ skip, take }) => ({ skip, items: Math.max(0, Math.min(take, total - skip)) })),
    ...plan.byId.map(() => ({ skip: -1, items: 1 })),
  ]
}

const WORLDS: World[] = [0.001, 0.01, 0.02, 0.1, 0.5, 1].flatMap((density) =>
  [1, 20, 100, 400].flatMap((latencyMs) =>
    [1, 10, 100].flatMap((kb) =>
      [1000, 20].flatMap((cap) =>
        (density > 0.02 ? [2_000] : [2_000, 20_000]).map((total) => ({
          ...{ total, density, latencyMs, taskBytes: kb * KB, cap },
        })),
      ),
    ),
  ),
)

test('in no world of a table are open tasks dearer than a full walk, in time or in bytes', () => {
  const dearer: string[] = []
  for (const world of [
    ...WORLDS,
    ...WORLDS.filter((_, nth) => nth % 7 === 0).map((world) => ({ ...world, where: 'head' as const })),
    ...WORLDS.filter((_, nth) => nth % 11 === 0).map((world) => ({ ...world, concurrency: 2, requestsPerSecond: 20 })),
  ]) {
    const places = placesOf(world)
    const margin = marginOf(world.cap, OVERLAP)
    const plan = planOpenTasks(places, costsOf(world), margin)
    const open = carriedOut(requestsOf(plan, world, margin), world)
    const full = fullWalk(world)
    const asked = plan.byId.length + plan.spans.reduce((sum, { members }) => sum + members.length, 0)
    if (places.length > 0 && asked === 0) dearer.push(`${JSON.stringify(world)}: asks for none`)
    if (open.ms > full.ms || open.bytes > full.bytes)
      dearer.push(`${JSON.stringify(world)}: ${JSON.stringify({ open, full, asked, of: places.length })}`)
  }
  expect(dearer).toEqual([])
})

test('every task is asked for once, or left for later; what is left is less overdue than what is asked for', () => {
  for (const world of WORLDS.filter((_, nth) => nth % 5 === 0)) {
    const places = placesOf(world)
    const margin = marginOf(world.cap, OVERLAP)
    const { byId, spans } = planOpenTasks(places, costsOf(world), margin)
    const asked = [...byId, ...spans.flatMap(({ members }) => members)].sort((a, b) => a - b)
    expect(asked).toEqual(places.slice(0, asked.length).map((_, index) => index))
    for (const { from, to, members } of spans) {
      for (const index of members) {
        expect(places[index]).toBeGreaterThanOrEqual(from)
        expect(places[index]).toBeLessThanOrEqual(to)
      }
      const windows = windowsOver(from - margin, to - from + 1 + 2 * margin, world.cap)
      for (const { take } of windows) expect(take).toBeLessThanOrEqual(world.cap)
      expect(windows[0]?.skip).toBe(Math.max(0, from - margin))
      expect(
        windows.reduce((end, { skip, take }) => (skip === end ? skip + take : Number.NaN), windows[0]?.skip ?? 0),
      ).toBe(to + margin + 1)
    }
  }
})

const BIG: World = { total: 200_000, density: 0.02, latencyMs: 400, taskBytes: KB, cap: 1000 }

test.each([
  ['a few, spread over a large list: by id', { ...BIG, density: 0.000_95, latencyMs: 100 }, { windows: 0, byId: 190 }],
  ['half of a small list: by windows', { ...BIG, total: 5_000, density: 0.5 }, { windows: 6, byId: 0 }],
  [
    'all of a small list in answers of 20: by windows',
    { ...BIG, total: 1_000, density: 1, cap: 20 },
    { windows: 51, byId: 0 },
  ],
  ['no latency, one in 1,000: by id', { ...BIG, density: 0.001, latencyMs: 1 }, { windows: 0, byId: 200 }],
  [
    'large tasks, one in 20: by id',
    { ...BIG, total: 4_000, density: 0.05, taskBytes: 100 * KB, cap: 80, latencyMs: 20 },
    { windows: 0, byId: 200 },
  ],
])('%s', (_, world, expected) => {
  const plan = planOpenTasks(placesOf(world), costsOf(world), marginOf(world.cap, OVERLAP))
  const windows = requestsOf(plan, world, marginOf(world.cap, OVERLAP)).filter(({ skip }) => skip >= 0)
  expect({ windows: windows.length, byId: plan.byId.length }).toEqual(expected)
})

test('a dense neighbourhood is read by a window no longer than it is, the others are asked for by id', () => {
  const dense = Array.from({ length: 150 }, (_, nth) => 1000 + 2 * nth)
  const thin = Array.from({ length: 30 }, (_, nth) => 5000 + 5000 * nth)
  const margin = marginOf(1000, OVERLAP)
  const plan = planOpenTasks([...thin, ...dense], costsOf({ ...BIG, latencyMs: 100 }), margin)
  expect(plan.byId).toEqual(thin.map((_, index) => index))
  expect(plan.spans).toMatchObject([{ from: 1000, to: 1298 }])
  expect(windowsOver(1000 - margin, 299 + 2 * margin, 1000)).toEqual([{ skip: 950, take: 399 }])
})

test('spans are read where the list has them now, with a margin; what several windows share, each counts in part', () => {
  const members = [7, 8, 9]
  const spans = [
    { from: 0, to: 9, members: [3] },
    { from: 100, to: 219, members },
  ]
  expect(wantedWindows(spans, [2, 500], { capacity: 100, margin: 5 })).toEqual([
    { skip: 0, take: 17, members: 1 },
    { skip: 495, take: 65, members: 1.5 },
    { skip: 560, take: 65, members: 1.5 },
  ])
})

test('tasks that the list does not show whole are asked for by id, wherever they stand', () => {
  const places = Array.from({ length: 200 }, (_, nth) => (nth % 2 === 0 ? nth : null))
  const { byId, spans } = planOpenTasks(places, costsOf({ ...BIG, latencyMs: 40 }), 50)
  expect(byId).toEqual(places.flatMap((place, index) => (place === null ? [index] : [])))
  expect(spans).toHaveLength(1)
})

test('one run asks for so many of a large list as its budget allows, the most overdue first', () => {
  const places = placesOf(BIG).sort((a, b) => a - b)
  const plan = planOpenTasks(places, costsOf(BIG), marginOf(1000, OVERLAP))
  const { ms, bytes } = carriedOut(requestsOf(plan, BIG, marginOf(1000, OVERLAP)), BIG)
  const full = fullWalk(BIG)
  expect(ms / full.ms).toBeLessThan(0.5)
  expect(bytes / full.bytes).toBeLessThan(0.25)
  expect(plan.byId.length + plan.spans.flatMap(({ members }) => members).length).toBeGreaterThan(500)
  expect(budgetOf(costsOf({ ...BIG, total: 3_000 }))).toMatchObject({ bytes: 3_000 * KB })
})

test('a place that is only known to be far away is never reached by a window', () => {
  const widest = widestGap({ capacity: 1000 })
  const places = Array.from({ length: 100 }, (_, nth) => nth * widest)
  const { spans } = planOpenTasks(places, costsOf({ ...BIG, taskBytes: 10 }), 50)
  for (const { from, to } of spans) expect(to - from).toBe(0)
})

test.each([
  ['a run without a limit', null, null, 50, Number.POSITIVE_INFINITY],
  ['a minute', 60_000, null, 50, 19_000],
  ['a minute of two requests a second', 60_000, 2, 36, 19_000],
  ['so little time that none would fit', 2_000, 1, 1, 1_600],
])('before a walk that goes on, in %s', (_, ms, perSecond, most, until) => {
  expect(limitBeforeAWalk(ms, perSecond, 1_000)).toEqual({ most, until })
})
