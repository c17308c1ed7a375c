// Issue 16: a range of createdAt reads its range, and little else.
import { expect, test } from 'vitest'
import { LARGE_WINDOW, makeStage } from './stage.ts'

test.concurrent.for(['created_desc', 'created_asc'] as const)(
  `${LARGE_WINDOW} of ${12 * LARGE_WINDOW}, %s: at most 1.15 times the range, two windows and 20 small requests are read`,
  async (order) => {
    await using stage = await makeStage({
      stepMs: 100,
      window: LARGE_WINDOW,
      tasks: 12 * LARGE_WINDOW,
      order,
      openFraction: 0,
    })
    const { account } = stage.simulator
    expect((await stage.sync()).summary.verdict).toBe('complete')
    const at = (index: number): number =>
      (JSON.parse(account.get(account.idAt(index)) as string) as { createdAt: number }).createdAt
    const [since, until] = [at(7 * LARGE_WINDOW), at(8 * LARGE_WINDOW)].sort((a, b) => a - b) as [number, number]
    const { code, summary, asked } = await stage.runJson(['backfill', '--since', `${since}`, '--until', `${until}`])
    expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
    const lists = asked.filter(({ operation }) => operation === 'list')
    const small = lists.filter(({ take }) => (take ?? 0) <= 20)
    const items = lists.filter((one) => !small.includes(one)).reduce((sum, { items }) => sum + items, 0)
    expect(small.length).toBeLessThanOrEqual(20)
    expect(items).toBeLessThanOrEqual(1.15 * LARGE_WINDOW + 2 * LARGE_WINDOW)
  },
)
