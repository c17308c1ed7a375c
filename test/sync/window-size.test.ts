// How many items windows ask for where items are heavy.
import { expect, test } from 'vitest'
import { WalkWindow, windowSize } from '../../src/sync/window-size.ts'

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

test('windows of a walk shrink where answers are heavy, at once, and grow again, little by little; small changes change nothing', () => {
  const size = new WalkWindow(CONFIGURED, MOST, KB)
  const shown: number[] = []
  for (const [items, itemBytes] of [
    [1000, 3 * KB],
    [1000, 5 * KB],
    [0, 0],
    [1000, 16 * KB],
    [192, 100 * KB],
    ...Array.from({ length: 16 }, () => [40, KB]),
  ] as [number, number][]) {
    size.saw(items, items * itemBytes)
    shown.push(size.window)
  }
  const grown = [95, 95, 95, 216, 216, 216, 467, 467, 467, 467, 1000, 1000, 1000]
  expect(shown).toEqual([1000, 1000, 1000, 192, 40, 40, 40, 40, ...grown])
  expect(size.overlap).toBe(10)
})

test('a walk that goes on keeps its size until its answers show another one', () => {
  const size = new WalkWindow(CONFIGURED, MOST, 100 * KB, 300)
  expect(size.window).toBe(300)
  size.saw(300, 300 * 100 * KB)
  expect(size.window).toBe(40)
})

test('the first answer tells what nothing was known of', () => {
  const size = new WalkWindow(CONFIGURED, MOST, null)
  expect([size.window, size.maxBytesAhead(1000), size.fitting(1000)]).toEqual([1000, 6 * KB * KB, MOST])
  size.saw(1000, 1000 * 4 * KB)
  expect(size.window).toBe(768)
})

test.each([
  ['light items: twice what is a good size', KB, 1000, 6 * KB * KB],
  ['heavy ones: twice what is expected', 100 * KB, 40, 8_000 * KB],
  ['never more than may be under way', 100 * KB, 1000, MOST],
])('what a window that is read ahead may weigh, %s', (_, itemBytes, take, expected) => {
  expect(new WalkWindow(CONFIGURED, MOST, itemBytes).maxBytesAhead(take)).toBe(expected)
})

test('an answer that was larger than all that may be under way tells what its items weigh at least', () => {
  const size = new WalkWindow(CONFIGURED, MOST, KB)
  size.failed(1000)
  expect(size.window).toBe(93)
  size.failed(16)
  expect(size.window).toBe(8)
})

test('a walk gets back to the configured size, whatever it shrank to', () => {
  for (let items = 1; items <= 40; items += 1) {
    const size = new WalkWindow({ window: 1000, overlap: 10 }, 32 * 1024 * 1024, 1000)
    size.saw(items, items * 1_000_000)
    expect(size.window).toBeLessThan(1000)
    for (let answer = 0; answer < 60; answer += 1) size.saw(size.window, size.window * 1000)
    expect(size.window).toBe(1000)
  }
})
