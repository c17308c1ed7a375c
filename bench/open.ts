// Open tasks: what a run costs that has nothing to do but to ask for them, beside a full walk.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from './server.ts'
import { addBar, addRow, type RunCost, run, type Stage } from './stage.ts'
import type { TaskKind } from './task-texts.ts'

interface Case {
  name: string
  tasks: number
  latencyMs: number
  kind: TaskKind
}

/** As the simulator dates them, mostly new ones; and all over the list. */
function casesOf(tasks: number): Case[] {
  return [
    { name: 'one open in 1,050, 100 ms', tasks, latencyMs: 100, kind: { openFraction: 190 / 200_000 } },
    { name: 'one open in 50, all over, 400 ms', tasks, latencyMs: 400, kind: { openEvery: 50 } },
  ]
}

export async function benchOpen(stage: Stage, tasks: number): Promise<void> {
  const group = `open tasks among ${tasks}`
  for (const { name, latencyMs, kind } of casesOf(tasks)) {
    const server = await startServer({ tasks, keptBack: 0, seed: 1, ...kind })
    const costs = { first: [] as RunCost[], second: [] as RunCost[], full: [] as RunCost[] }
    try {
      for (let turn = 0; turn < stage.repeats; turn += 1) {
        const base = server.base(tasks, latencyMs)
        const mirror = join(stage.folder, 'open.sqlite')
        await run(['backfill'], base, mirror)
        costs.first.push((await run(['sync'], base, mirror)).cost)
        costs.second.push((await run(['sync'], base, mirror)).cost)
        costs.full.push((await run(['sync', '--full'], base, mirror)).cost)
        rmSync(mirror)
      }
    } finally {
      await server.close()
    }
    const first = addRow(stage, group, `${name}: first sync`, null, costs.first)
    addRow(stage, group, `${name}: second sync`, null, costs.second)
    const full = addRow(stage, group, `${name}: sync --full`, null, costs.full)
    const share = (what: 'ms' | 'wireBytes') => (first[what]?.median ?? 0) / (full[what]?.median ?? 1)
    if (kind.openFraction === undefined) {
      addBar(stage, `${name}: time of a full walk`, share('ms'), 'x', { atMost: 0.5 })
      addBar(stage, `${name}: bytes of a full walk`, share('wireBytes'), 'x', { atMost: 0.25 })
    } else if (tasks === 200_000) {
      addBar(stage, `${name}: requests`, first.requests?.most ?? 0, '', { atMost: 195 })
      addBar(stage, `${name}: MB read`, (first.wireBytes?.most ?? 0) / 1e6, 'MB', { atMost: 2.5 })
      addBar(stage, `${name}: time`, first.ms.median / 1000, 's', { atMost: 4 })
    }
  }
}
