// A restore is killed at every fsync, rename, link and unlink, and at a sample of its writes. The next run finds the old
// mirror or the restored one, whole, with no WAL of the other beside it.
import { copyFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { makeStage } from '../acceptance/stage.ts'
import { SOAK } from '../support/soak.ts'
import { chosen, countsOf, crashAt, crashPointsOf } from './crash.ts'
import { titleOf, tracingMissing } from './tracing.ts'

const SEED = Number(process.env.SOAK_SEED ?? 1)
const OLD = 340
const RESTORED = 300

describe.skipIf(tracingMissing !== null)(`a restore that is killed (${tracingMissing ?? 'by strace'})`, () => {
  test('leaves the old mirror or the restored one', { timeout: 900_000 }, async () => {
    await using stage = await makeStage({ tasks: RESTORED, openFraction: 0, compression: 'none' })
    expect((await stage.sync()).code).toBe(0)
    const at = (name: string) => join(stage.dir, name)
    expect((await stage.runHere(['copy', '--out', at('backup.sqlite')])).code).toBe(0)
    stage.simulator.account.insert(OLD - RESTORED)
    // A reader that looks at what was before: what the next run commits stays in the WAL, as where a run was killed.
    const reader = new Database(stage.mirrorPath, { readonly: true })
    reader.exec('BEGIN')
    expect(reader.prepare('SELECT count(*) FROM tasks').pluck().get()).toBe(RESTORED)
    expect((await stage.sync()).code).toBe(0)
    const kept = ['', '-wal']
    for (const end of kept) copyFileSync(stage.mirrorPath + end, at(`kept${end}`))
    reader.close()
    const begin = () => {
      for (const name of readdirSync(stage.dir)) {
        if (!/^(kept|backup)/.test(name)) rmSync(at(name), { recursive: true })
      }
      for (const end of kept) copyFileSync(at(`kept${end}`), stage.mirrorPath + end)
    }
    const run = { stage, args: ['restore', at('backup.sqlite')] }
    begin()
    const points = await crashPointsOf(run)
    const kills = [
      ...chosen(points, SEED, SOAK ? 20 : 'few'),
      ...points.filter(({ call, isMain }) => call === 'unlink' && isMain && SOAK),
    ]
    const found = { old: 0, restored: 0 }
    for (const point of kills) {
      begin()
      await crashAt(point, run)
      // A run that may not ask: it only opens the mirror for writing.
      await stage.runHere(['sync', '--base-url', 'http://127.0.0.1:9', '--quiet'], {
        TASK_MIRROR_SERVICE_MAX_RETRIES: '0',
      })
      expect(await stage.runHere(['verify']), titleOf(point)).toMatchObject({ code: 0 })
      const tasks = stage.value<number>('SELECT count(*) FROM tasks')
      expect([OLD, RESTORED], titleOf(point)).toContain(tasks)
      found[tasks === OLD ? 'old' : 'restored'] += 1
      expect(await stage.runHere(run.args), titleOf(point)).toMatchObject({ code: 0 })
      expect(stage.value('SELECT count(*) FROM tasks')).toBe(RESTORED)
      const hidden = readdirSync(stage.dir).filter((name) => /^\.task-mirror\.sqlite\.rest|-journal$/.test(name))
      expect(hidden, titleOf(point)).toEqual([])
    }
    console.log(`restore: ${kills.length} kills ${JSON.stringify(countsOf(kills))}; ${JSON.stringify(found)}`)
  })
})
