// Issue 16: what open tasks cost a run, what it leaves for later, and that nothing is left for good.
import { expect, test } from 'vitest'
import { few, SOAK } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { makeStage } from './stage.ts'

const HOUR_MS = 3_600_000
const NEVER_ASKED = "SELECT count(*) FROM open_checks WHERE reason = 'open' AND checked_at IS NULL"

test.concurrent.for(few(['created_desc', 'created_asc'] as const, (_, n) => n === 0))(
  '300 open tasks all over 3,000, %s: read by windows, right at once, and not asked for again until they are due',
  async (order) => {
    await using stage = await makeStage({ stepMs: 100, tasks: 3_000, order, openFraction: 0.1, spanDays: 45 })
    const { account } = stage.simulator
    expect((await stage.sync()).summary.verdict).toBe('complete')
    const full = await stage.sync('--full')
    const open = full.summary.openTasks
    expect(open).toBeGreaterThan(250)

    const finished = account.finish(40).length
    const { code, summary, asked } = await stage.sync()
    expect({ code, updated: summary.updated, openTasks: summary.openTasks }).toEqual({
      code: 0,
      updated: finished,
      openTasks: open - finished,
    })
    expect(asked.length).toBeLessThan(40)
    expect(summary.bytes).toBeLessThanOrEqual(full.summary.bytes * 1.2)
    await expectExactCopy(stage)

    const again = await stage.sync()
    expect(again.asked.length).toBeLessThan(20)
    // A tenth of their age is over for those of a week, and not for those of a month.
    stage.pass(20 * HOUR_MS)
    const moment = stage.now()
    const due = () => stage.value<number>('SELECT count(*) FROM open_checks WHERE next_check_at <= ?', moment)
    const before = due()
    await stage.sync()
    expect(due()).toBeLessThan(before)
    const postponed = stage.value<number>(
      'SELECT count(*) FROM open_checks o JOIN tasks t ON t.id = o.task_id WHERE o.next_check_at > ? AND t.created_at < ?',
      stage.now() + 2 * HOUR_MS,
      stage.now() - 30 * 24 * HOUR_MS,
    )
    expect(postponed).toBeGreaterThan(10)
  },
)

test.concurrent('open tasks beyond what one run may cost are left for the next runs, and none for good', async () => {
  const options = { stepMs: 100, tasks: SOAK ? 1_500 : 1_300, taskBytes: 50_000, openFraction: 0.9, openInserts: 0 }
  await using stage = await makeStage(options)
  const { account } = stage.simulator
  const { summary: first } = await stage.sync()
  expect(first.verdict).toBe('complete')
  account.finish(first.openTasks)
  let left = stage.value<number>(NEVER_ASKED)
  let runs = 0
  let updated = 0
  for (; left > 0 && runs < 12; runs += 1) {
    const { code, summary } = await stage.sync()
    expect(code).toBe(0)
    // Sixteen megabytes as far as was known: what is finished has a result, and so is larger than it was.
    expect(summary.bytes).toBeLessThan(60 * 1024 * 1024)
    updated += summary.updated
    const after = stage.value<number>("SELECT count(*) FROM open_checks WHERE reason = 'open'")
    expect(after).toBeLessThan(left)
    left = after
  }
  expect(runs).toBeGreaterThan(1)
  expect(updated).toBe(first.openTasks)
  await expectExactCopy(stage)
})
