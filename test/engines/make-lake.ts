// `node test/engines/make-lake.ts FOLDER [TASKS [KINDS]]`: a mirror as a user has one, published as a user does, and what must be
// found in it. The built program copies a simulated account with open tasks, tombstones and oddities and publishes it; then the
// account lives on, the mirror follows, and the next is published: KINDS are `full` and `feed`, one full and three feeds where
// not given. `expected.json` has the truth of every publication, read from the mirror by SQL; `MASK-latest-N.json` what
// latest.json said after the N-th.
import { createHash, type Hash } from 'node:crypto'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import Database from 'better-sqlite3'
import { DEFAULTS } from '../../src/config/defaults.ts'
import { COLUMNS, type RawRow } from '../../src/export/read/columns.ts'
import { Redactor, redactionOf, rowRedactor } from '../../src/export/read/redact.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runCli } from '../support/cli.ts'

const REDACTED: readonly string[] = DEFAULTS.export.redactHeaders

const folder = argv[2] ?? 'lake'
const tasks = Number(argv[3] ?? 200_000)
const kinds = (argv[4] ?? 'full,feed,feed,feed').split(',')
/** Of what changes between two publications. */
const CHANGED = Math.max(50, Math.ceil(tasks / 500))
const DAY = 86_400_000

mkdirSync(folder, { recursive: true })
const mirror = join(folder, 'mirror.sqlite')
const simulator = await startSimulator({
  ...{ seed: 18, tasks, taskBytes: 700, spanDays: 120, openFraction: 0.005, oddities: 0.02, compression: 'none' },
  newest: Date.now() - DAY,
})
const { account } = simulator

/** Exit code 3 is no failure: such an account has tasks that are set aside. */
async function program(...args: string[]): Promise<string> {
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_DB: mirror }
  const { code, stdout, stderr } = await runCli(args, { cwd: folder, env, timeoutMs: 1_200_000 })
  if (code !== 0 && code !== 3) throw new Error(`task-mirror ${args.join(' ')}: exit ${code}\n${stderr}`)
  return stdout
}

/** Parts of a task that readers stumble over, as JSON text. `createdAt: null`: the task has none. */
interface Odd {
  createdAt?: number | null
  userId?: string
  timeframe?: string
  url?: string
  dataBody?: string
  header?: string
  statusCode?: string
  body?: string
}

const ODD: Odd[] = [
  { timeframe: '9223372036854775807', statusCode: '-9223372036854775808' },
  { timeframe: '-9223372036854775808', statusCode: '9007199254740993' },
  { timeframe: '9007199254740993', body: '90071992547409930000001' },
  { timeframe: '9223372036854775808' },
  { createdAt: null },
  { createdAt: null, body: 'null' },
  { userId: '""', url: '""', dataBody: '""', header: '{}', body: '""' },
  { userId: '"\\u0000"', dataBody: '"NUL \\u0000 inside"', body: '"\\u0000"' },
  { userId: '"\\ud83d\\ude00 \u{10ffff} e\u0301 \\ufffe"', dataBody: `"${'\u{1f600}'.repeat(70)}"` },
  { userId: '"\\ud800"', body: '{"cut":"\\ud83d","turned":"\\udc00\\ud800"}', header: '{"x-\\udfff":"\\ud800"}' },
  { body: `${'['.repeat(450)}1${']'.repeat(450)}` },
  { body: `${'{"a":'.repeat(450)}{}${'}'.repeat(450)}` },
  { body: `"${'x'.repeat(3_000_000)}"` },
  { body: '{"a":1,"a":2,"A":3,"":4}', header: '{"Authorization":"made-up-secret","x-api-key":["made-up-secret"]}' },
  { body: '"a,b;\\t\\"c\\"\\r\\nd\\\\N"', dataBody: '"NULL"' },
]

function makeOdd(id: string, odd: Odd): void {
  const known = Number(/"createdAt":(\d+)/.exec(account.get(id) as string)?.[1])
  const createdAt = odd.createdAt === undefined ? known : odd.createdAt
  const { userId = '"odd"', timeframe = '60000', url = '"https://odd.example/"', dataBody = '""' } = odd
  const { header = '{"accept":"*/*"}', statusCode = '200', body = '{"ok":true}' } = odd
  const text =
    `{"id":"${id}","userId":${userId},"data":{"method":"GET","url":${url},"body":${dataBody},"header":${header}}` +
    `,"timeframe":${timeframe},"accuracy":"MINUTE","systemStatus":"DONE"${createdAt === null ? '' : `,"createdAt":${createdAt}`}` +
    `,"completedAt":${known + 5},"result":{"body":${body},"header":{},"statusCode":${statusCode},"statusText":""}}`
  account.replaceText(id, text)
}

interface Digest {
  rows: number
  /** By column, over the rows in the order of id: of the lengths in bytes (-1: null), and of the bytes of all values as text. */
  columns: Record<string, string>
}

const names = COLUMNS.map(({ name }) => name)

/** Of the rows that are in the mirror now. test/engines/digest.py does the same to what an engine has read. */
function digest(db: Database.Database, where: string, redact: readonly string[]): Digest {
  const redactRow = rowRedactor(new Redactor(redactionOf(redact)))
  const hashes = names.map((): [Hash, Hash] => [createHash('sha256'), createHash('sha256')])
  const length = Buffer.alloc(4)
  let rows = 0
  const all = db.prepare(`SELECT ${COLUMNS.map(({ name }) => name)} FROM tasks WHERE ${where} ORDER BY id`)
  for (const row of all.raw().safeIntegers().iterate() as IterableIterator<RawRow>) {
    rows += 1
    redactRow(row)
    row.forEach((value, i) => {
      const bytes = value === null ? null : Buffer.from(String(value))
      length.writeInt32LE(bytes?.length ?? -1)
      hashes[i]![0].update(length)
      if (bytes !== null) hashes[i]![1].update(bytes)
    })
  }
  const hex = ([lengths, bytes]: [Hash, Hash]) =>
    `${lengths.digest('hex').slice(0, 16)}-${bytes.digest('hex').slice(0, 16)}`
  return { rows, columns: Object.fromEntries(names.map((name, i) => [name, hex(hashes[i]!)])) }
}

/** What aggregates must come to: asked of every engine in its own language. */
function aggregates(db: Database.Database, where: string) {
  const byStatus = db.prepare(
    `SELECT system_status, count(*), sum(change_seq), count(result_status_code) FROM tasks WHERE ${where}
     GROUP BY 1 ORDER BY 1`,
  )
  const month = `strftime('%Y-%m', created_at / 1000, 'unixepoch')`
  const byMonth = db.prepare(
    `SELECT ${month}, count(*), sum(change_seq) FROM tasks WHERE ${where} GROUP BY 1 ORDER BY 1`,
  )
  const bodies = db.prepare(
    `SELECT count(json_extract(result_body, '$.requestId')) FROM tasks WHERE ${where} AND json_valid(result_body)`,
  )
  return { byStatus: byStatus.raw().all(), byMonth: byMonth.raw().all(), requestIds: bodies.pluck().get() }
}

const MASKS: Record<string, readonly string[]> = { masked: REDACTED, plain: [] }
const flagsOf = (mask: string) => (mask === 'plain' ? ['--no-redact'] : [])

/** The state of the mirror now, and the names under which it was published. */
async function publish(kind: string, number: number) {
  const published: Record<string, unknown> = {}
  for (const mask of Object.keys(MASKS)) {
    // The full snapshot without masks has tombstones as well, the other has not.
    const full = ['--partition-by', 'month', ...(mask === 'plain' ? ['--include-deleted'] : [])]
    const more = kind === 'full' ? full : ['--changes', 'last']
    const out = `${join(folder, mask)}/`
    published[mask] = JSON.parse(await program('export', '--out', out, ...more, ...flagsOf(mask), '--json')).snapshotId
    copyFileSync(join(out, 'latest.json'), join(folder, `${mask}-latest-${number}.json`))
  }
  return { kind, published, ...stateNow() }
}

function stateNow() {
  const db = new Database(mirror, { readonly: true })
  try {
    const live = 'deleted_at IS NULL'
    const of = (redact: readonly string[]) => ({
      live: { ...digest(db, live, redact), ...aggregates(db, live) },
      all: { ...digest(db, 'true', redact), ...aggregates(db, 'true') },
    })
    return { masked: of(REDACTED), plain: of([]) }
  } finally {
    db.close()
  }
}

/** Tasks come, change and go, and the mirror follows. */
async function live(): Promise<void> {
  const added = account.insert(CHANGED, { openShare: 0.5 })
  ODD.forEach((odd, i) => {
    if (odd.createdAt === undefined) makeOdd(added[i]!, odd)
  })
  account.finish(CHANGED)
  account.update(CHANGED)
  account.remove(CHANGED / 2)
  await program('sync', '--full')
}

ODD.forEach((odd, i) => {
  makeOdd(account.idAt(10 + i * 7), odd)
})
makeOdd(account.idAt(tasks - 1), { createdAt: -1_000 })
await program('sync')
account.remove(CHANGED)
await program('sync', '--full')

const publications: Awaited<ReturnType<typeof publish>>[] = []
for (const [number, kind] of kinds.entries()) {
  if (number > 0) await live()
  publications.push(await publish(kind, number))
}
for (const mask of Object.keys(MASKS)) {
  await program('export', '--out', join(folder, `${mask}.parquet`), '--include-deleted', ...flagsOf(mask))
}
await program('copy', '--out', join(folder, 'tasks.sqlite'))
writeFileSync(join(folder, 'datasette.yaml'), await program('datasette-config', '--name', 'tasks'))
const columns = COLUMNS.map(({ name, kind }) => ({ name, kind }))
writeFileSync(join(folder, 'expected.json'), JSON.stringify({ columns, publications }, null, 1))
await simulator.close()
const last = publications.at(-1)!.plain
console.log(
  `${last.all.rows.toLocaleString('en')} tasks, ${last.all.rows - last.live.rows} of them tombstones, in ${kinds.length} publications`,
)
