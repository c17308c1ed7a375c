import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import type { ExportOptions } from '../../src/export/options.ts'
import { FolderStore } from '../../src/export/publish/folder.ts'
import type { Manifest } from '../../src/export/publish/manifest.ts'
import fc from '../support/fc.ts'
import { SOAK } from '../support/soak.ts'
import { duck } from './duck.ts'
import { type FilledMirror, makeMirror, ordinaryRows } from './mirror.ts'
import { arrayBuffer, parquetRows, publishing, stored } from './publishing.ts'

const manifestOf = (path: string | null) => JSON.parse(readFileSync(path!, 'utf8')) as Manifest
const inLake = (mirror: FilledMirror) => readdirSync(join(mirror.folder, 'lake')).sort()

/** Every row gets its next `change_seq`, as the sync gives it. */
function change(mirror: FilledMirror, set: string, where: string): void {
  const ids = mirror.db.prepare(`SELECT id FROM tasks WHERE ${where}`).pluck().all() as string[]
  const update = mirror.db.prepare(
    `UPDATE tasks SET ${set}, change_seq = (SELECT max(change_seq) + 1 FROM tasks) WHERE id = ?`,
  )
  for (const id of ids) update.run(id)
}

type Row = Record<string, unknown>

async function rowsOf(path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const { path: name } of manifestOf(join(path, '_manifest.json')).files) {
    rows.push(...(await parquetRows(arrayBuffer(readFileSync(join(path, name))))))
  }
  return rows
}

test('last carries on from the publication before, tombstones included', async () => {
  const mirror = makeMirror(...ordinaryRows(10))
  const full = await publishing(mirror)
  change(mirror, 'deleted_at = 7', "id = 'task-00000003'")
  mirror.insert({ ...ordinaryRows(1, 50)[0]!, change_seq: 12 })
  const first = await publishing(mirror, { changes: 'last' })
  expect(first).toMatchObject({ kind: 'changes', sinceSeq: 10, cut: 12, rows: 2, recorded: true })
  expect(manifestOf(first.manifest)).toMatchObject({ kind: 'changes', sinceSeq: 10, buildsOn: full.snapshotId })
  expect((await rowsOf(first.path)).map((row) => [row.id, row.deleted_at])).toEqual([
    ['task-00000003', 7n],
    ['task-00000050', null],
  ])
  const second = await publishing(mirror, { changes: 'last' })
  expect(second).toMatchObject({ sinceSeq: 12, rows: 0, files: 1 })
  expect(manifestOf(second.manifest).buildsOn).toBe(first.snapshotId)
  const latest = JSON.parse(readFileSync(join(mirror.folder, 'lake/latest.json'), 'utf8'))
  expect([latest.full.snapshotId, latest.changes.snapshotId]).toEqual([full.snapshotId, second.snapshotId])
  expect(mirror.db.prepare('SELECT since_seq FROM snapshots ORDER BY id').pluck().all()).toEqual([null, 10, 12])
})

test('without a publication before, everything counts as changed', async () => {
  const mirror = makeMirror(...ordinaryRows(3), { id: 'gone', deleted_at: 1 })
  expect(await publishing(mirror, { changes: 'last' })).toMatchObject({ sinceSeq: 0, rows: 4 })
})

test('a number says since when, and what lies below it stays: it goes on from the last that goes as far', async () => {
  const mirror = makeMirror(...ordinaryRows(10))
  let now = 1_790_000_000_000
  const next = (more: Partial<ExportOptions>) => publishing(mirror, { now: () => (now += 1_000), keep: 1, ...more })
  const full = await next({})
  change(mirror, "system_status = 'X'", "id < 'task-00000002'")
  const last = await next({ changes: 'last' })
  const feed = await next({ changes: 11 })
  expect(feed).toMatchObject({ sinceSeq: 11, rows: 1, removed: [] })
  expect(manifestOf(feed.manifest).buildsOn).toBe(last.snapshotId)
  expect(inLake(mirror)).toEqual([full, last, feed].map((one) => one.snapshotId).concat('latest.json'))
  // Below 0 is nothing.
  expect(manifestOf((await next({ changes: 0 })).manifest).buildsOn).toBeNull()
})

test('a number that no publication of its kind goes as far as is refused, whatever others do', async () => {
  const mirror = makeMirror(...ordinaryRows(4))
  await publishing(mirror)
  const other = (changes: number) => publishing(mirror, { changes, format: 'ndjson' })
  await expect(other(3)).rejects.toMatchObject({ code: 'usage-invalid', facts: { sinceSeq: 3 } })
  const whole = await other(0)
  expect(manifestOf((await other(3)).manifest).buildsOn).toBe(whole.snapshotId)
})

test('a number behind what was published there is refused: what lies between would be nowhere', async () => {
  const mirror = makeMirror(...ordinaryRows(4))
  await publishing(mirror)
  change(mirror, "system_status = 'X'", "id < 'task-00000003'")
  await expect(publishing(mirror, { changes: 6 })).rejects.toMatchObject({ code: 'usage-invalid' })
  expect(await publishing(mirror, { changes: 'last' })).toMatchObject({ sinceSeq: 4, rows: 3 })
  change(mirror, "system_status = 'Y'", "id = 'task-00000003'")
  expect(await publishing(mirror, { changes: 7 })).toMatchObject({ rows: 1 })
})

test.each<[string, Partial<ExportOptions>]>([
  ['other filters', { filters: { statuses: ['DONE'] } }],
  ['other redaction', { redact: ['cookie'] }],
  ['another format', { format: 'ndjson' }],
  ['other columns', { columns: ['id', 'deleted_at', 'change_seq'] }],
])('a publication with %s is none to carry on from', async (_, more) => {
  const mirror = makeMirror(...ordinaryRows(4))
  await publishing(mirror)
  expect(await publishing(mirror, { changes: 'last', ...more })).toMatchObject({ sinceSeq: 0, rows: 4 })
  expect(await publishing(mirror, { changes: 'last', ...more })).toMatchObject({ sinceSeq: 4, rows: 0 })
})

test('a destination that was emptied is filled again from the start', async () => {
  const mirror = makeMirror(...ordinaryRows(4))
  await publishing(mirror)
  rmSync(join(mirror.folder, 'lake'), { recursive: true })
  expect(await publishing(mirror, { changes: 'last' })).toMatchObject({ sinceSeq: 0, rows: 4 })
})

test.each([
  ['the first of three feeds', [{ changes: 'last' as const }], 0, 0],
  ['the second of three feeds', [{ changes: 'last' as const }], 1, 10],
  ['the full snapshot before two feeds', [{}], 0, 0],
])('where somebody has removed %s, the next one holds its changes again', async (_, first, gone, from) => {
  const mirror = makeMirror(...ordinaryRows(10))
  for (const step of [...first, { changes: 'last' as const }, { changes: 'last' as const }]) {
    await publishing(mirror, step)
    change(mirror, "data_body = data_body || 'x'", 'seq = 3')
  }
  rmSync(join(mirror.folder, 'lake', inLake(mirror)[gone]!), { recursive: true })
  const again = await publishing(mirror, { changes: 'last' })
  expect(again).toMatchObject({ sinceSeq: from })
  expect(await publishing(mirror, { changes: 'last' })).toMatchObject({ sinceSeq: again.cut })
  expect([...(await togetherIn(mirror)).values()].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))).toEqual(
    stored(mirror, 'id'),
  )
})

test('a publication whose row was dropped, as old ones are, is not gone: the next feed goes on from the last one', async () => {
  const mirror = makeMirror(...ordinaryRows(10))
  const ids = []
  for (const step of [{}, { changes: 'last' as const }, { changes: 'last' as const }]) {
    ids.push((await publishing(mirror, step)).snapshotId)
    change(mirror, "data_body = data_body || 'x'", 'seq = 3')
  }
  mirror.db.prepare('DELETE FROM snapshots WHERE id = ?').run(ids[1])
  expect(await publishing(mirror, { changes: 'last' })).toMatchObject({ sinceSeq: 12 })
})

test('a mirror older than what was published is refused: its numbers mean other changes', async () => {
  const mirror = makeMirror(...ordinaryRows(4))
  await publishing(mirror)
  mirror.db.exec('UPDATE tasks SET change_seq = change_seq - 2')
  await expect(publishing(mirror, { changes: 'last' })).rejects.toMatchObject({ code: 'mirror-foreign' })
  await expect(publishing(mirror)).rejects.toMatchObject({ code: 'mirror-foreign' })
})

test('a mirror made anew that has as many changes is refused: readers would take its tasks together with those of the old one', async () => {
  const mirror = makeMirror(...ordinaryRows(4))
  const anew = makeMirror(...ordinaryRows(4, 2))
  const out = join(mirror.folder, 'lake/')
  const { snapshotId } = await publishing(mirror)
  anew.db.prepare('UPDATE tasks SET changed_at = ? WHERE change_seq = 4').run(Date.now() + 1)
  for (const changes of [undefined, 'last', 0] as const)
    await expect(publishing(anew, { out, ...(changes !== undefined && { changes }) })).rejects.toMatchObject({
      code: 'mirror-foreign',
      facts: { snapshotId },
    })
  change(anew, "system_status = 'X'", "id = 'task-00000003'")
  await publishing(anew, { out })
  expect([...(await togetherIn(mirror)).keys()].sort()).toEqual(stored(anew, 'id').map((row) => row.id))
})

test.each<[string, (mirror: FilledMirror, last: string) => void]>([
  ['the mirror does not know', ({ db }, last) => db.prepare('DELETE FROM snapshots WHERE id = ?').run(last)],
  ['was removed', ({ folder }, last) => rmSync(join(folder, 'lake', last), { recursive: true })],
])('changes do not go on from a publication that %s: a full snapshot has to come first', async (_, happen) => {
  const mirror = makeMirror(...ordinaryRows(4))
  await publishing(mirror)
  change(mirror, "system_status = 'X'", "id = 'task-00000001'")
  const { snapshotId } = await publishing(mirror, { changes: 'last' })
  happen(mirror, snapshotId)
  // As many changes again: its numbers are no lower than those that were published.
  change(mirror, "system_status = 'Y'", "id IN ('task-00000001', 'task-00000002')")
  for (const changes of ['last', 4] as const)
    await expect(publishing(mirror, { changes })).rejects.toMatchObject({
      code: 'mirror-foreign',
      facts: { snapshotId },
    })
  await publishing(mirror)
  change(mirror, "system_status = 'Z'", "id = 'task-00000003'")
  expect(await publishing(mirror, { changes: 'last' })).toMatchObject({ rows: 1 })
})

test.each([
  ['feed', { changes: 'last' as const }],
  ['full snapshot', {}],
])(
  'latest.json names no %s that the mirror does not know: whatever moment a kill comes at, feeds go on',
  async (kind, more) => {
    const mirror = makeMirror(...ordinaryRows(2))
    await publishing(mirror)
    const latest = () => readFileSync(join(mirror.folder, 'lake/latest.json'), 'utf8')
    const before = latest()
    mirror.db.exec('BEGIN IMMEDIATE')
    const running = publishing(mirror, { ...more, busyTimeoutMs: 20_000 })
    await vi.waitFor(() => expect(inLake(mirror).length).toBe(3), 10_000)
    // It stands there, and waits for the mirror to take its row.
    await setTimeout(100)
    expect(latest()).toBe(before)
    mirror.db.exec('ROLLBACK')
    const { snapshotId } = await running
    expect(JSON.parse(latest())[kind === 'feed' ? 'changes' : 'full'].snapshotId).toBe(snapshotId)
  },
)

/** Publishes, and does `meanwhile` between its reading of the mirror and its files. */
async function publishingSlowly(mirror: FilledMirror, more: Partial<ExportOptions>, meanwhile: () => Promise<unknown>) {
  const { makeReady } = FolderStore.prototype
  vi.spyOn(FolderStore.prototype, 'makeReady').mockImplementationOnce(async function (this: FolderStore, now) {
    await meanwhile()
    await makeReady.call(this, now)
  })
  return publishing(mirror, more)
}

const FEED = { changes: 'last' } as const

test.each<[string, { slow: Partial<ExportOptions>; quick: Partial<ExportOptions>; named: string[]; next: string }]>([
  ['a full one that feeds overtake', { slow: {}, quick: FEED, named: ['slow', 'quick'], next: 'slow' }],
  ['a full one that has another filter', { slow: { redact: ['x'] }, quick: FEED, named: ['slow'], next: 'slow' }],
  ['a full one that another overtakes', { slow: {}, quick: {}, named: ['quick'], next: 'quick' }],
  ['a feed that a full one overtakes', { slow: FEED, quick: {}, named: ['quick'], next: 'quick' }],
  ['a feed that another overtakes', { slow: FEED, quick: FEED, named: ['first', 'quick'], next: 'quick' }],
])('latest.json is not taken back to fewer changes by %s', async (_, { slow, quick, named, next }) => {
  const mirror = makeMirror(...ordinaryRows(4))
  const ids: Record<string, string> = { first: (await publishing(mirror)).snapshotId }
  change(mirror, "system_status = 'X'", "id = 'task-00000001'")
  const slowly = await publishingSlowly(mirror, slow, async () => {
    change(mirror, 'deleted_at = 7', "id = 'task-00000001'")
    ids.quick = (await publishing(mirror, quick)).snapshotId
  })
  ids.slow = slowly.snapshotId
  const { full, changes } = JSON.parse(readFileSync(join(mirror.folder, 'lake/latest.json'), 'utf8'))
  const [wantedFull, wantedChanges] = named.map((name) => ids[name])
  expect([full.snapshotId, changes?.snapshotId]).toEqual([wantedFull, wantedChanges])
  change(mirror, "system_status = 'Y'", "id = 'task-00000002'")
  const feed = await publishing(mirror, { ...FEED, ...(slow.redact && { redact: slow.redact }) })
  expect(manifestOf(feed.manifest).buildsOn).toBe(ids[next])
})

test('no feed goes on from a full snapshot that latest.json does not name: what was deleted before it would come back', async () => {
  const mirror = makeMirror(...ordinaryRows(5))
  const full = await publishing(mirror)
  change(mirror, 'deleted_at = 7', "id = 'task-00000003'")
  // It stays: a kill in between, or a folder in which names can be added and neither be replaced nor removed.
  for (const name of ['update', 'remove'] as const)
    vi.spyOn(FolderStore.prototype, name).mockRejectedValueOnce(new Error('not now'))
  await expect(publishing(mirror)).rejects.toThrow('is published, but latest.json may not name it')
  expect(inLake(mirror)).toHaveLength(3)
  const feed = await publishing(mirror, { changes: 'last' })
  expect(feed).toMatchObject({ sinceSeq: 5, rows: 1 })
  expect(manifestOf(feed.manifest).buildsOn).toBe(full.snapshotId)
})

test('a full snapshot is named also where the mirror does not take its row, without which feeds are refused, and that is said', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  mirror.db.exec('BEGIN IMMEDIATE')
  const { snapshotId, notRecorded } = await publishing(mirror, { busyTimeoutMs: 100 })
  mirror.db.exec('ROLLBACK')
  expect(notRecorded).toMatch(/no row about it \(.*locked.*\): feeds are refused there until the next full snapshot$/)
  expect(JSON.parse(readFileSync(join(mirror.folder, 'lake/latest.json'), 'utf8')).full.snapshotId).toBe(snapshotId)
  await expect(publishing(mirror, { changes: 'last' })).rejects.toMatchObject({ code: 'mirror-foreign' })
  // The next one may be of the same changes.
  await publishing(mirror)
  expect(await publishing(mirror, { changes: 'last' })).toMatchObject({ sinceSeq: 2, rows: 0 })
})

test('a feed without a row is not named: the next one holds the same changes, and that is said', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  await publishing(mirror)
  const before = readFileSync(join(mirror.folder, 'lake/latest.json'), 'utf8')
  change(mirror, "system_status = 'X'", "id = 'task-00000001'")
  mirror.db.exec('BEGIN IMMEDIATE')
  const { notRecorded } = await publishing(mirror, { changes: 'last', busyTimeoutMs: 100 })
  const out = join(mirror.folder, 'a.csv')
  const alone = await publishing(mirror, { out, changes: 'last', busyTimeoutMs: 100 })
  mirror.db.exec('ROLLBACK')
  expect(notRecorded).toMatch(/ \(.*locked.*\) and latest.json does not name it: the next feed holds the same changes$/)
  expect(alone.notRecorded).toMatch(/ \(.*locked.*\): the next feed holds the same changes$/)
  expect(readFileSync(join(mirror.folder, 'lake/latest.json'), 'utf8')).toBe(before)
  expect(await publishing(mirror, { changes: 'last' })).toMatchObject({ sinceSeq: 2, rows: 1 })
})

test('a feed that is taken away, because latest.json could not name it, leaves no row', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  const { snapshotId } = await publishing(mirror)
  const rows = () => mirror.db.prepare('SELECT id FROM snapshots').pluck().all()
  vi.spyOn(FolderStore.prototype, 'update').mockRejectedValueOnce(new Error('not now'))
  await expect(publishing(mirror, { changes: 'last' })).rejects.toThrow('not now')
  expect([inLake(mirror), rows()]).toEqual([[snapshotId, 'latest.json'], [snapshotId]])
})

test('a feed as one file carries on from the file before of the same name', async () => {
  const mirror = makeMirror(...ordinaryRows(4))
  const out = join(mirror.folder, 'changes.ndjson.gz')
  expect(await publishing(mirror, { out, changes: 'last' })).toMatchObject({ rows: 4, sinceSeq: 0 })
  change(mirror, "system_status = 'X'", "id = 'task-00000001'")
  rmSync(out)
  expect(await publishing(mirror, { out, changes: 'last' })).toMatchObject({ rows: 1, sinceSeq: 4, cut: 5 })
  // Without `_mirror` nobody could tell a tombstone or which of two is newer.
  expect(JSON.parse(gunzipSync(readFileSync(out)).toString())).toMatchObject({
    id: 'task-00000001',
    _mirror: { changeSeq: 5, deletedAt: null },
  })
})

test('keep lets nothing go that a kept feed builds on', async () => {
  const mirror = makeMirror(...ordinaryRows(2))
  let now = 1_790_000_000_000
  const more = { now: () => (now += 1_000), keep: 1 }
  const full = await publishing(mirror, more)
  const feeds = [
    await publishing(mirror, { ...more, changes: 'last' }),
    await publishing(mirror, { ...more, changes: 'last' }),
  ]
  expect(inLake(mirror)).toEqual([full.snapshotId, ...feeds.map((feed) => feed.snapshotId), 'latest.json'])
  const next = await publishing(mirror, more)
  expect(inLake(mirror)).toEqual([next.snapshotId, 'latest.json'])
  expect(next.removed).toHaveLength(3)
})

test.each<[string, (mirror: FilledMirror, last: string) => void]>([
  ['--keep', () => {}],
  ['somebody', ({ folder }, last) => rmSync(join(folder, 'lake', last), { recursive: true })],
])('feeds of two kinds in one folder: whatever %s removes, each kind together is the mirror', async (_, happen) => {
  const mirror = makeMirror(...ordinaryRows(4))
  let now = 1_790_000_000_000
  const next = (more: Partial<ExportOptions>) => publishing(mirror, { now: () => (now += 1_000), keep: 1, ...more })
  const changed = (n: number) => change(mirror, "system_status = 'X'", `id = 'task-0000000${n}'`)
  await next({})
  changed(1)
  const { snapshotId } = await next({ changes: 'last' })
  for (const n of [2, 3]) {
    changed(n)
    await next({ changes: 'last', format: 'ndjson' })
  }
  happen(mirror, snapshotId)
  await next({ changes: 'last' })
  const newest = new Map<unknown, Row>()
  for (const id of inLake(mirror).slice(0, -1)) {
    const path = join(mirror.folder, 'lake', id)
    if (manifestOf(join(path, '_manifest.json')).format !== 'parquet') continue
    for (const row of await rowsOf(path)) newest.set(row.id, row)
  }
  expect([...newest.values()].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))).toEqual(stored(mirror, 'id'))
})

test('few changes of a large mirror are looked up, many are read through: the rows are the same', async () => {
  const mirror = makeMirror(...ordinaryRows(3_000))
  for (const [share, expected] of [
    ["id < 'task-00000100'", 100],
    ["id >= 'task-00000500'", 2_500],
  ] as const) {
    const before = mirror.db.prepare('SELECT max(change_seq) FROM tasks').pluck().get() as number
    change(mirror, "data_body = 'x'", share)
    const { path, rows } = await publishing(mirror, { changes: before })
    expect(rows).toBe(expected)
    const moments = (await rowsOf(path)).map((row) => row.created_at as bigint)
    expect(moments).toEqual([...moments].sort((a, b) => (a < b ? -1 : 1)))
  }
})

/** What a session of the mirror may bring: new tasks, changed ones, deleted ones, restored ones. */
const step = fc.record({
  insert: fc.nat(3),
  change: fc.array(fc.nat(40), { maxLength: 4 }),
  remove: fc.array(fc.nat(40), { maxLength: 3 }),
  restore: fc.array(fc.nat(40), { maxLength: 2 }),
  partitionBy: fc.constantFrom('none' as const, 'month' as const, 'day' as const),
})

test('a full snapshot with tombstones and all later feeds in order are exactly the mirror', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      const mirror = makeMirror(
        ...ordinaryRows(20).map((row, i) => ({ ...row, created_at: 1_790_000_000_000 + i * 9e7 })),
      )
      const state = new Map<unknown, Row>()
      const full = await publishing(mirror, { filters: { includeDeleted: true } })
      for (const row of await rowsOf(full.path)) state.set(row.id, row)
      let added = 100
      for (const { insert, change: changed, remove, restore, partitionBy } of steps) {
        const cut = mirror.db.prepare('SELECT max(change_seq) FROM tasks').pluck().get() as number
        mirror.insert(...ordinaryRows(insert, added).map((row, i) => ({ ...row, change_seq: cut + 1 + i })))
        added += insert
        for (const n of changed) change(mirror, `data_body = 'b${n}', created_at = created_at + ${n}`, `seq = ${n}`)
        for (const n of remove) change(mirror, `deleted_at = ${n + 1}`, `seq = ${n}`)
        for (const n of restore) change(mirror, 'deleted_at = NULL', `seq = ${n}`)
        const feed = await publishing(mirror, { changes: 'last', partitionBy })
        for (const row of await rowsOf(feed.path)) state.set(row.id, row)
      }
      const byId = [...state.values()].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
      expect(byId).toEqual(stored(mirror, 'id'))
      // The same without any order of files, as one view in SQL: the highest change_seq of an id wins.
      const view = `SELECT * FROM read_parquet('${mirror.folder}/lake/[0-9]*/**/*.parquet', hive_partitioning = false)
        QUALIFY row_number() OVER (PARTITION BY id ORDER BY change_seq DESC) = 1`
      const current = await duck(`SELECT id, change_seq FROM (${view}) WHERE deleted_at IS NULL ORDER BY id`)
      expect(current).toEqual(
        stored(mirror, 'id')
          .filter((row) => row.deleted_at === null)
          .map((row) => [row.id, String(row.change_seq)]),
      )
    }),
    { numRuns: SOAK ? 100 : 5 },
  )
})

test('bounds that move on, as --since 7d does, carry on from what they were before; wider ones do not', async () => {
  const mirror = makeMirror(...ordinaryRows(10))
  const moments = mirror.db.prepare('SELECT created_at FROM tasks ORDER BY created_at').pluck().all() as number[]
  const feed = (since: number, until: number | null = null) =>
    publishing(mirror, { changes: 'last', filters: { since, until } })
  const first = await feed(moments[2]!)
  expect(first).toMatchObject({ sinceSeq: 0, rows: 8 })
  change(mirror, "accuracy = 'DAY'", `created_at IN (${moments[3]}, ${moments[5]})`)
  const later = await feed(moments[4]!)
  expect(later).toMatchObject({ sinceSeq: 10, rows: 1 })
  expect(manifestOf(later.manifest).buildsOn).toBe(first.snapshotId)
  // What has come within it is in none before.
  expect(await feed(moments[1]!)).toMatchObject({ sinceSeq: 0, rows: 9 })
  expect(await feed(moments[1]!, moments[8]!)).toMatchObject({ sinceSeq: 12, rows: 0 })
  expect(await feed(moments[5]!, moments[8]! - 1)).toMatchObject({ sinceSeq: 12, rows: 0 })
})

test('bounds of which the later end moves on carry on from nothing: tasks come within them that have not changed', async () => {
  const mirror = makeMirror(...ordinaryRows(10))
  const moments = mirror.db.prepare('SELECT created_at FROM tasks ORDER BY created_at').pluck().all() as number[]
  const until = (bound: number) => publishing(mirror, { changes: 'last', filters: { until: bound } })
  expect(await until(moments[4]!)).toMatchObject({ sinceSeq: 0, rows: 4 })
  expect(await until(moments[6]!)).toMatchObject({ sinceSeq: 0, rows: 6 })
  expect(await publishing(mirror, { changes: 'last' })).toMatchObject({ sinceSeq: 0, rows: 10 })
})

/** What `docs/scale.md` says readers take together: the newest full snapshot, and what was published with later changes. */
async function togetherIn(mirror: FilledMirror): Promise<Map<unknown, Row>> {
  const lake = join(mirror.folder, 'lake')
  const { full } = JSON.parse(readFileSync(join(lake, 'latest.json'), 'utf8'))
  const newest = new Map<unknown, Row>()
  for (const id of inLake(mirror).slice(0, -1)) {
    if (Number(/Z-(\d+)-/.exec(id)![1]) < (full?.cut ?? 0)) continue
    for (const row of await rowsOf(join(lake, id)))
      if (!((newest.get(row.id)?.change_seq as bigint) > (row.change_seq as bigint))) newest.set(row.id, row)
  }
  return newest
}

const since = (nth: number) => ({ since: 1_700_000_000_000 + nth * 1_000 })
const CHANGE = null
test.each<[string, (Partial<ExportOptions> | null)[], number]>([
  ['feeds before it', [{ filters: since(4) }, { changes: 'last' }, CHANGE, { filters: since(4) }], 0],
  [
    'one of as many changes',
    [{ filters: since(4) }, { changes: 'last' }, CHANGE, { changes: 'last' }, { filters: since(4) }],
    0,
  ],
  ['full ones with more', [{ filters: since(4) }, CHANGE, { filters: since(6) }], 5],
])(
  'a feed with more than the newest full snapshot does not go on from %s, which readers leave out',
  async (_, steps, from) => {
    const mirror = makeMirror(...ordinaryRows(10))
    const filters = since(from)
    for (const step of [...steps, CHANGE, { changes: 'last' as const, filters }]) {
      if (step === CHANGE) change(mirror, "data_body = data_body || 'x'", "id = 'task-00000007'")
      else await publishing(mirror, step)
    }
    const wanted = stored(mirror, 'id').filter((row) => (row.created_at as bigint) >= filters.since)
    const together = await togetherIn(mirror)
    expect(wanted.map((row) => together.get(row.id))).toEqual(wanted)
  },
)

const ONE_STATUS = { filters: { statuses: ['DONE'] } }
const SOME_COLUMNS = { columns: ['id', 'created_at'] }
test.each<[string, Partial<ExportOptions>, Partial<ExportOptions>, string | null]>([
  ['other statuses', {}, ONE_STATUS, '--status'],
  ['fewer columns', {}, SOME_COLUMNS, '--columns'],
  ['a column less', SOME_COLUMNS, { columns: ['id'] }, '--columns'],
  ['bounds', {}, { filters: { since: 1, until: 2 } }, '--since, --until'],
  ['another format', {}, { format: 'ndjson' }, '--format ndjson'],
  ['another format and no partitions', { partitionBy: 'month' }, { format: 'ndjson' }, '--format ndjson'],
  ['other partitions', { partitionBy: 'month' }, { partitionBy: 'day' }, '--partition-by day, not month'],
  ['no partitions', { partitionBy: 'month' }, {}, '--partition-by none, not month'],
  ['the same partitions', { partitionBy: 'month' }, { partitionBy: 'month' }, null],
  ['changes in other partitions', { partitionBy: 'month' }, FEED, null],
  ['partitions, where it has none', {}, { partitionBy: 'month' }, null],
  ['other partitions than feeds before it', { ...FEED, partitionBy: 'month' }, {}, null],
  ['all tasks, where it has some', ONE_STATUS, {}, null],
  ['all columns, where it has some', SOME_COLUMNS, {}, null],
  ['the same statuses', ONE_STATUS, ONE_STATUS, null],
  ['later bounds', { filters: { since: 1 } }, { filters: { since: 2 } }, null],
  ['other redaction', {}, { redact: ['cookie'] }, null],
  ['fewer statuses than feeds before it', FEED, ONE_STATUS, '--status'],
  ['another format than feeds before it', FEED, { format: 'ndjson' }, '--format ndjson'],
  ['the statuses of feeds before it', { ...FEED, ...ONE_STATUS }, ONE_STATUS, null],
  ['changes of some', {}, { ...FEED, ...ONE_STATUS }, null],
  ['changes in another format', {}, { ...FEED, format: 'ndjson' }, null],
])(
  'a full snapshot is not taken over by one with %s, which readers of latest.json would not notice',
  async (_, one, other, narrower) => {
    const mirror = makeMirror(...ordinaryRows(4))
    const { snapshotId } = await publishing(mirror, one)
    const next = publishing(mirror, other)
    if (narrower === null) return void (await next)
    const asLast = [
      ...(/^--format/.test(narrower) ? ['--format parquet'] : []),
      ...(one.partitionBy === undefined ? [] : ['--partition-by month']),
    ].join(' and ')
    await expect(next).rejects.toMatchObject({
      code: 'usage-invalid',
      message: expect.stringMatching(`^${narrower}: the last (full snapshot|feed) in .* (holds more|is parquet), `),
      hint: expect.stringMatching(asLast === '' ? /^Publish it into / : `^Give ${asLast}, or publish it into `),
      facts: { snapshotId },
    })
    expect(inLake(mirror)).toEqual([snapshotId, 'latest.json'])
    // Of what an earlier version published nobody knows.
    const path = join(mirror.folder, 'lake/latest.json')
    const latest = JSON.parse(readFileSync(path, 'utf8'))
    for (const entry of [latest.full, latest.changes])
      for (const name of ['filters', 'format', 'partitionBy']) delete entry?.[name]
    writeFileSync(path, JSON.stringify(latest))
    await publishing(mirror, other)
  },
)
