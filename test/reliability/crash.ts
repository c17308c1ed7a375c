// What is done with every crash point: a run is killed there, what it left is looked at, and the run is repeated.
import { existsSync, readdirSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { seeded } from '../../src/simulator/random.ts'
import { differences } from '../acceptance/differences.ts'
import type { Stage } from '../acceptance/stage.ts'
import { expectedTexts } from '../support/account-history.ts'
import {
  isDurable,
  isWrite,
  type KillPoint,
  killPoints,
  type Point,
  runTraced,
  type Traced,
  titleOf,
} from './tracing.ts'

export interface CrashOptions {
  stage: Stage
  args: readonly string[]
  env?: Record<string, string>
  /** Puts things back after a run that has not come by the point: how many windows share a transaction hangs on time. */
  again?: () => void
}

const TRIES = 5

/** Runs to the end and gives the places where such a run can be killed. */
export async function crashPointsOf({ stage, args, env }: CrashOptions): Promise<KillPoint[]> {
  const whole = await trace({ stage, args, ...(env && { env }) })
  expect(whole, whole.stderr).toMatchObject({ code: 0 })
  const kills = killPoints(whole.points)
  // Everything that makes something durable or visible is reached, but for what a second process does (`copy`, `restore`), or one of several
  // threads, which are not told apart (`export`).
  const missed = whole.points.filter(isDurable).length - kills.filter(isDurable).length
  expect(missed).toBeLessThanOrEqual(['copy', 'restore', 'export'].includes(args[0]!) ? 1 : 0)
  return kills
}

/** Everything that makes something durable or visible and `writes` of the writes; or one rename, one write, one sync. */
export function chosen(points: KillPoint[], seed: number, writes: number | 'few'): KillPoint[] {
  const random = seeded(seed, 0xc4a5)
  const pick = (from: KillPoint[], count: number) => {
    const left = [...from]
    const picked = new Set<KillPoint>()
    while (picked.size < count && left.length > 0) picked.add(left.splice(random.int(left.length), 1)[0]!)
    return from.filter((point) => picked.has(point))
  }
  const durable = points.filter(isDurable)
  const written = points.filter(isWrite)
  if (writes !== 'few') return [...durable, ...pick(written, writes)]
  const isSync = ({ call }: Point) => call.endsWith('sync')
  return [
    ...pick(
      durable.filter((point) => !isSync(point)),
      1,
    ),
    ...pick(written, 1),
    ...pick(durable.filter(isSync), 1),
  ]
}

/**
 * Kills a run at `point`. Where it is a process of its own that dies, the command has to say so, with exit 7. False where the
 * point is one of the last writes, and no run made so many: how many there are hangs on time.
 */
export async function crashAt(
  point: KillPoint,
  { stage, args, env, again }: CrashOptions,
  tries = TRIES,
): Promise<boolean> {
  const { signal, code, stderr } = await trace({ stage, args, ...(env && { env }) }, point)
  if (signal === 'SIGKILL') return true
  if (code === 0 && again !== undefined) {
    again()
    if (tries > 1) return crashAt(point, { stage, args, ...(env && { env }), again }, tries - 1)
    if (isWrite(point)) return false
  }
  expect({ code, stderr }, titleOf(point)).toEqual({ code: 7, stderr: expect.stringMatching(/was ended \(SIGKILL\)/) })
  return true
}

function trace({ stage, args, env = {} }: CrashOptions, point?: KillPoint): Promise<Traced> {
  return runTraced([...args, '--quiet'], {
    cwd: stage.dir,
    env: { TASK_MIRROR_BASE_URL: stage.simulator.url, ...env },
    ...(point && { inject: point.inject, mainOnly: point.mainOnly }),
  })
}

/** The mirror is sound and holds the first tasks of the list, in whole windows, and no others; null without a mirror. */
export function expectCommittedPrefix(stage: Stage, listed: readonly string[]): number | null {
  if (!existsSync(stage.mirrorPath)) return null
  const db = new Database(stage.mirrorPath, { readonly: true })
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    const ids = db.prepare('SELECT id FROM tasks ORDER BY seq').pluck().all() as string[]
    const progress = db
      .prepare(
        `SELECT (SELECT coalesce(sum(met), 0) FROM walks) AS met, (SELECT coalesce(sum(inserted), 0) FROM runs) AS inserted,
         (SELECT max(next_skip) FROM walks WHERE finished_at IS NULL) AS nextSkip`,
      )
      .get() as { met: number; inserted: number; nextSkip: number | null }
    expect(ids).toEqual(listed.slice(0, ids.length))
    expect(progress).toMatchObject({ met: ids.length, inserted: ids.length })
    if (progress.nextSkip !== null) expect(progress.nextSkip).toBe(ids.length)
    return ids.length
  } finally {
    db.close()
  }
}

/** Every task of the service, JSON-equal. */
export function expectExactLines(stage: Stage, text: string): void {
  const lines = text.split('\n')
  expect(lines.pop(), 'the text ends with a line end').toBe('')
  const { missing, extra, altered } = differences(expectedTexts(stage.simulator.account), lines)
  expect({ missing, extra, altered }).toEqual({ missing: [], extra: [], altered: [] })
}

/** Names in a folder that no finished run leaves behind. A reader may leave the WAL of the mirror, empty. */
export function leftOvers(folder: string): string[] {
  return readdirSync(folder).filter((name) => /\.tmp(-journal)?$|\.new-|-journal$|\.holder$/.test(name))
}

export function countsOf(points: readonly Point[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { call } of points) counts[call] = (counts[call] ?? 0) + 1
  return counts
}
