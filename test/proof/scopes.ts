// The scopes of the small worlds, each searched to its end, and the conditions that are tried in it: without one of them a
// false claim has to be found.
import type { ConditionName } from '../../src/proof/conditions.ts'
import type { Scope } from './small-worlds.ts'

export interface Trials extends Omit<Scope, 'name' | 'inTurn'> {
  needs: readonly ConditionName[]
  /** The readings of a false claim that is known, where any search of the scope takes seconds to find one. */
  known?: Scope['inTurn']
}

const PLACE = ['place'] as const
const SHOWN = ['room'] as const
const PASSED = ['passed'] as const

/** Some seconds in all: the first worlds of each in every test run, all of them in the soak. */
export const QUICK: Record<string, Trials> = {
  'windows that show their anchors': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: true, tries: SHOWN },
    needs: [],
  },
  'the same createdAt anywhere': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: false, tries: SHOWN },
    needs: [],
  },
  'an index looked at twice': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: null, ties: true, tries: PLACE },
    needs: ['place: leaves no position out'],
  },
  'a window that is taken in after a later one was told': {
    ...{ tasks: 5, readings: 3, changes: 2, take: 3, cap: 3, ties: true, later: true, lists: [[0, 1, 2, 2, 3]] },
    ...{ tries: ['place', 'room'], only: ['shuffle'] },
    asks: [
      [0, 3],
      [3, 3],
    ],
    needs: [],
  },
  'a deletion and an insertion around a look': {
    ...{ tasks: 4, readings: 4, changes: 2, take: 3, cap: null, ties: true, tries: PLACE, lists: [[0, 1, 2, 3]] },
    asks: [
      [0, 3],
      [1, 3],
      [3, 3],
    ],
    needs: [],
  },
  'a run across a place': {
    ...{ tasks: 4, readings: 6, changes: 2, take: 2, cap: 2, ties: true, tries: PLACE, counts: true },
    ...{ only: ['shuffle'], lists: [[0, 1, 1, 2]] },
    needs: [],
  },
  'a run that is counted': {
    ...{ tasks: 4, readings: 6, changes: 3, take: 2, cap: 2, ties: true, tries: PLACE, counts: true },
    ...{ only: ['shuffle'], lists: [[0, 1, 1, 2]] },
    needs: ['counted: as many ids as it is long'],
  },
  'a run that is counted while one is deleted': {
    ...{ tasks: 5, readings: 5, changes: 4, take: 2, cap: 2, ties: true, repeats: true, counts: true },
    ...{ tries: ['repeated'], only: ['shuffle', 'delete'], lists: [[0, 1, 1, 1, 2]] },
    needs: [],
  },
  'answers cut at three': {
    ...{ tasks: 4, readings: 2, changes: 1, take: 4, cap: 3, asksAll: true, ties: true, tries: SHOWN },
    needs: ['room: shorter than asked', 'room: shorter than another'],
  },
  'answers cut anywhere': {
    ...{ tasks: 5, readings: 4, changes: 0, take: 3, cap: null, ties: false, tries: SHOWN, lists: [[0, 1, 2, 3, 4]] },
    needs: ['room: no cut by size was seen'],
  },
  'a window without an anchor, of the createdAt that is owed': {
    ...{ tasks: 5, readings: 5, changes: 1, take: 3, cap: null, ties: false, tries: SHOWN, lists: [[0, 1, 2, 3, 4]] },
    asks: [
      [0, 3],
      [1, 3],
      [4, 3],
    ],
    only: ['insert'],
    needs: ['join: shows an anchor, or its place does'],
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
    tries: PLACE,
    filtered: true,
    needs: [],
  },
  'hidden items': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: 2, ties: false, tries: PLACE, hidden: 1 },
    needs: [],
  },
  'a tie that is hidden for a while': {
    ...{ tasks: 4, readings: 3, changes: 4, take: 2, cap: 2, hidden: 0, ties: true, tries: ['place', 'room'] },
    ...{ only: ['shuffle', 'hide'], lists: [[0, 1, 1, 1]] },
    asks: [
      [0, 2],
      [2, 2],
    ],
    needs: [],
  },
  'a hidden item, asked for alone': {
    ...{ tasks: 4, readings: 3, changes: 0, take: 2, cap: null, asksAll: true, ties: false, hidden: 1 },
    ...{ tries: PLACE, lists: [[0, 1, 2, 3]] },
    needs: ['nothing: asked for as many as any answer held'],
  },
  'a hidden item, asked for alone, behind one that is known by its place': {
    ...{ tasks: 4, readings: 3, changes: 0, take: 2, cap: null, asksAll: true, ties: false, hidden: 1 },
    ...{ tries: PLACE, filtered: true, lists: [[0, 1, 2, 3]] },
    needs: ['nothing: asked for as many as any answer held'],
  },
  'answers that stop before an item': {
    ...{ tasks: 4, readings: 6, changes: 0, take: 3, cap: 3, ties: false, hidden: 1, blocks: true, filtered: true },
    ...{ tries: PLACE, lists: [[0, 1, 2, 3]] },
    needs: [],
  },
  'a hidden item, asked for alone, in a list that grows': {
    ...{ tasks: 4, readings: 4, changes: 0, take: 3, cap: null, ties: false, hidden: 1, tries: PASSED },
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
    ...{ tries: ['room'], lists: [[0, 1, 2]] },
    needs: ['nothing: asked for as many as any answer held'],
  },
  'a hidden item behind a run that is counted': {
    ...{ tasks: 4, readings: 6, changes: 0, take: 2, cap: null, asksAll: true, ties: false, hidden: 1, counts: true },
    ...{ tries: PLACE, lists: [[0, 1, 2, 3]] },
    needs: ['nothing: asked for as many as any answer held'],
  },
  'windows refused beyond an index': {
    ...{ tasks: 4, readings: 4, changes: 0, take: 3, cap: null, asksAll: true, ties: false, tries: PLACE, limit: 3 },
    needs: ['place: leaves no position out', 'end: reaches beyond a refusal'],
  },
  'sizes refused': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 3, cap: null, asksAll: true, ties: false, tries: PLACE },
    refusedAbove: 2,
    needs: ['place: asked for by itself'],
  },
  'an answer that brings nothing by mistake': {
    ...{ tasks: 3, readings: 5, changes: 1, take: 2, cap: 2, asksAll: true, ties: false, mistakes: 1 },
    tries: PLACE,
    needs: ['nothing: came twice'],
  },
  'an answer that brings nothing by mistake, and answers cut anywhere': {
    ...{ tasks: 4, readings: 4, changes: 0, take: 3, cap: null, asksAll: true, ties: false, mistakes: 1 },
    ...{ tries: PLACE, lists: [[0, 1, 2, 3]] },
    needs: [],
  },
  'an answer that brings nothing by mistake, and hidden items': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: 2, ties: false, hidden: 1, mistakes: 1, tries: PLACE },
    needs: [],
  },
  'a last window that comes late': {
    ...{ tasks: 2, readings: 4, changes: 1, take: 2, cap: null, ties: false, tries: PLACE, ahead: true },
    lists: [[0, 1]],
    needs: [],
  },
  'oldest first': {
    ...{ tasks: 3, readings: 6, changes: 2, take: 2, cap: null, ties: true, tries: PASSED, lists: [[0], [0, 1]] },
    needs: ['passed: its last run begins behind what was empty'],
  },
  'a list that grows, and an answer that is empty by mistake': {
    ...{ tasks: 4, readings: 4, changes: 0, take: 2, cap: 2, ties: false, mistakes: 1, tries: PASSED },
    lists: [[0, 1, 2, 3]],
    needs: ['nothing: came twice'],
  },
  'an end that was empty, and ties that change places': {
    ...{ tasks: 6, readings: 6, changes: 1, take: 5, cap: null, ties: true, tries: PASSED, only: ['shuffle'] },
    lists: [[0, 1, 1, 1, 2, 3]],
    asks: [
      [0, 4],
      [6, 1],
      [0, 5],
    ],
    needs: [],
  },
  'an end that was empty, among hidden items': {
    ...{ tasks: 4, readings: 5, changes: 0, take: 3, cap: null, ties: false, hidden: 2, tries: PASSED },
    lists: [[0, 1, 2, 3]],
    needs: [],
  },
  'an end that was empty, among hidden items, in a list that grows': {
    ...{ tasks: 4, readings: 4, changes: 1, take: 4, cap: null, ties: false, hidden: 1, tries: PASSED },
    ...{ only: ['insert'], lists: [[0, 1, 2, 3]] },
    needs: [],
  },
  'a place that was seen to move, among items that are left out': {
    ...{ tasks: 3, readings: 7, changes: 2, take: 1, cap: null, ties: false, filtered: true, tries: PLACE },
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
    ...{ tries: PLACE, lists: [[0, 1]] },
    needs: [],
  },
  'a place before windows that are refused': {
    ...{ tasks: 3, readings: 6, changes: 0, take: 2, cap: null, asksAll: true, ties: false, limit: 2, counts: true },
    ...{ tries: PLACE, lists: [[0, 1, 2]] },
    needs: [],
  },
  'an item that is refused, before answers cut by number': {
    ...{ tasks: 5, readings: 6, changes: 0, take: 4, cap: 2, asksAll: true, ties: false, poisoned: 1, refuses: true },
    ...{ tries: PLACE, counts: true, lists: [[0, 1, 2, 3, 4]] },
    needs: [],
  },
  'a place before an item that cannot be read': {
    ...{ tasks: 3, readings: 6, changes: 1, take: 1, cap: null, ties: false, poisoned: 1, counts: true },
    ...{ tries: PLACE, lists: [[0, 1, 2]] },
    needs: [],
  },
  'a first item that cannot be read': {
    ...{ tasks: 2, readings: 5, changes: 2, take: 2, cap: null, asksAll: true, ties: false, poisoned: 1 },
    ...{ tries: PLACE, lists: [[0, 1]] },
    needs: [],
  },
  'items that cannot be read, beside a run': {
    ...{ tasks: 4, readings: 8, changes: 2, take: 1, cap: null, ties: true, poisoned: 2, tries: PLACE },
    only: ['shuffle', 'delete'],
    lists: [
      [0, 1, 2, 2],
      [0, 1, 1, 2],
    ],
    needs: [],
  },
  'a place in a run': {
    ...{ tasks: 3, readings: 6, changes: 2, take: 2, cap: null, ties: true, counts: true },
    ...{ tries: PLACE, only: ['shuffle', 'delete'], lists: [[0, 1, 1]] },
    needs: [],
  },
  'a list that grows, with large items': {
    ...{ tasks: 2, readings: 6, changes: 1, take: 2, cap: 1, ties: true, lists: [[0, 1], [0]] },
    tries: ['place', 'passed'],
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
    ...{ tries: ['reached'], range: { order: 'created_asc', from: 1, to: 2 } },
    needs: ['from: begins before the range', 'reached: shows an item behind the range'],
  },
  'an end that a larger answer takes back, and what is taken in behind it': {
    ...{ tasks: 6, readings: 6, changes: 0, take: 3, cap: 3, ties: false, hidden: 1, goesOn: true },
    ...{ tries: ['place', 'reached'], range: { order: 'created_asc', from: null, to: 5 }, lists: [[0, 1, 2, 3, 4, 5]] },
    asks: [
      [0, 1],
      [1, 1],
      [3, 1],
      [4, 1],
      [3, 3],
    ],
    needs: ['nothing: no window was taken in behind an end it showed'],
  },
  'ties that are taken in behind an end that a larger answer takes back': {
    ...{ tasks: 6, readings: 5, changes: 1, take: 3, cap: 3, ties: true, hidden: 2, goesOn: true, only: ['shuffle'] },
    ...{ tries: ['place', 'reached'], range: { order: 'created_asc', from: null, to: 2 }, lists: [[0, 0, 0, 0, 1, 2]] },
    asks: [
      [0, 2],
      [1, 2],
      [3, 2],
      [3, 3],
    ],
    needs: ['nothing: no window was taken in behind an end it showed'],
  },
  'answers that hold more than was asked for': {
    ...{ tasks: 4, readings: 4, changes: 1, take: 3, cap: null, asksAll: true, ties: true, rounds: 2, hidden: 1 },
    needs: [],
  },
  'the last window again, of a service that gives two at least': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: null, asksAll: true, ties: true, repeats: true, rounds: 2 },
    tries: ['repeated'],
    needs: ['repeated: given alone'],
  },
  'the last window again': {
    ...{ tasks: 3, readings: 3, changes: 1, take: 2, cap: null, ties: true, repeats: true },
    tries: ['repeated'],
    needs: [],
  },
  'ties in the order of ids': {
    ...{ tasks: 3, readings: 3, changes: 2, take: 2, cap: null, ties: true, tries: SHOWN, orderedTies: 1 },
    needs: [],
  },
  'items that are left out, one at a time': {
    ...{ tasks: 3, readings: 5, changes: 1, take: 1, cap: null, ties: false, poisoned: 1, hidden: 1, filtered: true },
    ...{ tries: PLACE, lists: [[0, 1, 2]] },
    needs: [],
  },
  'items that are left out before windows that are refused': {
    ...{ tasks: 3, readings: 4, changes: 0, take: 2, cap: null, asksAll: true, ties: false, limit: 2, filtered: true },
    ...{ tries: PLACE, lists: [[0, 1, 2]] },
    needs: ['end: reaches beyond a refusal'],
  },
  'items that are left out, late': {
    ...{ tasks: 2, readings: 4, changes: 1, take: 1, cap: null, ties: false, ahead: true, filtered: true },
    ...{ tries: PLACE, lists: [[0, 1]] },
    needs: [],
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
    tries: ['repeated'],
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
    ...{ tries: ['repeated'], only: ['delete'], lists: [[0, 1, 2, 3, 4]] },
    needs: ['repeated: at its place before, asked for alone'],
  },
  'the last item alone, further down': {
    ...{ tasks: 3, readings: 4, changes: 1, take: 2, cap: null, asksAll: true, ties: false },
    ...{ tries: ['repeated'] },
    needs: ['repeated: as further down before'],
  },
  'a run of which items are left out': {
    ...{ tasks: 4, readings: 6, changes: 1, take: 3, cap: null, ties: true, hidden: 2, filtered: true, counts: true },
    ...{ tries: ['room'], only: ['shuffle'], lists: [[0, 1, 1]] },
    needs: [],
  },
  'a run at an end that is known, and answers cut at three': {
    ...{ tasks: 3, readings: 6, changes: 3, take: 4, cap: 3, asksAll: true, ties: true, counts: true },
    ...{ tries: PLACE, only: ['shuffle', 'insert'], onlyTies: true, lists: [[0, 1, 1]] },
    needs: ['room: shorter than another'],
    known: [
      [0, 2],
      [2, 1],
      [3, 4],
      [3, 4],
      [2, 1],
      [0, 4],
    ],
  },
  'two runs of the same createdAt': {
    ...{ tasks: 3, readings: 7, changes: 1, take: 2, cap: 2, asksAll: true, ties: false, counts: true },
    ...{ tries: PLACE, only: ['insert'], lists: [[0, 1, 2]] },
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
  'two runs of the same createdAt, of a list that stands still': {
    ...{ tasks: 6, readings: 8, changes: 0, take: 3, cap: 3, asksAll: true, ties: false, counts: true },
    ...{ tries: SHOWN, lists: [[0, 0, 0, 1, 0, 2]] },
    asks: [
      [0, 2],
      [1, 2],
      [4, 2],
      [3, 2],
      [1, 1],
      [4, 3],
      [3, 3],
    ],
    needs: [],
  },
  'a run that is shown while another one of its createdAt is counted': {
    ...{ tasks: 7, readings: 7, changes: 0, take: 4, cap: 4, asksAll: true, ties: false, counts: true },
    ...{ tries: SHOWN, lists: [[4, 0, 0, 1, 2, 0, 3]] },
    asks: [
      [0, 2],
      [1, 2],
      [5, 2],
      [4, 2],
      [0, 4],
      [4, 3],
      [5, 3],
    ],
    needs: [],
  },
  'a run that grows while it is counted': {
    ...{ tasks: 3, readings: 9, changes: 2, take: 2, cap: 2, ties: true, counts: true },
    ...{ tries: [], only: ['insert'], onlyTies: true, newestFirst: true, lists: [[0, 0, 0]] },
    needs: ['counted: ends where it ended'],
  },
  'a run behind an item that cannot be read, of which a later answer shows the end': {
    ...{ tasks: 5, readings: 6, changes: 2, take: 2, cap: 2, ties: true, poisoned: 1, only: ['shuffle', 'delete'] },
    ...{ tries: ['place', 'room'], lists: [[0, 1, 1, 1, 2]] },
    asks: [
      [0, 1],
      [1, 2],
      [3, 2],
      [2, 2],
    ],
    needs: [],
  },
  'the last item alone, ever further up, and an answer that comes late': {
    ...{ tasks: 4, readings: 5, changes: 2, take: 3, cap: 3, ties: false, ahead: true, only: ['delete'] },
    ...{ tries: ['repeated'], lists: [[0, 1, 2, 3]] },
    asks: [
      [0, 3],
      [2, 1],
      [1, 1],
      [0, 1],
    ],
    needs: [],
  },
  'an answer that brings nothing, late, beside one that does so by mistake': {
    ...{ tasks: 2, readings: 4, changes: 1, take: 2, cap: 2, ties: false, ahead: true, mistakes: 1 },
    ...{ tries: PLACE, only: ['insert'], lists: [[0, 1]] },
    asks: [
      [0, 2],
      [2, 2],
    ],
    needs: [],
  },
}

/** Too long for every test run: the soak's. */
export const LONG: Record<string, Trials> = {
  'a last window that comes late, of a list that changes': {
    ...{ tasks: 2, readings: 4, changes: 1, take: 2, cap: null, ties: false, tries: PLACE, ahead: true },
    lists: [[0, 1]],
    needs: ['place: asked for after an answer that shows it', 'place: shown once more afterwards'],
  },
  'a run behind an item that cannot be read': {
    ...{ tasks: 3, readings: 5, changes: 2, take: 1, cap: null, ties: true, poisoned: 1, tries: PLACE },
    ...{ only: ['shuffle', 'delete'], lists: [[0, 1, 1]] },
    needs: ['apart: still cannot be read'],
  },
  'two runs': {
    ...{ tasks: 5, readings: 7, changes: 3, take: 3, cap: null, ties: true, tries: PLACE },
    ...{ only: ['shuffle'], lists: [[0, 0, 1, 1, 2]] },
    needs: ['join: no other run is owed'],
  },
  'a place in each of two runs': {
    ...{ tasks: 5, readings: 8, changes: 2, take: 2, cap: 2, ties: true, counts: true },
    ...{ tries: PLACE, only: ['shuffle'], lists: [[0, 0, 1, 1]] },
    needs: [],
  },
  'oldest first, and ever shorter': {
    ...{ tasks: 3, readings: 4, changes: 2, take: 2, cap: null, ties: false, tries: PASSED, lists: [[0, 1, 2]] },
    needs: ['passed: asked for after it was empty'],
  },
  'the last item alone, late': {
    ...{ tasks: 2, readings: 5, changes: 2, take: 1, cap: null, asksAll: true, ties: false, ahead: true },
    ...{ tries: ['repeated'] },
    needs: ['repeated: read one after another'],
  },
  'answers that come late': {
    ...{ tasks: 4, readings: 4, changes: 1, take: 3, cap: null, ties: false, ahead: true, lists: [[0, 1, 2, 3]] },
    tries: ['place', 'room'],
    asks: [
      [0, 3],
      [2, 3],
      [3, 3],
    ],
    only: ['insert'],
    needs: [],
  },
  'an index looked at twice, beside a run': {
    ...{ tasks: 3, readings: 4, changes: 2, take: 2, cap: null, ties: true, tries: PLACE, lists: [[0, 1, 1]] },
    needs: [],
  },
  'an index looked at three times': {
    ...{ tasks: 3, readings: 6, changes: 1, take: 2, cap: null, ties: false, tries: PLACE, lists: [[0, 1, 2]] },
    needs: [],
  },
  'an item that cannot be read': {
    ...{ tasks: 3, readings: 5, changes: 1, take: 2, cap: null, asksAll: true, ties: false, tries: PLACE, poisoned: 1 },
    lists: [[0, 1, 2]],
    needs: [],
  },
  'a run that is counted late': {
    ...{ tasks: 4, readings: 6, changes: 2, take: 2, cap: 2, ties: true, ahead: true, counts: true },
    ...{ tries: ['room'], only: ['shuffle', 'delete'], lists: [[0, 1, 1]] },
    needs: ['counted: read one after another'],
  },
  'a place in a run, while another is owed': {
    ...{ tasks: 5, readings: 6, changes: 3, take: 3, cap: 3, asksAll: true, ties: true, counts: true },
    ...{ tries: ['place', 'room'], only: ['shuffle'], lists: [[0, 1, 2, 2, 3]] },
    asks: [
      [0, 2],
      [1, 2],
      [3, 2],
      [0, 3],
      [3, 3],
    ],
    needs: ['join: no other run is owed'],
  },
  'a run in whose place another one of its createdAt comes to stand': {
    ...{ tasks: 7, readings: 7, changes: 2, take: 3, cap: 3, asksAll: true, ties: false, counts: true },
    ...{ tries: SHOWN, only: ['delete'], lists: [[3, 4, 0, 0, 1, 0, 2]] },
    asks: [
      [0, 3],
      [2, 2],
      [3, 2],
      [1, 3],
      [2, 3],
      [3, 3],
    ],
    needs: [],
  },
  'reading on behind an end': {
    ...{ tasks: 6, readings: 6, changes: 1, take: 3, cap: 3, asksAll: true, ties: true, hidden: 2, goesOn: true },
    ...{ tries: ['place', 'reached'], range: { order: 'created_asc', from: null, to: 3 }, counts: true },
    lists: [
      [0, 1, 1, 1, 2, 3],
      [0, 0, 1, 1, 2, 3],
    ],
    needs: [],
  },
  'runs in answers that hold more than was asked for': {
    ...{ tasks: 4, readings: 6, changes: 1, take: 3, cap: 2, ties: true, rounds: 2, counts: true },
    ...{ only: ['shuffle'], lists: [[0, 1, 1, 2]] },
    asks: [
      [0, 1],
      [1, 1],
      [2, 1],
      [2, 2],
      [3, 1],
      [4, 3],
    ],
    needs: [],
  },
  'a run whose answers come late': {
    ...{ tasks: 4, readings: 5, changes: 2, take: 2, cap: 2, ties: true, repeats: true, counts: true, ahead: true },
    ...{ tries: ['repeated'], only: ['shuffle', 'delete'], lists: [[0, 1, 1, 2]] },
    needs: [],
  },
}
