// Whose answers they are, as tables.
import { describe, expect, test } from 'vitest'
import { type Identity, isOther, judgeAccount } from '../../src/sync/identity.ts'

const held: Identity = { user_id: 'ann', created_at: 1_000_000n }

describe('another task under the same id', () => {
  test.each<[string, Identity, boolean]>([
    ['the same', { user_id: 'ann', created_at: 1_000_000 }, false],
    ['another user', { user_id: 'bob', created_at: 1_000_000 }, true],
    ['created a second later', { user_id: 'ann', created_at: 1_001_000 }, true],
    ['created a second earlier', { user_id: 'ann', created_at: 999_000 }, true],
    ['neither shown', { user_id: null, created_at: null }, false],
    ['no user shown, the same moment', { user_id: null, created_at: 1_000_000 }, false],
    ['no moment shown, another user', { user_id: 'bob', created_at: null }, true],
    ['beyond a double', { user_id: 'ann', created_at: 9_007_199_254_740_993n }, true],
  ])('%s', (_, shown, expected) => {
    expect(isOther(held, shown)).toBe(expected)
    expect(isOther(shown, held)).toBe(expected)
  })

  test('list or detail may round the moment to whole seconds, but no further', () => {
    expect(isOther(held, { user_id: 'ann', created_at: 1_000_999 })).toBe(false)
    expect(isOther(held, { user_id: 'ann', created_at: 999_001 })).toBe(false)
    expect(isOther(held, { user_id: 'bob', created_at: 1_000_000 })).toBe(true)
  })
})

describe('another account', () => {
  const asked = { isAsked: true, hasOtherKey: false }
  const gone = { ...asked, areGone: true }
  const unasked = { isAsked: false, hasOtherKey: false }
  const otherKey = { isAsked: false, hasOtherKey: true }
  test.each([
    ['nothing known: known tasks are looked up', { known: 0, others: 0 }, unasked, 'ask'],
    ['nothing known, and some of it is there by id', { known: 0, others: 0, unknown: 300 }, asked, 'same'],
    ['nothing listed and nothing found by id: everything may be gone', { known: 0, others: 0 }, gone, 'same'],
    ['others listed, and nothing found by id', { known: 0, others: 0, unknown: 300 }, gone, 'other'],
    ['one known is listed, whatever is found by id', { known: 1, others: 0, unknown: 300 }, gone, 'same'],
    ['nothing known and another key: the list may show more', { known: 0, others: 0 }, otherKey, 'ask'],
    ['nothing known there either', { known: 0, others: 0 }, { ...otherKey, isAsked: true }, 'other'],
    ['a single one is another', { known: 300, others: 1 }, unasked, 'same'],
    ['half of them', { known: 300, others: 150 }, unasked, 'same'],
    ['most of them', { known: 300, others: 151 }, unasked, 'other'],
    ['most of a few: known tasks are looked up', { known: 3, others: 2 }, unasked, 'ask'],
    ['most of a few, looked up too', { known: 8, others: 7 }, asked, 'other'],
    ['the key says nothing where tasks are shared', { known: 5, others: 0 }, otherKey, 'same'],
  ] as const)('%s', (_, shown, given, expected) => {
    expect(judgeAccount({ unknown: 0, ...shown }, { areGone: false, ...given })).toBe(expected)
  })
})
