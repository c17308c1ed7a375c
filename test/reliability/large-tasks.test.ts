// A task as large as tasks may be, read by the commands that print or publish it: their main thread looks at its signals
// all the while.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openWriter } from '../../src/mirror/open.ts'
import { contentHash } from '../../src/mirror/row-bytes.ts'
import { shapeTask } from '../../src/mirror/shape.ts'
import { setAsideTable } from '../../src/mirror/tables/set-aside.ts'
import { TaskTable } from '../../src/mirror/tables/tasks.ts'
import { runHere } from '../support/cli.ts'
import { loopDelayOf } from '../support/loop-delay.ts'
import { allowedMs } from '../support/processor.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'
import { SOAK } from '../support/soak.ts'

const LONGEST_MS = SOAK ? 200 : 120
/** Worst for whoever spreads JSON over lines; as JSON twice as long. */
const BODY = '"\\'.repeat(SOAK ? 8_000_000 : 2_500_000)
const RAW = `"${'\u001b'.repeat(1000)}${'x'.repeat(SOAK ? 30_000_000 : 9_000_000)}"`

function mirrorOf(scratch: Scratch): string {
  const path = scratch.path('task-mirror.sqlite')
  const db = openWriter(path, { busyTimeoutMs: 100, fileMode: 0o600 })
  const row = shapeTask({ id: 'large', createdAt: 1, data: { body: BODY } })
  db.transaction(() => {
    new TaskTable(db).insert(row, { contentHash: contentHash(row), listHash: null }, { readAt: 1, now: 1 })
    db.prepare("INSERT INTO runs (command, started_at, tool_version, plan) VALUES ('sync', 1, '', '[]')").run()
    const item = { source: 'list', skip: 0, taskId: null, reason: 'no-id', message: '', raw: RAW } as const
    setAsideTable(db, 2 ** 30).add(item, 1, 1)
  })()
  db.close()
  return path
}

test('no command holds up its main thread, whatever a task holds', async () => {
  using scratch = makeScratch()
  const env = { TASK_MIRROR_DB: mirrorOf(scratch) }
  const folder = scratch.path('snapshots')
  const longest: Record<string, number> = {}
  const said: Record<string, string> = {}
  // What all of them have to load.
  await runHere(['get', 'none'], env)
  for (const args of [
    ['get', 'large'],
    ['get', 'large', '--json', '--with-meta'],
    ['rejected', '--raw'],
    ['rejected', '--raw', '--json'],
    ['export', '--out', '-'],
    ['export', '--out', scratch.path('t.ndjson')],
    ['export', '--out', scratch.path('t.parquet')],
    ['export', '--out', `${folder}/`, '--format', 'ndjson', '--compression', 'zstd'],
    ['verify'],
    ['verify', '--snapshot', folder, '--deep'],
    ['report', '--out', scratch.path('t.html')],
  ]) {
    const command = args.join(' ').replaceAll(scratch.dir, '')
    const delay = await loopDelayOf(async () => {
      const { code, stdout, stderr } = await runHere(args, env)
      expect({ command, code, stderr: stderr.replaceAll(/^\{"level":"(info|warn)".*\n/gm, '') }).toEqual({
        command,
        code: 0,
        stderr: '',
      })
      said[command] = stdout
    })
    longest[command] = delay.longestCpuMs
  }
  if (process.env.SHOW === '1') console.log(longest)
  for (const [command, ms] of Object.entries(longest)) expect(ms, command).toBeLessThan(allowedMs(LONGEST_MS))

  const exported = JSON.parse(readFileSync(scratch.path('t.ndjson'), 'utf8')) as object
  expect(exported).toEqual({ id: 'large', createdAt: 1, data: { body: BODY } })
  expect(JSON.parse(said['get large'] as string)).toEqual(exported)
  expect(JSON.parse(said['get large --json --with-meta'] as string)).toMatchObject(exported)
  expect(said['export --out -']).toBe(readFileSync(scratch.path('t.ndjson'), 'utf8'))
  const { items } = JSON.parse(said['rejected --raw --json'] as string) as { items: { raw: string }[] }
  expect(items[0]?.raw === RAW).toBe(true)
  expect(said['rejected --raw']).toMatch(/item 1: "(\\u001b){1000}/)
})
