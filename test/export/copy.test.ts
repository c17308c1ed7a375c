import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { copyMirror } from '../../src/export/copy.ts'
import { openReader } from '../../src/mirror/open.ts'
import { type FilledMirror, makeMirror, ordinaryRows } from './mirror.ts'

const copying = (mirror: FilledMirror, name: string, more = {}) =>
  copyMirror({ dbPath: mirror.path, out: join(mirror.folder, name), ...more })

test('a copy is one whole SQLite file with the rows of one moment, and a mirror by itself', async () => {
  const mirror = makeMirror(...ordinaryRows(500), { id: 'gone', deleted_at: 1 })
  const result = await copying(mirror, 'copy.db', { now: () => 5 })
  expect(result).toEqual({
    schemaVersion: 1,
    path: join(mirror.folder, 'copy.db'),
    bytes: statSync(result.path).size,
    tasks: 501,
    cut: 501,
    durationMs: 0,
  })
  expect(statSync(result.path).mode & 0o777).toBe(0o600)
  // Bytes 18 and 19: 1 is a rollback journal, 2 is WAL (https://www.sqlite.org/fileformat.html).
  expect([...readFileSync(result.path).subarray(18, 20)]).toEqual([1, 1])
  const copy = openReader(result.path)
  onTestFinished(() => void copy.close())
  const all = 'SELECT * FROM tasks ORDER BY seq'
  expect(copy.prepare(all).raw().all()).toEqual(mirror.db.prepare(all).raw().all())
  expect(copy.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(readdirSync(mirror.folder).filter((name) => name.includes('copy'))).toEqual(['copy.db'])
})

test('a copy can be read where nothing may be written', async () => {
  const mirror = makeMirror(...ordinaryRows(5))
  const { path } = await copying(mirror, 'copy.db')
  chmodSync(path, 0o444)
  const copy = new Database(path, { readonly: true })
  onTestFinished(() => void copy.close())
  expect(copy.prepare('SELECT count(*) FROM live_tasks').pluck().get()).toBe(5)
})

test('a writer goes on meanwhile, and what it commits is not in the copy', async () => {
  const mirror = makeMirror(...ordinaryRows(20))
  const writer = new Database(mirror.path)
  onTestFinished(() => void writer.close())
  writer.exec('BEGIN IMMEDIATE')
  writer.exec("UPDATE tasks SET data_body = 'later'")
  const { path } = await copying(mirror, 'copy.db')
  writer.exec('COMMIT')
  const copy = openReader(path)
  onTestFinished(() => void copy.close())
  expect(copy.prepare("SELECT count(*) FROM tasks WHERE data_body = 'later'").pluck().get()).toBe(0)
})

test('a copy takes the place of the one before, and an interrupted one leaves it alone', async () => {
  const mirror = makeMirror(...ordinaryRows(5))
  await copying(mirror, 'copy.db')
  mirror.insert(...ordinaryRows(5, 50).map((row, i) => ({ ...row, change_seq: 100 + i })))
  const before = readFileSync(join(mirror.folder, 'copy.db'))
  await expect(copying(mirror, 'copy.db', { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'interrupted',
    message: 'The copy was interrupted; nothing was written',
  })
  expect(readFileSync(join(mirror.folder, 'copy.db')).equals(before)).toBe(true)
  expect(readdirSync(mirror.folder).filter((name) => name.startsWith('.'))).toEqual([])
  expect(await copying(mirror, 'copy.db')).toMatchObject({ tasks: 10 })
})

test('the mirror itself, a folder and a database in use are refused', async () => {
  const mirror = makeMirror(...ordinaryRows(5))
  writeFileSync(join(mirror.folder, 'other.db'), '')
  writeFileSync(join(mirror.folder, 'other.db-wal'), '')
  // SQLite plays what a program left that was killed in the middle of a change into whatever stands there next.
  writeFileSync(join(mirror.folder, 'killed.db-journal'), '')
  for (const name of ['mirror.db', '.'])
    await expect(copying(mirror, name)).rejects.toMatchObject({ code: 'usage-invalid', hint: expect.any(String) })
  for (const [name, suffix] of [
    ['other.db', '-wal'],
    ['killed.db', '-journal'],
  ] as const) {
    const path = join(mirror.folder, name)
    await expect(copying(mirror, name)).rejects.toMatchObject({
      code: 'usage-invalid',
      message: `${path}${suffix} is there: a program has ${path} open, or was killed`,
      hint: `Remove it if no program uses ${path}, or name another file with --out.`,
    })
  }
})

test.each([
  ['copy.db', 'none.db', 'mirror-missing'],
  ['none/copy.db', 'mirror.db', 'snapshot-unwritable'],
])('%s from %s is %s', async (name, source, code) => {
  const mirror = makeMirror()
  const running = copying(mirror, name, { dbPath: join(mirror.folder, source) })
  await expect(running).rejects.toMatchObject({ code })
  expect(readdirSync(mirror.folder).filter((file) => !file.startsWith('mirror.db'))).toEqual([])
})
