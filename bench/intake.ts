// Taking tasks in: the plain loop, the floor and task-mirror, turn by turn, on the same tasks of the same server.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Cost } from './measure.ts'
import { areThere, takeInByShell } from './shell.ts'
import { addBar, addRow, expectCount, node, type RunCost, run, type Stage, sizeOf } from './stage.ts'

const LATENCY_MS = 50
const SHELL = 'curl + jq + sqlite-utils'

/** Tasks that `benchIntake` shows in its course: the server has to keep back as many. */
export function keptBackFor(tasks: number, repeats: number): number {
  return newTasks(tasks) * repeats
}

function newTasks(tasks: number): number {
  return Math.ceil(tasks / 100)
}

/** Returns the path of a mirror of all tasks shown so far. */
export async function benchIntake(stage: Stage): Promise<string> {
  const { server, tasks, folder, repeats } = stage
  const near = server.base(tasks, 0)
  const far = server.base(tasks, LATENCY_MS)
  const costs = {
    plain: [] as Cost[],
    floor: [] as Omit<Cost, 'stdout'>[],
    backfill: [] as RunCost[],
    nothing: [] as RunCost[],
    full: [] as RunCost[],
    some: [] as RunCost[],
    farPlain: [] as Cost[],
    farBackfill: [] as RunCost[],
  }
  const bytes = { plain: 0, mirror: 0, shell: 0 }
  const requests: number[] = []
  let serverMs = 0
  let shown = tasks
  let mirror = ''
  // Once: it takes half a minute and is nowhere near the others.
  const shell: Cost[] = []
  if (areThere(SHELL, ['curl', 'jq', 'sqlite-utils'])) {
    const path = join(folder, 'shell.sqlite')
    shell.push(await takeInByShell(near, path, tasks))
    bytes.shell = sizeOf(path)
    rmSync(path)
  }
  for (let turn = 0; turn < repeats; turn += 1) {
    const path = (name: string) => join(folder, `${name}-${turn}.sqlite`)
    costs.plain.push(await node('plain/loop.ts', near, path('plain')))
    bytes.plain = sizeOf(path('plain'))
    const floor = await node('plain/floor.ts', near, path('floor'))
    costs.floor.push({ ...floor, ...(JSON.parse(floor.stdout) as { ms: number; cpuMs: number }), peakMb: null })

    mirror = path('mirror')
    const before = await server.cpuMs()
    const backfill = await run(['backfill'], near, mirror)
    serverMs = (await server.cpuMs()) - before
    costs.backfill.push(backfill.cost)
    expectCount('backfill', backfill.summary.inserted, shown)
    bytes.mirror = sizeOf(mirror)
    const nothing = await run(['sync'], near, mirror)
    costs.nothing.push(nothing.cost)
    requests.push(nothing.summary.requests)
    expectCount('sync with nothing new', nothing.summary.inserted, 0)
    const full = await run(['sync', '--full'], near, mirror)
    costs.full.push(full.cost)
    // The tasks that are compared with their details count once more.
    expectCount('sync --full', full.summary.unchanged - full.summary.details, shown)

    costs.farPlain.push(await node('plain/loop.ts', far, path('plain-far')))
    costs.farBackfill.push((await run(['backfill'], far, path('far'))).cost)

    await server.reveal(newTasks(tasks))
    const some = await run(['sync'], near, mirror)
    costs.some.push(some.cost)
    expectCount('sync with 1 % new', some.summary.inserted, newTasks(tasks))
    shown += newTasks(tasks)
    for (const name of ['plain', 'floor', 'plain-far', 'far']) rmSync(path(name), { force: true })
    if (turn < repeats - 1) rmSync(mirror, { force: true })
  }

  const group = `intake of ${tasks} tasks`
  const plain = addRow(stage, group, 'plain loop', tasks, costs.plain, bytes.plain)
  addRow(stage, group, 'floor: parse and insert from memory', tasks, costs.floor)
  if (shell.length > 0) addRow(stage, group, SHELL, tasks, shell, bytes.shell)
  const backfill = addRow(stage, group, 'backfill', tasks, costs.backfill, bytes.mirror)
  addRow(stage, group, 'sync, nothing new', null, costs.nothing)
  const full = addRow(stage, group, 'sync --full, nothing changed', tasks, costs.full)
  addRow(stage, group, 'sync, 1 % new', newTasks(tasks), costs.some)
  const farPlain = addRow(stage, group, `plain loop, ${LATENCY_MS} ms`, tasks, costs.farPlain)
  const far_ = addRow(stage, group, `backfill, ${LATENCY_MS} ms`, tasks, costs.farBackfill)
  addRow(stage, group, 'the server during one backfill', tasks, [{ ms: serverMs, cpuMs: serverMs, peakMb: null }])

  const speed = (a: { ms: { median: number } }, b: { ms: { median: number } }) => b.ms.median / a.ms.median
  addBar(stage, 'backfill against the plain loop', speed(backfill, plain), 'x', { atLeast: 1.15 })
  addBar(stage, `backfill at ${LATENCY_MS} ms against itself without`, speed(far_, backfill), 'x', { atLeast: 0.85 })
  addBar(stage, `backfill at ${LATENCY_MS} ms against the plain loop`, speed(far_, farPlain), 'x', { atLeast: 3 })
  addBar(stage, 'full walk, nothing changed, against the backfill', speed(full, backfill), 'x', { atLeast: 1.5 })
  const work = (row: typeof plain) => (row.cpuMs?.median ?? 0) / (plain.cpuMs?.median ?? 1)
  addBar(stage, 'processor time of a backfill against the plain loop', work(backfill), 'x', { atMost: 1.2 })
  addBar(stage, 'processor time of a full walk, nothing changed, against it', work(full), 'x', { atMost: 0.6 })
  addBar(stage, 'sync, nothing new', Math.max(...requests), 'requests', { atMost: 3 })
  const peak = [backfill, full, far_].map(({ peakMb }) => peakMb?.most ?? 0)
  addBar(stage, 'peak memory of backfill and full walk of 100000 tasks', Math.max(...peak), 'MB', { atMost: 256 })
  return mirror
}
