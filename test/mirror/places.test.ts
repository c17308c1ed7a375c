// Where rows stand in a list by created_at, against counting them one by one.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Db } from '../../src/mirror/connect.ts'
import { compareRows, type ListedRow, placesOf, placeTable } from '../../src/mirror/tables/places.ts'
import { seeded } from '../../src/simulator/random.ts'

/** Rows with ties, tombstones, and some without created_at. */
function makeRows(count: number, seed: number) {
  const random = seeded(seed)
  const db = new Database(':memory:')
  db.exec(`CREATE TABLE tasks (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created_at INTEGER, deleted_at INTEGER);
    CREATE INDEX tasks_created_at ON tasks (created_at, id);
    CREATE INDEX tasks_deleted_at ON tasks (deleted_at) WHERE deleted_at IS NOT NULL`)
  const insert = db.prepare('INSERT INTO tasks (id, created_at, deleted_at) VALUES (?, ?, ?)')
  const live: ListedRow[] = []
  for (let nth = 0; nth < count; nth += 1) {
    const id = `${random.int(1e9)}-${nth}`
    const isDeleted = random.chance(0.1)
    // Tombstones between the moments of the others: among equal ones the order of both is not known.
    const createdAt = random.chance(0.02) ? null : random.int(count) * 2 + (isDeleted ? 1 : 0)
    insert.run(id, createdAt, isDeleted ? 1 : null)
    if (createdAt !== null && !isDeleted) live.push({ id, createdAt })
  }
  return { db: db as unknown as Db, places: placeTable(db as unknown as Db), live: live.sort(compareRows), random }
}

test('distances and indexes are those of the live rows, newest or oldest first', () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    const { places, live, random } = makeRows(400, seed)
    const wanted = live.filter(() => random.chance(0.1))
    const at = wanted.map((row) => live.indexOf(row))
    expect(places.indexes(wanted, false)).toEqual(at)
    expect(places.indexes(wanted, true)).toEqual(at.map((index) => live.length - 1 - index))
    expect(places.distances(wanted, 1_000)).toEqual(at.map((index) => index - (at[0] as number)))
  }
})

test('neighbours that are further apart than anybody asks count as that far apart', () => {
  const { places, live } = makeRows(1_000, 1)
  const wanted = [live[0], live[3], live[500], live[502]] as ListedRow[]
  expect(places.distances(wanted, 50)).toEqual([0, 3, 53, 55])
  expect(places.distances([], 50)).toEqual([])
  expect(places.indexes([], true)).toEqual([])
})

test('which live rows stand side by side is told whatever tombstones there are, and however often a row is asked for', () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    const { db, live, random } = makeRows(400, seed)
    // Among equal moments, too.
    db.exec('UPDATE tasks SET created_at = created_at - 1 WHERE deleted_at IS NOT NULL AND seq % 2 = 0')
    const seqOf = db.prepare('SELECT seq FROM tasks WHERE id = ?').pluck()
    const some = live.filter(() => random.chance(0.5)).flatMap((row) => (random.chance(0.1) ? [row, row] : row))
    const asked = some.map((row) => ({ row, by: random.int(1e9) })).sort((a, b) => a.by - b.by)
    const places = placesOf(
      db,
      asked.map(({ row }) => seqOf.get(row.id) as number),
    )
    const told = asked.map(({ row }, index) => ({ at: live.indexOf(row), place: places[index] as number }))
    told.sort((a, b) => a.at - b.at)
    const steps = told.slice(1).map(({ at, place }, nth) => {
      const last = told[nth] as (typeof told)[number]
      return { apart: Math.min(2, at - last.at), told: place - last.place }
    })
    expect(steps.filter(({ apart, told }) => apart !== told)).toEqual([])
  }
})

test('a row without createdAt stands beside no other', () => {
  const { db, live } = makeRows(400, 1)
  const undated = db.prepare('SELECT seq FROM tasks WHERE created_at IS NULL AND deleted_at IS NULL').pluck().all()
  const oldest = db.prepare('SELECT seq FROM tasks WHERE id = ?').pluck().get(live[0]?.id)
  const places = placesOf(db, [...(undated as number[]), oldest as number]).sort((a, b) => a - b)
  expect(places.length).toBeGreaterThan(2)
  expect(places.slice(1).map((place, nth) => place - (places[nth] as number))).toEqual(places.slice(1).map(() => 2))
})
