import { expect, onTestFinished, test } from 'vitest'
import { positionOf } from '../../src/export/read/columns.ts'
import { type Filters, openCut } from '../../src/export/read/rows.ts'
import { makeMirror, ordinaryRows } from './mirror.ts'

const ID = positionOf('id')

function read(path: string, filters: Filters = {}) {
  const cut = openCut(path, filters)
  try {
    const total = cut.total()
    const batches = [...cut.batches()]
    return { cut: cut.cut, total, batches, ids: batches.flat().map((row) => row[ID]) }
  } finally {
    cut.close()
  }
}

test('rows come by created_at, then id byte for byte, those without a moment first', () => {
  const mirror = makeMirror(
    { id: 'b', created_at: 5 },
    { id: 'é', created_at: 4 },
    { id: 'a', created_at: 5 },
    { id: 'z', created_at: null },
    { id: 'Z', created_at: 4 },
    { id: 'min', created_at: -(2n ** 63n) },
  )
  expect(read(mirror.path).ids).toEqual(['z', 'min', 'Z', 'é', 'a', 'b'])
})

test.each<[Filters, string[], number | null]>([
  [{}, ['n', 'a', 'b', 'c'], 4],
  [{ since: 2 }, ['b', 'c'], 2],
  [{ until: 2 }, ['a'], 1],
  [{ since: 1, until: 3 }, ['a', 'b'], 2],
  [{ includeDeleted: true }, ['n', 'a', 'b', 'c', 'd'], 5],
  [{ since: 4, includeDeleted: true }, ['d'], 1],
  [{ since: 4 }, [], 0],
  [{ statuses: ['DONE'] }, ['a', 'c'], null],
  [{ statuses: [] }, [], null],
  [{ statuses: ['OPEN', "D' OR 1"], since: 2n }, ['b'], null],
])('%o brings %j and announces %s rows', (filters, ids, total) => {
  const mirror = makeMirror(
    { id: 'a', created_at: 1, system_status: 'DONE' },
    { id: 'b', created_at: 2, system_status: 'OPEN' },
    { id: 'c', created_at: 3, system_status: 'DONE' },
    { id: 'd', created_at: 4, system_status: 'DONE', deleted_at: 9 },
    { id: 'n' },
  )
  expect(read(mirror.path, filters)).toMatchObject({ ids, total })
})

test('a cut stays one moment of the mirror while a writer goes on, and does not hold it up', () => {
  const mirror = makeMirror(...ordinaryRows(3_000))
  const cut = openCut(mirror.path, {})
  onTestFinished(() => cut.close())
  // Already after the cut, though no row was read yet.
  mirror.insert({ id: 'late', created_at: 1 })
  const ids: unknown[] = []
  let round = 0
  for (const batch of cut.batches()) {
    ids.push(...batch.map((row) => row[ID]))
    mirror.insert(...ordinaryRows(10, 10_000 + 10 * round++))
    mirror.db.exec("UPDATE tasks SET deleted_at = 1 WHERE id = 'task-00002999'")
    mirror.db.exec("DELETE FROM tasks WHERE id = 'task-00002998'")
  }
  expect(round).toBeGreaterThan(1)
  expect(cut.cut).toBe(3_000)
  expect(ids).toEqual(ordinaryRows(3_000).map((row) => row.id))
})

test('batches are bounded by bytes, so that large tasks do not pile up', () => {
  const mirror = makeMirror(
    ...Array.from({ length: 6 }, (_, i) => ({ id: `t${i}`, created_at: i, result_body: `"${'x'.repeat(40_000)}"` })),
  )
  expect(read(mirror.path).batches.map((batch) => batch.length)).toEqual([2, 2, 2])
})

test('a long key range without any wanted row still gives way', () => {
  const mirror = makeMirror(...ordinaryRows(2_500))
  const { batches, ids } = read(mirror.path, { statuses: ['NEVER'] })
  expect(ids).toEqual([])
  expect(batches.length).toBeGreaterThanOrEqual(2)
})

test('the verdict is that of the last full walk that ended', () => {
  const mirror = makeMirror()
  const walk = mirror.db.prepare(
    'INSERT INTO walks (run_id, kind, verdict, max_seq_at_start, started_at, updated_at, finished_at) VALUES (1, ?, ?, 0, 0, 0, ?)',
  )
  const verdict = () => {
    const cut = openCut(mirror.path, {})
    cut.close()
    return [cut.verdict, cut.verdictAt]
  }
  expect(verdict()).toEqual([null, null])
  walk.run('full', 'complete', 10n)
  walk.run('head', 'complete', 20n)
  walk.run('full', null, null)
  expect(verdict()).toEqual(['complete', 10])
  walk.run('full', 'partial', 30n)
  expect(verdict()).toEqual(['partial', 30])
})
