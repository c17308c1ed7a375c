import { expect, test } from 'vitest'
import { openWriter } from '../../src/mirror/open.ts'
import { setAsideTable } from '../../src/mirror/tables/set-aside.ts'
import { makeScratch } from '../support/scratch.ts'

const UNREADABLE = { source: 'list', taskId: null, reason: 'unreadable', message: 'Status 500', raw: '' } as const

test('items of which nothing could be read fill the store as well, in this run and the next', () => {
  using scratch = makeScratch()
  const db = openWriter(scratch.path('m.sqlite'), { busyTimeoutMs: 0, fileMode: 0o600 })
  // Ten times what an item without raw text takes, and half of one.
  const most = 10.5 * (200 + UNREADABLE.message.length)
  const add = (table: ReturnType<typeof setAsideTable>, skip: number) =>
    db.transaction(() => table.add({ ...UNREADABLE, skip, identity: `at ${skip}` }, 1, 1))()
  const table = setAsideTable(db, most)
  for (let skip = 0; skip < 10; skip += 1) expect(add(table, skip)).toBe(true)
  for (const full of [table, setAsideTable(db, most)]) expect(() => add(full, 10)).toThrow('store is full')
  // What is there already takes no more.
  expect(add(setAsideTable(db, most), 9)).toBe(false)
  db.close()
})
