// Issue 2: another process reads the mirror while it is written. It is never blocked and sees whole windows only.
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { makeStage, WINDOW } from './stage.ts'

const TASKS = 12 * WINDOW
/** A window but for its overlap. */
const STEP = WINDOW - 10

interface Seen {
  reads: number
  /** Messages of reads that failed. */
  failed: string[]
  /** Reads in which rows, walk and run did not tell the same. */
  torn: number[][]
  /** Different numbers of rows, in the sequence they were seen. */
  counts: number[]
}

/**
 * Reads until the file `<mirror>.over` is there, and prints every number of rows it has not seen before; `reopen` takes a new
 * connection every time. A lasting connection never waits for a lock; a new one may, for the moment in which SQLite makes
 * or removes the WAL.
 */
const READER = `
import { createRequire } from 'node:module'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
const Database = createRequire(${JSON.stringify(import.meta.url)})('better-sqlite3')
const [, path, reopen] = process.argv
const seen = { reads: 0, failed: [], torn: [], counts: [] }
const open = () => new Database(path, { readonly: true, timeout: 300_000 })
const read = (db) => db.transaction(() => db.prepare(\`SELECT (SELECT count(*) FROM tasks),
  (SELECT coalesce(sum(met), 0) FROM walks), (SELECT coalesce(sum(inserted), 0) FROM runs),
  (SELECT coalesce(max(next_skip), 0) FROM walks WHERE finished_at IS NULL)\`).raw().get())()
let db = reopen === 'reopen' ? null : open()
if (db !== null) {
  read(db)
  db.pragma('busy_timeout = 0')
}
for (; !existsSync(path + '.over'); await sleep(3)) {
  try {
    const each = db ?? open()
    const [tasks, met, inserted, reached] = read(each)
    if (db === null) each.close()
    seen.reads += 1
    if (tasks !== met || tasks !== inserted || (reached > 0 && tasks !== reached)) seen.torn.push([tasks, met, inserted, reached])
    if (tasks !== seen.counts.at(-1)) {
      seen.counts.push(tasks)
      console.log(tasks)
    }
  } catch (error) {
    seen.failed.push(error.code + ' ' + error.message)
  }
}
console.log(JSON.stringify(seen))
`

test.concurrent.for(['one connection', 'reopen'] as const)(
  'a reader in another process (%s) is never blocked and sees whole windows only',
  async (how) => {
    await using stage = await makeStage({ window: WINDOW, tasks: TASKS, order: 'created_asc', openFraction: 0 })
    // One window after another, and none before the reader has seen the last but one.
    let windows = 0
    let shown = 0
    const isShown = new EventEmitter()
    stage.simulator.onBeforeRequest(async () => {
      const wanted = Math.min(TASKS, 10 + STEP * (windows - 2))
      windows += 1
      while (windows > 3 && shown < wanted) await once(isShown, 'more')
    })
    const running = stage.start(['backfill'], { TASK_MIRROR_SERVICE_CONCURRENCY: '1' })
    while (!existsSync(stage.mirrorPath)) await sleep(2)
    const args = ['--input-type=module', '-e', READER, stage.mirrorPath, how]
    const reader = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let last = ''
    createInterface(reader.stdout).on('line', (line) => {
      last = line
      if (line.startsWith('{')) return
      shown = Number(line)
      isShown.emit('more')
    })
    const read = once(reader, 'close')
    expect((await running.ended).code).toBe(0)
    writeFileSync(`${stage.mirrorPath}.over`, '')
    await read
    const seen = JSON.parse(last) as Seen
    expect(seen.failed).toEqual([])
    expect(seen.torn).toEqual([])
    expect(seen.counts).toEqual([...new Set(seen.counts)].sort((a, b) => a - b))
    expect(seen.counts.length).toBeGreaterThan(5)
    for (const count of seen.counts) expect(count === TASKS || count === 0 || (count - 10) % STEP === 0).toBe(true)
  },
)

test('a second writer at the same time is exit 6, reading commands are not in its way', async () => {
  await using stage = await makeStage({ window: WINDOW, tasks: TASKS })
  // It goes on once the others have ended.
  const { promise: others, resolve: goOn } = Promise.withResolvers<void>()
  stage.simulator.onBeforeRequest(({ n }) => (n >= 6 ? others : undefined))
  const running = await stage.startUntilAsked(6, ['sync'])
  while (stage.value<number>('SELECT count(*) FROM tasks') === 0) await sleep(2)
  const [second, status, exported] = await Promise.all([
    stage.run(['sync']),
    stage.runHere(['status', '--json']),
    stage.run(['export', '--out', '-', '--no-redact', '--quiet']),
  ])
  expect(second.code).toBe(6)
  expect(status.code).toBe(0)
  expect(JSON.parse(status.stdout).tasks.live).toBeGreaterThan(0.9 * WINDOW)
  expect(exported.code).toBe(0)
  // One cut: whole windows.
  expect((exported.stdout.split('\n').length - 1 - 10) % STEP).toBe(0)
  goOn()
  expect((await running.ended).code).toBe(0)
})
