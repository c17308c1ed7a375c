// What docs/proof.md promises is accepted, step by step, and what the strategy leaves out is told.
import { expect, test } from 'vitest'
import { prove } from '../../src/proof/evidence.ts'
import { factOf, type ListAnswer } from '../../src/proof/facts.ts'
import { Kernel } from '../../src/proof/kernel.ts'
import { told } from '../../src/proof/rules.ts'
import { BEGINNING, type State, type WalkRange } from '../../src/proof/state.ts'

/** A list of tasks such as `b2`: named b, created at 2 (`b`: nobody knows when). `!` cannot be read, `?` is left out. */
class Reader {
  /** Marks what was counted at once. */
  marks = true
  readonly kernel: Kernel
  list: string[]
  readonly #met = new Set<string>()
  #answers = 0

  constructor(list: string, range: WalkRange | null = null) {
    this.list = list.split(' ').filter((task) => task !== '')
    this.kernel = new Kernel(range)
  }

  /** Reads, and takes nothing in. An answer is cut after `cut` items. Returns the handle. */
  look(skip: number, asked: number, cut = asked): number {
    const some = this.list.slice(skip, skip + Math.min(asked, cut))
    return this.tell(skip, asked, some)
  }

  tell(skip: number, asked: number, some: string[], sent = this.#answers): number {
    const isFailed = some.some((task) => task.endsWith('!'))
    const shown = isFailed ? [] : some.filter((task) => !task.endsWith('?'))
    const ids = shown.map((task) => task[0] as string)
    const moments = shown.map((task) => (task.length === 1 ? null : Number(task.slice(1))))
    const met = ids.map((id) => (this.#met.has(id) ? 1 : 0))
    this.#answers += 1
    const times = { sent, received: this.#answers }
    this.kernel.tell({ skip, asked, ...times, kind: isFailed ? 'failed' : 'items', ids, moments, met }, this.#answers)
    if (this.marks) for (const id of this.kernel.takeCounted()) this.#met.add(id)
    return this.#answers
  }

  refused(skip: number, asked: number): void {
    const times = { sent: this.#answers, received: this.#answers + 1 }
    this.#answers += 1
    this.kernel.tell({ skip, asked, ...times, kind: 'refused', ids: [], moments: [], met: [] }, null)
  }

  take(handle: number, ids: string): void {
    this.kernel.take(handle)
    for (const id of ids) this.#met.add(id)
  }

  /** Reads and takes in. Null, or what is missing up to there. */
  join(skip: number, asked: number, cut = asked): string | null {
    const handle = this.look(skip, asked, cut)
    this.take(
      handle,
      this.list
        .slice(skip, skip + Math.min(asked, cut))
        .map((task) => task[0])
        .join(''),
    )
    return this.kernel.missing(false)
  }
}

/** A reader that has taken in the first `asked` items of the list; the run of the last one is owed. */
function owing(list: string, asked: number): Reader {
  const reader = new Reader(list)
  reader.join(0, asked)
  reader.kernel.owe()
  return reader
}

test('windows that overlap, and an end with room behind it', () => {
  const reader = new Reader('a9 b8 c7 d6 e5 f4')
  expect(reader.join(0, 3)).toBeNull()
  expect(reader.join(1, 3)).toBeNull()
  expect(reader.join(2, 3)).toBeNull()
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  expect(reader.join(3, 3)).toBeNull()
  expect(reader.join(4, 3)).toBeNull()
  expect(reader.kernel.missing()).toBeNull()
})

test('an end at which an index is looked at, nothing behind it, and the index again', () => {
  const reader = new Reader('a9 b8 c7')
  expect(reader.join(0, 3)).toBeNull()
  reader.look(3, 3)
  reader.look(3, 3)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  reader.look(1, 3)
  expect(reader.kernel.missing()).toBeNull()
})

test.each([
  ['refused', (reader: Reader) => reader.refused(4, 1)],
  ['empty', (reader: Reader) => reader.look(4, 3)],
])('an end behind which answers are %s is one where that comes twice', (_, look) => {
  const reader = new Reader('a9 b8 c7 d6')
  expect(reader.join(0, 4, 3)).toBeNull()
  expect(reader.join(1, 4, 3)).toBeNull()
  for (let time = 0; time < 2; time += 1) {
    // With another answer between them they are two, of which each may be a mistake.
    look(reader)
    reader.look(2, 4, 3)
    expect(reader.kernel.missing()).toBe('the end of the list was shown')
  }
  look(reader)
  look(reader)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  reader.look(2, 4, 3)
  expect(reader.kernel.missing()).toBeNull()
})

test.each<[string, (reader: Reader) => void]>([
  ['is a refusal', (reader) => reader.refused(2, 2)],
  ['was asked for fewer', (reader) => void reader.tell(2, 1, [])],
])('what brings nothing has not come twice where the first time it %s', (_, first) => {
  const reader = new Reader('a9 b8')
  reader.join(0, 2)
  first(reader)
  reader.tell(2, 2, [])
  reader.look(0, 2)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('of two answers that bring nothing, of which one is a mistake, the other may be as old as the earlier question', () => {
  const reader = new Reader('c9 a8 b7')
  reader.join(0, 2)
  // From before c came in.
  reader.tell(2, 2, [], 0)
  reader.tell(2, 2, [])
  reader.look(0, 2)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('what an empty answer said is forgotten where a larger one comes: so many items in a row may be hidden', () => {
  const reader = new Reader('a9 b8 c7')
  reader.join(0, 1)
  reader.tell(1, 1, [])
  reader.tell(1, 1, [])
  reader.look(0, 3)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  // An end that rests on it as well.
  const other = new Reader('a9 b8 c7')
  other.join(0, 1)
  other.tell(1, 1, [])
  other.tell(1, 1, [])
  other.look(0, 1)
  expect(other.kernel.missing()).toBeNull()
  other.look(0, 3)
  expect(other.kernel.missing()).toBe('the end of the list was shown')
})

test('a run that was counted up to where a smaller answer was empty is counted anew', () => {
  const reader = new Reader('a9 b8')
  reader.join(0, 1)
  const behind = reader.look(1, 1)
  reader.look(0, 1)
  reader.take(behind, 'b')
  reader.look(2, 1)
  reader.look(2, 1)
  reader.look(0, 1)
  reader.look(1, 1)
  reader.look(0, 2)
  reader.look(2, 2)
  reader.look(2, 2)
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
  reader.look(0, 2)
  for (let time = 0; time < 2; time += 1) reader.look(2, 2)
  expect(reader.kernel.missing()).toBeNull()
})

test('an index at which a smaller answer was empty shows no end of a list that grows', () => {
  const reader = new Reader('a1 b2 c3')
  reader.join(0, 1)
  reader.tell(1, 1, [])
  reader.tell(1, 1, [])
  expect(reader.kernel.state.empty).not.toBeNull()
  reader.join(0, 2)
  expect(reader.kernel.state.empty).toBeNull()
})

test('a service that gives more than it is asked for needs no larger empty answers', () => {
  const reader = new Reader('a9 b8 c7')
  reader.tell(0, 2, ['a9', 'b8', 'c7'])
  reader.take(1, 'abc')
  reader.look(3, 2)
  reader.look(3, 2)
  reader.look(1, 2)
  expect(reader.kernel.missing()).toBeNull()
})

test('a large item that never comes beside another joins by its place', () => {
  const reader = new Reader('a9 b8 c7 d6')
  expect(reader.join(0, 3, 2)).toBeNull()
  const behind = reader.look(2, 3, 2)
  reader.look(0, 3, 2)
  reader.take(behind, 'cd')
  expect(reader.kernel.missing(false)).toBeNull()
  // Of three answers of two items one more of two says nothing of an end.
  reader.look(4, 3)
  reader.look(4, 3)
  reader.look(2, 3)
  expect(reader.kernel.missing()).toBeNull()
})

test('a tie that stood in front of what joined by its place is owed before anything behind their run joins', () => {
  const reader = new Reader('a5 b5 c5 d3')
  reader.join(0, 1)
  reader.list = ['b5', 'c5', 'a5', 'd3']
  const behind = reader.look(1, 1)
  reader.list = ['a5', 'b5', 'c5', 'd3']
  reader.look(0, 1)
  reader.take(behind, 'c')
  expect(reader.kernel.missing(false)).toBeNull()
  expect(reader.kernel.joins(reader.look(3, 1))).toBe(false)
  expect(reader.join(2, 2)).toBe('the run of equal createdAt that is owed has been counted')
})

test('what joins by its place, known by its last item alone, leaves the run of that item owed', () => {
  const reader = new Reader('a9 b8 c7 d6 e5')
  reader.join(0, 2)
  const behind = reader.look(2, 3, 1)
  reader.look(1, 1)
  reader.take(behind, 'c')
  expect(reader.kernel.owed).toBe(8)
  // Where it begins, and where it ends.
  reader.look(0, 2)
  reader.look(2, 3, 1)
  expect(reader.kernel.owed).toBeUndefined()
})

test('the run at an end that is known is shown by one answer that begins before it and has room behind it', () => {
  const reader = new Reader('a9 b8 c7 d6')
  reader.join(0, 4)
  for (const skip of [4, 4]) reader.look(skip, 4)
  reader.look(3, 1)
  expect(reader.kernel.state.ended).toContain('held')
  // Without what stands before it; without room; where one is in front of all by now, with both.
  for (const [skip, asked] of [
    [3, 4],
    [2, 2],
  ] as const) {
    reader.look(skip, asked)
    expect(reader.kernel.owed).toBe(6)
  }
  reader.list.unshift('e9')
  reader.look(3, 4)
  expect(reader.kernel.owed).toBeUndefined()
  expect(reader.kernel.missing()).toBeNull()
  expect(reader.kernel.state.basis).toContain('even-cuts')
})

test('an item that cannot be read is passed where it cannot be read afterwards either', () => {
  const reader = new Reader('a9 b8 c7! d6')
  reader.join(0, 2)
  reader.look(2, 1)
  const behind = reader.look(3, 2)
  reader.look(0, 2)
  expect(reader.kernel.seam(behind)).toBe('none')
  reader.look(2, 1)
  reader.look(0, 2)
  reader.take(behind, 'd')
  expect(reader.kernel.missing(false)).toBeNull()
})

test('a first item that cannot be read is passed where it cannot be read afterwards either', () => {
  const reader = new Reader('a9! b8 c7')
  reader.look(0, 1)
  const behind = reader.look(1, 2)
  reader.take(behind, '')
  expect(reader.kernel.missing(false)).toBe('join: shows an anchor, or its place does')
  const other = new Reader('a9! b8 c7')
  other.look(0, 1)
  const again = other.look(1, 2)
  other.look(0, 1)
  other.take(again, 'bc')
  expect(other.kernel.missing(false)).toBeNull()
})

test('a first item that is refused, however often, is no end', () => {
  const reader = new Reader('')
  for (let time = 0; time < 4; time += 1) reader.refused(0, 1)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('an item alone between two that cannot be read owes no run, if the first of them still cannot be read', () => {
  const walked = (early: boolean, late: boolean) => {
    const reader = new Reader('a9 b8! c7 d6! e5')
    reader.join(0, 1)
    reader.look(1, 1)
    const behind = reader.look(2, 1)
    reader.look(1, 1)
    reader.look(0, 1)
    reader.take(behind, 'c')
    reader.look(3, 1)
    if (early) reader.look(1, 1)
    const last = reader.look(4, 2)
    reader.look(3, 1)
    if (late) reader.look(1, 1)
    reader.look(2, 1)
    reader.take(last, 'e')
    return reader.kernel.missing(false)
  }
  expect(walked(false, true)).toBeNull()
  expect(walked(true, false)).toBe('the run of equal createdAt that is owed has been counted')
})

test('what was read behind an item that cannot be read may be read once more', () => {
  const reader = new Reader('a9 b8! c7 d6 e5')
  reader.join(0, 1)
  reader.look(1, 1)
  reader.look(2, 1)
  const larger = reader.look(2, 3)
  reader.look(1, 1)
  reader.look(0, 1)
  reader.take(larger, 'cde')
  expect(reader.kernel.missing(false)).toBeNull()
})

test('a run longer than a window is owed until it is counted', () => {
  const reader = new Reader('a9 b5 c5 d5 e5 f2 g1')
  reader.join(0, 3)
  reader.join(2, 3)
  expect(reader.join(4, 3)).toBe('the run of equal createdAt that is owed has been counted')
  reader.look(0, 3)
  reader.look(3, 3)
  expect(reader.kernel.missing(false)).toBeNull()
})

test('an id that an answer showed which was asked for before the count began is counted when it is seen later', () => {
  const reader = new Reader('a9 b5 c5 d5 e5 f2 g1')
  reader.join(0, 3)
  reader.join(2, 3)
  reader.join(4, 3)
  reader.look(0, 3)
  const early = { skip: 3, asked: 2, sent: 0, received: 5, kind: 'items' as const }
  reader.kernel.tell({ ...early, ids: ['d', 'e'], moments: [5, 5], met: [1, 1] }, null)
  reader.look(3, 3)
  expect(reader.kernel.missing(false)).toBeNull()
})

test('where the run begins is shown by no answer that was asked for before its end was seen: the list may have moved', () => {
  const reader = new Reader('a9 b8 c5 d5 e5 f5 g5')
  reader.join(0, 4)
  reader.join(3, 3)
  reader.look(0, 2)
  // The first one is deleted, and of the run the one that was not met stands in front by now.
  reader.list = 'b8 g5 c5 d5 e5 f5'.split(' ')
  const isOver = () => {
    reader.look(6, 5)
    reader.look(6, 5)
  }
  reader.look(4, 2)
  isOver()
  for (let time = 0; time < 2; time += 1) {
    reader.look(2, 4)
    isOver()
  }
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
  reader.look(0, 1)
  reader.look(1, 5)
  isOver()
  expect(reader.kernel.missing()).toBeNull()
})

test('an answer that was cut by size is known as such, too, where what it left out has joined by its place', () => {
  const reader = new Reader('a9 b8 c7 d6 e5')
  reader.join(0, 3)
  reader.join(1, 3, 2)
  const behind = reader.look(3, 3)
  reader.look(1, 2)
  reader.take(behind, 'de')
  expect(reader.kernel.missing(false)).toBeNull()
  expect(reader.join(3, 3)).toBeNull()
  // Shorter than asked, and than another: that is no end here.
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('no refusal is an end within what answers reach, where one was cut in front of what has joined by its place', () => {
  const reader = new Reader('a9 b8 c7 d6')
  reader.join(0, 3, 2)
  const behind = reader.look(2, 3, 2)
  reader.look(0, 3, 2)
  reader.take(behind, 'cd')
  reader.refused(4, 1)
  reader.refused(4, 1)
  // It was asked for up to the one that is refused, but no answer holds more than two.
  reader.look(2, 3, 2)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('answers that were cut by size are known as such for good', () => {
  const reader = new Reader('a9 b8 c7 d6 e5 f4 g3 h2 i1')
  reader.join(0, 4)
  reader.look(1, 3, 1)
  expect(reader.kernel.state.uneven).toBe(true)
  // As long as any other, and something stands behind it.
  expect(reader.join(2, 5, 4)).toBeNull()
  expect(reader.join(4, 4)).toBeNull()
  expect(reader.kernel.state.uneven).toBe(true)
})

test.each(['a9 c5 b5 d5 e1', 'a9 b5 c5 a5 e1'])('ties seen in both orders of their ids stay so: %s', (list) => {
  const reader = new Reader(list)
  for (const at of [1, 2, 3]) reader.look(at, 2)
  expect(reader.kernel.state).toMatchObject({ tiesRise: true, tiesFall: true })
})

test('a short answer that ends before what has joined is no end, nor is another one after it', () => {
  const reader = new Reader('a9 b8 c7 d6 e5 f4')
  for (const skip of [0, 1, 2, 3]) expect(reader.join(skip, 3)).toBeNull()
  reader.look(1, 3, 1)
  expect(reader.join(4, 3)).toBeNull()
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('a run is paid by one answer that shows it with an item before it and one behind', () => {
  const reader = new Reader('a9 b5 c5 d2')
  reader.join(0, 2)
  expect(reader.join(1, 3)).toBe('the run of equal createdAt that is owed has been counted')
  reader.look(0, 4)
  expect(reader.kernel.missing(false)).toBeNull()
})

test('a run is not paid by one answer that shows another one of the same createdAt', () => {
  const reader = owing('a5 b5 c3 d5 e1', 1)
  reader.look(2, 3)
  expect(reader.kernel.owed).toBe(5)
})

test('a run that was counted in front of another item is not the end of the list', () => {
  const reader = owing('k9 a5 b5 z1', 2)
  for (const skip of [2, 0, 2]) reader.look(skip, 2)
  expect(reader.kernel.owed).toBeUndefined()
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test.each<[string, string, (reader: Reader) => void]>([
  ['an item of it, asked for alone', 'abc', (reader) => reader.look(3, 1)],
  ['what cannot be read, of which part may be', '', (reader) => reader.tell(3, 2, ['c5!', 'z1'])],
  ['what cannot be read further down', '', (reader) => reader.tell(6, 1, ['x0!'])],
])('nothing of a run is passed over for %s', (_, counted, look) => {
  const reader = owing('k9 a5 b5 c5 z1 y0', 2)
  reader.marks = false
  for (let time = 0; time < 2; time += 1) {
    reader.look(0, 2)
    reader.look(1, 2)
    look(reader)
    reader.look(4, 1)
  }
  expect(reader.kernel.takeCounted().toSorted().join('')).toBe(counted)
})

test('a run has no end by what was asked for before the answer that shows its last item', () => {
  const reader = owing('a5 b5 c5 z1', 1)
  reader.list.unshift('k9')
  reader.look(1, 2)
  // Asked for and given while k was not there.
  reader.tell(3, 1, ['z1'], 1)
  reader.look(0, 2)
  reader.look(1, 2)
  reader.list = ['c5', 'a5', 'b5', 'z1']
  reader.look(2, 2)
  expect(reader.kernel.owed).toBe(5)
})

test('a run begins nowhere behind an answer that was asked for before its end was seen', () => {
  const reader = owing('k9 a5 b5 c5 z1', 2)
  reader.list = ['c5', 'd5', 'a5', 'b5', 'z1']
  reader.look(3, 2)
  reader.tell(0, 1, ['k9'], 1)
  for (const skip of [1, 2]) reader.look(skip, 1)
  reader.look(3, 2)
  expect(reader.kernel.owed).toBe(5)
})

test('a run does not end where it goes on, within what other answers reached', () => {
  const reader = owing('k9 a5 b5 c5 d5 z1', 2)
  for (let time = 0; time < 2; time += 1) {
    reader.look(0, 2)
    reader.look(1, 3, 2)
    reader.look(3, 1)
  }
  expect(reader.kernel.owed).toBe(5)
})

test('a run begins nowhere behind what failed', () => {
  const reader = owing('k9 a5 d5 b5 z1', 2)
  reader.list = ['k9', 'd5', 'a5', 'b5', 'z1']
  reader.look(3, 2)
  reader.tell(2, 1, ['a5!'])
  reader.look(2, 1)
  reader.look(3, 2)
  expect(reader.kernel.owed).toBe(5)
})

test('a run of a list that moves is paid once its beginning is seen again, and by no other answer', () => {
  const reader = owing('m9 k9 a5 b5 c5 z1', 3)
  reader.look(4, 2)
  reader.list.shift()
  for (const skip of [3, 0, 2, 3, 2]) reader.look(skip, skip === 2 ? 1 : 2)
  expect(reader.kernel.owed).toBe(5)
  reader.look(0, 2)
  expect(reader.kernel.owed).toBeUndefined()
})

test('a run with one more id than were seen is not counted', () => {
  const reader = new Reader('a9 b5 c5 d5 e5 f2 g1')
  reader.join(0, 3)
  reader.join(2, 3)
  reader.join(4, 3)
  // Read in another order: d comes twice, c never.
  reader.tell(0, 3, ['a9', 'b5', 'd5'])
  reader.tell(3, 3, ['d5', 'e5', 'f2'])
  expect(reader.kernel.owed).toBe(5)
})

test('the list ends with a run that was counted up to where nothing stood', () => {
  const reader = new Reader('a9 b5 c5 d5 e5')
  reader.join(0, 3)
  reader.join(2, 3)
  reader.join(4, 3)
  for (let round = 0; round < 2; round += 1) {
    reader.look(0, 3)
    reader.look(3, 3)
    reader.look(5, 3)
    expect(reader.kernel.missing()).not.toBeNull()
    reader.look(5, 3)
  }
  expect(reader.kernel.missing()).toBeNull()
})

test('a run ends where a window is refused that reaches no further than one that was answered', () => {
  const answer = { skip: 0, asked: 2, sent: 0, received: 1, kind: 'items', ids: ['b'], moments: [5], met: [1] } as const
  const refused = { ...answer, skip: 1, sent: 1, received: 2, kind: 'refused', ids: [], moments: [], met: [] } as const
  const owing = { ...BEGINNING, owed: { moment: 5, member: 'b' } }
  const heardOf = (state: State, heard: ListAnswer) => told(state, factOf(heard, state, new Set(), false))
  const read = heardOf(owing, answer)
  expect(heardOf(read, { ...refused, asked: 1 }).count).toMatchObject({ end: 1, behind: { index: 1, id: null } })
  expect(heardOf(read, { ...refused, asked: 2 }).count).toBeNull()
})

test('a window that makes a run owed and ends within it is half a look at its end', () => {
  const reader = new Reader('k9 a5 b5 c5 z1')
  reader.join(0, 2)
  reader.join(1, 3)
  expect(reader.kernel.owed).toBe(5)
  // The other half; its beginning; and its end once more.
  for (const skip of [4, 0, 3]) reader.look(skip, 2)
  expect(reader.kernel.owed).toBe(5)
  reader.look(1, 3)
  reader.look(3, 2)
  expect(reader.kernel.owed).toBeUndefined()
})

test('a run that goes on behind where it ended is counted anew', () => {
  const reader = new Reader('a9 b5 c5 d5 e3')
  reader.join(0, 2)
  reader.join(1, 2)
  reader.look(3, 2)
  reader.look(0, 3)
  expect(reader.kernel.state.count).toMatchObject({ end: 4, start: 1 })
  reader.list = ['a9', 'b5', 'c5', 'd5', 'f5', 'e3']
  reader.look(2, 3)
  expect(reader.kernel.state.count).toBeNull()
})

test.each([4, 5])('a list that grows at its end has ended where nothing was by two answers in a row, here %i', (at) => {
  const reader = new Reader('a1 b2 c3')
  reader.join(0, 4)
  reader.look(3, 4)
  reader.list.push('d4')
  reader.join(1, 3)
  expect(reader.kernel.state.empty).toBeNull()
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  reader.look(at, 4)
  expect(reader.kernel.state.empty).toBeNull()
  reader.look(at, 4)
  reader.list.push('e5', 'f6')
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  reader.join(2, 4)
  expect(reader.kernel.missing()).toBeNull()
})

test('an end shown but for the ties of one run leaves that owed, after the one that is', () => {
  const reader = new Reader('a9 b8 c7 d6')
  reader.join(0, 4)
  reader.tell(1, 4, ['b8', 'x8'])
  const nothing = (skip: number) => {
    for (let time = 0; time < 2; time += 1) reader.tell(skip, 4, [])
  }
  nothing(4)
  reader.tell(5, 4, ['f4'])
  // Ties of d may have changed places with it.
  reader.look(3, 1)
  reader.take(2, 'bx')
  nothing(5)
  reader.tell(0, 3, ['a9', 'b8', 'x8'])
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
  reader.tell(0, 4, ['a9', 'b8', 'x8', 'c7'])
  // The one is paid; now the other is owed.
  expect(reader.kernel.owed).toBe(6)
})

test('what an answer says of the floor that was known then is not believed of a later one', () => {
  const reader = new Reader('a1 b2 c3 d4 e5')
  reader.join(0, 1)
  reader.tell(5, 4, [])
  reader.tell(5, 4, [])
  const behind = reader.look(0, 3)
  // It shows where a stands, and not c.
  const all = reader.look(0, 4)
  reader.take(behind, 'bc')
  reader.take(all, 'd')
  expect(reader.kernel.missing(false)).toBeNull()
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('what was empty is not followed past an item that was seen at its place before that only', () => {
  const reader = new Reader('a1 b2 c3 d4 e5 f6 g7')
  reader.join(0, 3)
  const behind = reader.look(3, 3, 1)
  reader.look(0, 3)
  reader.list = ['c3', 'd4', 'e5', 'f6', 'g7']
  reader.look(5, 3)
  reader.look(5, 3)
  reader.take(behind, 'd')
  expect(reader.join(0, 3)).toBeNull()
  expect(reader.join(1, 3)).toBeNull()
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('what was empty is not followed by a window that was asked for before: the list may have shrunk in between', () => {
  const reader = new Reader('m9 a8 b7 c6 d5')
  reader.join(0, 1)
  const early = reader.list.slice(0, 3)
  reader.list = ['b7', 'c6', 'd5']
  reader.look(3, 3)
  reader.look(3, 3)
  reader.take(reader.tell(0, 3, early, 1), 'mab')
  // It is where it was once as many have come in.
  reader.list.unshift('q9', 'r8')
  expect(reader.join(1, 3)).toBeNull()
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('a refusal is no end where the last answer shows what stands there', () => {
  const reader = new Reader('a1 b2')
  reader.join(0, 2)
  reader.refused(2, 1)
  reader.refused(2, 1)
  reader.tell(0, 4, ['a1', 'b2', 'c3', 'd4'])
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('no refusal is an end because a window that reaches further fails', () => {
  const reader = new Reader('')
  reader.tell(0, 1, ['a1!'])
  reader.refused(1, 1)
  reader.refused(1, 1)
  reader.tell(0, 1, ['a1!'])
  reader.tell(0, 5, ['a1!'])
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('an answer without items is nothing to take in, and shows no end with room behind it', () => {
  const reader = new Reader('a1 b2')
  reader.join(0, 2)
  reader.tell(0, 5, ['a1!'])
  expect(reader.kernel.joins(2)).toBe(false)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  reader.take(2, '')
  expect(reader.kernel.state.floor).toMatchObject({ id: 'b' })
  expect(reader.kernel.missing()).toBe('every window that is taken in was told')
})

test('an empty answer at 0 is the end of an empty list, and of none that shows an item before it or afterwards', () => {
  const reader = new Reader('')
  for (let time = 0; time < 2; time += 1) reader.look(0, 2)
  expect(reader.kernel.missing()).toBeNull()
  reader.tell(3, 2, ['d6'])
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  for (let time = 0; time < 2; time += 1) reader.look(0, 2)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('a run that is shown as a whole is marked as a whole, wherever it was counted', () => {
  const reader = new Reader('k1 c1 p2 l2 e2')
  reader.join(0, 4)
  reader.tell(4, 5, ['p2', 'A9'])
  reader.take(2, 'pA')
  expect(reader.kernel.owed).toBe(2)
  reader.marks = false
  reader.tell(4, 5, ['c1', 'e2', 'l2', 'p2', 'A9'])
  expect(reader.kernel.takeCounted()).toEqual(['e', 'l', 'p'])
})

test('a run that was counted is no other one of the same createdAt, which the last answer shows behind it', () => {
  const reader = new Reader('a9 b5 c5 d5 f2 h5 g1')
  reader.join(0, 2)
  reader.join(1, 2)
  expect(reader.kernel.owed).toBe(5)
  reader.marks = false
  for (const skip of [2, 4, 0, 2]) reader.look(skip, skip === 4 ? 1 : 2)
  expect(reader.kernel.takeCounted()).toEqual([])
  reader.look(4, 2)
  expect(reader.kernel.owed).toBeUndefined()
  expect(reader.kernel.takeCounted()).toEqual(['b', 'c', 'd'])
})

test('a run that was counted is no other one of the same createdAt, which stands in front of it', () => {
  const reader = new Reader('a5 b5 c5 x3 d5 e1')
  reader.join(0, 2)
  reader.join(1, 2)
  for (const skip of [4, 3, 1, 4]) reader.look(skip, skip === 1 ? 1 : 2)
  expect(reader.kernel.owed).toBe(5)
  for (const skip of [2, 0, 2, 0, 2]) reader.look(skip, 2)
  expect(reader.kernel.owed).toBeUndefined()
})

test('a run ends where it ended in front of what stood behind it: another one of the same createdAt may have come there', () => {
  const reader = new Reader('p9 q8 c5 d5 x4 f5 z3')
  reader.join(0, 3)
  reader.join(2, 2)
  reader.look(3, 2)
  reader.look(1, 3)
  reader.list = ['c5', 'd5', 'x4', 'f5', 'z3']
  reader.look(3, 2)
  expect(reader.kernel.owed).toBe(5)
})

test.each([
  ['f2 g2', 'f2 g2', ['held']],
  ['f2 g2', 'g2 f2', ['held', 'ties-side-by-side']],
])('a run with %s behind it, and later %s, rests on %j', (behind, later, basis) => {
  const reader = new Reader(`a9 b5 c5 d5 ${behind}`)
  reader.join(0, 2)
  reader.join(1, 2)
  for (const skip of [3, 0, 2]) reader.look(skip, 2)
  reader.list = `a9 b5 c5 d5 ${later}`.split(' ')
  reader.look(3, 2)
  expect(reader.kernel.owed).toBeUndefined()
  expect(reader.kernel.state.basis).toEqual(basis)
})

test.each([
  ['f2 g2', ['held']],
  ['g2 f2', ['held', 'ties-side-by-side']],
])('so does one whose end two answers show, with f2 g2 behind it, and later %s: %j', (later, basis) => {
  const reader = new Reader('a9 b5 c5 d5 e5 f2 g2')
  reader.join(0, 2)
  reader.join(1, 2)
  for (const skip of [3, 5, 0, 1, 3]) reader.look(skip, 2)
  reader.list = `a9 b5 c5 d5 e5 ${later}`.split(' ')
  reader.look(5, 2)
  expect(reader.kernel.owed).toBeUndefined()
  expect(reader.kernel.state.basis).toEqual(basis)
})

test('of a run that is shown as a whole nothing is marked that was counted of another one of the same createdAt', () => {
  const reader = new Reader('q9 a5 b5 x4 y3 d5 e2')
  reader.join(0, 2)
  reader.join(1, 2)
  reader.marks = false
  for (const skip of [5, 4]) reader.look(skip, 2)
  reader.look(0, 4)
  expect(reader.kernel.takeCounted()).toEqual(['a', 'b'])
})

test('what stands behind a first item that cannot be read rests on that being apart', () => {
  const reader = new Reader('a9! b8 c7')
  reader.look(0, 1)
  const behind = reader.look(1, 2)
  reader.look(0, 1)
  reader.take(behind, 'bc')
  expect(reader.kernel.state.basis).toContain('unread-apart')
})

test('what fails where more is given than was asked for may hold a task that can be read', () => {
  const reader = new Reader('a9 b8 c7 d6!')
  reader.take(reader.tell(0, 1, ['a9', 'b8']), 'ab')
  for (const skip of [2, 0, 3, 2, 4, 4, 0, 2, 3, 4, 4, 0, 2, 3, 0])
    reader.tell(skip, 1, reader.list.slice(skip, skip + 2))
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('a run begins behind what cannot be read only by an answer that begins there', () => {
  const reader = new Reader('a9! b8 c8 d8 e7')
  reader.look(0, 1)
  const run = reader.look(1, 2)
  reader.list = ['a9!', 'd8', 'c8', 'e7']
  reader.look(0, 1)
  const last = reader.look(3, 2)
  reader.take(run, 'bc')
  reader.look(0, 1)
  reader.look(2, 2)
  reader.take(last, 'e')
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
})

test('what fails so is no end of a run that is counted either', () => {
  const reader = new Reader('a5 b5 c5 d4!')
  const tell = (skip: number) => reader.tell(skip, 1, reader.list.slice(skip, skip + 2))
  reader.take(tell(0), 'ab')
  reader.kernel.owe()
  for (const skip of [0, 2, 3, 4, 4, 0, 2, 3, 4, 4]) tell(skip)
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
})

test('a range between two moments', () => {
  const reader = new Reader('a9 b8 c7 d6 e5 f4', { order: 'created_desc', from: 8, to: 6 })
  expect(reader.join(1, 3)).toBeNull()
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  expect(reader.join(2, 3)).toBeNull()
  expect(reader.kernel.missing()).toBeNull()
})

test('a refusal is no end by an answer that shows what was refused, as that has moved to the front', () => {
  const reader = new Reader('a9 p8! x7')
  reader.join(0, 1)
  reader.look(1, 1)
  for (let time = 0; time < 2; time += 1) reader.refused(2, 1)
  reader.look(1, 1)
  reader.look(0, 1)
  reader.list = ['a9', 'x7']
  reader.look(0, 3)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('a run is not counted by another one of its createdAt, whose ends were seen first', () => {
  const reader = owing('a5 b5 c5 d4 e5 f3', 2)
  for (const skip of [4, 3, 1, 4]) reader.look(skip, 2)
  expect(reader.kernel.owed).toBe(5)
})

test('what was empty before the floor was read, and shows late, is no end: the list may have grown in front since', () => {
  const reader = new Reader('a9 b8 c7 d6')
  reader.join(0, 2)
  for (let time = 0; time < 2; time += 1) reader.tell(2, 3, [], 0)
  reader.join(0, 3)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test.each<[string, (reader: Reader) => void]>([
  ['as nothing else is read meanwhile', () => {}],
  ['as the last item is seen late, where it was', (reader) => void reader.tell(1, 3, ['b8', 'c7', 'd6'], 1)],
  ['as a window joins late', (reader) => reader.take(reader.tell(0, 3, ['a9', 'b8', 'c7'], 1), '')],
])('what was deleted before an index was empty does not bring that index nearer, %s', (_, meanwhile) => {
  const reader = new Reader('a9 b8 c7 d6 e5')
  reader.join(0, 3)
  reader.list = ['c7', 'd6', 'e5']
  for (let time = 0; time < 2; time += 1) reader.look(3, 3)
  meanwhile(reader)
  reader.join(0, 2)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('what is taken in where the list seems to end spoils the walk once that end is forgotten', () => {
  const reader = new Reader('a1 p2? q3? b4 c5 d6 e7', { order: 'created_asc', from: null, to: 7 })
  reader.join(0, 2)
  for (const skip of [1, 1, 0]) reader.look(skip, 2)
  expect(reader.kernel.missing()).toBeNull()
  reader.join(4, 2)
  expect(reader.kernel.missing()).toBeNull()
  const next = new Kernel(null, JSON.parse(JSON.stringify(reader.kernel.save())))
  // So many were not asked for where nothing came, and what was taken in there is no anchor.
  expect(reader.join(4, 3)).toBe('nothing: no window was taken in behind an end it showed')
  expect(reader.kernel.missing()).toBe('nothing: no window was taken in behind an end it showed')
  // Another process that goes on knows of it, too.
  expect(next.missing()).toBeNull()
  const answer = { skip: 4, asked: 3, sent: 1, received: 1, kind: 'items' as const }
  next.tell({ ...answer, ids: ['c', 'd', 'e'], moments: [5, 6, 7], met: [1, 1, 0] }, 1)
  expect(next.state.spoiled).toBe('nothing: no window was taken in behind an end it showed')
})

test('so it is where it would have joined, for no run came to be owed', () => {
  const reader = new Reader('a1 p1? q1? d1 b2 c3', { order: 'created_asc', from: null, to: 3 })
  reader.join(0, 2)
  for (const skip of [1, 1, 0]) reader.look(skip, 2)
  expect(reader.kernel.missing()).toBeNull()
  reader.list = ['d1', 'p1?', 'q1?', 'a1', 'b2', 'c3']
  // Ties that were not met may stand in front of `a` by now.
  expect(reader.kernel.joins(reader.look(3, 2))).toBe(true)
  reader.join(3, 2)
  reader.join(3, 3)
  expect(reader.kernel.missing()).toBe('nothing: no window was taken in behind an end it showed')
})

test.each(['a7 b8 c9', 'a2 b8 c9', 'x b8 c9'])('a range oldest first begins behind an older item: %s', (list) => {
  const reader = new Reader(`s1 ${list}`, { order: 'created_asc', from: 5, to: null })
  expect(reader.join(1, 2)).toBe(list.startsWith('a2') ? null : 'from: begins before the range')
})

test('a walk of a range that begins within it spoils itself', () => {
  const reader = new Reader('a9 b8 c7 d6 e5 f4', { order: 'created_desc', from: 8, to: 6 })
  expect(reader.join(2, 2)).toBe('from: begins before the range')
})

test('a range that begins within a run has not ended where nothing was: more of its ties may have moved behind it', () => {
  const reader = new Reader('s9 t9 u9 m7 x5', { order: 'created_desc', from: 8, to: null })
  expect(reader.join(2, 1)).toBeNull()
  for (let time = 0; time < 2; time += 1) reader.look(5, 6)
  // Two come in, and u moves in front of its ties: it stands where it stood, and x two further down.
  reader.list = ['z11', 'y10', 'u9', 's9', 't9', 'm7', 'x5']
  expect(reader.join(0, 6)).toBeNull()
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('a service that gives its last window again behind the end', () => {
  const reader = new Reader('a9 b8 c7')
  reader.join(0, 3)
  reader.tell(40, 1, ['c7'])
  reader.tell(4, 1, ['c7'])
  reader.tell(2, 1, ['c7'])
  reader.tell(40, 1, ['c7'])
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  reader.tell(4, 1, ['c7'])
  expect(reader.kernel.missing()).toBeNull()
})

test('the last item further down before it was at its place is none that is given again', () => {
  const reader = new Reader('f7 x6')
  reader.join(0, 1)
  reader.look(0, 1)
  // From before two in front of it were deleted.
  reader.tell(2, 1, ['f7'], 0)
  reader.list.unshift('n9')
  reader.look(1, 1)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('the last item ever further up is none that is given again', () => {
  const reader = new Reader('a9 b8 c7 d6')
  reader.join(0, 3)
  for (const skip of [2, 1, 0]) {
    reader.look(skip, 1)
    reader.list.shift()
  }
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('where the last item was given too far down says nothing of the last item of a later window', () => {
  const reader = new Reader('a9 b8 c7')
  reader.join(0, 1)
  reader.look(0, 1)
  reader.list.unshift('v9', 'w9', 'x9')
  reader.look(3, 1)
  reader.list.splice(0, 3)
  reader.join(0, 2)
  reader.list.unshift('z9')
  reader.look(2, 1)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('an item that is given beside another one is not given alone, however few were asked for', () => {
  const reader = new Reader('a9 b8 c7')
  reader.join(0, 2)
  for (const skip of [1, 40, 4]) reader.tell(skip, 1, ['b8', 'c7'])
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('an empty list', () => {
  const reader = new Reader('')
  reader.look(0, 3)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  reader.look(0, 3)
  expect(reader.kernel.missing()).toBeNull()
})

test('a window without an anchor does not join for having the createdAt that is owed', () => {
  const reader = new Reader('a0 f3 b1 c2 d3 e4')
  reader.join(0, 2)
  reader.join(1, 2)
  expect(reader.kernel.owed).toBe(3)
  reader.join(4, 2)
  reader.look(0, 3)
  reader.join(4, 3)
  expect(reader.kernel.missing()).toBe('join: shows an anchor, or its place does')
})

test('what was read behind an item is forgotten once that item is seen elsewhere', () => {
  const reader = new Reader('a0 b1 c2')
  reader.kernel.filter()
  reader.join(0, 1)
  const behind = reader.look(1, 1)
  reader.look(0, 1)
  reader.take(behind, 'b')
  reader.list = ['b1', 'c2']
  reader.look(2, 1)
  reader.look(0, 1)
  reader.list = ['d3', 'b1', 'c2']
  reader.look(1, 1)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('of what was read behind an item nothing is known once that was seen elsewhere, though it comes back there', () => {
  const reader = new Reader('a9 b8 c7 x6! d5 e4 f3')
  reader.join(0, 3)
  reader.look(3, 1)
  reader.look(2, 1)
  reader.list.shift()
  reader.look(1, 1)
  // Before it stands what cannot be read, and there it stood before and afterwards. But d was passed over.
  const behind = reader.look(4, 1)
  reader.list.unshift('p9')
  for (const skip of [2, 3, 2]) reader.look(skip, 1)
  reader.take(behind, 'e')
  expect(reader.kernel.missing(false)).toBe('join: shows an anchor, or its place does')
})

test('an item that was seen elsewhere owes its run: a tie may have changed places with it', () => {
  const reader = new Reader('a9 b8 c5 d5 e4 f3')
  reader.join(0, 3)
  reader.list = ['p9', 'a9', 'b8', 'd5', 'c5', 'e4', 'f3']
  reader.look(3, 2)
  const behind = reader.look(5, 1)
  reader.list = ['q9', 'p9', 'a9', 'b8', 'c5', 'd5', 'e4', 'f3']
  reader.look(3, 2)
  reader.take(behind, 'e')
  expect(reader.kernel.owed).toBe(5)
})

test('what was read further down before a window, of a list that has become shorter, does not deny its end', () => {
  const reader = new Reader('a9 b8')
  const window = reader.look(0, 2)
  reader.tell(3, 1, ['d6'], 0)
  reader.take(window, 'ab')
  for (let time = 0; time < 2; time += 1) reader.look(2, 2)
  reader.look(0, 2)
  expect(reader.kernel.missing()).toBeNull()
})

test.each<[string, (reader: Reader) => void]>([
  ['late, at a former place', (reader) => void reader.tell(3, 1, ['b8'], 0)],
  [
    'behind what was met up to its place',
    (reader) => {
      reader.list.unshift('z9')
      reader.look(1, 2)
    },
  ],
  [
    'further up, by an answer that left something out',
    (reader) => {
      reader.kernel.filter()
      reader.list[0] = 'a9?'
      reader.look(0, 2)
    },
  ],
])('what was read behind an item is not forgotten where that is seen %s', (_, see) => {
  const reader = new Reader('a9 b8 c7')
  reader.join(0, 2)
  const behind = reader.look(2, 1)
  see(reader)
  reader.list = ['a9', 'b8', 'c7']
  reader.look(1, 1)
  reader.take(behind, 'c')
  expect(reader.kernel.state).toMatchObject({ floor: { id: 'c' }, spoiled: null })
})

test('an answer from behind an item that shows that item says where it stands by now, and not what stands behind it', () => {
  const reader = new Reader('a9 b8 c7')
  reader.join(0, 3)
  reader.list = ['x9', 'a9', 'b8', 'c7']
  reader.look(3, 3)
  expect(reader.kernel.state).toMatchObject({ floor: { index: 3 }, pending: [] })
})

test('nothing mends that a window was taken in behind a gap, and one with nothing new does no harm', () => {
  const reader = new Reader('a9 b8 c7 d6')
  reader.join(0, 2)
  expect(reader.join(1, 1)).toBeNull()
  expect(reader.join(2, 3)).toBe('join: shows an anchor, or its place does')
  for (let round = 0; round < 3; round += 1) reader.join(0, 4)
  expect(reader.kernel.missing()).toBe('join: shows an anchor, or its place does')
})

test('where its createdAt has changed, so may its run', () => {
  const reader = new Reader('a9 b8 c8 d8')
  reader.join(0, 2)
  reader.list = ['x8', 'a8', 'd7']
  expect(reader.join(1, 2)).not.toBeNull()
})

test('a run that begins elsewhere, though it ends where it ended, is counted anew', () => {
  const reader = new Reader('k9 o8 a5 b5 c5 z1')
  reader.join(0, 3)
  reader.join(2, 2)
  for (const skip of [4, 1, 2]) reader.look(skip, 2)
  expect(reader.kernel.state.count).toMatchObject({ start: 2, end: 5, ids: 2 })
  // Two of the run are gone, one has come in, another one in front of the run: c has not been seen since.
  reader.list = ['n9', 'k9', 'o8', 'd5', 'c5', 'z1']
  reader.look(2, 2)
  reader.list = ['n9', 'k9', 'o8', 'c5', 'd5', 'z1']
  reader.look(4, 2)
  expect(reader.kernel.owed).toBe(5)
})

test('what stands elsewhere with the same createdAt is not counted for the run', () => {
  const reader = new Reader('a5 b5 c3 d5')
  reader.join(0, 1)
  reader.list = ['b5', 'a5', 'c3', 'd5']
  reader.join(1, 2)
  reader.list = ['a5', 'b5', 'c3', 'd5']
  reader.look(0, 1)
  reader.list = ['b5', 'a5', 'c3', 'd5']
  reader.look(1, 3)
  expect(reader.kernel.owed).toBe(5)
  reader.look(0, 1)
  reader.look(1, 3)
  expect(reader.kernel.owed).toBeUndefined()
})

test('a short window is an end although something was seen further down than it, once another item stood in its place', () => {
  const reader = new Reader('a9 b8 c7 d6 e5')
  reader.join(0, 4)
  reader.join(2, 4)
  reader.list.unshift('p9', 'q9')
  reader.look(3, 2)
  reader.list.unshift('r9', 's9', 't9', 'u9')
  reader.look(5, 1)
  expect(reader.kernel.missing()).toBeNull()
})

test('a short window is no end where something was seen behind it, until a later one shows that it was in front', () => {
  const reader = new Reader('a9 b8 c7 d6 e5')
  reader.join(0, 3)
  reader.join(1, 2, 2)
  const short = reader.look(1, 3, 2)
  reader.look(4, 1)
  reader.take(short, 'bc')
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  reader.list = ['a9', 'b8', 'c7']
  reader.join(1, 3)
  expect(reader.kernel.missing()).toBeNull()
})

test('however many answers bring nothing, what is kept of them is bounded', () => {
  const reader = new Reader('a9 b8')
  reader.join(0, 2)
  for (let skip = 2; skip < 2_000; skip += 1) {
    reader.look(skip, 1)
    reader.look(skip, 1)
  }
  expect(reader.kernel.state.pending.length).toBeLessThanOrEqual(1_000)
  // None of it is of use to another process.
  expect(JSON.stringify(reader.kernel.save()).length).toBeLessThan(2_000)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('another process goes on from what was saved, and counts what it had begun to count again', () => {
  const reader = new Reader('a9 b5 c5 d5 e5 f2 g1')
  reader.join(0, 3)
  reader.join(2, 3)
  reader.join(4, 3)
  reader.look(0, 3)
  const saved = JSON.parse(JSON.stringify(reader.kernel.save()))
  const next = new Kernel(null, saved)
  expect(next.owed).toBe(5)
  expect(next.state.count).toBeNull()
  expect(next.missing(false)).toBe('the run of equal createdAt that is owed has been counted')
})

test('a run that was counted, and not marked when another process goes on, is missing for ever', () => {
  const reader = new Reader('a5 b5 c3 d5')
  reader.join(0, 1)
  reader.list = ['b5', 'a5', 'c3', 'd5']
  reader.join(1, 2)
  reader.marks = false
  reader.look(0, 3)
  expect(reader.kernel.owed).toBeUndefined()
  const lines = [
    ...reader.kernel.takeEvidence(),
    { op: 'resumed' } as const,
    { op: 'complete', isWhole: false } as const,
  ]
  expect(() => prove(lines)).toThrow('every run that was counted was marked')
  const next = new Kernel(null, JSON.parse(JSON.stringify(reader.kernel.save())))
  expect(next.state.spoiled).not.toBeNull()
  expect(reader.kernel.takeCounted()).toContain('b')
  expect(new Kernel(null, JSON.parse(JSON.stringify(reader.kernel.save()))).missing(false)).toBeNull()
})

test('what was counted is marked, though another run was counted meanwhile', () => {
  const reader = new Reader('a5 b5 c4 d3 e3 f2')
  reader.marks = false
  reader.join(0, 1)
  reader.list = ['b5', 'a5', 'c4', 'd3', 'e3', 'f2']
  reader.join(1, 2)
  reader.look(0, 3)
  reader.join(2, 2)
  expect(reader.kernel.owed).toBe(4)
  reader.look(1, 3)
  expect(reader.kernel.owed).toBeUndefined()
  expect(reader.kernel.takeCounted()).toEqual(['b', 'a', 'c'])
  expect(reader.kernel.takeCounted()).toEqual([])
})

test('a window that was told before the floor, and begins with ties of it, has no place by that: those were not met by then', () => {
  const reader = new Reader('a1 c3 e4 d4 f5')
  const floor = reader.look(0, 3)
  reader.list = ['a1', 'c3', 'd4', 'e4', 'f5']
  const behind = reader.look(3, 3)
  reader.take(floor, 'ace')
  reader.list = ['a1', 'c3', 'e4', 'd4', 'f5']
  reader.look(0, 3)
  reader.take(behind, 'ef')
  expect(reader.kernel.missing()).toBe('join: shows an anchor, or its place does')
})

test('a run that is counted past what cannot be read rests on that being no part of it', () => {
  const reader = new Reader('p1 a2 b2 x2! c2 q3')
  reader.join(0, 2)
  reader.list = ['p1', 'x2!', 'b2', 'c2', 'a2', 'q3']
  reader.join(4, 3)
  for (let round = 0; round < 2; round += 1) {
    reader.list = ['p1', 'a2', 'b2', 'x2!', 'c2', 'q3']
    reader.look(0, 3)
    reader.look(3, 1)
    reader.list = ['p1', 'a2', 'b2', 'c2', 'x2!', 'q3']
    reader.look(4, 1)
    reader.look(5, 1)
  }
  reader.look(0, 3)
  expect(reader.kernel.missing()).toBeNull()
  expect(reader.kernel.state.basis).toContain('unread-apart')
})

test.each<[string, (reader: Reader) => void, string[]]>([
  ['is empty', (reader) => reader.look(3, 5), ['held', 'nothing-hidden-behind']],
  ['is refused', (reader) => reader.refused(3, 1), ['held', 'even-cuts', 'nothing-hidden-behind']],
])('a run that is counted rests on what both looks at its end do: the first one %s', (_, first, basis) => {
  const reader = new Reader('p1 a2 b2 c2 q3', { order: 'created_asc', from: null, to: 3 })
  reader.join(0, 2)
  reader.list = ['p1', 'b2', 'c2', 'a2', 'q3']
  reader.join(3, 2)
  reader.list = ['p1', 'a2', 'b2']
  reader.look(0, 5, 3)
  for (let time = 0; time < 2; time += 1) first(reader)
  reader.look(0, 5, 3)
  reader.list = ['p1', 'c2', 'a2']
  reader.look(2, 1)
  for (let time = 0; time < 2; time += 1) reader.look(3, 5)
  reader.look(0, 2)
  expect(reader.kernel.missing()).toBeNull()
  expect(reader.kernel.state.basis).toEqual(basis)
})

test('a run that is paid by a third look at its beginning rests on what its end stood in front of', () => {
  const reader = new Reader('p1 r2 s2 y3 a4 d4 c4 u5 v6 k7 b4 w5')
  reader.join(0, 2)
  reader.join(1, 3)
  reader.list = 'r2 s2 y3 a4 d4 c4 u5 v6 k7 b4 w5'.split(' ')
  reader.look(1, 2)
  reader.look(0, 3)
  reader.join(1, 5)
  const behind = reader.look(6, 2)
  reader.look(5, 1)
  reader.take(behind, 'uv')
  expect(reader.kernel.state.count).toMatchObject({ end: 6, behind: { id: 'u', moment: 5 } })
  reader.look(2, 2)
  reader.look(5, 1)
  reader.list = 'y3 c4 u5 v6 k7 b4 w5'.split(' ')
  reader.look(5, 2)
  reader.list = 'u5 v6 k7 b4 w5'.split(' ')
  reader.look(2, 2)
  reader.join(3, 3)
  reader.look(2, 3)
  expect(reader.kernel.owed).toBeUndefined()
  expect(reader.kernel.state.basis).toContain('ties-side-by-side')
})

test('a place behind what is left out rests on that being no tie that changes places', () => {
  const reader = new Reader('b2? a2 c3', { order: 'created_asc', from: null, to: 3 })
  reader.look(2, 1)
  for (let time = 0; time < 2; time += 1) reader.look(0, 1)
  reader.list = ['a2', 'b2?', 'c3']
  const behind = reader.look(1, 2)
  reader.list = ['b2?', 'a2', 'c3']
  for (let time = 0; time < 2; time += 1) reader.look(0, 1)
  reader.take(behind, 'c')
  expect(reader.kernel.missing()).toBeNull()
  expect(reader.kernel.state.basis).toEqual(['held', 'ties-keep-places'])
})

test('a run is not the end of the list where what cannot be read stood behind it at the first look at its end only', () => {
  const reader = owing('a1 x2! y3', 1)
  reader.look(0, 1)
  reader.look(1, 1)
  reader.list = ['a1', 'y3']
  for (let time = 0; time < 2; time += 1) reader.look(2, 1)
  reader.look(0, 1)
  reader.list = ['y3']
  for (let time = 0; time < 2; time += 1) reader.look(1, 1)
  expect(reader.kernel.missing()).not.toBeNull()
})

test('a run whose beginning is seen past what cannot be read rests on that being no part of it', () => {
  const reader = new Reader('p1 a2 x2! b2 q3')
  reader.join(0, 2)
  reader.list = ['p1', 'x2!', 'b2', 'a2', 'q3']
  reader.join(3, 2)
  reader.list = ['p1', 'x2!', 'a2', 'b2', 'q3']
  reader.look(0, 1)
  reader.look(1, 1)
  reader.look(2, 2)
  reader.look(3, 2)
  expect(reader.kernel.owed).toBeUndefined()
  expect(reader.kernel.state.basis).toEqual(['held', 'unread-apart'])
})

test('a run at the end rests on what showed the end, and on the room behind it', () => {
  const reader = new Reader('o0 p1 a2')
  reader.join(0, 3)
  for (let time = 0; time < 2; time += 1) reader.look(3, 3)
  reader.look(2, 3)
  expect(reader.kernel.owed).toBe(2)
  reader.look(1, 2)
  reader.look(2, 3)
  expect(reader.kernel.missing()).toBeNull()
  expect(reader.kernel.state.basis.toSorted()).toEqual(['even-cuts', 'held', 'nothing-hidden-behind'])
})

test('the same two ties, however often they are seen, do not show that ties stand in the order of their ids', () => {
  const reader = new Reader('q9 a5 b5 c5 d3')
  const windows = Array.from({ length: 25 }, () => reader.look(0, 3))
  for (const window of windows) reader.take(window, 'qab')
  for (let times = 0; times < 25; times += 1) reader.look(0, 3)
  reader.list = ['q9', 'c5', 'a5', 'b5', 'd3']
  // Now c stands in front of what has been met.
  reader.join(3, 3)
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
})

test('twenty ties that were met in the order of their ids show that ties stand so', () => {
  const ids = 'abcdefghijklmnopqrstuvwxyz'
  for (const [ties, missing] of [
    [21, null],
    [20, 'the run of equal createdAt that is owed has been counted'],
  ] as const) {
    const reader = new Reader(`A9 ${[...ids.slice(0, ties + 2)].map((id) => `${id}5`).join(' ')} Z3`)
    reader.join(0, ties + 1)
    reader.join(ties, 5)
    expect(reader.kernel.missing()).toBe(missing)
  }
})

test.each<[string, (reader: Reader) => void]>([
  ['something is seen behind it', (reader) => void reader.look(2, 4)],
  ['something is taken in behind it', (reader) => void reader.join(2, 5)],
  [
    'a cut is seen',
    (reader) => {
      reader.list = ['y11', 'z10', 'a9', 'b8', 'c8']
      reader.look(2, 4)
      expect(reader.kernel.missing()).toBeNull()
      reader.look(0, 3, 1)
    },
  ],
])('an end that room alone has shown is none once %s', (_, see) => {
  const reader = new Reader('y11 z10 a9 b8 c8 d7 e6')
  reader.join(0, 4)
  reader.join(3, 4, 2)
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
  see(reader)
  expect(reader.kernel.owed).toBeUndefined()
  expect(reader.kernel.missing()).toBe('room: no cut by size was seen')
  // Another process, which has not seen that, does not believe it either.
  expect(new Kernel(null, reader.kernel.save()).missing()).toBe('room: no cut by size was seen')
})

test('an end that room alone has shown stays one where all that was seen behind it belongs to the run that was counted', () => {
  const reader = new Reader('y11 z10 a9 b8 n8 c8 d8')
  reader.join(0, 4)
  reader.list = ['y11', 'z10', 'a9', 'n8', 'b8', 'c8', 'd8']
  reader.join(4, 4)
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
  reader.list = ['y11', 'z10', 'a9', 'd8', 'n8', 'b8', 'c8']
  for (const skip of [4, 2, 4]) reader.look(skip, 4)
  expect(reader.kernel.owed).toBeUndefined()
  expect(reader.kernel.missing()).toBeNull()
  reader.kernel.conclude(true)
  expect(prove(reader.kernel.takeEvidence()).isWhole).toBe(true)
})

test('an answer with ties alone that reaches beyond a refusal is no end until their run has been counted', () => {
  const reader = new Reader('t5 x5')
  reader.join(0, 1)
  reader.list = ['a9', 'n8', 'p7!', 't5', 'x5']
  reader.join(0, 2)
  reader.refused(2, 1)
  reader.refused(2, 1)
  reader.look(0, 2)
  // What stood in front of the run is gone, and x stands in front of t.
  reader.list = ['x5', 't5']
  reader.look(1, 2)
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
  reader.list.push('f3')
  reader.look(0, 3)
  expect(reader.kernel.missing()).toBeNull()
})

test('a run begins behind what cannot be read only where its beginning was asked for after that', () => {
  for (const isStill of [true, false]) {
    const reader = new Reader('o9 p8! y5 v5 x5 w5 z3 q2!')
    reader.join(0, 1)
    reader.look(1, 1)
    const run = reader.look(2, 2)
    reader.look(1, 1)
    reader.look(0, 1)
    reader.take(run, 'yv')
    // What is deleted in front brings x in front of index 4.
    if (!isStill) reader.list.shift()
    const behind = reader.look(4, 2)
    if (isStill) {
      reader.look(1, 1)
      reader.look(2, 2)
    } else {
      // The later look is asked for now, and shows the run with x in front. Then q comes to the place of p.
      reader.list = ['x5', 'q2!']
      reader.look(1, 1)
      reader.tell(2, 2, ['y5', 'v5'], behind)
    }
    reader.take(behind, isStill ? 'xw' : 'wz')
    const owed = 'the run of equal createdAt that is owed has been counted'
    expect(reader.kernel.missing(false)).toBe(isStill ? null : owed)
  }
})

test('a refusal by which the end is shown is no look at the end of a run: what it hid may have been deleted', () => {
  const reader = new Reader('p1 m3 x3')
  reader.join(0, 2)
  reader.list = ['o0', 'p1', 'u2!', 'm3', 'x3']
  for (let time = 0; time < 2; time += 1) reader.refused(2, 1)
  // Asked for now, after three answers, and given once o and u are deleted. It comes after the end was shown.
  const [late, sent] = [['p1', 'm3'], 3]
  reader.list = ['x3', 'm3']
  reader.look(1, 2)
  reader.tell(0, 2, late, sent)
  reader.look(1, 2)
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
})

test('a run that is counted up to a refusal rests on nothing being listed behind that', () => {
  const reader = new Reader('m3 x3 g5')
  reader.join(0, 1)
  reader.list = ['x3', 'm3', 'g5']
  reader.join(1, 2)
  reader.list = ['x3', 'm3']
  reader.look(1, 3)
  // Now a window that would show x is refused for y.
  reader.list = ['p1', 'm3', 'x3', 'y5!']
  for (let round = 0; round < 2; round += 1) {
    for (let time = 0; time < 2; time += 1) reader.refused(2, 2)
    reader.look(0, 2)
  }
  expect(reader.kernel.missing(false)).toBeNull()
  expect(reader.kernel.state.basis.toSorted()).toEqual(['even-cuts', 'held', 'nothing-hidden-behind'])
})

test('the answer that reaches beyond a refusal shows where the last run ends: a look at its beginning and one at its end pay it', () => {
  const reader = new Reader('a9 t5 u5')
  reader.join(0, 3)
  reader.refused(3, 1)
  reader.refused(3, 1)
  reader.look(1, 3)
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
  reader.look(0, 3)
  reader.look(1, 3)
  expect(reader.kernel.missing()).toBeNull()
})

test('an id is not counted that came in after the look at the end that completes the count, though it is seen before that comes', () => {
  const reader = new Reader('d9 a5 x5 b5 z1')
  reader.join(0, 2)
  reader.list = ['d9', 'b5', 'a5', 'x5', 'z1']
  reader.join(1, 2)
  reader.list = ['d9', 'b5', 'x5', 'a5', 'z1']
  reader.look(3, 2)
  reader.look(0, 2)
  // Asked for and given now, after four answers; it comes after e has come in.
  const [late, sent] = [['a5', 'z1'], 4]
  reader.list = ['d9', 'b5', 'x5', 'e5', 'a5', 'z1']
  reader.look(3, 1)
  reader.tell(3, 2, late, sent)
  expect(reader.kernel.owed).toBe(5)
})

test('no id of another run is counted after the end was seen again, while the beginning of a run that moved is looked for once more', () => {
  const reader = new Reader('k9 o9 d8 a5 b5 c5 e4 x3 f5 g5 z1')
  reader.join(0, 4)
  reader.join(3, 2)
  reader.look(4, 3)
  reader.list.shift()
  for (const skip of [3, 1, 3]) reader.look(skip, 3)
  expect(reader.kernel.state.count?.isClosed).toBe(true)
  reader.list = ['d8', 'x3', 'f5', 'g5', 'z1']
  reader.marks = false
  reader.look(1, 3)
  expect(reader.kernel.takeCounted().toSorted()).toEqual(['a', 'b', 'c'])
})

test.each(['before', 'after'])(
  'no link rests on the order of ids where two ties were seen in the other order %s it',
  (when) => {
    const ties = Array.from('bcdefghijklmnopqrstuvw', (id) => `${id}5`)
    const reader = new Reader(`k9 ${ties.join(' ')} x5 z1`)
    reader.join(0, 23)
    // Where ties do change places, x is passed over.
    const list = ['k9', 'x5', ...ties, 'z1']
    reader.list = list
    if (when === 'before') {
      // The window has its place by that order before, and is taken in after.
      reader.look(22, 2)
      const behind = reader.look(24, 2)
      reader.look(22, 2)
      reader.look(0, 3)
      reader.take(behind, 'z')
    } else {
      expect(reader.join(23, 3)).toBeNull()
      expect(reader.kernel.state.basis).toEqual(['ids-order-ties'])
      reader.look(0, 3)
    }
    expect(reader.kernel.state.basis).toContain('ids-order-ties')
    expect(reader.kernel.missing(false)).toBe('ties stand in the order of their ids')
    const lines = [...reader.kernel.takeEvidence(), { op: 'complete', isWhole: false } as const]
    expect(() => prove(lines)).toThrow('ties stand in the order of their ids')
  },
)

test('a run is not counted where its member was seen in front of what is counted, as what stood between was deleted', () => {
  const reader = owing('k9 m5 x5 d8 q5 r5 s5', 2)
  // Where another run of this createdAt ends, twice empty behind it; and where that begins.
  for (const skip of [6, 7, 7, 3]) reader.look(skip, 4)
  // Asked for and given now; it comes after d has gone, and after the answer that shows the member and x beside it.
  const [late, sent] = [['s5'], 5]
  reader.list.splice(3, 1)
  reader.look(1, 4)
  reader.tell(6, 4, late, sent)
  for (const skip of [7, 7]) reader.look(skip, 4)
  expect(reader.kernel.owed).toBe(5)
  expect(reader.kernel.missing()).not.toBeNull()
})

test('what an answer showed of the run that was owed then says nothing of the run that it makes owed later', () => {
  const reader = new Reader('p9 a5 c5 q8 b3 e3 d5 f2')
  reader.join(0, 2)
  reader.kernel.owe()
  reader.join(1, 4)
  // What was counted of it is none any more: its end has moved.
  reader.list.unshift('x')
  reader.look(2, 2)
  // d is of the createdAt that is owed: its run ends in front of f, and not that of b, where the window joins.
  const handle = reader.look(5, 4)
  reader.look(1, 4)
  expect(reader.kernel.state.owed).toBeNull()
  reader.take(handle, 'bedf')
  expect(reader.kernel.state).toMatchObject({ owed: { moment: 3, member: 'b' }, count: null })
})

test('a refusal is no end where a later answer shows something at its index', () => {
  const reader = new Reader('a9 b8 c7 d6!')
  reader.join(0, 3)
  reader.refused(3, 1)
  reader.refused(3, 1)
  reader.list = ['x', 'y', ...reader.list]
  reader.look(2, 3)
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('a run begins behind what cannot be read only where that stands directly in front of it', () => {
  const reader = new Reader('a9 b8 c8 d8 e7 f6!')
  reader.join(0, 3)
  // What is deleted brings e to index 3, though d was not met.
  reader.list = ['a9', 'd8', 'b8', 'e7', 'f6!']
  const last = reader.look(3, 1)
  reader.look(4, 1)
  reader.look(2, 1)
  reader.take(last, 'e')
  expect(reader.kernel.missing(false)).toBe('the run of equal createdAt that is owed has been counted')
})
