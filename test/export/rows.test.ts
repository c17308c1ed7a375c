import { afterAll, expect, onTestFinished, test } from 'vitest'
import { positionOf, type RawRow } from '../../src/export/read/columns.ts'
import type { Filters } from '../../src/export/read/conditions.ts'
import { partitionOf } from '../../src/export/read/partition.ts'
import { openCut } from '../../src/export/read/rows.ts'
import { batchesOf, fillMirror, makeMirror, ordinaryRows } from './mirror.ts'

const ID = positionOf('id')
const CREATED_AT = positionOf('created_at')

function read(path: string, filters: Filters = {}) {
  const cut = openCut(path, filters)
  try {
    const total = cut.total()
    const batches = batchesOf(cut)
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
  [{ statuses: ['OPEN', "D' OR 1"], since: 2 }, ['b'], null],
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
  for (const keyRange of cut.keyRanges(100_000)) {
    for (const batch of cut.batches(keyRange)) ids.push(...batch.map((row) => row[ID]))
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

test('a key range ends where too many rows were passed over, so that no statement goes through a whole mirror', () => {
  const rows = ordinaryRows(6_000).map((row, i) => (i === 5_500 ? { ...row, system_status: 'RARE' } : row))
  const cut = openCut(makeMirror(...rows).path, { statuses: ['RARE'] })
  onTestFinished(() => cut.close())
  const found = [...cut.keyRanges(10_000)].map((keyRange) => [...cut.batches(keyRange)].flat().length)
  expect(found.length).toBeGreaterThan(3)
  expect(found.length).toBeLessThan(30)
  expect(found.reduce((sum, count) => sum + count, 0)).toBe(1)
})

/** Ties, no moments at all, some before the first date there is, tombstones, two statuses. */
const moments = [null, null, null, -62_135_596_800_001n, 1_700_000_000_000n, 1_700_000_000_000n]
const oddRows = Array.from({ length: 1_000 }, (_, i) => ({
  id: `task-${1_000 - i}`,
  created_at: i < 6 ? moments[i]! : 1_700_000_000_000n + BigInt(Math.floor(i / 3)) * 3_600_000n,
  system_status: i % 3 === 0 ? 'FAILED' : 'DONE',
  result_body: 'x'.repeat(200),
  deleted_at: i % 50 === 0 ? 1 : null,
  change_seq: i + 1,
}))
const odd = fillMirror(...oddRows)
afterAll(odd.remove)

test.each<Filters>([
  {},
  { includeDeleted: true },
  { statuses: ['FAILED'] },
  { sinceSeq: 800, includeDeleted: true },
  { sinceSeq: 800, since: 1_700_000_000_000, statuses: ['DONE'] },
  { sinceSeq: 100, statuses: ['DONE'] },
  { since: 1_700_000_000_000, until: 1_700_900_000_000, statuses: ['DONE'] },
])('%o: key ranges bring every wanted row once, in order, and none brings rows of two files', (filters) => {
  const { since = null, until = null, statuses, includeDeleted, sinceSeq } = filters
  const least = -(2n ** 63n)
  const expected = oddRows
    .filter((row) => includeDeleted || row.deleted_at === null)
    .filter((row) => !statuses || statuses.includes(row.system_status))
    .filter((row) => row.change_seq > (sinceSeq ?? 0))
    .filter(({ created_at: at }) => since === null || (at !== null && at >= since))
    .filter(({ created_at: at }) => until === null || (at !== null && at < until))
    .sort((a, b) => Number((a.created_at ?? least) - (b.created_at ?? least)) || (a.id < b.id ? -1 : 1))
  const cut = openCut(odd.path, filters)
  onTestFinished(() => cut.close())
  for (const partitionBy of ['none', 'day'] as const) {
    for (const rowsPerFile of [null, 17, 70]) {
      const found = [...cut.keyRanges(10_000, { partitionBy, rowsPerFile })].map((some) =>
        [...cut.batches(some)].flat(),
      )
      expect(found.flat().map((row) => row[ID])).toEqual(expected.map(({ id }) => id))
      expect(found.length).toBeGreaterThan(3)

      const most = rowsPerFile ?? Number.POSITIVE_INFINITY
      const folderOf = (row: RawRow) => partitionOf(row[CREATED_AT] as bigint | null, partitionBy).folder
      let file = { folder: '', rows: most }
      for (const rows of found.filter((some) => some.length > 0)) {
        const [folder, ...others] = new Set(rows.map(folderOf))
        expect(others).toEqual([])
        // A file is full, to the row, before the next one of its folder begins.
        if (folder !== file.folder || file.rows === most) file = { folder: folder!, rows: 0 }
        file.rows += rows.length
        expect(file.rows).toBeLessThanOrEqual(most)
      }
    }
  }
})

test('the verdict is that of the last full walk that ended', () => {
  const mirror = makeMirror()
  const walk = mirror.db.prepare(
    'INSERT INTO walks (run_id, kind, verdict, max_seq_at_start, started_at, updated_at, finished_at) VALUES (1, ?, ?, 0, 0, 0, ?)',
  )
  const verdict = () => {
    const cut = openCut(mirror.path, {})
    cut.close()
    return [cut.lastFullWalk?.verdict ?? null, cut.lastFullWalk?.finishedAt ?? null]
  }
  expect(verdict()).toEqual([null, null])
  walk.run('full', 'complete', 10n)
  walk.run('head', 'complete', 20n)
  walk.run('full', null, null)
  expect(verdict()).toEqual(['complete', 10])
  walk.run('full', 'partial', 30n)
  expect(verdict()).toEqual(['partial', 30])
})
