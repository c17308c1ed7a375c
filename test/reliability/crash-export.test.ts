// Issue 5: an export is killed at every fsync and rename, and at a sample of its writes. At its destination stands the
// old snapshot or the new one, never half of one, and the next export leaves nothing of the dead one behind.
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { describe, expect, test } from 'vitest'
import { clearLeftOvers } from '../../src/export/publish/drafts.ts'
import { makeStage, type Stage } from '../acceptance/stage.ts'
import { draftName } from '../support/draft-name.ts'
import { SOAK } from '../support/soak.ts'
import { chosen, countsOf, crashAt, crashPointsOf, leftOvers } from './crash.ts'
import { type KillPoint, titleOf, tracingMissing } from './tracing.ts'

const SEED = Number(process.env.SOAK_SEED ?? 1)
const OLD = 'what was there before\n'

/** Kills the command at one point after the other, with an older file at its destination, and repeats it. */
async function crashOverFile(
  stage: Stage,
  {
    args,
    out,
    writes,
    most = Number.POSITIVE_INFINITY,
  }: { args: string[]; out: string; writes: number; most?: number },
  expectWhole: () => void | Promise<void>,
): Promise<void> {
  expect((await stage.sync()).code).toBe(0)
  const run = { stage, args: [...args, '--out', out] }
  const points = await crashPointsOf(run)
  const kills = SOAK ? chosen(points, SEED, writes) : chosen(points, SEED, 'few').slice(0, most)
  const found = { old: 0, new: 0 }
  for (const point of kills) {
    writeFileSync(out, OLD)
    await crashAt(point, run)
    if (readFileSync(out, 'latin1') === OLD) found.old += 1
    else {
      found.new += 1
      await expectWhole()
    }
    expect(await stage.runHere([...run.args, '--quiet']), titleOf(point)).toMatchObject({ code: 0 })
    await expectWhole()
    expect(leftOvers(stage.dir), titleOf(point)).toEqual([])
  }
  report(args[0]!, kills, found)
}

function report(what: string, kills: KillPoint[], found: object): void {
  console.log(`${what}: ${kills.length} kills ${JSON.stringify(countsOf(kills))}; ${JSON.stringify(found)}`)
}

describe.skipIf(tracingMissing !== null)(`an export that is killed (${tracingMissing ?? 'by strace'})`, () => {
  test('leaves the old file or the new one at every fsync, rename and write', { timeout: 900_000 }, async () => {
    await using stage = await makeStage({ tasks: 300, openFraction: 0, compression: 'none' })
    const out = join(stage.dir, 'tasks.parquet')
    // Parquet: a file in many writes, with a footer that only a whole one has.
    await crashOverFile(stage, { args: ['export', '--no-redact'], out, writes: 20 }, async () => {
      const { buffer, byteOffset, length } = readFileSync(out)
      const file = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer
      const rows = await parquetReadObjects({ file, compressors, columns: ['id'] })
      expect(rows.map(({ id }) => id as string).sort()).toEqual([...stage.simulator.account.ids()].sort())
    })
  })

  test('leaves the old copy or the new one', { timeout: 900_000 }, async () => {
    await using stage = await makeStage({ tasks: 300, openFraction: 0, compression: 'none' })
    const out = join(stage.dir, 'copy.sqlite')
    // It is written as a file of an export is, by another process.
    await crashOverFile(stage, { args: ['copy'], out, writes: 20, most: 1 }, () => {
      const db = new Database(out, { readonly: true })
      try {
        expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
        expect(db.prepare('SELECT count(*) FROM tasks').pluck().get()).toBe(300)
      } finally {
        db.close()
      }
    })
  })

  test('leaves whole datasets only at every fsync, rename and write', { timeout: 900_000 }, async () => {
    await using stage = await makeStage({ tasks: 300, openFraction: 0, compression: 'none' })
    const folder = join(stage.dir, 'lake')
    expect((await stage.sync()).code).toBe(0)
    const run = { stage, args: ['export', '--out', `${folder}/`, '--keep', '2'] }
    // The one that is killed removes an old one as well.
    for (let n = 0; n < 2; n += 1) expect((await stage.runHere(run.args)).code).toBe(0)
    const points = await crashPointsOf(run)
    const kills = chosen(points, SEED, SOAK ? 30 : 'few')
    const found = { old: 0, new: 0 }
    for (const point of kills) {
      const before = snapshotsIn(folder)
      await crashAt(point, run)
      if (snapshotsIn(folder).some((name) => !before.includes(name))) found.new += 1
      else found.old += 1
      // Whatever can be seen is whole, and what `latest.json` names is there.
      expect(await stage.runHere(['verify', '--snapshot', folder]), titleOf(point)).toMatchObject({ code: 0 })
      const next = await stage.runHere([...run.args, '--json', '--quiet'])
      expect(next, titleOf(point)).toMatchObject({ code: 0 })
      const { snapshotId, rows } = JSON.parse(next.stdout) as { snapshotId: string; rows: number }
      expect(rows).toBe(300)
      const latest = JSON.parse(readFileSync(join(folder, 'latest.json'), 'utf8')) as { full: { snapshotId: string } }
      expect(latest.full.snapshotId).toBe(snapshotId)
      expect(snapshotsIn(folder), titleOf(point)).toHaveLength(2)
      expect([...leftOvers(folder), ...leftOvers(stage.dir)], titleOf(point)).toEqual([])
    }
    report('dataset', kills, found)
  })
})

test('a dead run of the same process number leaves nothing behind either', async () => {
  await using stage = await makeStage({ tasks: 20, openFraction: 0 })
  const before = new Date(performance.timeOrigin - 1000)
  const dead = join(stage.dir, draftName('tasks.ndjson', process.pid))
  const own = join(stage.dir, draftName('other.ndjson', process.pid))
  for (const path of [dead, own]) writeFileSync(path, 'half a snapsh')
  utimesSync(dead, before, before)
  await clearLeftOvers(stage.dir, Date.now())
  expect({ dead: existsSync(dead), own: existsSync(own) }).toEqual({ dead: false, own: true })
})

function snapshotsIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => /^\d{8}T/.test(name)) : []
}
