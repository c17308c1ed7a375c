// What a walk accounts for of a list, and what it met of tasks that came in while the walk before it went on.
import { expect, test } from 'vitest'
import { MetCount, Newcomers } from '../../src/sync/steps/met-count.ts'
import type { ItemsWindow } from '../../src/walk/source.ts'

const WALK_BEFORE = 10_000
const THIS_WALK = 20_000

/** Items of one answer; what is not said of them is that they are new to the walk and to the mirror, and came in between. */
function answer(
  items: readonly { id?: string; at?: number | null; met?: 1; held?: 1 }[],
  serviceDate: number | null = THIS_WALK,
): ItemsWindow {
  return {
    ...{ kind: 'items', skip: 0, asked: 100, sent: 0, received: 1, handle: 1, startedAt: 30_000, serviceDate },
    ids: items.map(({ id }, index) => id ?? `t${index}`),
    moments: items.map(({ at = 15_000 }) => at),
    met: Uint8Array.from(items, ({ met }) => met ?? 0),
    held: Uint8Array.from(items, ({ held }) => held ?? 0),
  }
}

test('tasks that were met, positions that cannot be read and items that one answer lists twice are accounted for', () => {
  const counted = new MetCount(5)
  expect(counted.uncountedOf(9)).toBe(4)
  counted.met += 1
  counted.unread.add('1 behind a').add('1 behind a')
  counted.joined(answer([{ id: 'a' }, { id: 'b' }, { id: 'a' }]))
  expect(counted.uncountedOf(9)).toBe(1)
  // Windows overlap: the next one shows the same again.
  counted.joined(answer([{ id: 'a', met: 1 }, { id: 'b', met: 1 }, { id: 'a', met: 1 }, { id: 'c' }]))
  expect(counted.uncountedOf(9)).toBe(1)
})

test.each<[string, Parameters<typeof answer>[0][number], number]>([
  ['created in between', {}, 1],
  ['created as the walk before began', { at: WALK_BEFORE }, 1],
  ['created before that: it may have been imported since', { at: WALK_BEFORE - 1 }, 0],
  ['created as this walk began', { at: THIS_WALK }, 0],
  ['known to the mirror', { held: 1 }, 0],
  ['met by this walk before', { met: 1 }, 0],
  ['without a createdAt', { at: null }, 0],
])('a newcomer explains a number where it is one: %s', (_, item, count) => {
  const newcomers = new Newcomers(WALK_BEFORE)
  newcomers.joined(answer([item]))
  expect(newcomers.count).toBe(count)
})

test('this walk began when its first window was made, by the clock of this machine where the service tells none', () => {
  const newcomers = new Newcomers(WALK_BEFORE)
  newcomers.joined(answer([{ at: 25_000 }], null))
  newcomers.joined(answer([{ at: 35_000 }], 40_000))
  expect(newcomers.count).toBe(1)
})

test('a first walk has no newcomers', () => {
  const newcomers = new Newcomers(null)
  newcomers.joined(answer([{}, { at: THIS_WALK }]))
  expect(newcomers.count).toBe(0)
})
