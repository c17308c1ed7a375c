// JSON that other engines refuse: kept to the letter, or replaced so that they read it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportSnapshot } from '../../src/export/export.ts'
import type { ExportOptions } from '../../src/export/options.ts'
import { withoutLoneSurrogates } from '../../src/export/read/invalid-json.ts'
import { verifySnapshot } from '../../src/export/verify/verify.ts'
import fc from '../support/fc.ts'
import { duck } from './duck.ts'
import { makeMirror } from './mirror.ts'

test.each([
  [String.raw`{"a":"\ud83d"}`, String.raw`{"a":"\ufffd"}`],
  [String.raw`{"a":"\uD83D\uDE00 \udc00 alone"}`, String.raw`{"a":"\uD83D\uDE00 \ufffd alone"}`],
  [String.raw`{"a":"\ude00\ud83d"}`, String.raw`{"a":"\ufffd\ufffd"}`],
  [String.raw`{"a":"\ud83d\ud83d\ude00"}`, String.raw`{"a":"\ufffd\ud83d\ude00"}`],
  [String.raw`{"\ud800":1}`, String.raw`{"\ufffd":1}`],
  // No escape of a surrogate: a backslash that is escaped itself.
  [String.raw`{"a":"\\ud83d","b":"\\\ud83d"}`, String.raw`{"a":"\\ud83d","b":"\\\ufffd"}`],
  [String.raw`{"n":12345678901234567890,"e":1e400,"t":"\u0041\n"}`, null],
])('%s', (json, replaced) => {
  expect(withoutLoneSurrogates(json)).toBe(replaced ?? json)
})

test('of any text it makes what toWellFormed makes of its strings', () => {
  const units = fc.array(fc.constantFrom('\ud83d', '\ude00', '\\', 'u', 'd83d', '"', '\n', 'ü'), { maxLength: 12 })
  fc.assert(
    fc.property(units, (parts) => {
      const text = parts.join('')
      expect(JSON.parse(withoutLoneSurrogates(JSON.stringify({ text }))).text).toBe(text.toWellFormed())
    }),
  )
})

const ODD = String.raw`{"n":1,"text":"\ud83d alone"}`

function mirrorWithOdd() {
  const task = { system_status: 'DONE', created_at: 1, result_status_code: 200 }
  return makeMirror({ id: 'a', ...task, result_body: ODD }, { id: 'b', ...task, result_body: '{"n":2}' })
}

const options = (path: string, out: string, invalidJson: 'keep' | 'replace'): ExportOptions => ({
  ...{ dbPath: path, out, redact: [], toolVersion: '0', filters: { invalidJson } },
})

test.each(['parquet', 'ndjson'])(
  '%s: kept it is exact and ends a query of DuckDB, replaced it is read',
  async (format) => {
    const { path, folder } = mirrorWithOdd()
    const read = (file: string) =>
      format === 'parquet'
        ? duck(`SELECT id, result_body ->> '$.text' FROM '${file}' ORDER BY id`)
        : duck(`SELECT id, "result".body.text FROM read_json('${file}') ORDER BY id`)
    const kept = join(folder, `kept.${format}`)
    await exportSnapshot(options(path, kept, 'keep'))
    await expect(read(kept)).rejects.toThrow(/surrogate|Malformed JSON/i)
    if (format === 'ndjson') expect(readFileSync(kept, 'utf8')).toContain(`"body":${ODD}`)

    const replaced = join(folder, `replaced.${format}`)
    await exportSnapshot(options(path, replaced, 'replace'))
    expect(await read(replaced)).toEqual([
      ['a', '\ufffd alone'],
      ['b', null],
    ])
  },
)

test('the manifest says which, verify --deep finds its rows equal, and a feed is not carried on with the other', async () => {
  const { path, folder, insert } = mirrorWithOdd()
  const lake = `${join(folder, 'lake')}/`
  const full = await exportSnapshot(options(path, lake, 'replace'))
  expect(JSON.parse(readFileSync(full.manifest!, 'utf8')).filters).toMatchObject({ invalidJson: 'replace' })
  expect(await verifySnapshot(lake, { deep: true, dbPath: path })).toMatchObject({ ok: true, problems: [] })

  insert({ id: 'c', system_status: 'DONE', created_at: 2, result_body: ODD })
  const other = await exportSnapshot({ ...options(path, lake, 'keep'), changes: 'last' })
  expect(other).toMatchObject({ rows: 3, sinceSeq: 0 })
  const same = await exportSnapshot({ ...options(path, lake, 'replace'), changes: 'last' })
  expect(same).toMatchObject({ rows: 1, sinceSeq: 2 })
})

test('two threads replace it as one does', async () => {
  const { path, folder, insert } = mirrorWithOdd()
  insert(...Array.from({ length: 400 }, (_, n) => ({ id: `t${n}`, created_at: 10 + n, result_body: ODD })))
  const both = { ...options(path, join(folder, 'both.ndjson'), 'replace'), smallCutBytes: 0 }
  await exportSnapshot(both)
  await exportSnapshot(options(path, join(folder, 'one.ndjson'), 'replace'))
  const [two, one] = ['both', 'one'].map((name) => readFileSync(join(folder, `${name}.ndjson`), 'utf8'))
  expect(two).toBe(one)
  expect(two!.split('\n').filter((line) => line.includes('ufffd alone'))).toHaveLength(401)
})
