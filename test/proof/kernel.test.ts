// What docs/proof.md promises is accepted, step by step, and what the strategy leaves out is told.
import { expect, test } from 'vitest'
import { Kernel, type Line } from '../../src/proof/kernel.ts'
import type { Claim, Range } from '../../src/proof/rules.ts'

/** A list of tasks such as `b2`: named b, created at 2. Answers `asked` items at once, `!` cannot be read. */
class Reader {
  readonly kernel: Kernel
  readonly lines: Line[] = []
  list: string[]
  readonly #met = new Set<string>()
  #now = 0
  #handle = 0

  constructor(list: string, range: Range | null = null) {
    this.list = list.split(' ').filter((task) => task !== '')
    this.kernel = new Kernel(range, null, (line) => this.lines.push(line))
  }

  /** Reads, claims, takes in. Null, or what is missing. */
  read(skip: number, asked: number, claim: Claim, cut = asked): string | null {
    const some = this.list.slice(skip, skip + cut)
    const isFailed = some.some((task) => task.endsWith('!'))
    const ids = isFailed ? [] : some.map((task) => task[0] as string)
    const moments = isFailed ? [] : some.map((task) => Number(task.slice(1)))
    const met = ids.map((id) => (this.#met.has(id) ? 1 : 0))
    this.#handle += 1
    const answer = { skip, asked, sent: this.#now, received: this.#now + 1, ids, moments, met }
    this.#now += 2
    this.kernel.tell({ ...answer, kind: isFailed ? 'failed' : 'items' }, this.#handle)
    const missing = this.kernel.claim(claim)
    if (missing === null && ids.length > 0 && ['join', 'from', 'room', 'repeated'].includes(claim))
      this.take(this.#handle, ids)
    if (this.kernel.countedRun !== null) {
      for (const id of this.kernel.countedRun) this.#met.add(id)
      this.kernel.marked([...this.kernel.countedRun])
    }
    return missing
  }

  take(handle: number, ids: readonly string[]): void {
    this.kernel.taken(handle)
    for (const id of ids) this.#met.add(id)
  }
}

test('windows that overlap, and an end with room behind it', () => {
  const reader = new Reader('a9 b8 c7 d6 e5 f4')
  expect(reader.read(0, 3, 'join')).toBeNull()
  expect(reader.read(1, 3, 'join')).toBeNull()
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
  expect(reader.read(2, 3, 'join')).toBeNull()
  expect(reader.read(3, 3, 'join')).toBeNull()
  expect(reader.read(4, 3, 'room')).toBeNull()
  expect(reader.kernel.missing()).toBeNull()
  expect(reader.lines.map(({ claim }) => claim)).toEqual(['join', 'join', 'join', 'join', 'room'])
})

test('an end at which an index is looked at, nothing behind it, and the index again', () => {
  const reader = new Reader('a9 b8 c7')
  expect(reader.read(0, 3, 'join')).toBeNull()
  expect(reader.read(3, 3, 'behind')).toBeNull()
  expect(reader.read(0, 3, 'again')).toBeNull()
  expect(reader.kernel.missing()).toBeNull()
})

test('a large item that never comes beside another joins by its place', () => {
  const reader = new Reader('a9 b8 c7 d6')
  expect(reader.read(0, 3, 'join', 2)).toBeNull()
  expect(reader.read(2, 3, 'behind', 2)).toBeNull()
  expect(reader.read(0, 3, 'again', 2)).toBeNull()
  expect(reader.kernel.missing()).toBe('every window that has joined was taken in')
  reader.take(2, ['c', 'd'])
  expect(reader.read(4, 3, 'behind')).toBeNull()
  expect(reader.read(2, 3, 'again')).toBeNull()
  expect(reader.kernel.missing()).toBeNull()
})

test('an item that cannot be read is passed where it cannot be read afterwards either', () => {
  const reader = new Reader('a9 b8 c7! d6')
  expect(reader.read(0, 2, 'join')).toBeNull()
  expect(reader.read(2, 1, 'behind')).toBeNull()
  expect(reader.read(3, 2, 'behind')).toBeNull()
  expect(reader.read(0, 2, 'again')).toBe('again: what was passed is as it was')
  expect(reader.read(2, 1, 'look')).toBeNull()
  expect(reader.read(0, 2, 'again')).toBeNull()
})

test('a run longer than a window is owed until it is counted', () => {
  const reader = new Reader('a9 b5 c5 d5 e5 f2 g1')
  expect(reader.read(0, 3, 'join')).toBeNull()
  expect(reader.read(2, 3, 'join')).toBeNull()
  expect(reader.read(4, 3, 'join')).toBeNull()
  expect(reader.kernel.missing()).toBe('the run of equal createdAt that is owed has been counted')
  reader.read(0, 3, 'look')
  reader.read(3, 3, 'look')
  expect(reader.read(5, 4, 'room')).toBeNull()
  expect(reader.kernel.missing()).toBeNull()
})

test('a list that grows at its end has ended where nothing was after the walk began', () => {
  const reader = new Reader('a1 b2 c3')
  expect(reader.read(0, 3, 'join')).toBeNull()
  reader.read(3, 3, 'look')
  reader.list.push('d4', 'e5')
  expect(reader.kernel.claim('passed')).not.toBeNull()
  expect(reader.read(1, 4, 'join')).toBeNull()
  expect(reader.kernel.claim('passed')).toBeNull()
  expect(reader.kernel.missing()).toBeNull()
})

test('what was empty moves with what stands in front of it', () => {
  const reader = new Reader('a1 b2 c3')
  expect(reader.read(0, 3, 'join')).toBeNull()
  reader.read(3, 3, 'look')
  reader.read(1, 2, 'look')
  reader.list.shift()
  reader.list.push('d4')
  expect(reader.read(0, 4, 'join')).toBeNull()
  expect(reader.kernel.claim('passed')).toBeNull()
})

test('an item that stands alone is passed by its place', () => {
  const reader = new Reader('a9 b8 c7')
  expect(reader.read(0, 1, 'join')).toBeNull()
  expect(reader.read(1, 1, 'behind')).toBeNull()
  expect(reader.read(0, 1, 'stands')).toBeNull()
  reader.take(2, ['b'])
  expect(reader.kernel.missing()).toBe('the end of the list was shown')
})

test('a range between two moments', () => {
  const reader = new Reader('a9 b8 c7 d6 e5 f4', { order: 'created_desc', from: 8, to: 6 })
  expect(reader.read(2, 2, 'from')).toBe('from: begins before the range')
  expect(reader.read(1, 3, 'from')).toBeNull()
  expect(reader.read(2, 3, 'join')).toBeNull()
  expect(reader.kernel.claim('reached')).toBeNull()
  expect(reader.kernel.missing()).toBeNull()
})

test('a service that gives its last window again behind the end', () => {
  const reader = new Reader('a9 b8 c7')
  expect(reader.read(0, 3, 'join')).toBeNull()
  reader.kernel.tell({
    ...{ skip: 2 ** 40, asked: 3, sent: 100, received: 101, kind: 'items' },
    ...{ ids: ['a', 'b', 'c'], moments: [9, 8, 7], met: [1, 1, 1] },
  })
  expect(reader.kernel.claim('repeated')).toBeNull()
  expect(reader.kernel.missing()).toBeNull()
})

test('an empty list', () => {
  const reader = new Reader('')
  reader.read(0, 3, 'look')
  expect(reader.kernel.missing()).toBeNull()
})

test('a window that was taken in and has not joined spoils the walk', () => {
  const reader = new Reader('a9 b8 c7 d6')
  expect(reader.read(0, 2, 'join')).toBeNull()
  expect(reader.read(2, 3, 'room')).not.toBeNull()
  reader.kernel.taken(2)
  expect(reader.kernel.missing()).toBe('every window that was taken in has joined')
})
