// Issue 2: services that give less than was asked, or something else than was asked behind the end.
import { describe, expect, test } from 'vitest'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { few, SOAK } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { makeStage, missingFrom, WINDOW } from './stage.ts'

type Quirk = Partial<SimulatorOptions>

const ORDERS = ['created_desc', 'created_asc', 'id_asc'] as const

/** One order each in turn, in the soak all of them. */
function cases(quirks: readonly Quirk[]) {
  return quirks.flatMap((quirk, index) =>
    few(ORDERS, (_, place) => index % ORDERS.length === place).map((order) => ({
      what: JSON.stringify(quirk),
      options: { window: WINDOW, tasks: 2.5 * WINDOW, order, oddities: 0.1, ...quirk },
      order,
    })),
  )
}

describe.concurrent('nothing is lost, exit 0', () => {
  const QUIRKS = [
    { capItems: 7, tasks: 0.8 * WINDOW },
    { capItems: 0.1 * WINDOW },
    { capItems: 0.5 * WINDOW },
    { capBytes: 200 * WINDOW },
    { capBytes: 20_000 },
    { shortBy: 1 },
    { repeatLast: true },
    { repeatLast: true, tasks: 2 * WINDOW },
    { pastEnd: '400' },
    { pastEnd: '404' },
    { pastEnd: '200' },
    { pastEnd: '400', tasks: 2 * WINDOW },
    { capItems: 0.1 * WINDOW, pastEnd: '400' },
    { shortBy: 3, capItems: 0.5 * WINDOW, repeatLast: true },
  ] satisfies Quirk[]
  // Without what two others have together, and a list that ends with a window.
  const isEnough = (quirk: Quirk) =>
    quirk.tasks !== 2 * WINDOW && quirk.capItems !== 0.5 * WINDOW && quirk.capBytes !== 20_000
  test.for(cases(few<Quirk>(QUIRKS, isEnough)))('$what, $order', async ({ options }) => {
    await using stage = await makeStage(options)
    const { code, summary, asked } = await stage.sync()
    expect({ code, verdict: summary.verdict, seen: summary.seen }).toEqual({
      code: 0,
      verdict: 'complete',
      seen: options.tasks,
    })
    const served = Math.max(...asked.map(({ items }) => items))
    expect(asked.length).toBeLessThan(40 + (3 * options.tasks) / Math.max(1, served - 10))
    if (SOAK) {
      // What was learned of the service does not stand in the way of the next run.
      stage.simulator.account.insert(30, { openShare: 0 })
      expect((await stage.sync()).code).toBe(0)
    }
    await expectExactCopy(stage)
  })

  test('a last window that comes again, cut before its last item: the next run knows it, though it began further down', async () => {
    const short = { capItems: 0.5 * WINDOW, shortBy: 3, repeatLast: true, oddities: 0.1 }
    await using stage = await makeStage({ tasks: 2.5 * WINDOW, window: WINDOW, order: 'created_asc', ...short })
    expect((await stage.sync()).code).toBe(0)
    stage.simulator.account.insert(30, { openShare: 0 })
    const { code, summary, asked } = await stage.sync()
    expect({ code, plan: summary.plan[0], verdict: summary.verdict }).toEqual({
      code: 0,
      plan: 'tail',
      verdict: 'complete',
    })
    expect(asked.length).toBeLessThan(64)
    await expectExactCopy(stage)
  })

  const SMALL = [0, 1, 2].map((more) => ({ capBytes: 5000, tasks: 0.6 * WINDOW + more }))
  test.for(cases(few(SMALL, (_, n) => n === 0)))(
    'windows so small that a large task fills one alone: $what, $order',
    async ({ options }) => {
      await using stage = await makeStage(options)
      const { code, summary } = await stage.sync()
      expect(missingFrom(stage, stage.simulator.account.ids())).toBe(0)
      expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
    },
  )

  test.for(cases([{ pageOfOne: true, tasks: 40 }]))('one item at a time: $what, $order', async ({ options }) => {
    await using stage = await makeStage(options)
    const { code, summary, asked } = await stage.sync()
    expect({ code, verdict: summary.verdict, seen: summary.seen }).toEqual({ code: 0, verdict: 'complete', seen: 40 })
    expect(asked.length).toBeLessThan(60 + 5 * 40)
    await expectExactCopy(stage)
  })
})

describe.concurrent('what cannot be proven is exit 3, in a bounded number of requests', () => {
  test.for([
    ...cases([
      { ignoreSkip: true },
      { ignoreSkip: true, tasks: WINDOW },
      { ignoreSkip: true, capItems: 0.1 * WINDOW },
    ]).map((each) => ({ ...each, reason: 'skip-ignored', met: each.options.capItems ?? WINDOW })),
    ...cases([{ wrap: true }]).map((each) => ({ ...each, reason: 'wraps', met: 2.5 * WINDOW })),
    ...cases([{ skipLimit: 2 * WINDOW }]).map((each) => ({ ...each, reason: 'skip-limit', met: 2 * WINDOW })),
  ])('$what, $order: $reason', async ({ options, reason, met }) => {
    await using stage = await makeStage(options)
    const { code, summary, asked, stderr } = await stage.sync()
    expect({ code, verdict: summary.verdict, reason: summary.lastFullWalk?.reason }).toEqual({
      code: 3,
      verdict: 'partial',
      reason,
    })
    expect(summary.seen).toBe(met)
    expect(asked.length).toBeLessThan(500)
    expect(stderr).toMatch(/partial: the service/)
    expect(stage.value('SELECT count(*) FROM tasks WHERE deleted_at IS NOT NULL')).toBe(0)
  })
})
