// Where a list in which whatever is written to comes first goes on as it did.

import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/sync/context.ts'
import {
  cameToFront,
  frontsAfter,
  isTouchOrder,
  type Listed,
  untouchedFrom,
  watchFront,
} from '../../src/sync/steps/front.ts'
import { Sequence } from '../../src/sync/steps/sequence.ts'
import type { ParsedList } from '../../src/sync/writer/writing.ts'
import { noOrderSeen } from '../../src/walk/order.ts'
import type { ItemsWindow } from '../../src/walk/source.ts'
import fc from '../support/fc.ts'

/** `a` stands as it did; `a!` looks otherwise; `a?` is not known; `a-` is open. */
function listed(text: string): Listed[] {
  return text.split(' ').map((word) => ({
    id: word.replace(/[!?-]/, ''),
    isKnown: !word.endsWith('?'),
    isAsBefore: !/[!?]/.test(word),
    isFinal: !word.endsWith('-'),
  }))
}

const FINAL = new Uint8Array(7).fill(1)
const FRONT = [...'abcdefgh']

describe('where a list goes on as it did', () => {
  test.each([
    ['nothing has happened', 'a b c d e f g h', 0],
    ['one is new', 'x? a b c d e f g h', 1],
    ['one came up from far below', 'z a b c d e f g h', 1],
    ['one of the front has moved', 'e! a b c d f g h', 1],
    ['two were deleted', 'a c d e g h', 1],
    ['what stood behind follows', 'x? a b c d e f g h i j', 1],
    ['what is new and open stands at the very end', 'a b c d e f g h i x?-', 0],
    ['one is new among what seems untouched', 'a b c x? d e f g h', 4],
    ['neighbours moved in their old order, and others with them', 'f g h z! a b c d e', 4],
    ['too few stand as they did', 'x? z! g! h', null],
    ['all were changed where they stand', 'a! b! c! d! e! f! g! h!', null],
    ['the open ones say nothing', 'a- b- c- d e f g h', 3],
    ['everything stands the other way round', 'h g f e d c b a', null],
  ])('%s', (_, text, from) => {
    expect(untouchedFrom(FRONT, listed(text), 3)).toBe(from)
  })

  test('whatever came or moved to the front, or was deleted: nothing that did stands below', () => {
    const ids = Array.from({ length: 40 }, (_, index) => `t${index}`)
    const change = fc.oneof(
      fc.record({ kind: fc.constant('touch' as const), at: fc.nat(60) }),
      fc.record({ kind: fc.constant('insert' as const), at: fc.nat(60) }),
      fc.record({ kind: fc.constant('delete' as const), at: fc.nat(60) }),
    )
    fc.assert(
      fc.property(fc.array(change, { maxLength: 25 }), fc.integer({ min: 5, max: 40 }), (changes, answer) => {
        let list: Listed[] = listed(ids.join(' '))
        const touched = new Set<string>()
        changes.forEach(({ kind, at }, number) => {
          const index = at % Math.max(1, list.length)
          const [one] = kind === 'insert' ? listed(`n${number}?`) : list.splice(index, 1)
          if (one === undefined || kind === 'delete') return
          touched.add(one.id)
          list = [{ ...one, isAsBefore: false }, ...list]
        })
        const from = untouchedFrom(ids.slice(0, answer), list.slice(0, answer), 3)
        if (from === null) return
        expect(list.slice(from).filter(({ id }) => touched.has(id))).toEqual([])
      }),
    )
  })
})

test.each([
  ['three that moved', 'u! v! w a b c', { moved: 3, fresh: 0 }, [true, true]],
  ['three of the front that passed others', 'f! e! d! a b c g h', { moved: 3, fresh: 0 }, [true, true]],
  ['some of the front that others have passed', 'e- f- a! b! c! d! g h', { moved: 4, fresh: 0 }, [true, true]],
  ['three that changed where they stand', 'a! b! c! d e f', { moved: 0, fresh: 0 }, [false, false]],
  ['the same, and new ones in front', 'x? y? a! b! c! d e f', { moved: 0, fresh: 2 }, [false, false]],
  ['open ones that always stand in front', 'a- b- c- d e f', { moved: 0, fresh: 0 }, [false, false]],
  ['a few new ones', 'u? v? w? a b c', { moved: 0, fresh: 3 }, [false, false]],
  ['many new ones', '0? 1? 2? 3? 4? 5? 6? 7? 8? 9? a b c', { moved: 0, fresh: 10 }, [false, true]],
])('%s: an order in which everything comes to the front, or not yet', (_, text, evidence, [byCreation, otherwise]) => {
  const all = listed(text)
  const found = cameToFront(FRONT, all, untouchedFrom(FRONT, all, 2) ?? Number.NaN)
  expect(found).toEqual(evidence)
  expect(isTouchOrder(found, true)).toBe(byCreation)
  expect(isTouchOrder(found, false)).toBe(otherwise)
})

describe('what is kept of fronts, where what is written to may be listed 60 s later', () => {
  const [front, next, ids] = [['old'], { ids: ['next'], at: 1_000_000 }, ['latest']]
  const at = 2_000_000
  const latest = { ids, at }
  const old = { front, front_at: 500_000 }
  const promoted = { front: next.ids, front_at: next.at, front_next: latest }
  const none = { front: undefined, front_at: undefined }
  const order = 'updated_desc' as const
  test.each([
    ['nothing is known', {}, 1_900_000, { ...none, front_next: latest }],
    ['kept by an earlier version', { order, front }, 1_900_000, { front, front_at: undefined, front_next: latest }],
    ['one that has settled', { order, ...old, front_next: next }, 1_060_000, promoted],
    ['one that has settled, before the order is known', { front_next: next }, 1_060_000, promoted],
    ['one that has not', { order, ...old, front_next: next }, 1_059_999, { ...old, front_next: next }],
    ['one that has not, and none before it', { order, front_next: next }, 1_059_999, { ...none, front_next: next }],
    ['one that has not, before the order is known', { front_next: next }, 1_059_999, { ...none, front_next: latest }],
    ['a clock that was set back', { order, ...old, front_next: next }, 900_000, { ...old, front_next: latest }],
  ])('%s', (_, facts, begunAt, kept) => {
    expect(frontsAfter(facts, { ids, begunAt, at }, 60_000)).toEqual(kept)
  })
})

test.each([
  ['met by the walk that read the front', 7, undefined, { moved: 3, fresh: 0 }],
  ['met by a walk since: they may have come to the front', 4, undefined, { moved: 0, fresh: 3 }],
  ['behind them some that were written to since', 7, 9, null],
  ['behind them none that was', 7, 10, { moved: 3, fresh: 0 }],
])('known tasks in front that were met, %s', async (_, certain, at, evidence) => {
  const ids = [...'uvwabcd']
  const run = {
    config: { sync: { overlap: 2 } },
    writer: {
      certainSeq: async () => certain,
      knownState: async () => ({
        seqs: Float64Array.of(5, 6, 7, 1, 2, 3, 4),
        isAsBefore: new Uint8Array(7).fill(1),
        readAt: Float64Array.of(1, 1, 1, 8, 9, 10, 10),
      }),
    },
  } as unknown as Run
  const list = watchFront(run, [...'abcd'], { since: 'full', at })
  await list.begun({ walkId: 1, onParsed: async () => undefined })
  await list.onParsed({ handle: 1, ids, flags: FINAL } as unknown as ParsedList)
  const window = { handle: 1, ids, met: new Uint8Array(7), held: new Uint8Array(7).fill(1) } as unknown as ItemsWindow
  list.joined(window, noOrderSeen())
  expect(list.judge()).toEqual(evidence)
})

describe('two walks', () => {
  const sequence = (text: string): Sequence => {
    const made = new Sequence()
    for (const id of text.split(' ')) made.add(id)
    return made
  }
  test.each([
    ['are the same', 'a b c d e f', 'a b c d e f', 0],
    ['differ by deleted ones', 'a b c d e f', 'b c f', 0],
    ['differ by one that moved to the front', 'a b c d e f', 'd a b c e f', 1],
    ['differ by new ones in front, and by deleted ones', 'a b c d e f', 'x y a b c f', 2],
    ['differ by one that moved further down', 'a b c d e f', 'b c d e f a', 5],
    ['agree on half of the list only', 'a b c d e f', 'a b c x d e f', 4],
    ['differ by a new one near the end', 'a b c d e f', 'a b c d e x f', 6],
    ['have nothing of their order in common', 'a b c d e f', 'f e d c b a', 5],
  ])('that %s', (_, one, other, inFront) => {
    expect(sequence(other).inFrontOf(sequence(one))).toBe(inFront)
  })

  test('in an order that needs no second one are kept only while they are short', () => {
    const walks = [1_000_000, 1_050_000].map((tasks) => {
      const made = new Sequence()
      for (let id = 0; id < tasks; id += 1) made.add(`${id}`)
      made.forgetIfLong()
      return made
    })
    expect(walks.map((walk) => walk.inFrontOf(walk))).toEqual([0, null])
  })
})
