// Issue 2, first half: whatever the size, the order and the compression, everything comes over and out again exactly.
import { expect, test } from 'vitest'
import { few, SOAK } from '../support/soak.ts'
import { expectEqualParquet, expectExactCopy } from './copy.ts'
import { makeStage, WINDOW } from './stage.ts'

const LARGEST = (SOAK ? 25 : 8) * WINDOW
const SIZES = [0, 1, WINDOW - 1, WINDOW, WINDOW + 1, LARGEST]
const ORDERS = ['created_desc', 'created_asc', 'id_asc'] as const

// A window and what is next to it in each order (nothing orders fewer than two tasks), all combinations in the soak.
const CASES = SIZES.flatMap((tasks, row) =>
  few(ORDERS, (_, column) => column === (tasks === WINDOW - 1 ? 1 : tasks === WINDOW + 1 ? 2 : 0)).flatMap((order) =>
    few(['gzip', 'none'] as const, (_, plain) => row % 2 === plain).map((compression) => ({
      tasks,
      order,
      compression,
    })),
  ),
)

test.for(CASES)(
  'an account of $tasks tasks, $order, compression $compression, ends complete and comes out digit for digit',
  { concurrent: true },
  async ({ tasks, order, compression }) => {
    await using stage = await makeStage({ window: WINDOW, tasks, order, compression, oddities: 0.3, seed: tasks + 11 })
    const { code, summary, asked } = await stage.sync()
    expect({ code, outcome: summary.outcome, verdict: summary.verdict, inserted: summary.inserted }).toEqual({
      code: 0,
      outcome: 'ok',
      verdict: 'complete',
      inserted: tasks,
    })
    expect(summary.order).toBe(tasks > 2 ? order : null)
    // A window but for its overlap of 10, the proof of the end, and the closing lap; beyond 20, five looks for the length. What is read
    // ahead and not wanted is more on a busy machine.
    const windows = asked.filter(({ operation }) => operation === 'list').length
    expect(windows).toBeLessThanOrEqual(Math.ceil(tasks / (WINDOW - 10)) + (tasks > 20 * (WINDOW - 10) ? 22 : 17))
    // A few details are compared with the list: one more for every ten windows.
    expect(asked.length - windows).toBeLessThanOrEqual(7 + Math.floor(windows / 10))
    await expectExactCopy(stage)
    if (SOAK || tasks === 0 || tasks === LARGEST) await expectEqualParquet(stage)
  },
)
