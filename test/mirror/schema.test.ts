// What somebody who can write the file may plant in it, and what users may add: the first is refused when the mirror is
// opened, the second is left alone.
import { copyFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { isMirrorError, type MirrorError } from '../../src/errors.ts'
import { connect } from '../../src/mirror/connect.ts'
import { explaining } from '../../src/mirror/explain.ts'
import { openReader, openWriter } from '../../src/mirror/open.ts'
import { migrations } from '../../src/mirror/schema.ts'
import { recordSnapshot, type SnapshotRow } from '../../src/mirror/tables/snapshots.ts'
import { TaskTable } from '../../src/mirror/tables/tasks.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { runInside } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'

const OPTIONS = { busyTimeoutMs: 1000, fileMode: 0o600 }
const SNAPSHOT: SnapshotRow = {
  ...{ id: 's', cut: 0, path: '/p', files: 1, rows: 0, bytes: 0, filters: {}, sinceSeq: null, publishedAt: 1 },
  format: 'ndjson',
}

/** A mirror in `folder` to which somebody has done `sql`. */
function changed(folder: string, sql: string): string {
  const path = `${folder}/task-mirror.sqlite`
  openWriter(path, OPTIONS).close()
  const db = new Database(path)
  // Node's own bindings refuse to touch the schema table; other programs do not.
  db.unsafeMode()
  db.exec(sql)
  db.close()
  return path
}

function refusal(open: () => { close(): void }): string {
  return refused(open)?.message ?? 'opened'
}

function refused(open: () => { close(): void }): MirrorError | null {
  try {
    open().close()
  } catch (error) {
    expect(isMirrorError(error, 'mirror-damaged'), String(error)).toBe(true)
    return error as MirrorError
  }
  return null
}

const PLANTED: [string, string, RegExp][] = [
  [
    'a trigger that swallows rows',
    'CREATE TRIGGER t1 BEFORE INSERT ON tasks BEGIN SELECT RAISE(IGNORE); END',
    /trigger "t1" on tasks/,
  ],
  [
    'a trigger on a small table, in other letters',
    'CREATE TRIGGER "T 2" AFTER UPDATE ON Service_Facts BEGIN DELETE FROM tasks; END',
    /trigger "T 2"/,
  ],
  [
    'a trigger on a view',
    'CREATE TRIGGER t3 INSTEAD OF DELETE ON live_tasks BEGIN SELECT 1; END',
    /trigger "t3" on live_tasks/,
  ],
  [
    'a name that a terminal would obey',
    `CREATE TRIGGER "\u001b]0;x\u0007\n" BEFORE INSERT ON runs BEGIN SELECT 1; END`,
    /trigger "\?]0;x\?" on runs/,
  ],
  [
    'a view named tasks that never ends',
    `PRAGMA foreign_keys = OFF; DROP TABLE tasks;
     CREATE VIEW tasks AS WITH RECURSIVE r(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM r) SELECT * FROM r`,
    /the index tasks_|the table tasks is not/,
  ],
  ['a table in place of a view', 'DROP VIEW live_tasks; CREATE TABLE live_tasks (x)', /view live_tasks is not/],
  [
    'a view that shows less',
    'DROP VIEW live_tasks; CREATE VIEW live_tasks AS SELECT * FROM tasks WHERE deleted_at IS NULL AND seq > 9',
    /view live_tasks is not/,
  ],
  ['an index that is gone', 'DROP INDEX tasks_change_seq', /index tasks_change_seq is missing/],
  [
    'an index over other rows',
    'DROP INDEX tasks_change_seq; CREATE INDEX tasks_change_seq ON tasks (change_seq) WHERE seq > 5',
    /index tasks_change_seq is not/,
  ],
  [
    'a unique index that lets no second run begin',
    'CREATE /* so */ UNIQUE INDEX u1 ON Runs (command)',
    /unique index "u1" on runs/i,
  ],
  ['a column more', 'ALTER TABLE tasks ADD COLUMN mine TEXT', /table tasks is not/],
  ['a version of no migration', 'PRAGMA user_version = 0', /no schema that is known/],
]

test.each(PLANTED)('%s is refused by readers, writers and the record of snapshots', async (_, sql, says) => {
  using scratch = makeScratch()
  const path = changed(scratch.dir, sql)
  expect(refusal(() => openReader(path))).toMatch(says)
  expect(refusal(() => openWriter(path, OPTIONS))).toMatch(says)
  await expect(recordSnapshot(path, SNAPSHOT, 0)).rejects.toThrow(says)
})

test.each([
  ['CREATE TRIGGER "my ""own""" BEFORE INSERT ON tasks BEGIN SELECT 1; END'],
  ['CREATE UNIQUE INDEX "my ""own""" ON runs (command)'],
])('%s is refused with the statement that mends it', (sql) => {
  using scratch = makeScratch()
  const path = changed(scratch.dir, sql)
  const statement = /`(DROP .*?)`/.exec(refused(() => openReader(path))?.hint ?? '')?.[1]
  changeMirror(path, statement ?? 'no statement')
  expect(refusal(() => openReader(path))).toBe('opened')
})

test.each(['önskan', 'x'.repeat(200), 'a\nb'])(
  'no statement is told for a name that is not shown as it is: %j',
  (name) => {
    using scratch = makeScratch()
    const path = changed(scratch.dir, `CREATE TRIGGER "${name}" BEFORE INSERT ON tasks BEGIN SELECT 1; END`)
    expect(refused(() => openReader(path))?.hint).toMatch(/Remove it with any SQLite program; then run/)
  },
)

test('the commands say so with exit 7 and end, whatever the view would do', async () => {
  using scratch = makeScratch()
  changed(scratch.dir, PLANTED[4]![1])
  for (const args of [['status'], ['verify'], ['export', '--out', 'x.ndjson'], ['copy', '--out', 'c.sqlite']]) {
    const { code, stderr } = await runInside(args, { cwd: scratch.dir })
    expect({ args, code }).toEqual({ args, code: 7 })
    expect(stderr).toContain('changed by somebody else')
  }
})

test('tables, views, indexes and triggers of users stand beside and are left alone', () => {
  using scratch = makeScratch()
  const path = changed(
    scratch.dir,
    `PRAGMA foreign_keys = OFF;
     CREATE TABLE notes (task_id TEXT REFERENCES tasks (id), text TEXT);
     INSERT INTO notes VALUES ('nobody yet', 'mine');
     CREATE TABLE owners (host TEXT REFERENCES tasks (host));
     INSERT INTO service_facts (key, value, observed_at) VALUES ('asked', '1', 1);
     CREATE TABLE remarks (fact TEXT REFERENCES service_facts (key));
     INSERT INTO remarks VALUES ('asked');
     CREATE INDEX my_statuses ON tasks (system_status);
     CREATE VIEW my_tasks AS SELECT id, text FROM live_tasks LEFT JOIN notes ON task_id = id;
     CREATE TRIGGER mine AFTER INSERT ON notes BEGIN UPDATE notes SET text = upper(text); END;
     CREATE VIRTUAL TABLE words USING fts5 (text);
     ANALYZE`,
  )
  const writer = openWriter(path, OPTIONS)
  // Neither a foreign key that SQLite refuses to check nor one that holds a row keeps a run from writing.
  expect(() => new TaskTable(writer)).not.toThrow()
  writer.exec("DELETE FROM service_facts WHERE key = 'asked'")
  writer.close()
  const reader = openReader(path)
  expect(reader.prepare('SELECT text FROM notes').pluck().get()).toBe('mine')
  expect(reader.prepare('SELECT count(*) FROM my_tasks').pluck().get()).toBe(0)
  reader.close()
})

test('an index or table of users that does not work is exit 7 with what to do, not a bug', async () => {
  using scratch = makeScratch()
  const path = changed(scratch.dir, 'CREATE TABLE notes (text TEXT)')
  const db = new Database(path)
  db.function('theirs', { deterministic: true }, (text) => text)
  db.exec("INSERT INTO notes VALUES ('a'); CREATE INDEX their_notes ON notes (theirs(text))")
  // Of other rows than those that were there when it was made.
  db.exec("CREATE INDEX their_bodies ON tasks (json_extract(data_body, '$.a'))")
  db.close()
  for (const args of [['verify'], ['copy', '--out', 'c.sqlite']]) {
    const { code, stderr } = await runInside(args, { cwd: scratch.dir })
    expect({ args, code }).toEqual({ args, code: 7 })
    expect(stderr).toMatch(/ holds an index, a table or a text that does not work: (no such|unknown) function: theirs/)
  }
  const writer = openWriter(path, OPTIONS)
  const body = "UPDATE tasks SET data_body = 'no JSON'"
  writer.exec(
    "INSERT INTO tasks (id, content_hash, first_seen_at, changed_at, read_at, change_seq) VALUES ('a', x'00', 1, 1, 1, 1)",
  )
  expect(() => explaining(path, () => writer.exec(body))).toThrow(
    expect.objectContaining({
      code: 'mirror-foreign',
      message: expect.stringContaining('malformed JSON'),
      hint: expect.stringMatching(/json_valid.*If you have added nothing, it is damaged/),
    }),
  )
  writer.close()
})

test('comments and white space may be worded anew by a later edition, strings may not', () => {
  using scratch = makeScratch()
  const { sql } = new Database(':memory:')
    .exec(migrations()[0]!.sql)
    .prepare("SELECT sql FROM sqlite_schema WHERE name = 'daily_outcomes'")
    .get() as { sql: string }
  const reworded = sql.replaceAll(/--[^\n]*/g, '-- other words').replaceAll('\n', '\n\n  /* more */ ')
  const path = changed(scratch.dir, `DROP VIEW daily_outcomes; ${reworded}`)
  expect(refusal(() => openReader(path))).toBe('opened')
  const other = `${scratch.dir}/other.sqlite`
  copyFileSync(path, other)
  changeMirror(other, `DROP VIEW daily_outcomes; ${sql.replace("'unixepoch'", "' unixepoch'")}`)
  expect(refusal(() => openReader(other))).toMatch('view daily_outcomes is not')
})

test('every connection is defensive and does not trust the schema of the file', () => {
  using scratch = makeScratch()
  const path = changed(scratch.dir, 'SELECT 1')
  const db = connect(path, {})
  const names = ['trusted_schema', 'cell_size_check', 'foreign_keys']
  expect(names.map((name) => db.pragma(name, { simple: true }))).toEqual([0, 1, 0])
  db.pragma('writable_schema = ON')
  expect(() => db.exec("UPDATE sqlite_schema SET sql = 'x'")).toThrow(/may not be modified/)
  db.close()
})

test('a row that a trigger swallows after the mirror was opened is noticed', () => {
  using scratch = makeScratch()
  const path = `${scratch.dir}/task-mirror.sqlite`
  const db = openWriter(path, OPTIONS)
  const tasks = new TaskTable(db)
  changeMirror(path, 'CREATE TRIGGER late BEFORE INSERT ON tasks BEGIN SELECT RAISE(IGNORE); END')
  const row = { id: 'a' } as Parameters<typeof tasks.insert>[0]
  const filled = new Proxy(row, { get: (target, name) => Reflect.get(target, name) ?? null })
  expect(() => tasks.insert(filled, { contentHash: Buffer.alloc(32), listHash: null }, { readAt: 1, now: 1 })).toThrow(
    /wrote 0 rows where it had to write one/,
  )
  db.close()
})
