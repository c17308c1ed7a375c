// The scopes of the small worlds, each searched to its end, and the conditions that are tried in it: without one of them a
// false claim has to be found.
import type { Scope } from './small-worlds.ts'

export interface Trials extends Omit<Scope, 'name'> {
  needs: readonly string[]
}

const HELD = ['look', 'join', 'behind', 'again'] as const
const SHOWN = ['look', 'join', 'room'] as const
const PLACED = ['look', 'join', 'place', 'behind', 'stands'] as const
const PASSED = ['look', 'join', 'passed'] as const

/** Some seconds in all. */
export const QUICK: Record<string, Trials> = {
  'windows that show their anchors': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: true, claims: SHOWN },
    needs: ['room: begins with the list or shows an anchor'],
  },
  'the same createdAt anywhere': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: false, claims: SHOWN },
    needs: [],
  },
  'an index looked at twice': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: null, ties: true, claims: HELD },
    needs: ['again: everything up to the floor has been met'],
  },
  'an index looked at three times': {
    ...{ tasks: 3, readings: 5, changes: 1, take: 2, cap: null, ties: false, claims: HELD, lists: [[0, 1, 2]] },
    needs: ['behind: nothing has come from behind yet'],
  },
  'an index looked at twice, beside a run': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: true, claims: HELD, lists: [[0, 1, 1]] },
    needs: ['again: begins with the list or shows an anchor'],
  },
  'a deletion and an insertion around a look': {
    ...{ tasks: 4, readings: 3, changes: 2, take: 3, cap: null, ties: true, claims: HELD, lists: [[0, 1, 2, 3]] },
    needs: [],
  },
  'a run across a place': {
    ...{ tasks: 4, readings: 5, changes: 3, take: 2, cap: 2, ties: true, claims: HELD },
    ...{ only: ['shuffle'], lists: [[0, 1, 1, 2]] },
    needs: ['behind: begins with another createdAt'],
  },
  'two runs': {
    ...{ tasks: 5, readings: 6, changes: 3, take: 3, cap: null, ties: true, claims: HELD },
    ...{ only: ['shuffle'], lists: [[0, 0, 1, 1, 2]] },
    needs: ['join: no other run is owed'],
  },
  'a run that is counted': {
    ...{ tasks: 4, readings: 5, changes: 3, take: 2, cap: 2, ties: true, claims: HELD, counts: true },
    ...{ only: ['shuffle'], lists: [[0, 1, 1, 2]] },
    needs: ['counted: as many ids as it is long'],
  },
  'a run that is counted while one is deleted': {
    ...{ tasks: 5, readings: 5, changes: 4, take: 2, cap: 2, ties: true, repeats: true, counts: true },
    ...{ claims: ['look', 'join', 'repeated'], only: ['shuffle', 'delete'], lists: [[0, 1, 1, 1, 2]] },
    needs: ['counted: ends where it ended'],
  },
  'answers cut at three': {
    ...{ tasks: 4, readings: 2, changes: 1, take: 4, cap: 3, asksAll: true, ties: true, claims: SHOWN },
    needs: ['room: shorter than asked', 'room: shorter than another'],
  },
  'answers cut anywhere': {
    ...{ tasks: 5, readings: 4, changes: 0, take: 3, cap: null, ties: false, claims: SHOWN, lists: [[0, 1, 2, 3, 4]] },
    needs: ['room: no cut by size was seen'],
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
    needs: ['place: begins with the last item', 'stands: begins with the last item', 'stands: where it stood'],
  },
  'hidden items': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: 2, ties: false, claims: HELD, hidden: 1 },
    needs: [],
  },
  'an item that cannot be read': {
    ...{ tasks: 3, readings: 5, changes: 1, take: 2, cap: null, asksAll: true, ties: false, claims: HELD, poisoned: 1 },
    lists: [[0, 1, 2]],
    needs: ['again: what was passed is as it was'],
  },
  'windows refused beyond an index': {
    ...{ tasks: 4, readings: 3, changes: 0, take: 3, cap: null, asksAll: true, ties: false, claims: HELD, limit: 3 },
    needs: ['again: reaches beyond a refusal', 'behind: leaves no position out'],
  },
  'sizes refused': {
    ...{ tasks: 3, readings: 3, changes: 1, take: 3, cap: null, asksAll: true, ties: false, claims: HELD },
    refusedAbove: 2,
    needs: ['behind: refused or failed for a single position'],
  },
  'answers that come late': {
    ...{ tasks: 3, readings: 3, changes: 1, take: 2, cap: null, ties: false, claims: HELD, ahead: true },
    needs: ['behind: asked for after the floor was read', 'again: asked for after what was read behind'],
  },
  'oldest first': {
    ...{ tasks: 3, readings: 4, changes: 2, take: 2, cap: null, ties: true, claims: PASSED, lists: [[0], [0, 1]] },
    needs: ['passed: its last run begins behind an index that was empty'],
  },
  'oldest first, and ever shorter': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: false, claims: PASSED, lists: [[0, 1, 2]] },
    needs: ['passed: asked for after it was empty'],
  },
  'a place looked at twice, late': {
    ...{ tasks: 2, readings: 3, changes: 1, take: 1, cap: null, ties: false, ahead: true, lists: [[0, 1]] },
    claims: PLACED,
    needs: ['stands: asked for after what was read behind'],
  },
  'a place before windows that are refused': {
    ...{
      tasks: 3,
      readings: 3,
      changes: 0,
      take: 2,
      cap: null,
      asksAll: true,
      ties: false,
      limit: 2,
      lists: [[0, 1, 2]],
    },
    claims: PLACED,
    needs: ['stands: reaches beyond a refusal'],
  },
  'a place before an item that cannot be read': {
    ...{ tasks: 3, readings: 5, changes: 1, take: 1, cap: null, ties: false, poisoned: 1, lists: [[0, 1, 2]] },
    claims: PLACED,
    needs: ['stands: what was passed is as it was'],
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
    needs: [
      'join: begins with the list or shows an anchor',
      'repeated: lies behind the end of any list',
      'repeated: shows an anchor',
    ],
  },
  'ties in the order of ids': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: true, claims: SHOWN, orderedTies: 1 },
    needs: [],
  },
}

/** Too long for every test run. */
export const LONG: Record<string, Trials> = {
  'a run whose answers come late': {
    ...{ tasks: 4, readings: 5, changes: 2, take: 2, cap: 2, ties: true, repeats: true, counts: true, ahead: true },
    ...{ claims: ['look', 'join', 'repeated'], only: ['shuffle', 'delete'], lists: [[0, 1, 1, 2]] },
    needs: ['counted: read one after another'],
  },
}
