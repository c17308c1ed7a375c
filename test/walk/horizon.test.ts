// The horizon, answer by answer: where it lies, how it moves with the chain, and when it has been passed.
import { expect, test } from 'vitest'
import { extendChain, newChain } from '../../src/walk/chain.ts'
import { Horizon } from '../../src/walk/horizon.ts'
import type { ItemsWindow } from '../../src/walk/source.ts'

/** Items `from` to `to`, which are also their moments, at index `skip`; `known` of them have been met. */
function windowOf(skip: number, from: number, to: number, known = 0, moment = (item: number) => item): ItemsWindow {
  const items = Array.from({ length: to - from }, (_, index) => from + index)
  return {
    kind: 'items',
    skip,
    asked: 100,
    ids: items.map((item) => `i${item}`),
    moments: items.map(moment),
    met: Uint8Array.from(items, (_, index) => (index < known ? 1 : 0)),
    held: new Uint8Array(items.length),
    serviceDate: null,
    startedAt: 0,
    handle: 0,
  }
}

const nothingAt = (skip: number) => windowOf(skip, 0, 0)

interface Story {
  /** Where nothing was, once items 0 to 9 had been met at their places. */
  empty: number
  /** What joins then, one after the other. */
  windows: ItemsWindow[]
  /** Seen before the empty answer, behind the chain. */
  seen?: string[]
}

function isPassed({ empty, windows, seen = [] }: Story): boolean {
  const unmet = new Map(seen.map((id) => [id, null]))
  const horizon = new Horizon(unmet)
  let chain = newChain()
  const join = (window: ItemsWindow): void => {
    chain = extendChain(chain, window)
    for (const id of window.ids) unmet.delete(id)
    horizon.joined(window, chain)
  }
  join(windowOf(0, 0, 10))
  horizon.heard(nothingAt(empty), 2, false)
  for (const window of windows) join(window)
  return horizon.isPassed(chain)
}

test.each<[string, Story, boolean]>([
  ['an item stands where there was nothing', { empty: 10, windows: [windowOf(8, 8, 11, 2)] }, true],
  ['one place before it', { empty: 11, windows: [windowOf(8, 8, 11, 2)] }, false],
  ['two places before it', { empty: 12, windows: [windowOf(8, 8, 11, 2)] }, false],
  ['the second window reaches it', { empty: 11, windows: [windowOf(8, 8, 11, 2), windowOf(10, 10, 12, 1)] }, true],
  ['inserted in front: it lies further down by as much', { empty: 11, windows: [windowOf(10, 8, 11, 2)] }, false],
  [
    'inserted in front, and grown by more',
    { empty: 11, windows: [windowOf(10, 8, 11, 2), windowOf(12, 10, 12, 1)] },
    true,
  ],
  ['deleted in front before it was seen again: it stays', { empty: 10, windows: [windowOf(7, 8, 11, 2)] }, false],
  [
    'deleted in front later: it comes nearer',
    { empty: 11, windows: [windowOf(8, 8, 11, 2), windowOf(9, 10, 12, 1)] },
    true,
  ],
  ['the last item is gone: nothing is known', { empty: 10, windows: [windowOf(9, 11, 14)] }, false],
  ['something seen behind has not been met', { empty: 10, windows: [windowOf(8, 8, 11, 2)], seen: ['future'] }, false],
  ['what was seen behind has been met', { empty: 11, windows: [windowOf(8, 8, 12, 2)], seen: ['i10'] }, true],
  [
    'equal createdAt reach back before it: they may change places',
    { empty: 11, windows: [windowOf(8, 8, 13, 2, (item) => Math.min(item, 10))] },
    false,
  ],
  [
    'equal createdAt begin where there was nothing',
    { empty: 11, windows: [windowOf(8, 8, 13, 2, (item) => Math.min(item, 11))] },
    true,
  ],
])('%s', (_, story, expected) => {
  expect(isPassed(story)).toBe(expected)
})
