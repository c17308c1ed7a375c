// docs/schema.md is current, and describes every table, view and column there is.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { schemaDocument } from '../../build/schema-document.ts'
import { describeSchema } from '../../src/mirror/maintenance/describe-schema.ts'
import { openReader, openWriter } from '../../src/mirror/open.ts'
import { migrations } from '../../src/mirror/schema.ts'
import { makeScratch } from '../support/scratch.ts'

const sql = migrations().map((migration) => migration.sql)

test('docs/schema.md is current: npm run docs writes it', () => {
  const text = readFileSync(new URL('../../docs/schema.md', import.meta.url), 'utf8')
  expect(text).toBe(schemaDocument(sql))
})

test('every table, view and column of a mirror is described, and nothing else', () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  openWriter(path, { busyTimeoutMs: 1000, fileMode: 0o600 }).close()
  const db = openReader(path)
  const names = db
    .prepare("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all() as string[]
  const described = describeSchema(sql)
  expect(described.map(({ name }) => name).sort()).toEqual(names.sort())
  for (const { name, about, columns } of described) {
    expect(about, name).not.toBe('')
    // A view of all columns of a table says so in its own words.
    if (name === 'live_tasks') continue
    const actual = db.pragma(`table_info(${name})`) as { name: string }[]
    expect(
      columns.map((column) => column.name),
      name,
    ).toEqual(actual.map((column) => column.name))
    for (const column of columns) expect(column.about, `${name}.${column.name}`).not.toBe('')
  }
  db.close()
})

test('a column that a later migration adds is described by the comment behind it', () => {
  const described = describeSchema([
    '-- Things.\nCREATE TABLE things (\n  id INTEGER PRIMARY KEY, -- its number\n  a TEXT -- a | b\n) STRICT;',
    'ALTER TABLE things ADD COLUMN late INTEGER; -- came later\n',
  ])
  expect(described).toEqual([
    {
      kind: 'table',
      name: 'things',
      about: 'Things.',
      columns: [
        { name: 'id', type: 'INTEGER PRIMARY KEY', about: 'its number' },
        { name: 'a', type: 'TEXT', about: 'a | b' },
        { name: 'late', type: 'INTEGER', about: 'came later' },
      ],
    },
  ])
})

test('a column of a later migration is described whatever its comment holds', () => {
  const added = 'CREATE TABLE a (\n  b TEXT -- one\n);\nALTER TABLE a ADD COLUMN c INTEGER; -- two; three\n'
  const [{ columns }] = describeSchema([added]) as [ReturnType<typeof describeSchema>[0]]
  expect(columns.map(({ name, type, about }) => [name, type, about])).toEqual([
    ['b', 'TEXT', 'one'],
    ['c', 'INTEGER', 'two; three'],
  ])
})
