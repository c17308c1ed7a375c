import { expect, test } from 'vitest'
import { binLength, percentiles, readFigures } from '../../src/mirror/figures.ts'
import { makeMirror } from '../export/mirror.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = Date.parse('2026-11-20T12:00:00Z')

const task = (id: number, more: Record<string, string | number | null> = {}) => ({
  id: `t${id}`,
  system_status: 'DONE',
  created_at: NOW - DAY,
  completed_at: NOW - DAY + 1000,
  data_url: 'https://a.example/x',
  result_status_code: 200,
  ...more,
})

test('an empty mirror has figures too: none', () => {
  const { db } = makeMirror()
  expect(readFigures(db, NOW)).toEqual({
    ...{ binMs: null, bins: [], undated: 0, statusCodes: [], hosts: [], hostCount: 0 },
    ...{ openByAge: [0, 0, 0, 0, 0, 0], setAside: [], runs: [] },
  })
})

test('tasks are counted by how they ended; tombstones are not', () => {
  const open = { system_status: 'WAITING', completed_at: null, result_status_code: null }
  const { db } = makeMirror(
    ...[task(1), task(2, { result_status_code: 399 }), task(3, { result_status_code: 400 })],
    ...[task(4, { result_status_code: null }), task(5, open), task(6, { deleted_at: NOW })],
  )
  const { bins, statusCodes } = readFigures(db, NOW)
  expect(bins.map(({ tasks }) => tasks)).toEqual([{ answered: 2, failed: 1, unanswered: 1, open: 1 }])
  expect(statusCodes).toHaveLength(4)
  expect(statusCodes).toContainEqual({ code: null, tasks: 1 })
})

test('bins begin on the hour, day or Monday and leave no gap', () => {
  const at = (text: string) => ({ created_at: Date.parse(text), completed_at: null })
  const { db } = makeMirror(task(1, at('2026-11-03T23:59:59.999Z')), task(2, at('2026-11-20T00:00:00Z')))
  const { bins, binMs } = readFigures(db, NOW)
  expect(binMs).toBe(DAY)
  expect(bins).toHaveLength(18)
  expect(new Date(bins[0]?.start as number).toISOString()).toBe('2026-11-03T00:00:00.000Z')
  expect([bins[0], bins[1], bins[17]].map((bin) => bin?.tasks.answered)).toEqual([1, 0, 1])
})

test.each([
  [0, HOUR],
  [3 * DAY, HOUR],
  [90 * DAY, DAY],
  [600 * DAY, 7 * DAY],
  [5 * 365 * DAY, 28 * DAY],
  [60 * 365 * DAY, 364 * DAY],
])('a span of %d ms is told in bins of %d ms', (span, length) => {
  expect(binLength(NOW - span, NOW)).toBe(length)
})

test('dates that cannot be meant stretch no axis; they are counted apart', () => {
  const { db } = makeMirror(
    ...[task(1), task(2, { created_at: 0 }), task(3, { created_at: null })],
    ...[task(4, { created_at: NOW + 2 * DAY }), task(5, { created_at: Number.MAX_SAFE_INTEGER })],
  )
  const { bins, undated } = readFigures(db, NOW)
  expect(bins).toHaveLength(1)
  expect(undated).toBe(4)
})

test('percentiles are within nine percent of the durations', () => {
  const durations = Array.from({ length: 1000 }, (_, index) => (index + 1) * 37)
  const { db } = makeMirror(...durations.map((ms, id) => task(id, { completed_at: NOW - DAY + ms })))
  const found = readFigures(db, NOW).bins[0]?.durations
  for (const [name, share] of [
    ['p50', 0.5],
    ['p90', 0.9],
    ['p99', 0.99],
  ] as const) {
    const exact = durations[share * 1000 - 1] as number
    expect(Math.abs((found?.[name] as number) / exact - 1)).toBeLessThan(0.09)
  }
  expect(percentiles(new Map())).toBeNull()
})

test('a clock that ran backwards gives no duration', () => {
  const { db } = makeMirror(task(1, { completed_at: NOW - 2 * DAY }))
  expect(readFigures(db, NOW).bins[0]?.durations).toBeNull()
})

test('of many hosts those with most tasks are named', () => {
  const { db } = makeMirror(
    ...Array.from({ length: 40 }, (_, id) => task(id, { data_url: `https://h${id % 20}.example/` })),
    task(100, { data_url: 'https://h7.example/again', result_status_code: 500 }),
    task(101, { data_url: null }),
  )
  const { hosts, hostCount } = readFigures(db, NOW)
  expect(hosts).toHaveLength(15)
  expect(hosts[0]).toEqual({ host: 'h7.example', tasks: 3, failed: 1, meanDurationMs: 1000 })
  expect(hostCount).toBe(21)
})

test('odd status codes share a place, so that no account can make the figures large', () => {
  const { db } = makeMirror(...Array.from({ length: 50 }, (_, id) => task(id, { result_status_code: 1000 + id })))
  expect(readFigures(db, NOW).statusCodes).toEqual([{ code: 0, tasks: 50 }])
})

test('open tasks are counted by age', () => {
  const created = [NOW - 1, NOW - 2 * HOUR, NOW - 3 * DAY, NOW - 400 * DAY, null]
  const { db } = makeMirror(
    ...created.map((created_at, id) => task(id, { created_at, completed_at: null, system_status: 'WAITING' })),
  )
  db.exec("INSERT INTO open_checks (task_id, reason, next_check_at) SELECT id, 'open', 0 FROM tasks")
  expect(readFigures(db, NOW).openByAge).toEqual([1, 1, 0, 1, 0, 2])
})
