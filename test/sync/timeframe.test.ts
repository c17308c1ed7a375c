// Whether timeframe reads as a moment, by what windows show; and what the views tell of lateness then.
import { expect, test } from 'vitest'
import { withReader } from '../../src/mirror/open.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { readFacts, writeFacts } from '../../src/mirror/tables/facts.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { probeService } from '../../src/sync/probe/probe.ts'
import { judgeTimeframe, noTimeframes, noteTimeframes } from '../../src/sync/probe/timeframe.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeMirror } from '../export/mirror.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const CREATED = 1_760_000_000_000
const MINUTE = 60_000
const DAY = 86_400_000

type Shape = (index: number) => [timeframe: number, completedAt: number]

function judge(count: number, shape: Shape, windows = 1) {
  const evidence = noTimeframes()
  const ids = Array.from({ length: count }, (_, index) => `t${index}`)
  const moments = {
    timeframe: Float64Array.from(ids, (_, index) => shape(index)[0]),
    createdAt: Float64Array.from(ids, (_, index) => CREATED + index * 1000),
    completedAt: Float64Array.from(ids, (_, index) => shape(index)[1]),
  }
  for (let window = 0; window < windows; window += 1) noteTimeframes(evidence, ids, moments)
  return judgeTimeframe(evidence)
}

const at = (index: number) => CREATED + index * 1000
const CASES: [title: string, value: boolean | null, count: number, shape: Shape][] = [
  ['a moment some minutes after createdAt', true, 100, (i) => [at(i) + 5 * MINUTE, at(i) + 6 * MINUTE]],
  ['a moment that tasks wait for', true, 100, (i) => [at(i) + 30 * DAY, at(i) + 30 * DAY + 900]],
  ['one that few tasks miss by days', true, 100, (i) => [at(i) + MINUTE, at(i) + (i % 20 === 0 ? 9 * DAY : MINUTE)]],
  ['seconds since the epoch', false, 100, (i) => [at(i) / 1000 + 300, at(i) + MINUTE]],
  ['microseconds since the epoch', false, 100, (i) => [at(i) * 1000, at(i) + MINUTE]],
  ['a duration in ms', false, 100, (i) => [5 * MINUTE, at(i) + MINUTE]],
  ['a number as large as any', false, 100, (i) => [12_345_678_901_234_568, at(i) + MINUTE]],
  ['a moment far from the end of tasks', false, 100, (i) => [at(i) + 90 * DAY, at(i) + MINUTE]],
  ['a moment before createdAt as often as not', false, 100, (i) => [at(i) + (i % 2 ? -1 : 1) * MINUTE, at(i) + MINUTE]],
  ['a duration, and no task has ended', false, 100, () => [5 * MINUTE, Number.NaN]],
  ['a moment, and no task has ended', null, 100, (i) => [at(i) + MINUTE, Number.NaN]],
  ['few tasks', null, 19, (i) => [at(i) + MINUTE, at(i) + MINUTE]],
  ['no integers', null, 100, () => [Number.NaN, Number.NaN]],
]

test.each(CASES)('%s reads as a moment: %s', (_, value, count, shape) => {
  expect(judge(count, shape)?.isMoment ?? null).toBe(value)
})

test('a task that is listed twice counts once', () => {
  expect(judge(50, (i) => [at(i) + MINUTE, at(i) + MINUTE], 3)).toEqual({
    isMoment: true,
    tasks: 50,
    afterCreated: 1,
    ended: 50,
    nearCompleted: 1,
  })
})

test('what probe finds is stored, and the views tell lateness by it: every open task of the simulator is late', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({
    tasks: 400,
    openFraction: 0.1,
    oddities: 0.05,
    newest: Date.now() - DAY,
  })
  const path = scratch.path('m.sqlite')
  await runSync(makeRunContext(simulator.url, path), { command: 'sync' })
  const read = (sql: string) =>
    withReader(path, (db) => ({
      rows: db.prepare(sql).all() as Record<string, number | string | null>[],
      facts: readFacts(db),
    }))
  expect(read('SELECT * FROM late_tasks').rows).toEqual([])
  expect(read('SELECT DISTINCT timeframe_at, late_ms FROM task_overview').rows).toEqual([
    { timeframe_at: null, late_ms: null },
  ])
  const { result } = await probeService(makeRunContext(simulator.url, path))
  expect(result.answers.timeframe).toMatchObject({ value: true, seen: expect.stringContaining('after createdAt') })
  const { rows, facts } = read('SELECT * FROM late_tasks')
  expect(facts.timeframe).toMatchObject({ isMoment: true })
  const open = read('SELECT count(*) AS n FROM task_overview WHERE NOT is_final').rows[0]?.n
  expect(rows).toHaveLength(open as number)
  expect(rows[0]?.late_ms).toBeGreaterThanOrEqual(rows.at(-1)?.late_ms as number)
  expect(rows.at(-1)?.late_ms).toBeGreaterThan(DAY / 2)
})

test('late_ms is told of what ended and of what is open, by integers alone; tombstones that were open have none', () => {
  const task = (id: string, more: Record<string, number | string | null>) => ({
    ...{ id, system_status: 'DONE', created_at: CREATED, completed_at: CREATED + 5000, timeframe: CREATED + 3000 },
    ...more,
  })
  const open = { system_status: 'WAITING', completed_at: null }
  const { db } = makeMirror(
    task('early', { timeframe: CREATED + 9000 }),
    task('late', {}),
    task('none', { timeframe: null }),
    task('open', open),
    task('open to come', { ...open, timeframe: Date.now() + DAY }),
    task('gone', { ...open, deleted_at: 9 }),
    task('final without completedAt', { completed_at: null }),
    task('vast', { timeframe: 8_000_000_000_000_000 }),
  )
  db.exec(
    "INSERT INTO open_checks (task_id, reason, next_check_at) SELECT id, 'open', 0 FROM tasks WHERE system_status = 'WAITING'",
  )
  const finding = { isMoment: true, tasks: 100, afterCreated: 1, ended: 90, nearCompleted: 1 }
  writeFacts(db, { timeframe: finding }, 1)
  const found = db.prepare('SELECT id, timeframe_at, late_ms FROM task_overview').all() as Record<string, unknown>[]
  const of = (id: string) => found.find((row) => row.id === id)
  expect(of('early')).toMatchObject({ timeframe_at: '2025-10-09T08:53:29.000Z', late_ms: -4000 })
  expect(of('late')).toMatchObject({ late_ms: 2000 })
  for (const id of ['none', 'gone', 'final without completedAt']) expect(of(id)).toMatchObject({ late_ms: null })
  expect(of('open')?.late_ms).toBeGreaterThan(DAY)
  expect(of('open to come')?.late_ms).toBeLessThan(0)
  expect(of('vast')).toMatchObject({ timeframe_at: null })
  expect(db.prepare('SELECT id FROM late_tasks').pluck().all()).toEqual(['open'])
  expect(readStatus(db).tasks).toMatchObject({ late: 1 })
  writeFacts(db, { timeframe: { ...finding, isMoment: false } }, 1)
  expect(db.prepare('SELECT count(*) FROM task_overview WHERE late_ms IS NOT NULL').pluck().get()).toBe(0)
  expect(readStatus(db).tasks).toMatchObject({ late: null })
})
