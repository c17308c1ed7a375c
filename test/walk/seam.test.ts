// How a window joins what was read before: shown, tied or not at all; and what the chain keeps of it.
import { describe, expect, test } from 'vitest'
import { Kernel } from '../../src/proof/kernel.ts'
import { type ChainState, extendChain, newChain, overlapOf } from '../../src/walk/chain.ts'
import { isScrambled } from '../../src/walk/guards.ts'
import { cutOf, mayBeFiltered } from '../../src/walk/paging.ts'
import type { ItemsWindow } from '../../src/walk/source.ts'

/** `abc` are ids, upper case ones have been met; createdAt falls by 1 per letter, or is given. */
function makeWindow(skip: number, letters: string, moments?: (number | null)[]): ItemsWindow {
  const ids = [...letters].map((letter) => letter.toLowerCase())
  return {
    kind: 'items',
    sent: 0,
    received: 1,
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

/** A kernel that is told windows one after another, and the handle of the last one; all but that one are taken in. */
function kernelTold(...windows: ItemsWindow[]) {
  const kernel = new Kernel(null)
  windows.forEach(({ skip, asked, ids, moments, met }, index) => {
    if (index > 0) kernel.take(index)
    kernel.tell({ skip, asked, sent: index + 1, received: index + 1, kind: 'items', ids, moments, met }, index + 1)
  })
  return { kernel, last: windows.length }
}

/** How a window stands to those before it, and what is missing of a proof up to its end where it is taken in. */
function seamAt(...windows: ItemsWindow[]) {
  const { kernel, last } = kernelTold(...windows)
  const seam = kernel.seam(last)
  kernel.take(last)
  kernel.takeCounted()
  return { seam, owed: kernel.owed, missing: kernel.missing(false) }
}

const OWED = 'the run of equal createdAt that is owed has been counted'
const GAP = 'join: shows an anchor, or its place does'

describe('a window', () => {
  test.each<[string, ItemsWindow, string]>([
    ['from 0 always joins', makeWindow(0, 'xyz'), 'shown'],
    ['joins at an item before the last one', makeWindow(2, 'CDef'), 'shown'],
    ['with nothing met leaves a gap', makeWindow(2, 'efgh'), 'none'],
    ['without items is a missing anchor', makeWindow(4, ''), 'none'],
    ['that shows only the last item may have lost its ties', makeWindow(3, 'Def'), 'tied'],
    ['whose only anchor has no createdAt proves nothing about ties', makeWindow(2, 'Cef', [null, 95, 94]), 'tied'],
    ['joins wherever the anchor stands in it', makeWindow(1, 'xyCz'), 'shown'],
  ])('%s', (_, window, seam) => {
    expect(seamAt(makeWindow(0, 'abcd'), window).seam).toBe(seam)
  })
})

test('an anchor without an item of another createdAt before it is none alone: ties come in another order', () => {
  const first = makeWindow(0, 'abcd', [9, 8, 7, 7])
  expect(seamAt(first, makeWindow(2, 'CDe', [7, 7, 7])).seam).toBe('tied')
  expect(seamAt(first, makeWindow(1, 'BCD', [8, 7, 7])).seam).toBe('shown')
})

describe('taken in', () => {
  const first = makeWindow(0, 'abcd', [9, 8, 7, 7])
  test.each<[string, ItemsWindow, { owed?: number; missing: string | null }]>([
    ['a window that shows an anchor owes nothing', makeWindow(1, 'BCDe', [8, 7, 7, 6]), { missing: null }],
    ['a tied one owes the run', makeWindow(2, 'CDe', [7, 7, 7]), { owed: 7, missing: OWED }],
    ['a tied one with the end of the run owes it too', makeWindow(3, 'De', [7, 6]), { owed: 7, missing: OWED }],
    ['one that leaves a gap does not join', makeWindow(2, 'efgh'), { missing: GAP }],
    ['one with nothing new in it changes nothing', makeWindow(2, 'CD', [7, 7]), { missing: null }],
  ])('%s', (_, window, expected) => {
    expect(seamAt(first, window)).toMatchObject({ owed: undefined, ...expected })
  })

  test('nothing mends a gap', () => {
    const gap = makeWindow(2, 'efgh')
    expect(seamAt(first, gap, makeWindow(0, 'ABCDEFGH')).missing).toBe(GAP)
  })

  test('one run is owed at a time', () => {
    const tied = makeWindow(2, 'CDe', [7, 7, 6])
    expect(seamAt(first, tied, makeWindow(4, 'Ef', [6, 6])).missing).toBe('join: no other run is owed')
  })

  test('a run that one window shows whole is owed no longer', () => {
    const whole = makeWindow(1, 'BCDef', [8, 7, 7, 7, 6])
    expect(seamAt(first, makeWindow(2, 'CDe', [7, 7, 7]), whole)).toEqual({
      seam: 'shown',
      owed: undefined,
      missing: null,
    })
  })
})

test('equal createdAt that always stand in the order of ids are as good as any other', () => {
  const many = (count: number) => makeWindow(0, 'abcdefghijklmnopqrstuvwxyz'.slice(0, count), Array(count).fill(7))
  // Twenty neighbours were met in the order of ids, and none the other way.
  expect(seamAt(many(21), makeWindow(20, 'Uvw', [7, 7, 7])).seam).toBe('shown')
  expect(seamAt(many(20), makeWindow(19, 'Tu', [7, 7])).seam).toBe('tied')
  expect(seamAt(many(24), makeWindow(22, 'XWz', [7, 7, 7])).seam).toBe('tied')
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
  expect(chain.tie).toEqual({ moment: 7, start: 1 })
  expect(extendChain(chain, makeWindow(3, 'Def', [7, 7, 7])).tie).toEqual({ moment: 7, start: 1 })
  expect(extendChain(chain, makeWindow(3, 'Def', [7, 6, 6])).tie).toEqual({ moment: 6, start: 4 })
})

test('windows share half of what they hold, at least one item wherever an answer can hold two', () => {
  expect([0, 1, 2, 3, 4, 7, 20, 1000].map((returned) => overlapOf(returned, 10))).toEqual([0, 0, 1, 2, 2, 3, 10, 10])
  expect(overlapOf(1000, 1)).toBe(1)
})

test.each([
  ['as many as were asked for', ['abcdefghij', 'IJklmnopqr'], 'none'],
  ['fewer, always as many, and more follows', ['abcd', 'CDef', 'EFgh'], 'count'],
  ['fewer, more or less, and more follows', ['abcd', 'CDefg', 'FGhi', 'HIj'], 'bytes'],
  ['fewer at the end of the list alone', ['abcdefghij', 'IJk'], 'none'],
  ['fewer, and the same again', ['abcd', 'CD'], 'none'],
])('how answers are cut is seen by what follows: %s', (_, answers, cut) => {
  let chain = newChain()
  for (const letters of answers) chain = extendChain(chain, makeWindow(Math.max(0, chain.end - 2), letters))
  expect(cutOf(chain)).toBe(cut)
})

test('items may be left out where the last item stands further down, seam after seam, in short answers', () => {
  let chain = newChain()
  const letters = ['abcde', 'zDEfgh', 'yGHijkl', 'xKLmnopq']
  const asks = letters.map((some) => {
    const window = makeWindow(Math.max(0, chain.end - 2), some)
    chain = extendChain(chain, window)
    return mayBeFiltered(chain, window)
  })
  expect(asks).toEqual([false, false, false, true])
})

test.each<[string, string, boolean, number[]?]>([
  ['what the chain ended with, in its order, and others that came between', 'CxDyEzFwGh', false],
  ['what the chain ended with, backwards', 'GFEDCh', true],
  ['the same few of equal createdAt', 'GFEDCh', false, [1, 1, 1, 1, 1, 0]],
  ['four of it backwards: chance', 'GFEDh', false],
  ['none of it, and items met before among others by turns', 'MxNyOz', true],
  ['none of it, and what was met stands together', 'MNOxyz', false],
])('no order at all: %s', (_, letters, isNone, moments) => {
  expect(isScrambled(chainOf('abcdefg'), makeWindow(2, letters, moments))).toBe(isNone)
})
