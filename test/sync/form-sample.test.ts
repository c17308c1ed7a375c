// Which listed items are compared with their details.
import { expect, test } from 'vitest'
import type { Facts } from '../../src/mirror/tables/facts.ts'
import { FormSample } from '../../src/sync/writer/form-sample.ts'
import { prepareTask } from '../../src/sync/writer/prepare.ts'
import type { Task } from '../../src/task.ts'

const DONE = new Set(['DONE'])
const done = (n: number, more: object = {}) =>
  ({ id: `t${n}`, systemStatus: 'DONE', data: { body: '' }, result: { body: 'short' }, ...more }) as Task
const open = (n: number) => ({ id: `t${n}`, systemStatus: 'PENDING', data: {} }) as Task

/** Enough was compared, with bodies as long as `longest`. */
const comparedUpTo = (longest: Record<string, number>): Facts => ({
  forms_compared: { at: 1, final: 4, open: 2, longest },
})
const ENOUGH = comparedUpTo({ result: 9 })
const REPLACED: Facts = { ...ENOUGH, summary_fields: [{ path: ['timeframe'], how: 'replaced' }] }
const AS_HELD = { isChanged: false, showsLess: false, isHeldOtherwise: false }

/** What is chosen of a walk over `tasks` in windows of ten, the first `again` of them twice; `found`: what the mirror had of each. */
function chosen(
  tasks: Task[],
  { isFull = false, seed = 5, facts = ENOUGH, found = AS_HELD, again = 0 },
  kind: 'full' | 'head' | 'range' = isFull ? 'full' : 'head',
) {
  const sample = new FormSample(facts, isFull, seed)
  const windows = Array.from({ length: Math.ceil(tasks.length / 10) }, (_, n) => 10 * n)
  for (const skip of [...windows, ...windows.slice(0, again)]) {
    sample.enter(1, kind)
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
  const ids = chosen(LIST, { isFull: true })
  expect(ids).toEqual(expect.arrayContaining(['t0', 't198', 't3']))
  // One more for every ten windows.
  expect(ids).toHaveLength(9)
  expect(new Set(ids).size).toBe(9)
  expect(chosen(LIST, { isFull: true })).toEqual(ids)
  expect(chosen(LIST, { isFull: true, seed: 6 })).not.toEqual(ids)
})

test.each<[string, (n: number) => object]>([
  ['eight shapes are rarer', (n) => (n < 160 && n % 20 === 0 ? { [`extra${n}`]: 1 } : {})],
  ['more shapes come before it than are told apart', (n) => ({ [`extra${n % 50}`]: 1 })],
])('an open task, though of final ones %s', (_, more) => {
  const list = Array.from({ length: 200 }, (_, n) => (n > 60 && n % 13 === 0 ? open(n) : done(n, more(n))))
  for (const seed of [1, 2, 3]) {
    const ids = chosen(list, { isFull: true, seed })
    expect(list.filter(({ id, systemStatus }) => ids.includes(id) && systemStatus === 'PENDING')).not.toEqual([])
  }
})

test('the last of the list, and not of the window that was read last', () => {
  for (const seed of [1, 2, 3]) expect(chosen(LIST, { isFull: true, seed, again: 2 })).toContain('t198')
})

test.each<[string, Task]>([
  ['the longest body', done(77, { result: { body: 'x'.repeat(40) } })],
  ['a task without a body among others that have one', done(77, { result: { statusCode: 200 } })],
  ['a task with a mark', done(77, { truncated: true })],
  ['a task with an empty body', done(77, { result: { body: {} } })],
])('%s, wherever it stands', (_, task) => {
  const marked = 'truncated' in task ? LIST.map((each) => ({ ...each, truncated: false })) : LIST
  expect(chosen((marked as Task[]).with(77, task), { isFull: true })).toContain('t77')
})

test('one of each status, rare as it may be', () => {
  const ended = (n: number, systemStatus: string) => done(n, { completedAt: 1, systemStatus })
  const list = Array.from({ length: 200 }, (_, n) => ended(n, 'DONE')).with(77, ended(77, 'FAILED'))
  for (const seed of [1, 2, 3]) expect(chosen(list, { isFull: true, seed })).toContain('t77')
})

test('one with each sign, however common: a mark that some tasks of many have', () => {
  // Beside much else that no interface names.
  const list = LIST.map((each, n) => ({ ...each, log: 'x'.repeat(5000), ...(n % 7 === 5 && { truncated: true }) }))
  for (const seed of [1, 2, 3, 4, 5]) expect(chosen(list, { isFull: true, seed })).toContain('t5')
})

test.each(['{"a":"x', '{"a":"x ', '[1,', '<p>x'])('a body that breaks off (%s), however long others are', (body) => {
  const list = Array.from({ length: 200 }, (_, n) => done(n, { data: { body: '{"a":"whole"}\n' } }))
  expect(chosen(list.with(77, done(77, { data: { body } })), { isFull: true })).toContain('t77')
  expect(chosen(list, { isFull: true })).not.toContain('t77')
})

test('beside a full walk, what is only looked at: a walk that counts ties by looks takes in one window', () => {
  const sample = new FormSample(ENOUGH, true, 5)
  const enter = (walkId: number | null, skip: number, tasks: Task[]) => {
    sample.enter(walkId, walkId === null ? null : 'full')
    for (const [index, task] of tasks.entries()) sample.offer(prepareTask(task, DONE), skip + index, AS_HELD)
    sample.leave()
  }
  enter(null, 60, [...LIST.slice(60, 69), done(69, { data: { body: '{"a":"x' } })])
  enter(1, 0, LIST.slice(0, 10))
  enter(null, 190, LIST.slice(190))
  expect(sample.items().map(({ id }) => id)).toEqual(expect.arrayContaining(['t60', 't69', 't198']))
})

test('of two full walks what the last one shows', () => {
  const sample = new FormSample(ENOUGH, true, 5)
  for (const walkId of [1, 2]) {
    sample.enter(walkId, 'full')
    sample.offer(prepareTask(done(walkId), DONE), 0, AS_HELD)
    sample.leave()
  }
  expect(sample.items().map(({ id }) => id)).toEqual(['t2'])
})

test('each task once, and all of them where there are few', () => {
  expect(chosen([done(1), done(2)], { isFull: true }).toSorted()).toEqual(['t1', 't2'])
  expect(chosen([], { isFull: true })).toEqual([])
})

test('nothing of a full walk where none is due, and of other walks only what is new to the mirror', () => {
  expect(chosen(LIST, {})).toEqual([])
  expect(chosen(LIST, { isFull: true }, 'head')).toEqual([])
  const few: Facts = { forms_compared: { at: 1, final: 2, open: 1, longest: { result: 9 } } }
  expect(chosen(LIST, { facts: few, found: NEW })).toEqual(['t0', 't1', 't3'])
  expect(chosen(LIST, { facts: few })).toEqual([])
  expect(chosen(LIST, { facts: few, found: NEW }, 'range')).toEqual([])
})

test('until a final task was compared, what is known to the mirror as well', () => {
  const none: Facts = { forms_compared: { at: 1, final: 0, open: 1, longest: { result: 9 } } }
  expect(chosen(LIST, { facts: none })).toEqual(['t0', 't1', 't2', 't3', 't4'])
})

test('of what is new the longest, where none so long was compared before', () => {
  const list = withItem(77, done(77, { result: { body: 'x'.repeat(400) } }))
  expect(chosen(list, { facts: comparedUpTo({ result: 300 }), found: NEW })).toEqual(['t77'])
  expect(chosen(list, { facts: comparedUpTo({ result: 900 }), found: NEW })).toEqual([])
  expect(chosen(list, { facts: comparedUpTo({ result: 300 }) })).toEqual([])
})

test.each(['{"a":"x', '"truncated":true'])(
  'of what is new one with each sign that none compared before had (%s)',
  (sign) => {
    const task = sign.startsWith('{') ? { data: { body: sign } } : { truncated: true }
    const longest = { result: 9, data: 9 }
    const known = { ...longest, 'a body that breaks off': 1, truncated: 1 }
    const list = withItem(77, done(77, task)).with(99, done(99, task))
    expect(chosen(list, { facts: comparedUpTo(longest), found: NEW })).toEqual(['t77'])
    expect(chosen(list, { facts: comparedUpTo(known), found: NEW })).toEqual([])
    expect(chosen(list, { facts: comparedUpTo(longest) })).toEqual([])
  },
)

test('what is in doubt comes beside what the walk shows', () => {
  const less = { ...AS_HELD, showsLess: true }
  const alone = chosen(LIST, { isFull: true })
  expect(chosen(LIST, { isFull: true, found: less })).toEqual([...new Set([...alone, 't0', 't1', 't2'])])
})

test('in any walk, what shows less than the mirror holds', () => {
  expect(chosen(LIST, { found: { ...AS_HELD, showsLess: true } })).toEqual(['t0', 't1', 't2'])
})

test('in a full walk, what the mirror holds otherwise, where the list is known to show something else', () => {
  const otherwise = { ...AS_HELD, isHeldOtherwise: true }
  const alone = chosen(LIST, { isFull: true })
  expect(chosen(LIST, { isFull: true, found: otherwise })).toEqual(alone)
  expect(new Set(chosen(LIST, { isFull: true, facts: REPLACED, found: otherwise }))).toEqual(
    new Set([...alone, 't0', 't1', 't2']),
  )
  expect(chosen(LIST, { facts: REPLACED, found: otherwise })).toEqual([])
})

test('an item too long to be kept is left out', () => {
  expect(chosen(withItem(0, done(0, { result: { body: 'x'.repeat(5_000_000) } })), { isFull: true })).not.toContain(
    't0',
  )
})

test('a task with hundreds of signs is kept once', () => {
  const signs = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`s${n}`, true]))
  const heavy = prepareTask(done(1, { ...signs, result: { body: 'x'.repeat(1_000_000) } }), DONE)
  const sample = new FormSample(comparedUpTo({ result: 2_000_000 }), false, 5)
  sample.enter(1, 'head')
  const before = process.memoryUsage().arrayBuffers
  sample.offer(heavy, 0, NEW)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5_000_000)
  expect(sample.items().map(({ id }) => id)).toEqual(['t1'])
})
