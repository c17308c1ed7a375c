// A backup in the place of a crashed mirror, which is what copying it there by hand destroys.
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { restoredPath, restoringPrefix } from '../../src/mirror/files.ts'
import { moveAway } from '../../src/mirror/maintenance/restore.ts'
import { openReader, openWriter, withReader } from '../../src/mirror/open.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { runHere } from '../support/cli.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'

const OPTIONS = { busyTimeoutMs: 100, fileMode: 0o600 }

/** A mirror as a killed run leaves it: what it committed last is in its WAL. `backup.sqlite` is older. */
function crashed(scratch: Scratch): string {
  const live = scratch.path('live.sqlite')
  const db = openWriter(live, OPTIONS)
  const note = (name: string) => db.prepare('INSERT INTO service_facts VALUES (?, ?, 1)').run(name, '1')
  note('old')
  db.pragma('wal_checkpoint(TRUNCATE)')
  copyFileSync(live, scratch.path('backup.sqlite'))
  db.exec(`CREATE TABLE filler (t TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) INSERT INTO filler SELECT hex(randomblob(99)) FROM n`)
  note('new')
  const path = scratch.path('task-mirror.sqlite')
  for (const suffix of ['', '-wal']) copyFileSync(live + suffix, path + suffix)
  db.close()
  return path
}

function facts(path: string): string[] {
  return withReader(path, (db) => {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    return db.prepare('SELECT key FROM service_facts ORDER BY key').pluck().all() as string[]
  })
}

const restore = (path: string, from: string) => runHere(['restore', from, '--json'], { TASK_MIRROR_DB: path })

test('the backup takes the place of the mirror, which goes whole, with its WAL', async () => {
  using scratch = makeScratch()
  const path = crashed(scratch)
  const { code, stdout, stderr } = await restore(path, scratch.path('backup.sqlite'))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { movedTo, ...told } = JSON.parse(stdout) as { movedTo: string }
  expect(told).toMatchObject({ schemaVersion: 1, path, from: scratch.path('backup.sqlite'), tasks: 0, cut: 0 })
  expect(existsSync(`${path}-wal`)).toBe(false)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(facts(path)).toEqual(['old'])
  // The old one is all there, what only its WAL held too.
  expect(facts(movedTo)).toEqual(['new', 'old'])
  const db = new Database(path)
  expect(db.pragma('journal_mode', { simple: true })).toBe('wal')
  db.close()
  expect(readdirSync(scratch.dir).filter((name) => name.startsWith('.'))).toEqual([])
})

test("folders and links under the names of what is not ready yet are in nobody's way", async () => {
  using scratch = makeScratch()
  const path = crashed(scratch)
  for (const name of ['restore-1', 'restored']) mkdirSync(scratch.path(`.task-mirror.sqlite.${name}`))
  symlinkSync(scratch.path('live.sqlite'), scratch.path('.task-mirror.sqlite.restore-2'))
  writeFileSync(scratch.path('.task-mirror.sqlite.restored', 'theirs'), 'x')
  expect(await restore(path, scratch.path('backup.sqlite'))).toMatchObject({ code: 0, stderr: '' })
  expect(facts(path)).toEqual(['old'])
  const left = readdirSync(scratch.dir).find((name) => name.startsWith('.task-mirror.sqlite.restored.left-'))
  expect(readdirSync(scratch.path(left as string))).toEqual(['theirs'])

  rmSync(path)
  mkdirSync(scratch.path('.task-mirror.sqlite.new-1'))
  openWriter(path, OPTIONS).close()
  expect(facts(path)).toEqual([])
  expect(existsSync(scratch.path('live.sqlite'))).toBe(true)
})

test('a mirror that a newer program has migrated gives way to a backup from before', async () => {
  using scratch = makeScratch()
  const path = crashed(scratch)
  changeMirror(path, 'PRAGMA user_version = 999')
  expect((await runHere(['status'], { TASK_MIRROR_DB: path })).code).toBe(7)
  expect(await restore(path, scratch.path('backup.sqlite'))).toMatchObject({ code: 0, stderr: '' })
  expect(facts(path)).toEqual(['old'])
})

test('by hand it would have been destroyed: this is what the command is for', () => {
  using scratch = makeScratch()
  const path = crashed(scratch)
  copyFileSync(scratch.path('backup.sqlite'), path)
  expect(() => expect(facts(path)).toEqual(['old'])).toThrow()
})

test('a backup that is damaged, changed, no mirror, missing or the mirror itself leaves everything as it was', async () => {
  using scratch = makeScratch()
  const path = crashed(scratch)
  const bad = (name: string, sql: string) => {
    copyFileSync(scratch.path('backup.sqlite'), scratch.path(name))
    changeMirror(scratch.path(name), sql)
    return scratch.path(name)
  }
  writeFileSync(scratch.path('text'), 'no database')
  writeFileSync(scratch.path('empty'), '')
  const backup = readFileSync(scratch.path('backup.sqlite'))
  writeFileSync(scratch.path('torn.sqlite'), backup.fill(0xff, 4096))
  const cases: [string, number][] = [
    [bad('trigger.sqlite', 'CREATE TRIGGER t BEFORE INSERT ON tasks BEGIN SELECT RAISE(IGNORE); END'), 7],
    [bad('json.sqlite', "UPDATE service_facts SET value = 'x'"), 7],
    [bad('newer.sqlite', 'PRAGMA user_version = 999'), 7],
    [bad('other.sqlite', 'PRAGMA application_id = 1'), 7],
    [scratch.path('torn.sqlite'), 7],
    [scratch.path('text'), 7],
    [scratch.path('empty'), 3],
    [scratch.path('none'), 2],
    [path, 2],
  ]
  for (const [from, expected] of cases) {
    const { code, stdout, stderr } = await restore(path, from)
    expect({ from, code, stdout }).toEqual({ from, code: expected, stdout: '' })
    // It is not the mirror that is wrong.
    expect(stderr).toMatch(/backup/i)
    expect(stderr).not.toMatch(/with --db|--db says which|If this was it|`task-mirror sync`/)
    expect(stderr.includes('none does not exist')).toBe(from === scratch.path('none'))
  }
  expect(readdirSync(scratch.dir).filter((name) => /before-|^\./.test(name))).toEqual([])
  expect(facts(path)).toEqual(['new', 'old'])
})

test('a backup whose name ends with white space is not taken for another one', async () => {
  using scratch = makeScratch()
  const path = crashed(scratch)
  copyFileSync(scratch.path('backup.sqlite'), scratch.path('backup.sqlite '))
  const before = readFileSync(path)
  expect(await restore(path, scratch.path('backup.sqlite '))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('white space at the end of the name'),
  })
  expect(readFileSync(path)).toEqual(before)
})

test('--quiet leaves out what was done, but nothing of --json', async () => {
  using scratch = makeScratch()
  const path = crashed(scratch)
  const args = ['restore', scratch.path('backup.sqlite'), '--db', path]
  expect((await runHere(args, {})).stdout).toMatch(/^restored /m)
  expect(await runHere([...args, '--quiet'], {})).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(JSON.parse((await runHere([...args, '--quiet', '--json'], {})).stdout)).toMatchObject({
    schemaVersion: 1,
    path,
  })
})

test('where there is no mirror, only what an old one left is moved away', async () => {
  using scratch = makeScratch()
  const path = crashed(scratch)
  const away = moveAway(path, 0)
  expect(away).toMatch(/task-mirror\.sqlite\.before-19700101T000000Z-[0-9a-f]{6}$/)
  expect(facts(away!)).toEqual(['new', 'old'])
  writeFileSync(`${path}-wal`, 'left over')
  const { stdout } = await restore(path, scratch.path('backup.sqlite'))
  expect(existsSync(path)).toBe(true)
  expect(facts(path)).toEqual(['old'])
  expect(existsSync(`${(JSON.parse(stdout) as { movedTo: string }).movedTo}-wal`)).toBe(true)
  expect(moveAway(scratch.path('nothing.sqlite'), 0)).toBe(null)
})

/** What a kill at each step of `restore` leaves. */
const STEPS: [string, (path: string, ready: string, away: string) => void, string[]][] = [
  ['the backup is ready', () => undefined, ['new', 'old']],
  ['the old file has its second name', (path, _, away) => linkSync(path, away), ['new', 'old']],
  [
    'its WAL too',
    (path, _, away) => {
      for (const end of ['', '-wal']) linkSync(path + end, away + end)
    },
    ['new', 'old'],
  ],
  [
    'the old file is gone, its WAL is not',
    (path, _, away) => {
      for (const end of ['', '-wal']) linkSync(path + end, away + end)
      rmSync(path)
    },
    ['old'],
  ],
  [
    'both are gone',
    (path, _, away) => {
      for (const end of ['', '-wal']) renameSync(path + end, away + end)
    },
    ['old'],
  ],
  [
    'the new one is in place',
    (path, ready, away) => {
      for (const end of ['', '-wal']) renameSync(path + end, away + end)
      renameSync(ready, path)
    },
    ['old'],
  ],
]

test.each(STEPS)('killed when %s, the next run finds one mirror, whole', (_, step, expected) => {
  using scratch = makeScratch()
  const path = crashed(scratch)
  const ready = restoredPath(path)
  copyFileSync(scratch.path('backup.sqlite'), ready)
  // A copy that was not ready, of another kill.
  copyFileSync(scratch.path('backup.sqlite'), scratch.path(`${restoringPrefix(path)}0123`))
  const away = `${path}.before-20260101T000000Z-abcdef`
  step(path, ready, away)
  if (!existsSync(path))
    expect(() => openReader(path)).toThrow(expect.objectContaining({ hint: expect.stringMatching(/restore/) }))
  openWriter(path, OPTIONS).close()
  expect(facts(path)).toEqual(expected)
  // Moved away it is whole too; still in its place it has no second name that somebody could open beside it.
  if (expected.length === 1) expect(facts(away)).toEqual(['new', 'old'])
  else expect(existsSync(away)).toBe(false)
  expect(readdirSync(scratch.dir).filter((name) => /^\.|\.left-/.test(name))).toEqual([])
})

test('killed when the old one is gone, the next run finds the new one through a link, too', () => {
  using scratch = makeScratch()
  const path = crashed(scratch)
  mkdirSync(scratch.path('home'))
  const link = scratch.path('home', 'link.sqlite')
  symlinkSync('../task-mirror.sqlite', link)
  copyFileSync(scratch.path('backup.sqlite'), restoredPath(link))
  moveAway(path, 0)
  openWriter(link, OPTIONS).close()
  expect(facts(path)).toEqual(['old'])
  expect(readdirSync(scratch.path('home'))).toEqual(['link.sqlite'])
})

test('a mirror whose journal another program has changed is in WAL mode again after the next opening', () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  openWriter(path, OPTIONS).close()
  changeMirror(path, 'PRAGMA journal_mode = DELETE')
  openWriter(path, OPTIONS).close()
  const after = new Database(path)
  expect(after.pragma('journal_mode', { simple: true })).toBe('wal')
  after.close()
})
