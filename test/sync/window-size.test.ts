// How many items windows ask for where items are heavy.
import { expect, test } from 'vitest'
import { windowSize } from '../../src/sync/window-size.ts'

const KB = 1024
const MOST = 32 * KB * KB
const CONFIGURED = { window: 1000, overlap: 10 }

test.each([
  ['nothing known: as configured', null, 1000, 10],
  ['1 KB', KB, 1000, 10],
  ['16 KB: 3 MB', 16 * KB, 192, 6],
  ['100 KB: 40 items, which share few', 100 * KB, 40, 2],
  ['400 KB: 16 MB, half of what may be under way', 400 * KB, 40, 2],
  ['30 MB: two, which can share one', 30 * KB * KB, 2, 2],
])('%s', (_, itemBytes, window, overlap) => {
  expect(windowSize(CONFIGURED, MOST, itemBytes)).toEqual({ window, overlap })
})

test('never more than configured, never more than half of what may be under way but for two items', () => {
  for (const window of [1, 2, 10, 1000]) {
    for (const overlap of [1, 10]) {
      for (let itemBytes = 1; itemBytes < 1e9; itemBytes *= 3) {
        for (const most of [65_536, MOST]) {
          const size = windowSize({ window, overlap }, most, itemBytes)
          expect(size.window).toBeLessThanOrEqual(window)
          expect(size.overlap).toBeLessThanOrEqual(Math.max(overlap, 2))
          if (size.window > 2 && size.window < window) expect(size.window * itemBytes).toBeLessThanOrEqual(most / 2)
        }
      }
    }
  }
})
