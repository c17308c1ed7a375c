// Large tasks: a backfill beside the plain loop, and exports of what it took in.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Cost } from './measure.ts'
import { startServer } from './server.ts'
import { addBar, addRow, expectCount, node, type RunCost, run, type Stage, sizeOf, taskMirror } from './stage.ts'

const KB = 1024

/** Sizes in KB, tasks, how many of them are light and come first, and the bars: time as a part of the plain loop's, memory in MB. */
const CASES = [
  { kb: 16, tasks: 20_000, light: 0, atMost: 1, peakMb: 256 },
  { kb: 100, tasks: 4_000, light: 0, atMost: 1.15, peakMb: 256 },
  { kb: 100, tasks: 4_000, light: 1_000, atMost: 1.15, peakMb: 256 },
  { kb: 400, tasks: 1_500, light: 0, atMost: 1.15, peakMb: 400 },
]

/** `share`: of the tasks of each case, 0 to 1. */
export async function benchLarge(stage: Stage, share: number): Promise<void> {
  for (const { kb, tasks: most, light, atMost, peakMb } of CASES) {
    const tasks = Math.ceil(most * share)
    const lightFirst = Math.ceil(light * share)
    const size = light > 0 ? `${kb} KB behind ${lightFirst} of 1 KB` : `${kb} KB`
    const group = `${tasks} tasks of ${size}`
    const server = await startServer({ tasks, keptBack: 0, seed: 1, taskBytes: kb * KB, lightFirst })
    const base = server.base(tasks, 0)
    const path = (name: string) => join(stage.folder, name)
    const costs = { plain: [] as Cost[], backfill: [] as RunCost[], parquet: [] as Cost[], ndjson: [] as Cost[] }
    let bytes = 0
    try {
      for (let turn = 0; turn < stage.repeats; turn += 1) {
        costs.plain.push(await node('plain/loop.ts', base, path('plain.sqlite')))
        rmSync(path('plain.sqlite'))
        const { cost, summary } = await run(['backfill'], base, path('large.sqlite'))
        expectCount('backfill', summary.inserted, tasks)
        costs.backfill.push(cost)
        bytes = sizeOf(path('large.sqlite'))
        for (const format of ['parquet', 'ndjson'] as const) {
          const file = path(`large.${format}`)
          costs[format].push(await taskMirror('export', '--db', path('large.sqlite'), '--out', file, '--quiet'))
          rmSync(file)
        }
        rmSync(path('large.sqlite'))
      }
    } finally {
      await server.close()
    }
    const plain = addRow(stage, group, 'plain loop', tasks, costs.plain)
    const backfill = addRow(stage, group, 'backfill', tasks, costs.backfill, bytes)
    const exports = [
      addRow(stage, group, 'export Parquet', tasks, costs.parquet),
      addRow(stage, group, 'export NDJSON', tasks, costs.ndjson),
    ]
    addBar(stage, `${size}: time of the plain loop`, backfill.ms.median / plain.ms.median, 'x', { atMost })
    addBar(stage, `${size}: peak memory of a backfill`, backfill.peakMb?.most ?? 0, 'MB', { atMost: peakMb })
    const peak = Math.max(...exports.map((row) => row.peakMb?.most ?? 0))
    addBar(stage, `${size}: peak memory of exports`, peak, 'MB', { atMost: peakMb })
  }
}
