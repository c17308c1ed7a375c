// `verify --proof`: what a sync leaves holds; everything that somebody changes in it, or in the tasks it covers, does not.
import { copyFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { judgeWalks, verifyProof } from '../../src/mirror/maintenance/proof.ts'
import { openReader, withReader } from '../../src/mirror/open.ts'
import { evidenceDigest, evidenceOf } from '../../src/mirror/tables/evidence.ts'
import { walkTable } from '../../src/mirror/tables/walks.ts'
import { linesOf, textOf } from '../../src/proof/evidence.ts'
import type { Line } from '../../src/proof/judge.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { runInside } from '../support/cli.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'

const TASKS = 90
let made: Scratch
let sound: string

/** A full walk in windows of 20, and a head walk that met five new tasks. */
beforeAll(async () => {
  made = makeScratch()
  sound = made.path('sound.sqlite')
  await using simulator = await startSimulator({ tasks: TASKS, oddities: 0.1, openFraction: 0.1, capItems: 20 })
  const context = makeRunContext(simulator.url, sound)
  await runSync(context, { command: 'sync' })
  simulator.account.insert(5, { where: 'front' })
  await runSync(context, { command: 'sync' })
  return () => made[Symbol.dispose]()
})

/** What the process of `verify --proof` does, in this one. */
const check = (path: string) => withReader(path, judgeWalks)

function changed(scratch: Scratch, change: (db: Database.Database) => void): string {
  const path = scratch.path('task-mirror.sqlite')
  copyFileSync(sound, path)
  changeMirror(path, change)
  return path
}

/** Other lines of the full walk, with a digest that fits: by who knows how it is made. */
function forged(scratch: Scratch, forge: (lines: Line[]) => Line[]): string {
  return changed(scratch, (db) => {
    const rows = [...evidenceOf(db, 1)]
    const lines = forge(rows.flatMap((row) => linesOf(row.lines)))
    const marked = rows.reduce((sum, row) => sum + row.marked, 0)
    const ids = rows.reduce((sum, row) => (sum + row.ids) % 2 ** 52, 0)
    db.prepare('DELETE FROM walk_evidence WHERE walk_id = 1').run()
    db.prepare('INSERT INTO walk_evidence VALUES (1, 1, ?, ?, ?)').run(textOf(lines), marked, ids)
    db.prepare('UPDATE walks SET evidence_sha256 = ? WHERE id = 1').run(evidenceDigest(db, 1))
  })
}

test('where the full walk was proven by other rules, there is no proof, not even by the walks since', () => {
  using scratch = makeScratch()
  const path = forged(scratch, (lines) => lines.map((line) => (line.op === 'begun' ? { ...line, rules: 1 } : line)))
  expect(check(path)).toEqual({ walks: [], faults: [] })
})

test('what a sync leaves is proven: the full walk and the head walk since', async () => {
  const { walks, faults } = check(sound)
  expect(await verifyProof(sound, new AbortController().signal)).toEqual({ path: sound, walks, faults })
  expect(faults).toEqual([])
  expect(walks).toMatchObject([
    { walkId: 1, kind: 'full', tasks: TASKS, proven: { range: null, isWhole: true, rests: {} } },
    { walkId: 2, kind: 'head', proven: { windows: 1, isWhole: true, end: ['created-order'] } },
  ])
  expect(walks[0]?.proven.end).not.toEqual([])
  const db = openReader(sound)
  const sizes = [...evidenceOf(db, 1)].filter(({ marked }) => marked > 0).map(({ lines }) => lines.length)
  db.close()
  expect(Math.max(...sizes.slice(2))).toBeLessThan(250)
})

test.each([
  ['an answer that was changed', "UPDATE walk_evidence SET lines = replace(lines, ',20,', ',21,') WHERE number = 2"],
  ['a step that is missing', 'DELETE FROM walk_evidence WHERE walk_id = 1 AND number = 2'],
  [
    'the last step, missing',
    'DELETE FROM walk_evidence WHERE (walk_id, number) = (SELECT 1, max(number) FROM walk_evidence WHERE walk_id = 1)',
  ],
  ['steps in another order', 'UPDATE walk_evidence SET number = 100 - number WHERE walk_id = 1'],
  ['all of it, missing', 'DELETE FROM walk_evidence WHERE walk_id = 1'],
  ['no JSON', "UPDATE walk_evidence SET lines = '[[' WHERE number = 2"],
  ['another time', 'UPDATE walks SET finished_at = finished_at + 1 WHERE id = 1'],
  ['another range', 'UPDATE walks SET range_since = 5 WHERE id = 1'],
  ['another digest', "UPDATE walks SET evidence_sha256 = 'x' WHERE id = 1"],
  ['a count of tasks', 'UPDATE walk_evidence SET marked = marked + 1 WHERE number = 2'],
])('%s does not hold', (_, sql) => {
  using scratch = makeScratch()
  const { faults } = check(changed(scratch, (db) => db.exec(sql)))
  expect(faults.map(({ walkId }) => walkId)).toContain(1)
})

test.each([
  ['a task that is gone', 'DELETE FROM tasks WHERE seq = 17', /met 90 tasks, of which the mirror holds 89/],
  ['a task with another id', "UPDATE tasks SET id = 'x' WHERE seq = 17", /other ids/],
  [
    'a task with another number',
    'UPDATE tasks SET seq = 1000 WHERE seq = 17',
    /met 90 tasks, of which the mirror holds 89/,
  ],
  ['marks that are gone', 'DELETE FROM walk_marks WHERE walk_id = 1', /met 90 tasks, and 0 are marked/],
])('%s is told', (_, sql, message) => {
  using scratch = makeScratch()
  const { faults } = check(changed(scratch, (db) => db.exec(sql)))
  expect(faults).toEqual([{ walkId: 1, message: expect.stringMatching(message) }])
})

test.each([
  ['as it is', 'SELECT 1', true],
  ['begun by other rules', `UPDATE walk_evidence SET lines = '[["begun",null,0]]' WHERE number = 1`, false],
  ['with a first row that cannot be read', "UPDATE walk_evidence SET lines = '[[' WHERE number = 1", false],
  ['without its evidence', 'DELETE FROM walk_evidence', false],
])('a walk that was cut off, %s, may go on: %3$s', (_, sql, mayGoOn) => {
  using scratch = makeScratch()
  const path = changed(scratch, (db) => {
    db.exec(
      "UPDATE walks SET finished_at = NULL, verdict = NULL, state = '{}' WHERE id = 1; DELETE FROM walks WHERE id > 1",
    )
    db.exec(sql)
  })
  const db = openReader(path)
  const found = walkTable(db).interrupted()
  db.close()
  expect(found?.id).toBe(1)
  expect(found?.state !== null).toBe(mayGoOn)
})

const handleOf = (line: Line | undefined) => (line?.op === 'taken' ? line.handle : null)
const isTaken = ({ op }: Line) => op === 'taken'
const isTold = ({ op }: Line) => op === 'told'

test('lines that are written anew as they were hold', () => {
  using scratch = makeScratch()
  expect(check(forged(scratch, (lines) => lines)).faults).toEqual([])
})

test.each<[string, (lines: Line[]) => Line[]]>([
  ['a window that was never read', (lines) => lines.filter((_, at) => at !== lines.findIndex(isTold))],
  [
    'a window taken in before it was read',
    (lines) => [...lines.filter(isTaken), ...lines.filter((line) => !isTaken(line))],
  ],
  [
    'an answer without its anchor',
    (lines) => {
      const third = lines.find(
        (line) => isTold(line) && line.op === 'told' && line.handle === handleOf(lines.filter(isTaken)[2]),
      )
      return lines.map((line) =>
        line === third && line.op === 'told'
          ? { ...line, fact: { ...line.fact, anchor: 'none', showsPassed: false } }
          : line,
      )
    },
  ],
  [
    'an end that nothing shows',
    (lines) => {
      const claim = Math.floor(lines.length / 2)
      return [...lines.slice(0, claim), { op: 'ended' }, { op: 'complete', isWhole: true }]
    },
  ],
  ['an end that is left out', (lines) => lines.filter(({ op }) => op !== 'complete')],
  ['more behind its end', (lines) => [...lines, ...lines.filter(isTold)]],
  [
    'the whole for a part',
    (lines) => lines.map((line) => (line.op === 'complete' ? { op: 'complete', isWhole: false } : line)),
  ],
  [
    'a range for the whole',
    (lines) =>
      lines.map((line) =>
        line.op === 'begun' ? { ...line, range: { order: 'created_desc', from: null, to: 1 } } : line,
      ),
  ],
])('a forger who knows the digest is refused by the judge: %s', (_, forge) => {
  using scratch = makeScratch()
  expect(check(forged(scratch, forge)).faults).toMatchObject([{ walkId: 1 }])
})

test.each([
  ['as far as its evidence goes', 0, []],
  ['further than its evidence goes', 1, [{ walkId: 2, message: 'its evidence speaks of a part of the list' }]],
])('a walk over a range %s', (_, further, faults) => {
  using scratch = makeScratch()
  const path = changed(scratch, (db) => {
    const [first] = [...evidenceOf(db, 2)].flatMap((row) => linesOf(row.lines))
    const { range } = first as Line & { op: 'begun' }
    const since = (range?.to as number) - further
    db.prepare("UPDATE walks SET kind = 'range', range_since = ? WHERE id = 2").run(since)
    db.prepare('UPDATE walks SET evidence_sha256 = ? WHERE id = 2').run(evidenceDigest(db, 2))
  })
  expect(check(path).faults).toEqual(faults)
})

test('as built: 0 where it holds, 3 where there is none, 7 where it does not hold', async () => {
  using scratch = makeScratch()
  changed(scratch, () => {})
  const proven = await runInside(['verify', '--proof', '--json'], { cwd: scratch.dir })
  expect(proven).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(proven.stdout)).toMatchObject({
    schemaVersion: 1,
    proof: { faults: [], walks: [{ tasks: TASKS }, {}] },
  })
  const { stdout: text } = await runInside(['verify', '--proof'], { cwd: scratch.dir })
  expect(text).toMatch(/result +proven\n.* full +\d{4}-\d\d-\d\d [\d:]{8} UTC /s)

  changed(scratch, (db) => db.exec('DELETE FROM tasks WHERE seq = 17'))
  const gone = await runInside(['verify', '--proof'], { cwd: scratch.dir })
  expect(gone).toMatchObject({ code: 7, stdout: expect.stringContaining('of which the mirror holds 89') })
  expect(gone.stderr).toContain('mirror-damaged')

  changed(scratch, (db) => db.exec('DELETE FROM walk_evidence; UPDATE walks SET evidence_sha256 = NULL'))
  const none = await runInside(['verify', '--proof'], { cwd: scratch.dir })
  expect(none).toMatchObject({ code: 3 })
  expect(none.stderr).toContain('task-mirror sync --full')
})

test('a snapshot names the digest of the evidence; the proof of a walk goes when a later full walk is complete', async () => {
  using scratch = makeScratch()
  const path = changed(scratch, () => {})
  const { walks } = check(path)
  expect(await runInside(['export', '--out', 'lake/', '--json'], { cwd: scratch.dir })).toMatchObject({ code: 0 })
  const { stdout } = await runInside(['verify', '--snapshot', 'lake/', '--json'], { cwd: scratch.dir })
  expect(JSON.parse(stdout)).toMatchObject({ snapshot: { ok: true } })
  const { readFileSync, readdirSync } = await import('node:fs')
  const id = readdirSync(scratch.path('lake')).find((name) => name.startsWith('20'))
  const manifest = JSON.parse(readFileSync(scratch.path(`lake/${id}/_manifest.json`), 'utf8'))
  expect(manifest.proof).toMatchObject({ walkId: 1, sha256: walks[0]?.sha256 })

  await using simulator = await startSimulator({ tasks: TASKS, oddities: 0.1, openFraction: 0.1, capItems: 20 })
  await runSync(makeRunContext(simulator.url, path), { command: 'sync', full: true, rebind: true })
  const later = check(path)
  expect(later.faults).toEqual([])
  expect(later.walks.map(({ walkId }) => walkId)).toEqual([3])
})

test('ten thousand walks later the last complete full walk still counts, and is still proven', async () => {
  using scratch = makeScratch()
  const path = scratch.path('task-mirror.sqlite')
  await using simulator = await startSimulator({ tasks: 30, openFraction: 0 })
  const context = makeRunContext(simulator.url, path)
  await runSync(context, { command: 'sync' })
  await runSync(context, { command: 'sync' })
  const db = new Database(path)
  // As if so many had come in between.
  const [full, head] = db.prepare('SELECT id FROM walks ORDER BY id').pluck().all() as number[]
  for (const [table, id] of Object.entries({ walks: 'id', walk_evidence: 'walk_id', walk_marks: 'walk_id' }))
    db.exec(`UPDATE ${table} SET ${id} = ${head! + 20_000} WHERE ${id} = ${head}`)
  db.close()
  await runSync(context, { command: 'sync' })
  const { summary } = await runSync(context, { command: 'sync' })
  expect(summary.plan).not.toContain('full')
  const found = check(path)
  expect(found.walks.map(({ walkId }) => walkId)).toContain(full)
})
