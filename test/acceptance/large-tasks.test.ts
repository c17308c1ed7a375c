// Issue 16: what is under way is bounded by bytes, however heavy tasks are.
import { expect, test } from 'vitest'
import { few } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { makeStage } from './stage.ts'

const MB = 1024 * 1024

test.concurrent.for(few(['created_desc', 'created_asc'] as const, (_, n) => n === 0))(
  'windows hold as many tasks of 20 KB as fit, %s, from the first run on',
  async (order) => {
    await using stage = await makeStage({ tasks: 400, taskBytes: 20_000, order, openFraction: 0 })
    const env = { TASK_MIRROR_SERVICE_MAX_BYTES_IN_FLIGHT: String(MB) }
    const first = await stage.runJson(['sync'], env)
    expect({ code: first.code, verdict: first.summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
    await expectExactCopy(stage)
    const lists = first.asked.filter(({ operation }) => operation === 'list')
    // The first one was too heavy to be read; the second one showed what tasks weigh.
    expect(lists.slice(0, 2).map(({ take }) => take)).toEqual([1000, 10])
    for (const { take } of lists.slice(2)) expect(take).toBeLessThan(40)
    expect(first.summary.bytes).toBeLessThan(2 * 400 * 20_000)

    stage.simulator.account.insert(60, { openShare: 0 })
    const later = await stage.runJson(['sync'], env)
    expect(later.summary).toMatchObject({ verdict: 'complete', inserted: 60 })
    for (const { take } of later.asked) expect(take ?? 0).toBeLessThan(40)
    await expectExactCopy(stage)
  },
)

test.concurrent('a task heavier than all that may be under way is read beside few others', async () => {
  await using stage = await makeStage({ tasks: 300, openFraction: 0 })
  const { account } = stage.simulator
  const id = account.idAt(150)
  const task = JSON.parse(account.get(id) as string) as { result: { body: unknown } }
  task.result.body = 'x'.repeat(3 * MB)
  account.replaceText(id, JSON.stringify(task))
  const env = { TASK_MIRROR_SERVICE_MAX_BYTES_IN_FLIGHT: String(MB) }
  const { code, summary } = await stage.runJson(['backfill'], env)
  expect({ code, verdict: summary.verdict, inserted: summary.inserted }).toEqual({
    code: 0,
    verdict: 'complete',
    inserted: 300,
  })
  await expectExactCopy(stage)
})

const HEAVY = [
  ['heavy behind light ones', [400, 1_000]],
  ['light behind heavy ones', [0, 300]],
  ['heavy in between', [300, 600]],
] as const
// What is in between comes behind light ones, and light ones behind it.
test.concurrent.for(few(HEAVY, ([what]) => what === 'heavy in between'))(
  'windows shrink and grow within a walk, %s',
  async ([, [from, to]]) => {
    await using stage = await makeStage({ tasks: 1_000, openFraction: 0 })
    const { account } = stage.simulator
    for (let index = from; index < to; index += 1) {
      const id = account.idAt(index)
      const task = JSON.parse(account.get(id) as string) as { result: { body: unknown } }
      task.result.body = 'x'.repeat(20_000)
      account.replaceText(id, JSON.stringify(task))
    }
    const heavy = (to - from) * 21_000
    // One request after another, so that none is asked for before its neighbour has shown what tasks weigh.
    const env = { TASK_MIRROR_SERVICE_MAX_BYTES_IN_FLIGHT: String(MB), TASK_MIRROR_SERVICE_CONCURRENCY: '1' }
    const { code, summary, asked } = await stage.runJson(['backfill'], env)
    expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
    await expectExactCopy(stage)
    expect(summary.bytes).toBeLessThan(2 * (heavy + 2 * MB))
    const lists = asked.filter(({ operation, skip }) => operation === 'list' && (skip ?? 0) < 1_000)
    const takes = (least: number, most: number) =>
      lists.filter(({ skip }) => (skip ?? 0) > least && (skip ?? 0) < most).map(({ take }) => take ?? 0)
    // In the midst of the heavy ones windows have become small, and where there are light ones behind them large again.
    expect(Math.max(...takes(from + 150, to - 50))).toBeLessThan(60)
    if (to < 1_000) expect(Math.max(...takes(to + 100, 1_000))).toBeGreaterThan(100)
  },
)
