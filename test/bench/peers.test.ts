// What compares task-mirror with others: judged rightly, written where it belongs, and no burden where PyPI is not there.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { withTable } from '../../bench/document.ts'
import { judged } from '../../bench/peers/judged.ts'
import {
  comparisonTables,
  type PeerResult,
  type Results,
  type Rows,
  type Run,
  readmeTable,
} from '../../bench/peers/report.ts'
import { startWorld, worldKinds } from '../../bench/peers/worlds.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const row = (text = '') => ({ status: 'DONE', text })

test('a row is missing if its task was listed all the time; one that came meanwhile is counted by itself', () => {
  const before = new Map([
    ['a', 'DONE'],
    ['b', 'DONE'],
    ['c', 'RUNNING'],
    ['d', 'DONE'],
  ])
  const after = new Map([
    ['new', 'DONE'],
    ['a', 'DONE'],
    ['b', 'DONE'],
    ['c', 'DONE'],
  ])
  const stored = new Map([
    ['a', row()],
    ['c', { status: 'RUNNING', text: '' }],
    ['d', row()],
  ])
  expect(judged(stored, before, after, new Map())).toEqual({ missing: 1, newMissing: 1, stale: 1, gone: 1, lost: {} })
})

test.each([
  ['{"n":90071992547409931}', '90071992547409931', 0],
  ['{"n":90071992547409936}', '90071992547409931', 1],
  ['{"n":900719925474099310}', '90071992547409931', 1],
  ['70010.0 DONE', '70010.0', 0],
  ['70010 DONE', '70010.0', 1],
  ['{"share": 0.12345678901234000}', '0.12345678901234', 1],
])('in %s the number %s is lost %i times', (text, number, lost) => {
  const list = new Map([['a', 'DONE']])
  expect(judged(new Map([['a', row(text)]]), list, list, new Map([['a', { n: number }]])).lost).toEqual({ n: lost })
})

test('every task of the worlds of digits carries its own numbers, and they are no doubles', async () => {
  for (const kind of [worldKinds(50).digits, worldKinds(50).long]) {
    const world = await startWorld({ ...kind, tasks: 50 })
    const response = await fetch(`${world.url}/tasks/list`, { method: 'POST', body: '{"skip":0,"take":50}' })
    const text = await response.text()
    await world.close()
    const numbers = [...world.digits.values()].flatMap((of) => Object.values(of))
    expect(new Set(numbers).size).toBe(50 * Object.keys(kind.numbers!).length)
    expect(numbers.filter((number) => !text.includes(`:${number},`))).toEqual([])
    expect(numbers.filter((number) => String(Number(number)) === number)).toEqual([])
  }
})

const run = (ms: number, more: Partial<Run> = {}): Run => {
  return { ms, cpuMs: ms, peakMb: 100, requests: 3, failed: null, isPartial: false, ...more }
}
const rows = (missing: number, more: Partial<Rows> = {}): Rows => {
  return { run: run(1), missing, newMissing: 0, stale: 0, gone: 0, lost: {}, ...more }
}

function result(
  name: string,
  setting: string,
  ms: number,
  missing: number,
  lost: number,
  long: Run = run(1),
): PeerResult {
  const twice = { first: rows(missing), again: rows(0) }
  const digits = rows(0, { lost: { 'integers of 17 digits': lost } })
  return {
    name,
    setting,
    speed: [{ first: run(ms), again: run(ms, { requests: 1 }), far: run(ms), rows: 50_000 }],
    worlds: {
      capped: twice,
      inserts: twice,
      deletes: twice,
      changed: twice,
      digits: { first: digits, again: null },
      long: { first: rows(0, { run: long, lost: { 'integers of 30 digits': 0 } }), again: null },
    },
  }
}

const results: Results = {
  at: '2026-11-22T12:00:00.000Z',
  machine: 'a machine',
  cores: 2,
  load: [1, 2],
  tasks: 50_000,
  farTasks: 20_000,
  latencyMs: 50,
  repeats: 3,
  versions: { one: 'one 1.0' },
  peers: [
    result('a plain loop in JavaScript', 'usual', 1000, 0, 500),
    result('other', 'usual', 2000, 18_000, 0),
    result('other', 'best', 4000, 0, 0, run(1, { failed: 'overflow' })),
  ],
}

test('a peer has one line in the README, its usual settings before its best ones', () => {
  expect(readmeTable(results)).toContain(
    '| other | 0.50 / 0.25 | 1 | 18,000 / 0 | 18,000 / 0 | all kept / fails at 30 |',
  )
  expect(readmeTable(results)).toContain('rounded from 17 on')
})

test('seconds of a busy machine are marked as that', () => {
  expect(readmeTable(results)).not.toContain('busy')
  expect(readmeTable({ ...results, load: [1, 9] })).toContain('The machine was busy')
})

test('what failed is told as that, not as a number', () => {
  const text = comparisonTables(results)
  expect(text).toContain('| other, best | 0 | fails |')
  expect(text).toContain('| other, usual | 18,000 / 0 | 18,000 / 0 | 18,000 / 0 |')
})

test('a table is written between its own markers and nowhere else', () => {
  const document =
    'a <!-- x writes from here --> old <!-- to here --> b <!-- y writes from here --> kept <!-- to here -->'
  expect(withTable(document, 'new', 'x')).toBe(
    'a <!-- x writes from here -->\n\nnew\n<!-- to here --> b <!-- y writes from here --> kept <!-- to here -->',
  )
  expect(() => withTable(document, 'new', 'z')).toThrow('There is no <!-- z writes from here -->')
})

test.each([
  ['README.md', 'bench:peers'],
  ['docs/comparison.md', 'bench:peers'],
  ['docs/scale.md', 'bench:size'],
])('%s has the place where %s writes', (document, script) => {
  const text = readFileSync(join(ROOT, document), 'utf8')
  expect(withTable(text, 'table', script)).toContain(`<!-- ${script} writes from here -->\n\ntable\n<!-- to here -->`)
})

test.each(globSync('bench/**/{requirements,target,build}.txt', { cwd: ROOT }))(
  '%s locks every package by hashes',
  (file) => {
    const packages = readFileSync(join(ROOT, file), 'utf8')
      .replaceAll(/\\\n/g, ' ')
      .split('\n')
      .filter((line) => /^[a-z]/i.test(line))
    expect(packages.length).toBeGreaterThan(0)
    expect(packages.filter((line) => !/--hash=sha256:[0-9a-f]{64}/.test(line) || !/==|@ https/.test(line))).toEqual([])
  },
)

test('without Python the script says in one line why it measures nothing, and ends well', () => {
  const env = { PATH: process.env.PATH, PYTHON: 'no-python-here', BENCH_CACHE: join(ROOT, 'bench/results/none') }
  const text = execFileSync(process.execPath, [join(ROOT, 'bench/peers/run.ts')], { env, encoding: 'utf8' })
  expect(text).toMatch(/^bench:peers skipped: no-python-here makes no environment: [^\n]*\n$/)
})
