// Lists that stand still, of which an answer cannot hold some tasks at all: it stops before them, and holds nothing where it begins with
// one. A service does so that cuts its answers by size and does not give at least one task.
import { expect, test } from 'vitest'
import { makeModel, newestFirst, walkModel } from './model.ts'

async function walkBefore(count: number, blocked: ReadonlySet<number>, settings: { window: number; overlap: number }) {
  const model = makeModel(newestFirst(count), {
    answer: (skip, take, { items }) => {
      const answer = items.slice(skip, skip + take)
      const end = answer.findIndex((_, index) => blocked.has(skip + index))
      return end < 0 ? answer : answer.slice(0, end)
    },
  })
  const { result, met, requests } = await walkModel(model, settings)
  return { verdict: result.verdict, met: met.size, requests }
}

test.each([
  { count: 10, window: 5, overlap: 1 },
  { count: 10, window: 8, overlap: 1 },
  { count: 30, window: 8, overlap: 2 },
])(
  'of $count tasks in windows of $window all are met but the one, wherever it stands',
  async ({ count, ...settings }) => {
    for (let index = 1; index < count; index += 1) {
      const walked = await walkBefore(count, new Set([index]), settings)
      expect(walked, `index ${index}`).toMatchObject({ verdict: 'complete', met: count - 1 })
      expect(walked.requests, `index ${index}`).toBeLessThanOrEqual(80)
    }
  },
)

test('one in the middle of a thousand hides nothing behind it', async () => {
  const walked = await walkBefore(1_000, new Set([500]), { window: 300, overlap: 10 })
  expect(walked).toMatchObject({ verdict: 'complete', met: 999 })
})

test('two side by side hide nothing either', async () => {
  for (let index = 1; index < 28; index += 1) {
    const walked = await walkBefore(30, new Set([index, index + 1]), { window: 8, overlap: 2 })
    expect(walked, `index ${index}`).toMatchObject({ verdict: 'complete', met: 28 })
  }
})
