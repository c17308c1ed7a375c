import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Packed, PackedKeyRange } from '../../src/export/encode/format.ts'
import { beginPacking, packInOrder } from '../../src/export/encode/pack-in-order.ts'
import type { Packing, PackKeyRange } from '../../src/export/encode/pieces.ts'
import { openCuts, type SecondThread, startSecondThread } from '../../src/export/encode/second-thread.ts'
import { exportSnapshot } from '../../src/export/export.ts'
import { FORMATS } from '../../src/export/formats.ts'
import type { ExportOptions } from '../../src/export/options.ts'
import { COLUMNS } from '../../src/export/read/columns.ts'
import type { Filters } from '../../src/export/read/conditions.ts'
import type { KeyRange } from '../../src/export/read/key-ranges.ts'
import { openCut } from '../../src/export/read/rows.ts'
import { few, SOAK } from '../support/soak.ts'
import { duck } from './duck.ts'
import { batchesOf, copyMirror, fillMirror, makeMirror, ordinaryRows } from './mirror.ts'

const base = { redact: ['authorization'], toolVersion: '1.2.3' } as const
const alone = { ...base, smallCutBytes: Number.POSITIVE_INFINITY }
const together = { ...base, smallCutBytes: 0 }

const MANY = SOAK ? 9_000 : 2_500

/** Rows of all kinds: ties, none without a date at first, tombstones, secrets, and one far too large for a key range. */
function manyRows() {
  const rows = ordinaryRows(MANY).map((row, i) => ({
    ...row,
    created_at: i < 300 ? null : 1_700_000_000_000 + Math.floor(i / 7),
    data_header: `{"Authorization":"secret-${i}","a":"${'x'.repeat(400 + (i % 500))}"}`,
    result_body: `{"n":${i},"text":"${'y'.repeat(i % 900)}é"}`,
    deleted_at: i % 50 === 0 ? 1_800_000_000_000 : null,
    system_status: i % 3 === 0 ? 'FAILED' : 'DONE',
  }))
  for (let i = MANY / 2; i < MANY / 2 + 6; i++) rows[i]!.result_body = `"${'z'.repeat(1_500_000)}"`
  return rows
}

/** Rows of four days. */
function rowsOfDays() {
  return ordinaryRows(4_000).map((row, i) => ({
    ...row,
    created_at: i < 30 ? null : 1_700_000_000_000 + i * 86_400,
    system_status: i % 3 === 0 ? 'FAILED' : 'DONE',
    data_header: `{"Authorization":"secret-${i}"}`,
    deleted_at: i % 50 === 0 ? 1_800_000_000_000 : null,
  }))
}

let many: ReturnType<typeof fillMirror>
let days: ReturnType<typeof fillMirror>
beforeAll(() => {
  many = fillMirror(...manyRows())
  days = fillMirror(...rowsOfDays())
})
afterAll(() => {
  many.remove()
  days.remove()
})

const LINES: Packing = {
  format: 'ndjson',
  encoding: { compression: 'none', columns: COLUMNS, engine: 'hyparquet', switches: {} },
}

const ALL_OF_IT = { partitionBy: 'none', rowsPerFile: null } as const

const filters: NonNullable<ExportOptions['filters']>[] = [
  {},
  { includeDeleted: true },
  { since: 1_700_000_000_200, until: 1_700_000_000_300 },
  { statuses: ['FAILED'] },
]

test('two threads write the same NDJSON as one, byte for byte', async () => {
  const mirror = copyMirror(many)
  for (const [i, wanted] of few(filters, (_, n) => n === 1 || n === 2).entries()) {
    const [one, two] = ['one', 'two'].map((name) => join(mirror.folder, `${name}-${i}.ndjson`)) as [string, string]
    const common = { dbPath: mirror.path, filters: wanted, withMeta: true }
    const before = await exportSnapshot({ ...alone, ...common, out: one })
    const after = await exportSnapshot({ ...together, ...common, out: two })
    expect(readFileSync(two).equals(readFileSync(one))).toBe(true)
    expect(after.rows).toBe(before.rows)
    expect(after.redacted).toEqual(before.redacted)
    expect(after.sha256).toBe(before.sha256)
  }
})

test('two threads write the same rows into Parquet as one, in the same order', async () => {
  const mirror = copyMirror(many)
  const [one, two] = ['one', 'two'].map((name) => join(mirror.folder, `${name}.parquet`)) as [string, string]
  await exportSnapshot({ ...alone, dbPath: mirror.path, out: one })
  await exportSnapshot({ ...together, dbPath: mirror.path, out: two })
  const rows = (path: string) => `SELECT * FROM read_parquet('${path}', file_row_number = true)`
  const [[, differing]] = (await duck(`SELECT 1, count(*) FROM (
    (${rows(one)} EXCEPT ALL ${rows(two)}) UNION ALL (${rows(two)} EXCEPT ALL ${rows(one)}))`)) as [[number, string]]
  expect(Number(differing)).toBe(0)
})

test.each<[string, number, Partial<ExportOptions>]>([
  ['closed by their size', 2, { fileBytes: 100_000 }],
  ['of so many rows', 6, { rowsPerFile: 700 }],
  ['of so many rows of one status', 2, { rowsPerFile: 700, filters: { statuses: ['FAILED'] } }],
  ['of partitions', 6, { partitionBy: 'day' }],
  ['of a feed of few changes', 1, { changes: 3_100 }],
  [
    'of a feed of few changes, of partitions and so many rows',
    5,
    { changes: 3_050, partitionBy: 'day', rowsPerFile: 300 },
  ],
  ['of a feed of many changes', 4, { changes: 10, rowsPerFile: 1_000 }],
])(
  'two threads write the files of a dataset that one writes, with their bounds and checksums: %s',
  async (_, count, more) => {
    const [one, two] = await Promise.all(
      [alone, together].map(async (options, i) => {
        const out = `${mkdtempSync(join(days.folder, `set-${i}-`))}/`
        const common = { dbPath: days.path, out, format: 'ndjson', compression: 'none' } as const
        const { manifest } = await exportSnapshot({ ...options, ...common, ...more })
        return JSON.parse(readFileSync(manifest as string, 'utf8'))
      }),
    )
    expect(two.files).toEqual(one.files)
    expect(two.files).toHaveLength(count)
    expect([two.rows, two.redacted]).toEqual([one.rows, one.redacted])
  },
)

test('key ranges hold every row once, in order, also where createdAt is missing', () => {
  const mirror = copyMirror(many)
  for (const wanted of filters) {
    const cut = openCut(mirror.path, wanted)
    const ids = (bytes: number) =>
      batchesOf(cut, bytes)
        .flat()
        .map((row) => row[0])
    expect([...cut.keyRanges(256 * 1024)].length).toBeGreaterThan(wanted.since === undefined ? 15 : 0)
    expect(ids(256 * 1024)).toEqual(ids(Number.MAX_SAFE_INTEGER / 2))
    cut.close()
  }
})

/** What is begun on a cut that nobody packs. */
const nothing = () => ({ stop: async () => {} })

/** Opens both cuts of a mirror of ten rows; in between a row is added, but `commits` times at the most. */
async function openCutsDuring(commits: number) {
  const mirror = makeMirror(...ordinaryRows(10))
  const thread = startSecondThread(mirror.path, 'ndjson')
  onTestFinished(() => thread.close())
  let openings = 0
  const start = () => ({
    ...thread,
    async open(path: string, wanted: Filters) {
      if (openings++ < commits) mirror.insert(...ordinaryRows(1, 100 + openings))
      await thread.open(path, wanted)
    },
  })
  const { cut, second } = await openCuts(mirror.path, {}, start, nothing)
  onTestFinished(() => cut.close())
  return { same: second !== null, cut: cut.cut, openings }
}

test('a commit between the opening of the two cuts is noticed, and both are opened anew', async () => {
  expect(await openCutsDuring(2)).toEqual({ same: true, cut: 12, openings: 3 })
})

test('what was begun on a cut that is given up is stopped while that cut is open, and begun anew on the next one', async () => {
  for (const commits of [0, 1]) {
    const mirror = copyMirror(many)
    const thread = startSecondThread(mirror.path, 'ndjson')
    const done: string[] = []
    let left = commits
    const start = () => ({
      ...thread,
      async open(path: string, wanted: Filters) {
        if (left-- > 0) mirror.insert(...ordinaryRows(1, 20_000))
        await thread.open(path, wanted)
      },
    })
    const { cut } = await openCuts(mirror.path, {}, start, (begun) => {
      done.push(`begun ${begun.cut}`)
      return {
        async stop() {
          await immediate()
          // Throws once the cut is closed.
          done.push(begun.keyRanges(1_000).next().done === true ? 'empty' : 'stopped while open')
        },
      }
    })
    expect(done).toEqual(
      commits === 0 ? [`begun ${MANY}`] : [`begun ${MANY}`, 'stopped while open', `begun ${MANY + 1}`],
    )
    cut.close()
    await thread.close()
  }
})

test('packing that has begun ends in the middle of a key range once it is stopped', async () => {
  const cut = openCut(copyMirror(many).path, {})
  const head = beginPacking(cut, { packing: LINES, limits: ALL_OF_IT, redact: ['authorization'], signal: undefined })
  await head.stop()
  await expect(head.pieces().next()).rejects.toMatchObject({ code: 'interrupted' })
  cut.close()
})

test('packing that has begun has the first key range, also where another thread joins before it is read', async () => {
  const cut = openCut(copyMirror(many).path, {})
  const [one, two] = cut.keyRanges(FORMATS.ndjson.pieceBytes)
  const head = beginPacking(cut, { packing: LINES, limits: ALL_OF_IT, redact: [], signal: undefined })
  const given: KeyRange[] = []
  const pack = (keyRange: KeyRange) => new Promise<PackedKeyRange>(() => void given.push(keyRange))
  head.join({ pack, close: async () => {} } as unknown as SecondThread)
  expect(given[0]).toEqual(two)
  const packed = (await head.pieces().next()).value as Packed
  const rows = [...cut.batches(one as KeyRange)].flat()
  expect(packed.rows).toBe(rows.length)
  expect(String(packed.content.bytes).split('\n')[0]).toContain(`"${rows[0]![0]}"`)
  await head.stop()
  cut.close()
})

test('an export by two threads sees one cut, also where commits come in while the other one starts', async () => {
  const mirror = copyMirror(many)
  const out = join(mirror.folder, 'busy.ndjson')
  let at = 20_000
  const busy = setInterval(() => mirror.insert(...ordinaryRows(1, at++)), 2)
  try {
    const { cut, rows } = await exportSnapshot({
      ...together,
      dbPath: mirror.path,
      out,
      filters: { includeDeleted: true },
    })
    expect(rows).toBe(cut)
    const lines = readFileSync(out, 'utf8').trimEnd().split('\n')
    expect(new Set(lines.map((line) => JSON.parse(line).id)).size).toBe(rows)
  } finally {
    clearInterval(busy)
  }
})

test('where commits never cease the cut is good, but not shared', async () => {
  expect(await openCutsDuring(Number.POSITIVE_INFINITY)).toMatchObject({ same: false })
})

test('what fails on the other thread fails the export in words', async () => {
  const second = startSecondThread('/nowhere/mirror.sqlite', 'ndjson')
  try {
    await expect(second.open('/nowhere/mirror.sqlite', {})).rejects.toMatchObject({ name: 'MirrorError' })
  } finally {
    await second.close()
  }
})

const keyRange = (i: number): KeyRange => ({ seqs: [BigInt(i)] })
const outcome = (packed: KeyRange): PackedKeyRange => ({
  packed: {
    rows: Number((packed as { seqs: bigint[] }).seqs[0]),
    minCreatedAt: null,
    maxCreatedAt: null,
    content: { bytes: new Uint8Array() },
  },
  rest: null,
})
/** Pieces packed by this thread and, unless it works alone, another one that joins at once. */
function inOrder(all: Iterator<KeyRange, void>, here: PackKeyRange, there: PackKeyRange | null) {
  const { pieces, join } = packInOrder(all, here)
  if (there !== null) join(there)
  return pieces
}
const keyRanges = (...numbers: number[]) => numbers.map(keyRange)[Symbol.iterator]() as Iterator<KeyRange, void>

test('outcomes come in order whoever is slower, and nobody runs far ahead', async () => {
  for (const slow of ['here', 'there']) {
    let ahead = 0
    let most = 0
    const pack = (who: string) => async (wanted: KeyRange) => {
      ahead++
      most = Math.max(most, ahead)
      for (let i = 0; i < (who === slow ? 50 : 1); i++) await new Promise(setImmediate)
      return outcome(wanted)
    }
    const found: number[] = []
    for await (const { rows } of inOrder(keyRanges(...Array(30).keys()), pack('here'), pack('there'))) {
      found.push(rows)
      ahead--
    }
    expect(found).toEqual(Array.from({ length: 30 }, (_, i) => i))
    expect(most).toBeLessThanOrEqual(9)
  }
})

test.each(['alone', 'with another thread'])(
  'what a key range left over comes behind it, and before the next one: %s',
  async (who) => {
    /** Key range 12 is taken in three pieces. */
    const pack = async (wanted: KeyRange): Promise<PackedKeyRange> => {
      const done = outcome(wanted)
      const left = { 12: 120, 120: 1200 }[done.packed!.rows]
      return { ...done, rest: left === undefined ? null : keyRange(left) }
    }
    const found: number[] = []
    const there = who === 'alone' ? null : pack
    for await (const { rows } of inOrder(keyRanges(11, 12, 13, 14), pack, there)) found.push(rows)
    expect(found).toEqual([11, 12, 120, 1200, 13, 14])
  },
)

test('a feed of few changes too large for a piece is written whole and in order', async () => {
  const rows = ordinaryRows(130).map((row, i) =>
    i < 100 ? row : { ...row, result_body: JSON.stringify('x'.repeat(400_000)) },
  )
  const mirror = makeMirror(...rows)
  const out = join(mirror.folder, 'feed.ndjson')
  await exportSnapshot({ ...alone, dbPath: mirror.path, out, changes: 100 })
  const lines = readFileSync(out, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(rows.slice(100).map(({ id }) => id))
})

test('the first key range fails the whole where its turn comes', async () => {
  const there = async (wanted: KeyRange) => outcome(wanted)
  const taken = inOrder(keyRanges(0, 1), async () => Promise.reject(new Error('no')), there)
  await expect(taken.next()).rejects.toThrow('no')
})

test('a key range that fails there fails the whole', async () => {
  const there = async () => Promise.reject(new Error('no'))
  const taken = (async () => {
    const here = async (wanted: KeyRange) => outcome(wanted)
    for await (const _ of inOrder(keyRanges(...Array(9).keys()), here, there)) await new Promise(setImmediate)
  })()
  await expect(taken).rejects.toThrow('no')
})

test('where the key ranges end in a failure, it is thrown behind what was found before', async () => {
  function* broken(): Generator<KeyRange, void> {
    yield keyRange(0)
    yield keyRange(1)
    yield keyRange(2)
    throw new Error('no')
  }
  // The failure is met by the other thread's answer, which nobody waits for.
  const there = async (wanted: KeyRange) => immediate().then(() => outcome(wanted))
  const here = async (wanted: KeyRange) => immediate().then(() => immediate(outcome(wanted)))
  const found: unknown[] = []
  const taken = (async () => {
    for await (const { rows } of inOrder(broken(), here, there)) found.push(rows)
  })()
  await expect(taken).rejects.toThrow('no')
  expect(found).toEqual([0, 1, 2])
})

test('once nobody takes what is packed, no further key range is asked for', async () => {
  let asked = 0
  function* endless(): Generator<KeyRange, void> {
    for (;;) yield keyRange(++asked)
  }
  const waiting: (() => void)[] = []
  const there = (wanted: KeyRange) =>
    new Promise<PackedKeyRange>((resolve) => waiting.push(() => resolve(outcome(wanted))))
  const here = async (wanted: KeyRange) => outcome(wanted)
  for await (const _ of inOrder(endless(), here, there)) break
  const before = asked
  for (const answer of waiting) answer()
  await immediate()
  expect(asked).toBe(before)
})

test.each(['ndjson', 'parquet'] as const)('a damaged index is told of as damage, in %s too', async (format) => {
  const mirror = copyMirror(many)
  const pageno = "SELECT pageno FROM dbstat WHERE name = 'tasks_created_at' AND pagetype = 'leaf' LIMIT 1 OFFSET 1"
  const page = mirror.db.prepare(pageno).pluck().get() as number
  mirror.db.pragma('wal_checkpoint(TRUNCATE)')
  const file = openSync(mirror.path, 'r+')
  writeSync(file, Buffer.alloc(16_384, 0xff), 0, 16_384, (page - 1) * 16_384)
  closeSync(file)
  const out = join(mirror.folder, `a.${format}`)
  await expect(exportSnapshot({ ...together, dbPath: mirror.path, out })).rejects.toMatchObject({
    code: 'mirror-damaged',
  })
  expect(readdirSync(mirror.folder).filter((name) => name.includes('tmp'))).toEqual([])
})
