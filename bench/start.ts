// Starting: an empty Node, `--version`, a run with nothing to do, and the time until the first row can be read.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type Cost, measure } from './measure.ts'
import { addBar, addRow, emptyScript, programPath, run, type Stage, taskMirror } from './stage.ts'

/** `mirror` holds what the server lists: a run on it has nothing to do. */
export async function benchStart(stage: Stage, mirror: string): Promise<void> {
  const { folder, server, tasks } = stage
  const script = emptyScript(folder)
  const costs = { empty: [] as Cost[], version: [] as Cost[], nothing: [] as Cost[] }
  const turns = stage.repeats * 3
  for (let turn = 0; turn < turns; turn += 1) {
    costs.empty.push(await measure([process.execPath, script]))
    costs.version.push(await taskMirror('--version'))
    costs.nothing.push((await run(['sync'], server.base(tasks, 0), mirror)).cost)
  }
  const first: Omit<Cost, 'stdout'>[] = []
  for (let turn = 0; turn < stage.repeats; turn += 1)
    first.push(await firstRow(stage, join(folder, `first-${turn}.sqlite`)))
  const group = 'start'
  const empty = addRow(stage, group, 'empty Node', null, costs.empty)
  const version = addRow(stage, group, '--version', null, costs.version)
  const nothing = addRow(stage, group, `sync, nothing new, ${tasks} tasks`, null, costs.nothing)
  addRow(stage, group, 'backfill, until a reader sees the first row', null, first)
  const above = (row: typeof empty) => row.ms.median - empty.ms.median
  const times = (row: typeof empty) => row.ms.median / empty.ms.median
  addBar(stage, '--version against an empty Node', times(version), 'x', { atMost: 1.5 })
  addBar(stage, 'sync, nothing new, against an empty Node', times(nothing), 'x', { atMost: 5 })
  addBar(stage, '--version above an empty Node', above(version), 'ms', { atMost: 60 })
  addBar(stage, 'sync, nothing new, above an empty Node', above(nothing), 'ms', { atMost: 300 })
}

async function firstRow({ server, tasks }: Stage, path: string): Promise<Omit<Cost, 'stdout'>> {
  const started = performance.now()
  const args = ['backfill', '--base-url', server.base(tasks, 0), '--db', path, '--quiet', '--no-progress']
  const child = spawn(process.execPath, [programPath(), ...args], { stdio: 'ignore' })
  const gone = once(child, 'exit')
  while (!existsSync(path)) await delay(2)
  const db = new Database(path, { readonly: true })
  const any = db.prepare('SELECT 1 FROM tasks LIMIT 1')
  while (any.get() === undefined) await delay(2)
  const ms = performance.now() - started
  db.close()
  child.kill('SIGTERM')
  await gone
  return { ms, cpuMs: null, peakMb: null }
}
