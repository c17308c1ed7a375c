// How a window joins the chain: anchors, ties, gaps, drift.
import { describe, expect, test } from 'vitest'
import { type ChainState, extendChain, judgeSeam, newChain, overlapOf } from '../../src/walk/chain.ts'
import type { ItemsWindow } from '../../src/walk/source.ts'

/** `abc` are ids, upper case ones have been met; createdAt falls by 1 per letter, or is given. */
function makeWindow(skip: number, letters: string, moments?: (number | null)[]): ItemsWindow {
  const ids = [...letters].map((letter) => letter.toLowerCase())
  return {
    kind: 'items',
    skip,
    asked: 10,
    ids,
    moments: moments ?? ids.map((id) => 200 - id.charCodeAt(0)),
    met: Uint8Array.from(letters, (letter) => (letter === letter.toUpperCase() ? 1 : 0)),
    held: new Uint8Array(letters.length),
    serviceDate: 1_000,
    startedAt: 2_000,
    handle: 1,
  }
}

/** The chain after a window from 0. */
const chainOf = (letters: string, moments?: (number | null)[]): ChainState =>
  extendChain(newChain(), makeWindow(0, letters, moments))

describe('a window', () => {
  test.each<[string, ItemsWindow, string]>([
    ['from 0 always joins', makeWindow(0, 'xyz'), 'joined'],
    ['joins at an item before the last one', makeWindow(2, 'CDef'), 'joined'],
    ['with nothing met leaves a gap', makeWindow(2, 'efgh'), 'gap'],
    ['without items is a missing anchor', makeWindow(4, ''), 'empty'],
    ['that shows only the last item may have lost its ties', makeWindow(3, 'Def'), 'tied'],
    ['whose only anchor has no createdAt proves nothing about ties', makeWindow(2, 'Cef', [null, 95, 94]), 'tied'],
    ['joins wherever the anchor stands in it', makeWindow(1, 'xyCz'), 'joined'],
  ])('%s', (_, window, seam) => {
    expect(judgeSeam(chainOf('abcd'), window).kind).toBe(seam)
  })
})

test('an anchor of the same createdAt as the last item is none: ties come in another order', () => {
  const chain = chainOf('abcd', [9, 8, 7, 7])
  expect(judgeSeam(chain, makeWindow(2, 'CDe', [7, 7, 7])).kind).toBe('tied')
  expect(judgeSeam(chain, makeWindow(1, 'BCD', [8, 7, 7])).kind).toBe('joined')
})

describe('drift', () => {
  test('none where the seam shows again what the chain ended with', () => {
    expect(extendChain(chainOf('abcd'), makeWindow(2, 'CDef')).drift).toBe(0)
  })
  test('counts neighbours that are missing', () => {
    expect(extendChain(chainOf('abcd'), makeWindow(2, 'Def')).drift).toBe(1)
  })
  test('counts strangers before the last item', () => {
    expect(extendChain(chainOf('abcd'), makeWindow(2, 'CxDe')).drift).toBe(1)
  })
})

test('two items that change places show that nothing orders the list for good', () => {
  expect(extendChain(chainOf('abcd'), makeWindow(2, 'DCef')).order.unstable).toBe(true)
  expect(extendChain(chainOf('abcd'), makeWindow(2, 'CDef')).order.unstable).toBe(false)
  // Among equal createdAt no order is an order.
  expect(extendChain(chainOf('abcd', [9, 8, 7, 7]), makeWindow(1, 'BDCe', [8, 7, 7, 6])).order.unstable).toBe(false)
})

test('a window wholly behind the last item moves the walk, not the chain', () => {
  const chain = extendChain(chainOf('abcd'), makeWindow(50, 'BC'))
  expect(chain.last?.id).toBe('d')
  expect(chain.end).toBe(52)
})

test('the run of equal createdAt at the end is followed across windows', () => {
  const chain = chainOf('abcd', [9, 7, 7, 7])
  expect(chain.tie).toEqual({ moment: 7, start: 1, met: 3 })
  expect(extendChain(chain, makeWindow(3, 'Def', [7, 7, 7])).tie).toEqual({ moment: 7, start: 1, met: 5 })
  expect(extendChain(chain, makeWindow(3, 'Def', [7, 6, 6])).tie).toEqual({ moment: 6, start: 4, met: 2 })
})

test('the digest tells sequences apart, and leaves out what was created after the walk began', () => {
  const digest = (letters: string, moments?: number[]) => chainOf(letters, moments).digest
  expect(digest('abc')).toEqual(digest('abc'))
  expect(digest('abc')).not.toEqual(digest('acb'))
  expect(digest('abc')).not.toEqual(digest('ab'))
  // 1,000 is the service's date of the first answer.
  expect(digest('xabc', [1_000, 9, 8, 7])).toEqual(digest('abc', [9, 8, 7]))
})

test('windows share half of what they hold, at least one item wherever an answer can hold two', () => {
  expect([0, 1, 2, 3, 4, 7, 20, 1000].map((returned) => overlapOf(returned, 10))).toEqual([0, 0, 1, 2, 2, 3, 10, 10])
  expect(overlapOf(1000, 1)).toBe(1)
})
