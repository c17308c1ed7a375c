// Which listed items are compared with their details.
import { expect, test } from 'vitest'
import { FormSample, type SampleRequest } from '../../src/sync/writer/form-sample.ts'
import { prepareTask } from '../../src/sync/writer/prepare.ts'
import type { Task } from '../../src/task.ts'

const DONE = new Set(['DONE'])
const done = (n: number, more: object = {}) =>
  ({ id: `t${n}`, systemStatus: 'DONE', data: { body: '' }, result: { body: 'short' }, ...more }) as Task
const open = (n: number) => ({ id: `t${n}`, systemStatus: 'PENDING', data: {} }) as Task

const NONE = { full: 0, newFinal: 0, newOpen: 0, signs: [], known: false, doubted: 0, otherwise: 0, seed: 5 }
const AS_HELD = { isChanged: false, showsLess: false, isHeldOtherwise: false }

/** What is chosen of a walk over `tasks` in windows of ten, the first `again` of them twice; `found`: what the mirror had of each. */
function chosen(
  tasks: Task[],
  request: Partial<SampleRequest>,
  kind: 'full' | 'head' | 'range' = 'full',
  found = AS_HELD,
  again = 0,
) {
  const longest = { result: Number.POSITIVE_INFINITY, data: 0 }
  const sample = new FormSample({ ...NONE, longest, ...request })
  const windows = Array.from({ length: Math.ceil(tasks.length / 10) }, (_, n) => 10 * n)
  for (const skip of [...windows, ...windows.slice(0, again)]) {
    sample.enter(1, () => kind)
    for (const [index, task] of tasks.slice(skip, skip + 10).entries())
      sample.offer(prepareTask(task, DONE), skip + index, found)
    sample.leave()
  }
  return sample.items().map(({ id }) => id)
}

const NEW = { ...AS_HELD, isChanged: true }
const LIST = Array.from({ length: 200 }, (_, n) => (n % 7 === 3 ? open(n) : done(n)))
const withItem = (at: number, task: Task) => LIST.with(at, task)

test('the first and the last final task, an open one, and some by chance', () => {
  const ids = chosen(LIST, { full: 6 })
  expect(ids).toEqual(expect.arrayContaining(['t0', 't198', 't3']))
  // One more for every ten windows.
  expect(ids).toHaveLength(8)
  expect(new Set(ids).size).toBe(8)
  expect(chosen(LIST, { full: 6 })).toEqual(ids)
  expect(chosen(LIST, { full: 6, seed: 6 })).not.toEqual(ids)
})

test('the last of the list, and not of the window that was read last', () => {
  for (const seed of [1, 2, 3]) expect(chosen(LIST, { full: 6, seed }, 'full', AS_HELD, 2)).toContain('t198')
})

test.each<[string, Task]>([
  ['the longest body', done(77, { result: { body: 'x'.repeat(40) } })],
  ['a task without a body among others that have one', done(77, { result: { statusCode: 200 } })],
  ['a task with a mark', done(77, { truncated: true })],
])('%s, wherever it stands', (_, task) => {
  const marked = 'truncated' in task ? LIST.map((each) => ({ ...each, truncated: false })) : LIST
  expect(chosen((marked as Task[]).with(77, task), { full: 6 })).toContain('t77')
})

test('one with each sign, however common: a mark that some tasks of many have', () => {
  // Beside much else that no interface names.
  const list = LIST.map((each, n) => ({ ...each, log: 'x'.repeat(5000), ...(n % 7 === 5 && { truncated: true }) }))
  for (const seed of [1, 2, 3, 4, 5]) expect(chosen(list, { full: 6, seed })).toContain('t5')
})

test.each(['{"a":"x', '{"a":"x ', '[1,', '<p>x'])('a body that breaks off (%s), however long others are', (body) => {
  const list = Array.from({ length: 200 }, (_, n) => done(n, { data: { body: '{"a":"whole"}\n' } }))
  expect(chosen(list.with(77, done(77, { data: { body } })), { full: 6 })).toContain('t77')
  expect(chosen(list, { full: 6 })).not.toContain('t77')
})

test('beside a full walk, what is only looked at: a walk that counts ties by looks takes in one window', () => {
  const longest = { result: 0, data: 0 }
  const sample = new FormSample({ ...NONE, longest, full: 6 })
  const enter = (walkId: number | null, skip: number, tasks: Task[]) => {
    sample.enter(walkId, () => 'full')
    for (const [index, task] of tasks.entries()) sample.offer(prepareTask(task, DONE), skip + index, AS_HELD)
    sample.leave()
  }
  enter(null, 60, [...LIST.slice(60, 69), done(69, { data: { body: '{"a":"x' } })])
  enter(1, 0, LIST.slice(0, 10))
  enter(null, 190, LIST.slice(190))
  expect(sample.items().map(({ id }) => id)).toEqual(expect.arrayContaining(['t60', 't69', 't198']))
})

test('of two full walks what the last one shows', () => {
  const longest = { result: 0, data: 0 }
  const sample = new FormSample({ ...NONE, longest, full: 6 })
  for (const walkId of [1, 2]) {
    sample.enter(walkId, () => 'full')
    sample.offer(prepareTask(done(walkId), DONE), 0, AS_HELD)
    sample.leave()
  }
  expect(sample.items().map(({ id }) => id)).toEqual(['t2'])
})

test('each task once, and all of them where there are few', () => {
  expect(chosen([done(1), done(2)], { full: 6 }).toSorted()).toEqual(['t1', 't2'])
  expect(chosen([], { full: 6 })).toEqual([])
})

test('nothing of a full walk where none is due, and of other walks only what is new to the mirror', () => {
  expect(chosen(LIST, {})).toEqual([])
  expect(chosen(LIST, { full: 6 }, 'head')).toEqual([])
  expect(chosen(LIST, { newFinal: 2, newOpen: 1 }, 'head', NEW)).toEqual(['t0', 't1', 't3'])
  expect(chosen(LIST, { newFinal: 2, newOpen: 1 }, 'head')).toEqual([])
  expect(chosen(LIST, { newFinal: 2, newOpen: 1, known: true }, 'head')).toEqual(['t0', 't1', 't3'])
  expect(chosen(LIST, { newFinal: 2, newOpen: 1 }, 'range', NEW)).toEqual([])
})

test('of what is new the longest, where none so long was compared before', () => {
  const list = withItem(77, done(77, { result: { body: 'x'.repeat(400) } }))
  expect(chosen(list, { longest: { result: 300, data: 0 } }, 'head', NEW)).toEqual(['t77'])
  expect(chosen(list, { longest: { result: 900, data: 0 } }, 'head', NEW)).toEqual([])
  expect(chosen(list, { longest: { result: 300, data: 0 } }, 'head')).toEqual([])
})

test.each(['{"a":"x', '"truncated":true'])(
  'of what is new one with each sign that none compared before had (%s)',
  (sign) => {
    const task = sign.startsWith('{') ? { data: { body: sign } } : { truncated: true }
    const longest = { result: 9, data: 9 }
    const list = withItem(77, done(77, task)).with(99, done(99, task))
    expect(chosen(list, { longest }, 'head', NEW)).toEqual(['t77'])
    expect(chosen(list, { longest, signs: ['a body that breaks off', 'truncated'] }, 'head', NEW)).toEqual([])
    expect(chosen(list, { longest }, 'head')).toEqual([])
  },
)

test('nothing is kept where nothing was asked for', () => {
  const sample = new FormSample()
  sample.offer(prepareTask(done(1, { truncated: true }), DONE), 0, { ...NEW, showsLess: true })
  expect(sample.items()).toEqual([])
})

test('what is in doubt comes beside what the walk shows', () => {
  const request = { ...NONE, longest: { result: 0, data: 0 }, full: 1, doubted: 1, otherwise: 1 }
  const sample = new FormSample(request)
  sample.enter(1, () => 'full')
  for (const [index, found] of [
    AS_HELD,
    { ...AS_HELD, showsLess: true },
    { ...AS_HELD, isHeldOtherwise: true },
  ].entries())
    sample.offer(prepareTask(open(index), DONE), index, found)
  sample.leave()
  expect(sample.items().map(({ id }) => id)).toEqual(['t2', 't1'])
})

test('in any walk, what shows less than the mirror holds', () => {
  const less = { ...AS_HELD, showsLess: true }
  expect(chosen(LIST, { doubted: 2 }, 'head', less)).toEqual(['t0', 't1'])
  expect(chosen(LIST, { doubted: 2 }, 'full', less)).toEqual(['t0', 't1'])
  expect(chosen(LIST, {}, 'head', less)).toEqual([])
})

test('in a full walk, what the mirror holds otherwise', () => {
  const otherwise = { ...AS_HELD, isHeldOtherwise: true }
  expect(chosen(LIST, { otherwise: 2 }, 'full', otherwise)).toEqual([])
  const alone = chosen(LIST, { full: 1 })
  expect(chosen(LIST, { otherwise: 2, full: 1 }, 'full', otherwise)).toEqual([...new Set([...alone, 't0', 't1'])])
  expect(chosen(LIST, { otherwise: 2, newFinal: 1 }, 'head', otherwise)).toEqual([])
})

test('an item too long to be kept is left out', () => {
  expect(chosen(withItem(0, done(0, { result: { body: 'x'.repeat(5_000_000) } })), { full: 6 })).not.toContain('t0')
})

test('a task with hundreds of signs is kept once', () => {
  const signs = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`s${n}`, true]))
  const heavy = prepareTask(done(1, { ...signs, result: { body: 'x'.repeat(1_000_000) } }), DONE)
  const longest = { result: 2_000_000, data: 2_000_000 }
  const sample = new FormSample({ ...NONE, longest })
  sample.enter(1, () => 'head')
  const before = process.memoryUsage().arrayBuffers
  sample.offer(heavy, 0, NEW)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5_000_000)
  expect(sample.items().map(({ id }) => id)).toEqual(['t1'])
})
