// Windows that share a transaction: when others see them, and what is taken back when something fails.
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BY_ITSELF, Commits, type Gathering } from '../../src/mirror/commits.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'

let scratch: Scratch
let db: Database.Database
let reader: Database.Database
let rollbacks: number
let beforeCommit: () => void

beforeEach(() => {
  scratch = makeScratch()
  const path = scratch.path('kept.sqlite')
  db = new Database(path)
  db.pragma('journal_mode = WAL')
  db.exec('CREATE TABLE kept (n INTEGER CHECK (n < 100))')
  reader = new Database(path, { readonly: true })
  rollbacks = 0
  beforeCommit = () => {}
})
afterEach(() => {
  reader.close()
  db.close()
  scratch[Symbol.dispose]()
})

const seen = () => reader.prepare('SELECT count(*) FROM kept').pluck().get()
const add = (n: number) => () => void db.prepare('INSERT INTO kept VALUES (?)').run(n)
function commits(gathering: Gathering) {
  const made = new Commits(db, 'the mirror', gathering, {
    beforeCommit: () => beforeCommit(),
    onRollback: () => {
      rollbacks += 1
    },
  })
  return {
    count: () => made.count(),
    commit: <T>(work: () => T) => made.commit(work),
    gather: <T>(work: () => T) => made.gather(work),
    flush: () => made.flush(),
  }
}

test('the first piece is seen at once, then so many at a time', () => {
  const { gather, count } = commits({ pieces: 3, ms: Number.POSITIVE_INFINITY })
  const steps = [1, 2, 3, 4, 5, 6, 7].map((n) => {
    gather(add(n))
    return seen()
  })
  expect(steps).toEqual([1, 1, 1, 4, 4, 4, 7])
  expect(count()).toBe(7)
})

test('a commit ends what was gathered before it', () => {
  const { gather, commit } = commits({ pieces: 10, ms: Number.POSITIVE_INFINITY })
  gather(add(1))
  gather(add(2))
  commit(add(3))
  expect(seen()).toBe(3)
})

test('what was gathered is seen after a while, whether or not more comes', async () => {
  const { gather } = commits({ pieces: 10, ms: 1 })
  gather(add(1))
  gather(add(2))
  await expect.poll(seen).toBe(2)
})

test('a piece that fails takes back what was gathered with it, and nothing that was committed', () => {
  const { gather, commit } = commits({ pieces: 10, ms: Number.POSITIVE_INFINITY })
  gather(add(1))
  gather(add(2))
  expect(() => gather(add(100))).toThrow('CHECK')
  expect(rollbacks).toBe(1)
  commit(add(4))
  expect(reader.prepare('SELECT n FROM kept').pluck().all()).toEqual([1, 4])
})

test('a transaction that could not be ended in time is told by the next call', async () => {
  db.exec('CREATE TABLE parent (n INTEGER PRIMARY KEY)')
  db.exec('CREATE TABLE child (n INTEGER REFERENCES parent (n) DEFERRABLE INITIALLY DEFERRED)')
  db.pragma('foreign_keys = ON')
  const { gather, commit } = commits({ pieces: 10, ms: 1 })
  gather(add(1))
  gather(() => void db.exec('INSERT INTO child VALUES (7)'))
  await expect.poll(() => rollbacks).toBe(1)
  expect(() => commit(add(2))).toThrow('FOREIGN KEY')
  expect(() => gather(add(3))).not.toThrow()
})

test('what may not be committed is taken back, gathered or not', () => {
  const { gather, flush, commit } = commits({ pieces: 10, ms: Number.POSITIVE_INFINITY })
  gather(add(1))
  gather(add(2))
  beforeCommit = () => {
    throw new Error('not any more')
  }
  expect(flush).toThrow('not any more')
  expect(() => commit(add(3))).toThrow('not any more')
  expect([seen(), rollbacks]).toEqual([1, 2])
})

test('by itself means one transaction for each piece', () => {
  const { gather } = commits(BY_ITSELF)
  for (const n of [1, 2, 3]) {
    gather(add(n))
    expect(seen()).toBe(n)
  }
})

test('inside of a trial nothing is gathered, and everything is taken back with it', () => {
  const { gather } = commits({ pieces: 2, ms: Number.POSITIVE_INFINITY })
  db.exec('BEGIN IMMEDIATE')
  for (const n of [1, 2, 3, 4]) gather(add(n))
  expect(seen()).toBe(0)
  expect(db.inTransaction).toBe(true)
  db.exec('ROLLBACK')
  expect(seen()).toBe(0)
})
