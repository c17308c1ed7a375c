// Made test/golden/VERSION.sqlite, .ndjson and .service.json of 0.1.0 and 1.0.0 with their own command lines, once. A later release
// makes its own with `npx -c 'node test/golden/make.ts VERSION'` after a build; those of older releases are never made again.
// Usage: node test/golden/make.ts VERSION
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { startSimulator } from '../../src/simulator/server.ts'
import { runCli, startCli } from '../support/cli.ts'

const version = process.argv[2] ?? '0.1.0'
// The mirror remembers where it was published: a folder that is on every machine.
const folder = '/tmp/task-mirror-golden'
const at = (ending: string) => `${folder}/${version}.${ending}`
const mirror = at('sqlite')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)

const without = (text: string, name: string): string => {
  const { [name]: _, ...rest } = JSON.parse(text) as Record<string, unknown>
  return JSON.stringify(rest)
}

await using simulator = await startSimulator({
  seed: 4010,
  tasks: 300,
  taskBytes: 660,
  openFraction: 0.06,
  oddities: 0.25,
  tieGroup: 3,
  newest: Date.parse('2026-11-20T12:00:00Z'),
  spanDays: 60,
  capItems: 60,
  compression: 'none',
})
const { account } = simulator
const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_DB: mirror, TASK_MIRROR_SERVICE_MAX_RETRIES: '0' }
const run = (...args: string[]) => runCli(args, { cwd: folder, env, timeoutMs: 60_000 })

const finalIds = account.ids().filter((id) => JSON.parse(account.get(id)!).result !== undefined)
const [owed, odd, tooDeep] = [finalIds[40]!, finalIds[80]!, finalIds[120]!]
account.replaceText(odd, '["no task"]')
account.replaceText(tooDeep, `{"id":"${tooDeep}","deep":${'['.repeat(600)}${']'.repeat(600)}}`)
// Listed without its result, and its detail always fails: it stays owed.
account.replaceText(owed, without(account.get(owed)!, 'result'), account.get(owed)!)
simulator.setFaults((request) => (request.id === owed ? { status: 500 } : undefined))
console.log('first sync', (await run('sync')).code)

const removed = account.remove(12)
console.log('after 12 deletions', (await run('sync', '--full')).code)
account.restore(removed.slice(0, 2))
account.insert(6, { openShare: 0.5 })
account.finish(3)
account.update(4)
console.log('after changes', (await run('sync', '--full')).code)
account.remove(2)
account.insert(2)

// A full walk is killed when its third window was asked for: an open walk, an open run, marks of a part.
const cut = startCli(['sync', '--full'], { cwd: folder, env: { ...env, TASK_MIRROR_SERVICE_CONCURRENCY: '1' } })
let windows = 0
const { promise: asked, resolve } = Promise.withResolvers<void>()
simulator.onBeforeRequest(async () => {
  windows += 1
  if (windows !== 4) return
  resolve()
  await new Promise((wake) => setTimeout(wake, 1000))
})
await asked
await new Promise((wake) => setTimeout(wake, 500))
cut.process.kill('SIGKILL')
console.log('cut off', (await cut.ended).signal)

const db = new Database(mirror)
db.pragma('wal_checkpoint(TRUNCATE)')
console.log(
  db
    .prepare(
      'SELECT count(*) AS tasks, sum(deleted_at IS NOT NULL) AS tombstones, sum(extra IS NOT NULL) AS odd FROM tasks',
    )
    .get(),
  db.prepare('SELECT reason, count(*) AS n, max(attempts) AS attempts FROM open_checks GROUP BY 1').all(),
  db.prepare('SELECT reason, count(*) AS n FROM rejected_items GROUP BY 1').all(),
  db.prepare('SELECT id, kind, verdict, windows, next_skip, finished_at FROM walks').all(),
  db.prepare('SELECT id, outcome, exit_code FROM runs').all(),
)
db.close()
const out = await run(
  'export',
  '--format',
  'ndjson',
  '--no-redact',
  '--include-deleted',
  '--with-meta',
  '--out',
  at('ndjson'),
)
console.log('export', out.code, out.stderr)

// The account as it stood, for a test that goes on from here: what the list shows, and details where they differ.
const list: string[] = []
for (let skip = 0; ; skip += 60) {
  const window = account.list(skip, 60)
  if (!('texts' in window) || window.texts.length === 0) break
  list.push(...window.texts)
}
writeFileSync(at('service.json'), `${JSON.stringify({ list, details: { [owed]: account.get(owed) } })}\n`)
for (const ending of ['sqlite', 'ndjson', 'service.json']) {
  copyFileSync(at(ending), new URL(`${version}.${ending}`, import.meta.url).pathname)
}
