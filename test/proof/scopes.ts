// The scopes of the small worlds, each searched to its end, and the conditions that are tried in it: without one of them a
// false claim has to be found.
import type { Scope } from './small-worlds.ts'

export interface Trials extends Omit<Scope, 'name' | 'inTurn'> {
  needs: readonly string[]
  /** The readings of a false claim that is known, where any search of the scope takes seconds to find one. */
  known?: Scope['inTurn']
}

const HELD = ['look', 'join', 'behind', 'again'] as const
const SHOWN = ['look', 'join', 'room'] as const
const PLACED = ['look', 'join', 'behind', 'stands'] as const
const PASSED = ['look', 'join', 'passed'] as const

/** Some seconds in all: the first worlds of each in every test run, all of them in the soak. */
export const QUICK: Record<string, Trials> = {
  'windows that show their anchors': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: true, claims: SHOWN },
    needs: [],
  },
  'the same createdAt anywhere': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: false, claims: SHOWN },
    needs: [],
  },
  'an index looked at twice': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: null, ties: true, claims: HELD },
    needs: ['again: everything up to the floor has been met'],
  },
  'a deletion and an insertion around a look': {
    ...{ tasks: 4, readings: 4, changes: 2, take: 3, cap: null, ties: true, claims: HELD, lists: [[0, 1, 2, 3]] },
    asks: [
      [0, 3],
      [1, 3],
      [3, 3],
    ],
    needs: [],
  },
  'a run across a place': {
    ...{ tasks: 4, readings: 6, changes: 2, take: 2, cap: 2, ties: true, claims: HELD, counts: true },
    ...{ only: ['shuffle'], lists: [[0, 1, 1, 2]] },
    needs: [],
  },
  'a run that is counted': {
    ...{ tasks: 4, readings: 6, changes: 3, take: 2, cap: 2, ties: true, claims: HELD, counts: true },
    ...{ only: ['shuffle'], lists: [[0, 1, 1, 2]] },
    needs: ['counted: as many ids as it is long'],
  },
  'a run that is counted while one is deleted': {
    ...{ tasks: 5, readings: 5, changes: 4, take: 2, cap: 2, ties: true, repeats: true, counts: true },
    ...{ claims: ['look', 'join', 'repeated'], only: ['shuffle', 'delete'], lists: [[0, 1, 1, 1, 2]] },
    needs: [],
  },
  'answers cut at three': {
    ...{ tasks: 4, readings: 2, changes: 1, take: 4, cap: 3, asksAll: true, ties: true, claims: SHOWN },
    needs: ['room: shorter than asked', 'room: shorter than another'],
  },
  'answers cut anywhere': {
    ...{ tasks: 5, readings: 4, changes: 0, take: 3, cap: null, ties: false, claims: SHOWN, lists: [[0, 1, 2, 3, 4]] },
    needs: ['room: no cut by size was seen', 'room: begins with the list or shows an anchor'],
  },
  'a window without an anchor, of the createdAt that is owed': {
    ...{ tasks: 5, readings: 5, changes: 1, take: 3, cap: null, ties: false, claims: SHOWN, lists: [[0, 1, 2, 3, 4]] },
    asks: [
      [0, 3],
      [1, 3],
      [4, 3],
    ],
    only: ['insert'],
    needs: ['join: shows an anchor, or begins with the list'],
    known: [
      [0, 3],
      [1, 3],
      [4, 3],
      [0, 3],
      [4, 3],
    ],
  },
  'the last item alone, among hidden ones': {
    ...{
      tasks: 3,
      readings: 4,
      changes: 1,
      take: 2,
      cap: null,
      asksAll: true,
      ties: false,
      hidden: 1,
      lists: [[0, 1, 2]],
    },
    claims: PLACED,
    filtered: true,
    needs: ['stands: begins with the last item', 'stands: where it stood'],
  },
  'hidden items': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: 2, ties: false, claims: HELD, hidden: 1 },
    needs: [],
  },
  'a hidden item, asked for alone': {
    ...{ tasks: 4, readings: 3, changes: 0, take: 2, cap: null, asksAll: true, ties: false, hidden: 1 },
    ...{ claims: HELD, lists: [[0, 1, 2, 3]] },
    needs: ['nothing: asked for as many as any answer held'],
  },
  'a hidden item, asked for alone, behind one that is known by its place': {
    ...{ tasks: 4, readings: 3, changes: 0, take: 2, cap: null, asksAll: true, ties: false, hidden: 1 },
    ...{ claims: PLACED, filtered: true, lists: [[0, 1, 2, 3]] },
    needs: ['nothing: asked for as many as any answer held'],
  },
  'answers that stop before an item': {
    ...{ tasks: 4, readings: 6, changes: 0, take: 3, cap: 3, ties: false, hidden: 1, blocks: true, filtered: true },
    ...{ claims: [...HELD, 'stands'], lists: [[0, 1, 2, 3]] },
    needs: [],
  },
  'a hidden item, asked for alone, in a list that grows': {
    ...{ tasks: 4, readings: 4, changes: 0, take: 3, cap: null, ties: false, hidden: 1, claims: PASSED },
    lists: [[0, 1, 2, 3]],
    asks: [
      [0, 3],
      [1, 1],
      [6, 3],
    ],
    needs: [],
  },
  'a hidden first item, asked for alone': {
    ...{ tasks: 3, readings: 3, changes: 0, take: 2, cap: null, asksAll: true, ties: false, hidden: 1 },
    ...{ claims: ['look', 'join', 'room'], lists: [[0, 1, 2]] },
    needs: ['nothing: asked for as many as any answer held'],
  },
  'a hidden item behind a run that is counted': {
    ...{ tasks: 4, readings: 6, changes: 0, take: 2, cap: null, asksAll: true, ties: false, hidden: 1, counts: true },
    ...{ claims: PLACED, lists: [[0, 1, 2, 3]] },
    needs: ['nothing: asked for as many as any answer held'],
  },
  'windows refused beyond an index': {
    ...{ tasks: 4, readings: 4, changes: 0, take: 3, cap: null, asksAll: true, ties: false, claims: HELD, limit: 3 },
    needs: ['again: reaches beyond a refusal', 'behind: leaves no position out'],
  },
  'sizes refused': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 3, cap: null, asksAll: true, ties: false, claims: HELD },
    refusedAbove: 2,
    needs: ['behind: refused or failed for a single position'],
  },
  'an answer that brings nothing by mistake': {
    ...{ tasks: 3, readings: 5, changes: 1, take: 2, cap: 2, asksAll: true, ties: false, mistakes: 1 },
    claims: [...HELD, 'stands'],
    needs: ['nothing: came twice'],
  },
  'an answer that brings nothing by mistake, and answers cut anywhere': {
    ...{ tasks: 4, readings: 4, changes: 0, take: 3, cap: null, asksAll: true, ties: false, mistakes: 1 },
    ...{ claims: [...HELD, 'stands'], lists: [[0, 1, 2, 3]] },
    needs: [],
  },
  'an answer that brings nothing by mistake, and hidden items': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: 2, ties: false, hidden: 1, mistakes: 1, claims: HELD },
    needs: [],
  },
  'a last window that comes late': {
    ...{ tasks: 2, readings: 4, changes: 1, take: 2, cap: null, ties: false, claims: HELD, ahead: true },
    lists: [[0, 1]],
    needs: ['again: asked for after what was read behind', 'behind: asked for after the floor was read'],
  },
  'oldest first': {
    ...{ tasks: 3, readings: 6, changes: 2, take: 2, cap: null, ties: true, claims: PASSED, lists: [[0], [0, 1]] },
    needs: ['passed: its last run begins behind what was empty'],
  },
  'a list that grows, and an answer that is empty by mistake': {
    ...{ tasks: 4, readings: 4, changes: 0, take: 2, cap: 2, ties: false, mistakes: 1, claims: PASSED },
    lists: [[0, 1, 2, 3]],
    needs: ['nothing: came twice'],
  },
  'an end that was empty, and ties that change places': {
    ...{ tasks: 6, readings: 6, changes: 1, take: 5, cap: null, ties: true, claims: PASSED, only: ['shuffle'] },
    lists: [[0, 1, 1, 1, 2, 3]],
    asks: [
      [0, 4],
      [6, 1],
      [0, 5],
    ],
    needs: [],
  },
  'an end that was empty, among hidden items': {
    ...{ tasks: 4, readings: 5, changes: 0, take: 3, cap: null, ties: false, hidden: 2, claims: PASSED },
    lists: [[0, 1, 2, 3]],
    needs: [],
  },
  'a place that was seen to move, among items that are left out': {
    ...{ tasks: 3, readings: 7, changes: 2, take: 1, cap: null, ties: false, filtered: true, claims: PLACED },
    lists: [[0, 1, 2]],
    asks: [
      [0, 1],
      [1, 1],
      [2, 1],
    ],
    needs: [],
  },
  'a place looked at twice, late': {
    ...{ tasks: 2, readings: 6, changes: 1, take: 1, cap: null, ties: false, ahead: true, counts: true },
    ...{ claims: PLACED, lists: [[0, 1]] },
    needs: [],
  },
  'a place before windows that are refused': {
    ...{ tasks: 3, readings: 6, changes: 0, take: 2, cap: null, asksAll: true, ties: false, limit: 2, counts: true },
    ...{ claims: PLACED, lists: [[0, 1, 2]] },
    needs: [],
  },
  'an item that is refused, before answers cut by number': {
    ...{ tasks: 5, readings: 6, changes: 0, take: 4, cap: 2, asksAll: true, ties: false, poisoned: 1, refuses: true },
    ...{ claims: PLACED, counts: true, lists: [[0, 1, 2, 3, 4]] },
    needs: [],
  },
  'a place before an item that cannot be read': {
    ...{ tasks: 3, readings: 6, changes: 1, take: 1, cap: null, ties: false, poisoned: 1, counts: true },
    ...{ claims: PLACED, lists: [[0, 1, 2]] },
    needs: [],
  },
  'a first item that cannot be read': {
    ...{ tasks: 2, readings: 5, changes: 2, take: 2, cap: null, asksAll: true, ties: false, poisoned: 1 },
    ...{ claims: HELD, lists: [[0, 1]] },
    needs: [],
  },
  'items that cannot be read, beside a run': {
    ...{ tasks: 4, readings: 8, changes: 2, take: 1, cap: null, ties: true, poisoned: 2, claims: HELD },
    only: ['shuffle', 'delete'],
    lists: [
      [0, 1, 2, 2],
      [0, 1, 1, 2],
    ],
    needs: [],
  },
  'a place in a run': {
    ...{ tasks: 3, readings: 6, changes: 2, take: 2, cap: null, ties: true, counts: true },
    ...{ claims: PLACED, only: ['shuffle', 'delete'], lists: [[0, 1, 1]] },
    needs: [],
  },
  'a list that grows, with large items': {
    ...{ tasks: 2, readings: 6, changes: 1, take: 2, cap: 1, ties: true, lists: [[0, 1], [0]] },
    claims: ['look', 'join', 'behind', 'stands', 'passed'],
    needs: [],
  },
  'a range': {
    ...{
      tasks: 4,
      readings: 4,
      changes: 1,
      take: 2,
      cap: null,
      ties: true,
      lists: [
        [0, 1, 1, 2],
        [0, 1, 2, 2],
        [0, 1, 2],
      ],
    },
    ...{ claims: ['look', 'join', 'from', 'reached'], range: { order: 'created_asc', from: 1, to: 2 } },
    needs: ['from: begins before the range', 'reached: shows an item behind the range'],
  },
  'the last window again': {
    ...{ tasks: 3, readings: 3, changes: 1, take: 2, cap: null, ties: true, repeats: true },
    claims: ['look', 'join', 'repeated'],
    needs: [],
  },
  'ties in the order of ids': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: true, claims: SHOWN, orderedTies: 1 },
    needs: [],
  },
  'items that are left out, one at a time': {
    ...{ tasks: 3, readings: 5, changes: 1, take: 1, cap: null, ties: false, poisoned: 1, hidden: 1, filtered: true },
    ...{ claims: PLACED, lists: [[0, 1, 2]] },
    needs: ['stands: what was passed is as it was'],
  },
  'items that are left out before windows that are refused': {
    ...{ tasks: 3, readings: 4, changes: 0, take: 2, cap: null, asksAll: true, ties: false, limit: 2, filtered: true },
    ...{ claims: PLACED, lists: [[0, 1, 2]] },
    needs: ['stands: reaches beyond a refusal'],
  },
  'items that are left out, late': {
    ...{ tasks: 2, readings: 4, changes: 1, take: 1, cap: null, ties: false, ahead: true, filtered: true },
    ...{ claims: PLACED, lists: [[0, 1]] },
    needs: ['stands: asked for after what was read behind'],
  },
  'the last item alone, further down, among items that are left out': {
    ...{ tasks: 4, readings: 4, changes: 3, take: 3, cap: null, ties: false, hidden: 1, newestFirst: true },
    ...{
      asks: [
        [0, 3],
        [1, 1],
        [3, 1],
        [2, 2],
      ],
      only: ['delete', 'insert'],
      lists: [[0, 1, 2, 3]],
    },
    claims: ['look', 'join', 'repeated'],
    needs: ['repeated: the last item, asked for alone'],
    known: [
      [0, 3],
      [1, 1],
      [3, 1],
      [2, 2],
    ],
  },
  'the last item alone, at its place and further down, among items that are left out': {
    ...{ tasks: 5, readings: 3, changes: 1, take: 3, cap: null, asksAll: true, ties: false, hidden: 2 },
    ...{ claims: ['look', 'join', 'repeated'], only: ['delete'], lists: [[0, 1, 2, 3, 4]] },
    needs: ['repeated: at its place before, asked for alone'],
  },
  'the last item alone, further down': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: null, asksAll: true, ties: false },
    ...{ claims: ['look', 'join', 'repeated'] },
    needs: ['repeated: as further down before'],
  },
  'a run of which items are left out': {
    ...{ tasks: 4, readings: 6, changes: 1, take: 3, cap: null, ties: true, hidden: 2, filtered: true, counts: true },
    ...{ claims: ['look', 'join', 'room'], only: ['shuffle'], lists: [[0, 1, 1]] },
    needs: [],
  },
  'two runs of the same createdAt': {
    ...{ tasks: 3, readings: 7, changes: 1, take: 2, cap: 2, asksAll: true, ties: false, counts: true },
    ...{ claims: PLACED, only: ['insert'], lists: [[0, 1, 2]] },
    needs: ['counted: shows one that was met'],
    known: [
      [0, 2],
      [1, 1],
      [3, 1],
      [4, 2],
      [2, 2],
      [4, 2],
    ],
  },
  'a run that grows while it is counted': {
    ...{ tasks: 3, readings: 9, changes: 2, take: 2, cap: 2, ties: true, counts: true },
    ...{ claims: ['look', 'join'], only: ['insert'], onlyTies: true, newestFirst: true, lists: [[0, 0, 0]] },
    needs: ['counted: ends where it ended'],
  },
}

/** Too long for every test run: the soak's. */
export const LONG: Record<string, Trials> = {
  'two runs': {
    ...{ tasks: 5, readings: 7, changes: 3, take: 3, cap: null, ties: true, claims: HELD },
    ...{ only: ['shuffle'], lists: [[0, 0, 1, 1, 2]] },
    needs: ['join: no other run is owed'],
  },
  'a place in each of two runs': {
    ...{ tasks: 5, readings: 8, changes: 2, take: 2, cap: 2, ties: true, counts: true },
    ...{ claims: PLACED, only: ['shuffle'], lists: [[0, 0, 1, 1]] },
    needs: ['stands: no other run is owed'],
  },
  'oldest first, and ever shorter': {
    ...{ tasks: 3, readings: 4, changes: 2, take: 2, cap: null, ties: false, claims: PASSED, lists: [[0, 1, 2]] },
    needs: ['passed: asked for after it was empty'],
  },
  'the last item alone, late': {
    ...{ tasks: 2, readings: 5, changes: 2, take: 1, cap: null, asksAll: true, ties: false, ahead: true },
    ...{ claims: ['look', 'join', 'repeated'] },
    needs: ['repeated: behind its place', 'repeated: read one after another'],
  },
  'answers that come late': {
    ...{ tasks: 4, readings: 4, changes: 1, take: 3, cap: null, ties: false, ahead: true, lists: [[0, 1, 2, 3]] },
    claims: [...HELD, 'room'],
    asks: [
      [0, 3],
      [2, 3],
      [3, 3],
    ],
    only: ['insert'],
    needs: [],
  },
  'an index looked at twice, beside a run': {
    ...{ tasks: 3, readings: 4, changes: 2, take: 2, cap: null, ties: true, claims: HELD, lists: [[0, 1, 1]] },
    needs: ['again: begins with the list, shows an anchor, or is apart'],
  },
  'an index looked at three times': {
    ...{ tasks: 3, readings: 6, changes: 1, take: 2, cap: null, ties: false, claims: HELD, lists: [[0, 1, 2]] },
    needs: ['behind: nothing has come from behind yet'],
  },
  'an item that cannot be read': {
    ...{ tasks: 3, readings: 5, changes: 1, take: 2, cap: null, asksAll: true, ties: false, claims: HELD, poisoned: 1 },
    lists: [[0, 1, 2]],
    needs: ['again: what was passed is as it was'],
  },
  'a run that is counted late': {
    ...{ tasks: 4, readings: 6, changes: 2, take: 2, cap: 2, ties: true, ahead: true, counts: true },
    ...{ claims: ['look', 'join', 'room'], only: ['shuffle', 'delete'], lists: [[0, 1, 1]] },
    needs: ['counted: read one after another'],
  },
  'a place in a run, while another is owed': {
    ...{ tasks: 5, readings: 6, changes: 3, take: 3, cap: 3, asksAll: true, ties: true, counts: true },
    ...{ claims: ['look', 'join', 'behind', 'again', 'room'], only: ['shuffle'], lists: [[0, 1, 2, 2, 3]] },
    asks: [
      [0, 2],
      [1, 2],
      [3, 2],
      [0, 3],
      [3, 3],
    ],
    needs: ['behind: begins with another createdAt, or no other run is owed'],
  },
  'a run whose answers come late': {
    ...{ tasks: 4, readings: 5, changes: 2, take: 2, cap: 2, ties: true, repeats: true, counts: true, ahead: true },
    ...{ claims: ['look', 'join', 'repeated'], only: ['shuffle', 'delete'], lists: [[0, 1, 1, 2]] },
    needs: [],
  },
}
