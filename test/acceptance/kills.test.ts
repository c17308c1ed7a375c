// Issue 2 and 3: `kill -9` at any moment. What another process finds is whole windows, and the next run finishes the job.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { seeded } from '../../src/simulator/random.ts'
import { few, SOAK } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { makeStage, rounds, type Stage, stateSeenByAnotherProcess, WINDOW } from './stage.ts'

const ORDERS = ['created_desc', 'created_asc', 'id_asc'] as const
const TASKS = (SOAK ? 25 : 8) * WINDOW
const SEED = Number(process.env.SOAK_SEED ?? (SOAK ? Date.now() % 1_000_000 : 1))

/** Kills the command a random moment after its `requests`-th request; tells whether it was still running. */
async function killAfter(stage: Stage, args: string[], requests: number, laterMs: number): Promise<boolean> {
  const running = await stage.startUntilAsked(requests, args)
  await Promise.race([running.ended, sleep(laterMs)])
  running.process.kill('SIGKILL')
  return (await running.ended).signal === 'SIGKILL'
}

test.for(rounds(1, 60).map((round) => ({ round, seed: SEED + round, order: ORDERS[round % 3]! })))(
  `a backfill of ${TASKS} survives kill -9 again and again (seed $seed, $order)`,
  { concurrent: !SOAK },
  async ({ seed, order }) => {
    const random = seeded(seed, 0x9)
    await using stage = await makeStage({
      window: WINDOW,
      tasks: TASKS,
      order,
      latencyMs: 8,
      openFraction: 0.002,
      seed,
    })
    let kills = 0
    let reached = 0
    const log: string[] = []
    for (let attempt = 0; attempt < (SOAK ? 3 : 2); attempt += 1) {
      const before = stage.simulator.requests
      const killed = await killAfter(stage, ['backfill'], 1 + random.int(12), random.int(60))
      if (killed) kills += 1
      const state = await stateSeenByAnotherProcess(stage)
      if (state === null) continue
      log.push(JSON.stringify(state))
      expect(state.integrity).toBe('ok')
      if (state.windows > 0 && killed) {
        // The rows are those of the committed windows, and the walk knows how many.
        expect(state).toMatchObject({ tasks: state.met, nextSkip: state.met })
        expect(stage.rows('SELECT finished_at, outcome FROM runs ORDER BY id DESC LIMIT 1')).toEqual([
          { finished_at: null, outcome: null },
        ])
      }
      // What was committed before is never read again: only the seam is.
      const lists = stage.askedSince(before).filter(({ operation }) => operation === 'list')
      if (reached > 0) for (const { skip } of lists) expect(skip).toBeGreaterThanOrEqual(Math.max(0, reached - 10))
      expect(state.tasks).toBeGreaterThanOrEqual(reached)
      if (!killed) break
      reached = state.nextSkip
    }
    const last = await stage.runJson(['backfill'])
    expect(last.summary, log.join('\n')).toMatchObject({ outcome: 'ok', verdict: 'complete' })
    expect(last.code).toBe(0)
    await expectExactCopy(stage)
    console.log(`seed ${seed}, ${order}: ${kills} kills, ${stage.simulator.requests} requests in all`)
  },
)

test.for(rounds(1, 40).map((round) => ({ seed: SEED + 1000 + round, order: ORDERS[round % 3]! })))(
  'tasks come, finish and go between killed runs, and a last one makes both equal (seed $seed, $order)',
  { concurrent: !SOAK },
  async ({ seed, order }) => {
    const random = seeded(seed, 0xa)
    await using stage = await makeStage({
      window: WINDOW,
      tasks: 6 * WINDOW,
      order,
      latencyMs: 4,
      openFraction: 0.003,
      seed,
    })
    const { account } = stage.simulator
    let kills = 0
    for (let attempt = 0; attempt < (SOAK ? 5 : 2); attempt += 1) {
      const flags = random.chance(0.3) ? ['--full'] : []
      if (await killAfter(stage, ['sync', ...flags], 1 + random.int(9), random.int(40))) kills += 1
      account.insert(random.int(1.5 * WINDOW), { openShare: 0.01 })
      account.finish(5)
      account.remove(random.int(40))
    }
    const last = await stage.sync('--full')
    expect({ code: last.code, verdict: last.summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
    await expectExactCopy(stage)
    expect((await stateSeenByAnotherProcess(stage))?.integrity).toBe('ok')
    console.log(`seed ${seed}, ${order}: ${kills} kills, ${account.listed} tasks in the end`)
  },
)

test.concurrent.for(few(['created_desc', 'created_asc'] as const, (_, n) => n === 0))(
  `a walk over ${5.2 * WINDOW} new tasks that dies after two windows leaves no hole, though more come before the next run (%s)`,
  async (order) => {
    await using stage = await makeStage({ window: WINDOW, tasks: 3 * WINDOW, order, openFraction: 0 })
    expect((await stage.sync()).code).toBe(0)
    stage.simulator.account.insert(5.2 * WINDOW, { openShare: 0 })
    // However late the kill comes, it is not over before.
    const { promise: killed, resolve: goOn } = Promise.withResolvers<void>()
    let isWalking = order === 'created_asc'
    let windows = 0
    const off = stage.simulator.onBeforeRequest(({ operation, skip }) => {
      isWalking ||= skip === 0
      if (operation === 'list' && isWalking) windows += 1
      return windows > 4 ? killed : undefined
    })
    const running = stage.start(['sync'])
    const taken = () => stage.value<number>('SELECT coalesce(max(windows), 0) FROM walks WHERE id > 1')
    while (taken() < 2) await sleep(1)
    running.process.kill('SIGKILL')
    expect((await running.ended).signal).toBe('SIGKILL')
    off()
    goOn()
    const tasks = stage.value<number>('SELECT count(*) FROM tasks')
    expect(tasks).toBeGreaterThan(3 * WINDOW)
    expect(tasks).toBeLessThan(8.2 * WINDOW)

    stage.simulator.account.insert(0.7 * WINDOW, { openShare: 0 })
    const next = await stage.sync()
    expect({ code: next.code, verdict: next.summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
    expect(next.summary.plan).not.toContain('full')
    await expectExactCopy(stage)
  },
)
