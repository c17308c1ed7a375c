import { expect, test } from 'vitest'
import { binLength, percentiles, readFigures, type TaskFigures } from '../../src/mirror/shown/figures.ts'
import { writeFacts } from '../../src/mirror/tables/facts.ts'
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

/** Live tasks of all hosts, or of the one at `place`, by bin and ending. */
function endings(figures: TaskFigures, place = 0): Record<string, number> {
  const cells = figures.hosts[place]?.cells ?? []
  return Object.fromEntries(cells.map(([bin, ending, tasks]) => [`${bin} ${figures.endings[ending]}`, tasks]))
}

test('an empty mirror has figures too: none', () => {
  const { db } = makeMirror()
  const figures = readFigures(db, NOW)
  expect(figures).toMatchObject({ binMs: null, bins: 0, endings: [], open: { timeframe: null } })
  expect(figures.hosts).toEqual([{ kind: 'all', host: null, hosts: 0, cells: [], durations: [] }])
  expect(figures.open.byAge).toEqual(Array(6).fill({ tasks: 0, late: 0 }))
})

test('tasks are counted by how they ended; tombstones are not', () => {
  const open = { system_status: 'WAITING', completed_at: null, result_status_code: null }
  const codes = [200, 200, 399, 429, 404, 500, 600, 99, null].map((code, id) => task(id, { result_status_code: code }))
  const { db } = makeMirror(...codes, task(20, open), task(21, { deleted_at: NOW }))
  expect(endings(readFigures(db, NOW))).toEqual({
    ...{ '0 200': 2, '0 399': 1, '0 404': 1, '0 429': 1, '0 500': 1, '0 other': 2, '0 none': 1, '0 open': 1 },
  })
})

test('bins begin on the hour, day or Monday and leave no gap', () => {
  const at = (text: string) => ({ created_at: Date.parse(text), completed_at: null })
  const { db } = makeMirror(task(1, at('2026-11-03T23:59:59.999Z')), task(2, at('2026-11-20T00:00:00Z')))
  const figures = readFigures(db, NOW)
  expect(figures).toMatchObject({ binMs: DAY, bins: 18, oldest: Date.parse('2026-11-03T23:59:59.999Z') })
  expect(new Date(figures.start).toISOString()).toBe('2026-11-03T00:00:00.000Z')
  expect(endings(figures)).toEqual({ '0 200': 1, '17 200': 1 })
})

test('what was created after the last complete walk began may be missing: the figures say until when they hold', () => {
  const { db } = makeMirror(task(1))
  expect(readFigures(db, NOW).until).toBe(NOW)
  db.exec(`INSERT INTO walks (run_id, kind, verdict, max_seq_at_start, started_at, updated_at, finished_at)
    VALUES (1, 'head', 'complete', 1, ${NOW - HOUR}, ${NOW}, ${NOW})`)
  expect(readFigures(db, NOW).until).toBe(NOW - HOUR)
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
  const figures = readFigures(db, NOW)
  expect(figures.bins).toBe(1)
  expect(endings(figures)).toEqual({ '0 200': 1, '-1 200': 4 })
})

test('percentiles are within nine percent of the durations', () => {
  const durations = Array.from({ length: 1000 }, (_, index) => (index + 1) * 37)
  const { db } = makeMirror(...durations.map((ms, id) => task(id, { completed_at: NOW - DAY + ms })))
  const [bin, p50, p90, p99, ended, mean] = readFigures(db, NOW).hosts[0]?.durations[0] ?? []
  for (const [found, share] of [
    [p50, 0.5],
    [p90, 0.9],
    [p99, 0.99],
  ] as const) {
    const exact = durations[share * 1000 - 1] as number
    expect(Math.abs((found as number) / exact - 1)).toBeLessThan(0.09)
  }
  expect([bin, ended, mean]).toEqual([0, 1000, Math.round(500.5 * 37)])
})

test('a clock that ran backwards gives no duration', () => {
  const { db } = makeMirror(task(1, { completed_at: NOW - 2 * DAY }))
  expect(readFigures(db, NOW).hosts[0]?.durations).toEqual([])
})

test('of many hosts those with most tasks are named, the rest is one', () => {
  const { db } = makeMirror(
    ...Array.from({ length: 40 }, (_, id) => task(id, { data_url: `https://h${id % 20}.example/` })),
    task(100, { data_url: 'https://h7.example/again', result_status_code: 500 }),
    ...[task(101, { data_url: null }), task(102, { data_url: null })],
  )
  const figures = readFigures(db, NOW)
  expect(figures.hosts).toHaveLength(17)
  expect(figures.hosts.map(({ kind, hosts }) => [kind, hosts]).filter(([kind]) => kind !== 'host')).toEqual([
    ['all', 21],
    ['rest', 6],
  ])
  expect(figures.hosts[1]).toMatchObject({
    host: 'h7.example',
    durations: [[0, ...percentiles(new Map([[79, 3]])), 3, 1000]],
  })
  expect(endings(figures, 1)).toEqual({ '0 200': 2, '0 500': 1 })
  // Every task is somewhere, once.
  const sum = (place: number) => Object.values(endings(figures, place)).reduce((all, tasks) => all + tasks, 0)
  expect(figures.hosts.slice(1).reduce((all, _, index) => all + sum(index + 1), 0)).toBe(sum(0))
  expect(figures.hosts.map(({ host }) => host)).toContain(null)
})

test('many codes share places by class, so that no account can make the figures large; 429 is always told', () => {
  const { db } = makeMirror(
    ...Array.from({ length: 400 }, (_, id) => task(id, { result_status_code: 200 + id })),
    ...Array.from({ length: 50 }, (_, id) => task(1000 + id, { result_status_code: 1000 + id })),
  )
  const figures = readFigures(db, NOW)
  const found = endings(figures)
  expect(figures.endings.length).toBeLessThan(25)
  expect(found['0 other']).toBe(50)
  expect(found['0 429']).toBe(1)
  expect(found['0 5xx']).toBeGreaterThan(80)
})

test('open tasks are counted by age; late ones where timeframe reads as a moment', () => {
  const created = [NOW - 1, NOW - 2 * HOUR, NOW - 3 * DAY, NOW - 400 * DAY, null]
  const { db } = makeMirror(
    ...created.map((created_at, id) =>
      task(id, { created_at, completed_at: null, system_status: 'WAITING', timeframe: id === 0 ? NOW + 1 : NOW - 1 }),
    ),
  )
  db.exec("INSERT INTO open_checks (task_id, reason, next_check_at) SELECT id, 'open', 0 FROM tasks")
  const counts = (tasks: number[], late: number[]) => tasks.map((n, index) => ({ tasks: n, late: late[index] }))
  const finding = { isMoment: true, tasks: 100, afterCreated: 1, ended: 90, nearCompleted: 1 }
  expect(readFigures(db, NOW).open).toEqual({
    timeframe: null,
    ended: null,
    byAge: counts([1, 1, 0, 1, 0, 2], [0, 0, 0, 0, 0, 0]),
  })
  writeFacts(db, { timeframe: finding }, NOW)
  expect(readFigures(db, NOW).open).toEqual({
    timeframe: finding,
    ended: { tasks: 0, late: 0, p50: 0, p99: 0 },
    byAge: counts([1, 1, 0, 1, 0, 2], [0, 1, 0, 1, 0, 2]),
  })
  writeFacts(db, { timeframe: { ...finding, isMoment: false } }, NOW)
  expect(readFigures(db, NOW).open.byAge.every(({ late }) => late === 0)).toBe(true)
})

test('of tasks that ended, those past their timeframe are told where it reads as a moment', () => {
  const { db } = makeMirror(
    ...Array.from({ length: 200 }, (_, id) =>
      task(id, { completed_at: NOW, timeframe: id < 150 ? NOW + 1000 : NOW - (id - 149) * 1000 }),
    ),
    ...[task(300, { timeframe: null }), task(301, { timeframe: NOW - 1, deleted_at: NOW })],
  )
  writeFacts(db, { timeframe: { isMoment: true, tasks: 100, afterCreated: 1, ended: 90, nearCompleted: 1 } }, NOW)
  const { ended } = readFigures(db, NOW).open
  expect(ended).toMatchObject({ tasks: 200, late: 50 })
  expect(Math.abs((ended?.p50 as number) / 25_000 - 1)).toBeLessThan(0.09)
  expect(Math.abs((ended?.p99 as number) / 50_000 - 1)).toBeLessThan(0.09)
})
