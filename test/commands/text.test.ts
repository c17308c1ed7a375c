import { expect, test } from 'vitest'
import { farewell } from '../../src/commands/text/demo.ts'
import { doctorText } from '../../src/commands/text/doctor.ts'
import { indentJson, jsonPieces, jsonPieceTexts } from '../../src/commands/text/json-pieces.ts'
import { pairs, table } from '../../src/commands/text/layout.ts'
import { runText, stoppedText } from '../../src/commands/text/run.ts'
import { statusText } from '../../src/commands/text/status.ts'
import { MirrorError } from '../../src/errors.ts'
import type { MirrorStatus } from '../../src/mirror/shown/status.ts'
import { countText } from '../../src/shown.ts'
import type { RunSummary } from '../../src/sync/conclude.ts'

const summary: RunSummary = {
  schemaVersion: 1,
  runId: 7,
  command: 'sync',
  plan: ['head', 'open'],
  outcome: 'ok',
  verdict: 'complete',
  range: { since: null, until: null },
  lastFullWalk: null,
  order: 'created_desc',
  requests: 5,
  retries: 0,
  windows: 1,
  details: 4,
  seen: 14,
  inserted: 3,
  updated: 1,
  unchanged: 10,
  deleted: 0,
  restored: 0,
  rejected: 0,
  openTasks: 12,
  drift: 0,
  bytes: 12_345,
  durationMs: 1_234,
  waitedMs: 0,
  notBefore: null,
}

test('the summary of a run says what, how well, how much and how long', () => {
  expect(runText({ summary, exitCode: 0, isFirst: false, notes: [], error: null })).toMatchInlineSnapshot(`
    "run       7 (sync: head, open)
    outcome   ok, verdict complete
    tasks     14 seen: 3 inserted, 1 updated, 10 unchanged
    open      12 tasks
    requests  5 (1 window, 4 details), 12.3 kB
    duration  1.2s"
  `)
})

test('the figures of a first sync add up', () => {
  const counts = { seen: 5_000, inserted: 5_000, updated: 0, unchanged: 6, windows: 9, details: 6, requests: 19 }
  const text = runText({ summary: { ...summary, ...counts }, exitCode: 0, isFirst: false, notes: [], error: null })
  expect(text).toContain('\ntasks     5,000 seen: 5,000 inserted\n')
  expect(text).toContain('\nrequests  19 (9 windows, 6 details, 4 other), 12.3 kB\n')
})

test('so do those of a first sync whose details brought more of a task', () => {
  const counts = { seen: 3_003, inserted: 3_003, updated: 1, unchanged: 2 }
  const text = runText({ summary: { ...summary, ...counts }, exitCode: 0, isFirst: false, notes: [], error: null })
  expect(text).toContain('\ntasks     3,003 seen: 3,003 inserted\n')
})

test('so do those of one that changed what it confirmed', () => {
  const counts = { seen: 3_799, inserted: 0, updated: 195, restored: 4, unchanged: 3_799 }
  const text = runText({ summary: { ...summary, ...counts }, exitCode: 0, isFirst: false, notes: [], error: null })
  expect(text).toContain('\ntasks     3,799 seen: 195 updated, 3,600 unchanged, 4 restored\n')
})

test('what fell short is said at the end of the summary', () => {
  const partial: RunSummary = {
    ...summary,
    command: 'backfill',
    outcome: 'partial',
    verdict: 'partial',
    range: { since: 0, until: null },
    lastFullWalk: { id: 1, verdict: 'partial', reason: 'page-of-one', startedAt: 0, finishedAt: 0 },
    retries: 1,
    drift: 2,
    rejected: 1,
    waitedMs: 500,
    notBefore: 0,
  }
  expect(
    runText({ summary: partial, exitCode: 3, isFirst: false, notes: ['One item was set aside.'], error: null }),
  ).toMatchInlineSnapshot(`
    "run         7 (backfill: head, open)
    outcome     partial, verdict partial (page-of-one)
    range       created from 1970-01-01 00:00:00 UTC on
    tasks       14 seen: 3 inserted, 1 updated, 10 unchanged
    open        12 tasks
    set aside   1 item; see task-mirror rejected
    requests    5 (1 window, 4 details, 1 retry), 12.3 kB
    drift       2 differences where windows overlap
    duration    1.2s, 500ms of it waiting
    not before  1970-01-01 00:00:00 UTC, as the service asked
    note: One item was set aside."
  `)
})

test('the verdict of a run that was cut off is said to be that of the walks that ended', () => {
  const cutOff: RunSummary = { ...summary, plan: ['head', 'open', 'full'], outcome: 'interrupted' }
  const error = new Error('Stopped by SIGTERM')
  expect(runText({ summary: cutOff, exitCode: 143, isFirst: false, notes: [], error })).toContain(
    '\noutcome   interrupted, verdict of the walks that ended: complete\n',
  )
})

test('commands that a run and doctor name are called as the program is', () => {
  const notes = ['2 items set aside; see `task-mirror rejected`.']
  const text = runText(
    { summary: { ...summary, rejected: 2 }, exitCode: 3, isFirst: false, notes, error: null },
    { command: 'npx task-mirror' },
  )
  expect(text).toMatch(/^set aside +2 items; see npx task-mirror rejected$/m)
  expect(text).toContain('note: 2 items set aside; see `npx task-mirror rejected`.')
  const check = { name: 'mirror', state: 'note', found: 'none', todo: '`task-mirror sync` makes it.' } as const
  expect(doctorText([check], undefined, 'npx task-mirror')).toContain('to do: `npx task-mirror sync` makes it.')
})

test('a run that was out of time has stopped, and what came in is kept', () => {
  const late = { exitCode: 4, isFirst: false, notes: [], error: new MirrorError('duration-reached', 'Out of time') }
  const failed: RunSummary = { ...summary, outcome: 'failed', verdict: null }
  expect(runText({ summary: failed, ...late })).toContain('\noutcome   stopped at --max-duration, progress kept\n')
  expect(runText({ summary: { ...failed, seen: 0 }, ...late })).toContain('\noutcome   failed\n')
})

// A beginning in the future, or a service whose clock is ahead: "to before now" would not be true.
test.each([
  [{ since: 0, until: 86_400_000 }, 'created from 1970-01-01 00:00:00 UTC to before 1970-01-02 00:00:00 UTC'],
  [{ since: 4_070_908_800_000, until: null }, 'created from 2099-01-01 00:00:00 UTC on'],
  [{ since: null, until: 0 }, 'created before 1970-01-01 00:00:00 UTC'],
])('the range of a walk has the ends that were asked for: %j', (range, words) => {
  const text = runText({ summary: { ...summary, range }, exitCode: 0, isFirst: false, notes: [], error: null })
  expect(text).toContain(`\nrange     ${words}\n`)
})

test.each([
  ['task-mirror.sqlite', 'task-mirror export --out tasks.parquet, or ask it in SQL'],
  ['/srv/a.sqlite', 'task-mirror export --db /srv/a.sqlite --out tasks.parquet, or ask it in SQL'],
  ["it's.sqlite", 'task-mirror export --db "it\'s.sqlite" --out tasks.parquet, or ask it in SQL'],
])('the first full walk of %s names the file and what to do next; later ones and dry runs do not', (path, next) => {
  const first = { summary, exitCode: 0, isFirst: true, notes: [], error: null }
  expect(runText(first, { path })).toContain(`\nmirror    ${path}\nnext      ${next}`)
  expect(runText(first, { path, command: 'npx task-mirror' })).toContain(`\nnext      npx ${next}`)
  expect(runText({ ...first, isFirst: false }, { path })).not.toContain('next')
  expect(runText(first)).not.toContain('next')
})

test.each([
  [14, 'a.sqlite', 'the 14 tasks that came in are kept in a.sqlite; the next run goes on from there'],
  [0, 'a.sqlite', 'no task had come in yet; the next run begins again'],
  [14, null, 'a dry run writes nothing'],
])('a run that is stopped after %d tasks says what is kept', (seen, path, said) => {
  expect(stoppedText('Stopped by SIGINT', { ...summary, seen }, path)).toBe(`Stopped by SIGINT: ${said}`)
})

const EMPTY = {
  baseUrl: null,
  tasks: { live: 0, open: 0, late: null, hidden: 0, deleted: 0, setAside: 0 },
  owed: { details: 0, candidates: 0, withoutResult: 0 },
  forms: { compared: 0, comparedAt: null, summary: [], uneven: [] },
  order: null,
  total: null,
  frontier: null,
  notBefore: null,
  freshAt: null,
  lastFullWalk: null,
  walks: [],
  runs: [],
  walBytes: 0,
}

test('the status of an empty mirror reads well', () => {
  const published = { snapshots: 0, bytes: 0 }
  const disk = { mirrorBytes: 409_600, walBytes: 0, snapshotBytes: 0, freeBytes: 77e9 }
  const age = { ageMs: null, maxAge: 60_000, stale: true, settleMs: 60_000, now: 0 }
  expect(statusText({ path: 'a.sqlite', ...age, found: EMPTY, published, disk })).toMatchInlineSnapshot(`
    "mirror     a.sqlite
    fresh      no complete walk yet
    tasks      0 live (0 open), 0 deleted
    set aside  none
    disk       mirror 410 kB, WAL 0 B; 77 GB free
    full walk  none yet
    order      not known yet"
  `)
})

test('the status fits into 60 columns, with how the last runs ended', () => {
  const run = { id: 1, command: 'sync', startedAt: 0, finishedAt: 1, outcome: 'ok', verdict: 'complete', exitCode: 0 }
  const counts = { requests: 1, inserted: 1, updated: 0, deleted: 0 }
  const found = {
    ...{
      baseUrl: 'https://tasks.example.com',
      order: 'created_desc' as const,
      total: 300,
      frontier: 0,
      notBefore: null,
    },
    tasks: { live: 300, open: 9, late: 8, hidden: 7, deleted: 0, setAside: 0 },
    owed: { details: 0, candidates: 0, withoutResult: 0 },
    forms: { compared: 6, comparedAt: 0, summary: [], uneven: [] },
    ...{ freshAt: 0, lastFullWalk: null, walks: [], walBytes: 0 },
    runs: [{ ...run, ...counts } as unknown as MirrorStatus['runs'][number]],
  }
  const facts = { path: 'a.sqlite', ageMs: 0, maxAge: null, stale: false, settleMs: 60_000, now: 0 }
  const published = { snapshots: 3, bytes: 1e6 }
  const disk = { mirrorBytes: 1e9, walBytes: 64e6, snapshotBytes: 1e6, freeBytes: null }
  const text = statusText({ ...facts, found, published, disk, width: 60 })
  expect(text.split('\n').filter((line) => line.length > 60)).toEqual([])
  expect(text).toMatch(/^late +8 open, past their timeframe/m)
  expect(text.replace(/\n {5,}/g, ' ')).toMatch(/^list +shows tasks whole: 6 tasks compared with their details$/m)
  expect(text).toMatch(/^not listed +7 of these, which are found by id$/m)
  expect(text).toMatch(/^disk +mirror 1 GB, WAL 64 MB, snapshots 1 MB$/m)
  expect(text.replace(/\n +/g, ' ')).toMatch(
    /^frontier +all that is listed and was created before 1970-01-01 00:00:00 UTC has been met$/m,
  )
  expect(text).toMatch(/^ {2}1 {2}1970-01-01 00:00:00 UTC {2}ok +0 {2}complete$/m)
})

test('only the newest run may be running: an earlier one without an end was killed', () => {
  const none = { command: 'sync', startedAt: 0, finishedAt: null, outcome: null, verdict: null, exitCode: null }
  const counts = { requests: 0, inserted: 0, updated: 0, deleted: 0, rejected: 0, error: null }
  const runs = [3, 2].map((id) => ({ id, ...none, ...counts }))
  const found = { ...EMPTY, runs }
  const facts = { path: 'a.sqlite', ageMs: null, maxAge: null, stale: false, settleMs: 60_000, now: 0 }
  const disk = { mirrorBytes: 0, walBytes: 0, snapshotBytes: 0, freeBytes: null }
  const text = statusText({ ...facts, found, published: { snapshots: 0, bytes: 0 }, disk })
  expect(text).toMatch(/^ {2}3 {2}1970-01-01 00:00:00 UTC {2}running or killed /m)
  expect(text).toMatch(/^ {2}2 {2}1970-01-01 00:00:00 UTC {2}killed /m)
})

test('a table sets numbers to the right, cuts long cells and takes control characters out', () => {
  const rows = [
    ['a\u001b[31m', 12_345, null],
    ['b'.repeat(100), 7, 1n],
  ] as const
  const lines = table(['name', 'tasks', 'n'], rows, { widest: 10 }).split('\n')
  expect(lines).toEqual([
    'name         tasks  n',
    '----------  ------  -',
    'a [31m      12,345',
    'bbbbbbbbb…       7  1',
  ])
})

test('a table that is too wide folds sentences, then leaves out columns and names them', () => {
  const rows = [
    [1, 'one two three four five six', 'a'],
    [2, 'seven', 'b'],
  ] as const
  const columns = ['n', 'sentence', 'letter']
  expect(table(columns, rows, { width: 30, sentences: [1] }).split('\n')).toEqual([
    'n  sentence             letter',
    '-  -------------------  ------',
    '1  one two three four   a',
    '   five six',
    '2  seven                b',
  ])
  expect(table(columns, rows, { width: 24, sentences: [1] }).split('\n')).toEqual([
    'n  sentence',
    '-  ----------------',
    '1  one two three',
    '   four five six',
    '2  seven',
    'A wider terminal or',
    '--json shows: letter.',
  ])
  expect(table(columns, rows, { sentences: [1] })).not.toContain('\n   ')
})

test('pairs without a value are left out, and lines of a value stay beneath each other', () => {
  expect(
    pairs([
      ['a', 'one\ntwo'],
      ['b', null],
      ['long', 'x'],
    ]),
  ).toBe('a     one\n      two\nlong  x')
  expect(pairs([['label', 'some words that do not fit']], 24)).toBe('label  some words that\n       do not fit')
})

test('one is singular', () => {
  expect([countText(1, 'task'), countText(0, 'task'), countText(2, 'retry', 'retries')]).toEqual([
    '1 task',
    '0 tasks',
    '2 retries',
  ])
})

test.each([
  '{}',
  '[]',
  '{"a":[]}',
  '{"a":1.0,"b":[12345678901234567890,-0,1e400],"c":{"d":"x, {y}: [\\"z\\"]"}}',
  '"\\\\"',
])('%s is spread over lines without changing a digit', (text) => {
  const spread = [...indentJson(text)].join('')
  // Values whose digits a double cannot carry rule out JSON.parse: only white space outside of strings may differ.
  expect(spread.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')).toBe(text)
  expect(spread).toBe(/\d{17}|1\.0/.test(text) ? spread : JSON.stringify(JSON.parse(text), null, 2))
})

test.each([
  ['one long string', 'x'.repeat(3_000_000)],
  ['escapes', '"\\'.repeat(700_000)],
  ['pairs', '\u{1f600}'.repeat(700_000)],
  ['half pairs', '\ud800'.repeat(700_000)],
  ['many members', Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`n${n}`, [n, {}, null]]))],
  ['levels', JSON.parse(`${'[{"a":'.repeat(200)}1${'}]'.repeat(200)}`)],
])('no piece of a large value is long, and together they are the value: %s', (_, value) => {
  const text = JSON.stringify({ a: [value, ''], b: undefined, c: {}, d: [] })
  const spread = [...indentJson(text)]
  // As texts: of 60,000 members that is quicker than value by value, and says no less.
  expect(JSON.stringify(JSON.parse(spread.join(''))) === text).toBe(true)
  expect(Math.max(...spread.map((piece) => piece.length))).toBeLessThan(200_000)
  const written = [...jsonPieces({ a: [value, ''], b: undefined, c: {}, d: [] })]
  expect(JSON.stringify(JSON.parse(written.join(''))) === text).toBe(true)
  expect(written.reduce((most, piece) => Math.max(most, piece.length), 0)).toBeLessThan(500_000)
  expect([...jsonPieceTexts(text)].every((piece) => piece.isWellFormed())).toBe(true)
  expect([...jsonPieceTexts(text)].join('')).toBe(text)
})

test('what the demo says to type next works in a folder of any name', () => {
  const files = { mirror: "it's/m.sqlite", parquet: "it's/t.parquet", ndjson: "it's/t.ndjson" }
  const said = farewell(files, 'npx task-mirror').split('\n')
  expect(said.filter((line) => /^ {2}(npx|sqlite3|duckdb)/.test(line))).toEqual([
    '  npx task-mirror status --db "it\'s/m.sqlite"',
    `  sqlite3 -box "it's/m.sqlite" 'SELECT created_at, system_status, method, host FROM task_overview LIMIT 3'`,
    `  duckdb -c "SELECT system_status, count(*) FROM 'it''s/t.parquet' GROUP BY 1"`,
    '  npx task-mirror simulate --port 8090 --inserts-per-second 5',
    '  npx task-mirror sync --base-url http://127.0.0.1:8090 --db try.sqlite',
  ])
})
