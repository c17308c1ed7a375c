// The whole of it: one mirror, published by month to a folder and to object storage in both formats, read back by all
// readers with equal counts, sums and rows; three feeds on top are the mirror. TASKS=200000 makes it a long one.
import { createReadStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { createZstdDecompress } from 'node:zlib'
import pl from 'nodejs-polars'
import { readParquet } from 'parquet-wasm'
import { expect, test } from 'vitest'
import { openParquet } from '../../src/export/encode/parquet/read.ts'
import type { ExportOptions } from '../../src/export/options.ts'
import { verifySnapshot } from '../../src/export/verify/verify.ts'
import { few, SOAK } from '../support/soak.ts'
import { duck } from './duck.ts'
import { type FilledMirror, makeMirror, ordinaryRows } from './mirror.ts'
import { publishing } from './publishing.ts'
import { type Storage, startStorage } from './s3/storage.ts'

const TASKS = Number(process.env.TASKS ?? (SOAK ? 1_000 : 500))
const SPAN = (SOAK ? 365 : 100) * 86_400_000

/** Spread over some months, a few of each kind that is not ordinary. */
function rowsOfMonths() {
  return ordinaryRows(TASKS).map((row, i) => ({
    ...row,
    created_at: 1_760_000_000_000 + Math.floor((i * SPAN) / TASKS),
    timeframe: i % 1_000 === 7 ? 2n ** 53n + BigInt(i) : 60_000n,
    result_status_code: i % 13 === 0 ? null : 200 + (i % 7),
    deleted_at: i % 50 === 3 ? 5n : null,
  }))
}

const publishingMonths = (mirror: FilledMirror, more: Partial<ExportOptions>) =>
  publishing(mirror, { redact: [], partitionBy: 'month', filters: { includeDeleted: true }, ...more })

/** What every reader must find: how many rows, and sums that no two wrong rows make up for. */
type Sums = [rows: string, changeSeq: string, timeframe: string, status: string, deleted: string]

const SUMS = 'count(*), sum(change_seq), sum(timeframe), sum(result_status_code), count(deleted_at)'

function expected(mirror: FilledMirror): Sums {
  const row = mirror.db.prepare(`SELECT ${SUMS} FROM tasks`).safeIntegers().raw().get() as bigint[]
  return row.map(String) as Sums
}

async function byDuck(folder: string): Promise<Sums> {
  const [row] = await duck(`SELECT ${SUMS} FROM read_parquet('${folder}/*/*.parquet', hive_partitioning = true)`)
  return row!.map(String) as Sums
}

function byPolars(paths: string[]): Sums {
  const sums = paths.map((path) => {
    // Sums by text: a JavaScript number would round them.
    const columns = ['change_seq', 'timeframe', 'result_status_code'].map((name) => pl.col(name).sum().cast(pl.Utf8))
    const frame = pl.readParquet(path)
    const [row] = frame.select(...columns).toRecords()
    return [frame.height, ...Object.values(row!), frame.height - Number(frame.getColumn('deleted_at').nullCount())]
  })
  return add(sums)
}

async function byHyparquet(paths: string[]): Promise<Sums> {
  const sums: unknown[][] = []
  for (const path of paths) {
    const file = await openParquet(path)
    for await (const rows of file.rowGroups()) {
      const sum = (name: string) => rows.reduce((total, row) => total + ((row[name] as bigint | null) ?? 0n), 0n)
      const deleted = rows.filter((row) => row.deleted_at != null).length
      sums.push([rows.length, sum('change_seq'), sum('timeframe'), sum('result_status_code'), deleted])
    }
  }
  return add(sums)
}

async function byLines(paths: string[]): Promise<Sums> {
  const sums: unknown[][] = []
  for (const path of paths) {
    const lines = createInterface({ input: createReadStream(path).pipe(createZstdDecompress()) })
    for await (const line of lines) {
      const task = JSON.parse(line)
      // Digits from the text: a number would lose the last ones.
      const timeframe = /"timeframe":(\d+)/.exec(line)?.[1] ?? 0
      const deleted = task._mirror.deletedAt === null ? 0 : 1
      sums.push([1, task._mirror.changeSeq, timeframe, task.result?.statusCode ?? 0, deleted])
    }
  }
  return add(sums)
}

const add = (rows: unknown[][]): Sums =>
  [0, 1, 2, 3, 4].map((i) => String(rows.reduce((sum, row) => sum + BigInt(String(row[i])), 0n))) as Sums

/** Where the files of a dataset lie on this machine: those of object storage are fetched. */
async function filesOf(
  result: { path: string },
  mirror: FilledMirror,
  storage: Storage,
): Promise<{ folder: string; paths: string[] }> {
  const isRemote = result.path.startsWith('s3:')
  const key = result.path.replace('s3://lake/', '')
  const folder = isRemote ? join(mirror.folder, 'fetched', key) : result.path
  const read = (name: string) => (isRemote ? storage.object(`${key}/${name}`) : readFileSync(join(folder, name)))
  const { files } = JSON.parse((await read('_manifest.json')).toString()) as { files: { path: string }[] }
  const paths = files.map(({ path }) => join(folder, path))
  for (const [i, path] of paths.entries()) {
    if (!isRemote || existsSync(path)) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, await read(files[i]!.path))
  }
  return { folder, paths }
}

// A storage is read by way of a folder.
test.each(few(['folder', 's3'], (place) => place === 's3'))(
  'all readers find the mirror in a %s, and three feeds keep it current',
  async (place) => {
    const storage = await startStorage()
    const mirror = makeMirror()
    const tasks = rowsOfMonths()
    for (let i = 0; i < TASKS; i += 1_000) mirror.insert(...tasks.slice(i, i + 1_000))
    const { env } = storage
    const out = place === 's3' ? 's3://lake/tasks' : join(mirror.folder, 'lake/')
    const parquet = await publishingMonths(mirror, { out, env })
    const ndjson = await publishingMonths(mirror, {
      out: out.replace(/(lake|tasks)\/?$/, 'lines/'),
      env,
      format: 'ndjson',
      withMeta: true,
    })
    const sums = expected(mirror)
    const { folder, paths } = await filesOf(parquet, mirror, storage)
    expect(paths.length).toBeGreaterThanOrEqual(SOAK ? 12 : 4)
    expect(await byDuck(folder)).toEqual(sums)
    expect(byPolars(paths)).toEqual(sums)
    expect(await byHyparquet(paths)).toEqual(sums)
    expect(await byLines((await filesOf(ndjson, mirror, storage)).paths)).toEqual(sums)
    const batches = paths.map((path) => readParquet(new Uint8Array(readFileSync(path))).recordBatches())
    expect(batches.flat().reduce((sum, batch) => sum + batch.numRows, 0)).toBe(TASKS)

    const versions = [`SELECT * FROM read_parquet('${folder}/*/*.parquet', hive_partitioning = false)`]
    for (let round = 1; round <= 3; round++) {
      const cut = mirror.db.prepare('SELECT max(change_seq) FROM tasks').pluck().get() as number
      mirror.db.exec(`UPDATE tasks SET data_body = 'round ${round}', deleted_at = CASE WHEN seq % 3 = 0 THEN ${round} END,
      change_seq = ${cut} + seq WHERE seq % 20 = ${round}`)
      mirror.insert(...ordinaryRows(20, TASKS + round * 100).map((row, i) => ({ ...row, change_seq: 3 * cut + i })))
      const feed = await publishingMonths(mirror, { out, env, changes: 'last' })
      expect(feed.sinceSeq).toBe(cut)
      const { folder: published } = await filesOf(feed, mirror, storage)
      versions.push(`SELECT * FROM read_parquet('${published}/*/*.parquet', hive_partitioning = false)`)
    }
    const current = `SELECT * FROM (${versions.join(' UNION ALL ')})
    QUALIFY row_number() OVER (PARTITION BY id ORDER BY change_seq DESC) = 1`
    const state = `SELECT id, data_body, change_seq::VARCHAR, epoch_ms(deleted_at)::VARCHAR FROM (${current}) ORDER BY id`
    const text = (value: unknown) => (value === null ? null : String(value))
    const rows = mirror.db
      .prepare('SELECT id, data_body, change_seq, deleted_at FROM tasks ORDER BY id')
      .raw()
      .safeIntegers()
    expect(await duck(state)).toEqual((rows.all() as unknown[][]).map((row) => row.map(text)))
    const verified = await verifySnapshot(out, { deep: true, dbPath: mirror.path, env })
    expect([verified.problems, verified.snapshots.length]).toEqual([[], 4])
  },
  600_000,
)
