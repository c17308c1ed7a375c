// Issue 5: a sync is killed at every fsync and rename, and at a sample of its writes. What is left is a sound mirror that
// holds whole windows, and the next run makes it equal to the service.
import { existsSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { makeStage, type Stage } from '../acceptance/stage.ts'
import { SOAK } from '../support/soak.ts'
import {
  chosen,
  countsOf,
  crashAt,
  crashPointsOf,
  expectCommittedPrefix,
  expectExactLines,
  leftOvers,
} from './crash.ts'
import { titleOf, tracingMissing } from './tracing.ts'

const SEED = Number(process.env.SOAK_SEED ?? 1)
// Small windows: more commits for the same bytes.
const ENV = { TASK_MIRROR_SYNC_WINDOW: '60' }

async function tasksStage(): Promise<Stage> {
  return makeStage({ tasks: 300, openFraction: 0, order: 'created_asc', compression: 'none' })
}

describe.skipIf(tracingMissing !== null)(`a sync that is killed (${tracingMissing ?? 'by strace'})`, () => {
  test('leaves whole windows at every fsync, rename and write, and the next run ends it', {
    timeout: 900_000,
  }, async () => {
    await using stage = await tasksStage()
    const run = { stage, args: ['sync'], env: ENV, again: () => removeMirror(stage) }
    const points = await crashPointsOf(run)
    const listed = stage.rows<{ id: string }>('SELECT id FROM tasks ORDER BY seq').map(({ id }) => id)
    expect(listed).toHaveLength(300)
    const kills = chosen(points, SEED, SOAK ? 60 : 'few')
    const reached: (number | null)[] = []
    for (const point of kills) {
      removeMirror(stage)
      if (!(await crashAt(point, run))) continue
      reached.push(expectCommittedPrefix(stage, listed))
      const next = await stage.runJson(['sync'], ENV)
      expect(next.summary, titleOf(point)).toMatchObject({ outcome: 'ok', verdict: 'complete' })
      if (SOAK || point === kills.at(-1)) {
        const exported = await stage.runHere(['export', '--out', '-', '--no-redact', '--quiet'])
        expectExactLines(stage, exported.stdout)
      }
      expect(leftOvers(stage.dir), titleOf(point)).toEqual([])
    }
    expect(reached.length).toBeGreaterThan(0.9 * kills.length - 1)
    console.log(`sync: ${kills.length} kills ${JSON.stringify(countsOf(kills))}; rows found: ${reached.join(' ')}`)
  })
})

function removeMirror(stage: Stage): void {
  for (const end of ['', '-wal', '-shm', '.lock', '.holder', '.lock-journal']) {
    if (existsSync(stage.mirrorPath + end)) rmSync(stage.mirrorPath + end)
  }
}
