// List and detail of a task compared: what a sample teaches, whom it owes a detail of, and which detail settles that.

import { describe, expect, test } from 'vitest'
import { parseExact } from '../../src/json.ts'
import { compareForms, differingFields, isLess, pathText } from '../../src/mirror/forms/differences.ts'
import { judgeSample } from '../../src/mirror/forms/form-votes.ts'
import { canHaveMore, type Forms, recencyOf, type SummaryField, withOnlyListed } from '../../src/mirror/forms/forms.ts'
import type { JsonValue, Task } from '../../src/task.ts'
import fc from '../support/fc.ts'

const task = (members: Record<string, unknown>) => parseExact(JSON.stringify({ id: 'a', ...members })) as Task
const text = (json: string) => parseExact(json) as Task

describe('comparing two forms', () => {
  test.each([
    ['{"id":"a"}', '{"id":"a","result":{"body":1}}', ['absent result']],
    ['{"id":"a","result":null}', '{"id":"a","result":{"body":1}}', ['absent result']],
    ['{"id":"a","r":{"b":{"c":{"d":1}}}}', '{"id":"a","r":{"b":{"c":{"d":1,"e":2}}}}', ['absent r.b.c.e']],
    ['{"id":"a","s":"abc"}', '{"id":"a","s":"abcd"}', ['cut s']],
    ['{"id":"a","s":"abc…"}', '{"id":"a","s":"abcdefgh"}', ['cut s']],
    ['{"id":"a","s":"abc..."}', '{"id":"a","s":"abcd"}', ['cut s']],
    ['{"id":"a","s":""}', '{"id":"a","s":"abcd"}', ['cut s']],
    ['{"id":"a","s":"abc [truncated]"}', '{"id":"a","s":"abc defgh"}', ['cut s']],
    ['{"id":"a","s":"abc... (12 more bytes)"}', '{"id":"a","s":"abc.defgh"}', ['cut s']],
    ['{"id":"a","s":"abc <<cut by the view: ask>>"}', '{"id":"a","s":"abc d"}', ['cut s']],
    ['{"id":"a","s":"[1,[2,3"}', '{"id":"a","s":"[1,[2,4]]"}', ['shorter s']],
    ['{"id":"a","s":"[1]"}', '{"id":"a","s":"[2]"}', ['changed s']],
    ['{"id":"a","s":"a (old)"}', '{"id":"a","s":"a (new)"}', ['changed s']],
    ['{"id":"a","s":"abcdefgh"}', '{"id":"a","s":"abc..."}', ['longer s']],
    ['{"id":"a","s":"abcd"}', '{"id":"a","s":"abc"}', ['longer s']],
    ['{"id":"a","s":"{\\"b\\":"}', '{"id":"a","s":{"b":1}}', ['cut s']],
    ['{"id":"a","s":[1,2]}', '{"id":"a","s":[1,2,3]}', ['cut s']],
    ['{"id":"a","s":[{"x":1},{"x":1}]}', '{"id":"a","s":[{"x":1,"y":2},{"x":1,"y":2}]}', ['absent s[].y']],
    ['{"id":"a","s":"xyz"}', '{"id":"a","s":"abcd"}', ['shorter s']],
    ['{"id":"a","s":"wxyz"}', '{"id":"a","s":"abcd"}', ['changed s']],
    ['{"id":"a","n":1.0}', '{"id":"a","n":1}', ['spelled n']],
    ['{"id":"a","n":1e3}', '{"id":"a","n":1000}', ['spelled n']],
    ['{"id":"a","n":0.10}', '{"id":"a","n":1e-1}', ['spelled n']],
    ['{"id":"a","n":-0}', '{"id":"a","n":0}', ['spelled n']],
    ['{"id":"a","n":12345678901234567890}', '{"id":"a","n":12345678901234567891}', ['changed n']],
    ['{"id":"a","x":1}', '{"id":"a"}', ['extra x']],
    ['{"id":"a","x":null}', '{"id":"a"}', ['extra-null x']],
    ['{"id":"a","h":{"b":1,"a":2}}', '{"h":{"a":2,"b":1},"id":"a"}', []],
    ['{"id":"a","__proto__":{"x":1}}', '{"id":"a","__proto__":{"x":1,"y":2}}', ['absent __proto__.y']],
  ])('%s and %s: %j', (part, whole, expected) => {
    const found = compareForms(text(part), text(whole))
    expect(found.map(({ kind, path }) => `${kind} ${pathText(path)}`)).toEqual(expected)
  })

  test('names of what differs, sorted and each once, whichever form comes first; and of what one of them lacks', () => {
    const part = text('{"id":"a","data":{"url":"v"},"r":[1,2],"status":"OPEN"}')
    const whole = text('{"id":"a","data":{"url":"u","body":""},"r":[2,1],"n.n":1,"__proto__":1,"status":"DONE"}')
    const names = ['__proto__', 'data.body', 'data.url', 'n.n', 'r[]', 'status']
    expect(differingFields(part, whole)).toEqual(names)
    expect(differingFields(whole, part)).toEqual(names)
    expect(differingFields(part, whole, ({ kind }) => isLess(kind))).toEqual(['__proto__', 'data.body', 'n.n'])
  })

  test('many differences below one member count as one, and so do deep ones', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index]))
    expect(compareForms(task({ result: { body: {} } }), task({ result: { body: many } }))).toMatchObject([
      { path: ['result', 'body'], kind: 'cut' },
    ])
    const deep = (value: JsonValue) => Array.from({ length: 400 }).reduce<JsonValue>((inner) => ({ x: inner }), value)
    const [only, ...others] = compareForms(task({ deep: deep(1) }), task({ deep: deep(2) }))
    expect(others).toEqual([])
    expect(only?.path.length).toBeLessThan(10)
  })

  test('two forms are without a difference where and only where they are JSON-equal', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [left, right] = [task({ x: a }), task({ x: b })]
        expect(compareForms(left, text(JSON.stringify(left)))).toEqual([])
        const isSame = compareForms(left, right).length === 0
        if (isSame) expect(compareForms(right, left)).toEqual([])
        else expect(JSON.stringify(left)).not.toBe(JSON.stringify(right))
      }),
    )
  })
})

const DONE = { systemStatus: 'DONE', completedAt: 5 }
const sampled = (listed: object[], details: object[], isFinal = true) => ({
  isFinal,
  listed: listed.map((form) => task({ ...(isFinal ? DONE : { systemStatus: 'PENDING' }), ...form })),
  details: details.map((form) => task({ ...(isFinal ? DONE : { systemStatus: 'PENDING' }), ...form })),
})
const twice = (form: object): object[] => [form, form]
const NO_FORMS: Readonly<Forms> = { summary: [], uneven: [] }

const learned = (sample: Parameters<typeof judgeSample>[0], before: Forms = NO_FORMS) => {
  const { forms } = judgeSample(sample, before)
  return [
    ...forms.summary.map(
      (field) => `${field.how} ${pathText(field.path)}${field.how === 'cut' ? ` from ${field.from}` : ''}`,
    ),
    ...forms.uneven.map(({ path, how }) => `${how} ${pathText(path)}`),
  ]
}
const OPEN = sampled([{}], [{}], false)

describe('what a sample teaches', () => {
  test.each<[string, Parameters<typeof judgeSample>[0], string[]]>([
    ['equal forms: nothing', [sampled([{ x: 1 }], [{ x: 1 }])], []],
    ['more in a detail, seen twice', [OPEN, sampled(twice({}), twice({ x: 1 }))], ['absent x']],
    ['not where it was seen once', [OPEN, sampled([{}], [{ x: 1 }])], []],
    [
      'unless the list is known to show less, of a field of the interface',
      [
        OPEN,
        sampled([{ data: {} }], [{ data: { body: 'a' }, x: 1 }], false),
        sampled(twice({}), twice({ result: { statusCode: 200 } })),
      ],
      ['absent data.body', 'absent result'],
    ],
    [
      'a part that some tasks are listed without, and a member of it that others are',
      [
        OPEN,
        sampled(twice({}), twice({ data: { body: 'a' } })),
        sampled(twice({ data: {} }), twice({ data: { body: 'a' } })),
      ],
      ['absent data', 'absent data.body'],
    ],
    ['unless it is so of two tasks', [OPEN, sampled([{}], [{ x: 1 }]), sampled([{}], [{ x: 2 }])], ['absent x']],
    ['nor where it came between two reads', [OPEN, sampled([{}, { x: 1 }], [{ x: 1 }, { x: 1 }])], []],
    ['nor where the status differs', [OPEN, sampled(twice({}), twice({ x: 1, systemStatus: 'FAILED' }))], []],
    ['nor where it ended later', [OPEN, sampled(twice({}), twice({ x: 1, completedAt: 9 }))], []],
    ['of open tasks, too', [sampled(twice({}), twice({ x: 1 }), false)], ['absent x']],
    ['a cut, from half of its length on', [OPEN, sampled(twice({ x: 'ab' }), twice({ x: 'abcd' }))], ['cut x from 1']],
    [
      'of several cuts the shortest counts',
      [
        OPEN,
        sampled(twice({ x: 'a'.repeat(100) }), twice({ x: 'a'.repeat(500) })),
        sampled(twice({ x: 'a'.repeat(60) }), twice({ x: 'a'.repeat(500) })),
      ],
      ['cut x from 30'],
    ],
    [
      'a moment of reading is no rule for one task, and one for two',
      [OPEN, ...[1, 2].map((n) => sampled([{}, {}], [{ at: n }, { at: n + 5 }]))],
      ['volatile at'],
    ],
    ['one that moved once', [OPEN, sampled([{}, {}], [{ at: 1 }, { at: 2 }])], []],
    [
      'nor two of many that moved: tasks change',
      [
        OPEN,
        ...[1, 2].map((n) => sampled([{ at: n }, { at: n }], [{ at: n }, { at: n + 5 }])),
        ...[1, 2, 3].map((n) => sampled([{ at: n }], [{ at: n }])),
      ],
      [],
    ],
    [
      'nor a field of the interface: what moves there has changed',
      [OPEN, ...[1, 2, 3].map((n) => sampled([{}, {}], [{ timeframe: n }, { timeframe: n + 5 }]))],
      [],
    ],
    [
      'a field of the list alone',
      [OPEN, ...[1, 2].map((n) => sampled(twice({ tag: n }), twice({})))],
      ['only-listed tag'],
    ],
    ['not by one task, whose detail may come late', [OPEN, sampled(twice({ tag: 1 }), twice({}))], []],
    ['nor what differs in one', [OPEN, sampled(twice({ tag: 1 }), twice({ tag: 2 }))], []],
    [
      'not where the detail shows another state',
      [OPEN, ...[1, 2, 3].map((n) => sampled(twice({ tag: 1, timeframe: n }), twice({ timeframe: n + 9 }), false))],
      [],
    ],
    [
      'of final tasks that is another way to show the same, where two do it',
      [OPEN, ...[1, 2].map((n) => sampled(twice({ timeframe: n }), twice({ timeframe: n + 9 })))],
      ['replaced timeframe'],
    ],
    [
      'a status that the list always spells otherwise',
      [OPEN, ...[1, 2].map(() => sampled(twice({ systemStatus: 'done' }), twice({})))],
      ['replaced systemStatus'],
    ],
    [
      'also where it leaves the end out',
      [1, 2].map(() => sampled(twice({ systemStatus: 'done', completedAt: undefined }), twice({}))),
      ['replaced systemStatus', 'absent completedAt'],
    ],
    [
      'not where fewer do than not: their details may come late',
      [1, 2, 3, 4].map((n) => (n < 3 ? sampled(twice({ completedAt: 9 }), twice({})) : sampled([{}], [{}]))),
      [],
    ],
    [
      'nor where the details have not ended, which come late',
      [1, 2].map(() => sampled(twice({}), twice({ systemStatus: 'RUNNING', completedAt: null, result: null }))),
      [],
    ],
    ['nor where a detail was read once', [1, 2].map(() => sampled(twice({ systemStatus: 'done' }), [{}])), []],
    [
      'nor where one of those that differ was read once, or has changed',
      [
        ...[1, 2].map(() => sampled(twice({ systemStatus: 'done' }), twice({}))),
        sampled([{ systemStatus: 'done' }], [{}]),
        sampled([{ systemStatus: 'FAIL' }, { systemStatus: 'done' }], twice({})),
        sampled([{}], [{}]),
      ],
      [],
    ],
    [
      'nor of open tasks',
      [1, 2].map(() => sampled(twice({ systemStatus: 'RUNNING' }), twice({ systemStatus: 'RETRYING' }), false)),
      [],
    ],
    [
      'whatever else only the list has is told, too, but not by a task that has changed',
      [
        ...[1, 2, 3].map((n) => sampled(twice({ completedAt: 9, tag: n }), twice({}))),
        sampled([{ completedAt: 8 }, { completedAt: 9 }], twice({ x: 1 })),
        sampled(twice({ completedAt: 9 }), [{ completedAt: 4 }, { x: 1 }]),
      ],
      ['replaced completedAt', 'only-listed tag'],
    ],
    [
      'nor where most have changed meanwhile',
      [1, 2, 3].map((n) => sampled([{ completedAt: n }, { completedAt: n + 9 }], twice({ completedAt: n + 9 }))),
      [],
    ],
    [
      'nor the same number in other digits',
      [1, 2].map((n) => ({
        ...sampled(twice({}), twice({})),
        listed: twice(text(`{"id":"a","timeframe":${n}.0}`)) as Task[],
        details: twice(text(`{"id":"a","timeframe":${n}}`)) as Task[],
      })),
      [],
    ],
    ['and not where one does', [OPEN, sampled(twice({ timeframe: 1 }), twice({ timeframe: 9 }))], []],
    [
      'a mask, however long',
      [1, 2].map((n) =>
        sampled(twice({ data: { header: { a: '*'.repeat(n + 9) } } }), twice({ data: { header: { a: 'b' } } })),
      ),
      ['replaced data.header.a'],
    ],
    [
      'a short one is no beginning, and may not be shorter elsewhere',
      [1, 2].map(() => sampled(twice({ data: { header: { a: '*' } } }), twice({ data: { header: { a: 'bcd' } } }))),
      ['cut data.header.a from 0', 'replaced data.header.a'],
    ],
    [
      'a detail that has only the beginning of what is listed',
      [OPEN, ...['ab', 'cd'].map((s) => sampled(twice({ data: { body: s.repeat(9) } }), twice({ data: { body: s } })))],
      ['only-begun data.body'],
    ],
    ['and not of one task', [OPEN, sampled(twice({ data: { body: 'abab' } }), twice({ data: { body: 'ab' } }))], []],
    [
      'a word about the cut is none of the task, and owes its detail',
      [OPEN, sampled(twice({ x: 'a', truncated: true }), twice({ x: 'abc' }))],
      ['cut x from 0', 'marked truncated'],
    ],
    [
      'unless a whole one has it, too',
      [sampled(twice({ starred: true }), twice({})), sampled(twice({ starred: true }), twice({ x: 'abc' }))],
      ['absent x'],
    ],
    [
      'nor is it a field of the list where the detail comes before the result, of which nobody knows whether it was cut',
      [1, 2].map(() => sampled(twice({ result: { body: 'a' }, truncated: true }), twice({}))),
      ['only-listed result'],
    ],
    [
      'but with a result it is',
      [1, 2].map((n) => sampled(twice({ result: n, starred: true }), twice({ result: n }))),
      ['only-listed starred'],
    ],
    ['or it says no', [OPEN, sampled(twice({ x: 'a', whole: false }), twice({ x: 'abc' }))], ['cut x from 0']],
    [
      'a shorter text counts as cut',
      [OPEN, sampled(twice({ accuracy: 'HOUR' }), twice({ accuracy: 'MINUTE' }))],
      ['cut accuracy from 2'],
    ],
    ['a null says nothing', [OPEN, sampled(twice({ x: null }), twice({}))], []],
  ])('%s', (_, sample, expected) => {
    expect(learned(sample)).toEqual(expected)
  })

  test('a field that differed is as any other once three tasks show it alike both ways, and none otherwise', () => {
    const known: Forms = {
      summary: [
        { path: ['mask'], how: 'replaced' },
        { path: ['rest'], how: 'absent' },
        { path: ['cut'], how: 'cut', from: 9 },
        { path: ['flag'], how: 'marked' },
      ],
      uneven: [
        { path: ['tag'], how: 'only-listed' },
        { path: ['at'], how: 'differs' },
        { path: ['seen'], how: 'volatile' },
      ],
    }
    const all = { mask: 0, rest: 0, cut: 'a', flag: true, tag: 1, at: 2, seen: 3 }
    const alike = sampled([all], [all])
    const held = (form: object) => ({ ...alike, held: task({ ...DONE, ...all, ...form }) })
    const other = sampled(twice({ mask: 0, tag: 1, at: 2 }), twice({ mask: 1, tag: 1, at: 3 }))
    const left = (...sample: (typeof alike)[]) => {
      const { summary, uneven } = judgeSample(sample, known).forms
      return [...summary, ...uneven].map(({ path }) => path[0])
    }
    const summary = ['mask', 'rest', 'cut', 'flag']
    expect(left(alike, alike, alike, OPEN)).toEqual([...summary, 'seen'])
    expect(left(alike, alike, held({ mask: 9 }))).toEqual(['rest', 'cut', 'flag', 'seen'])
    expect(left(alike, alike, held({ rest: 9, cut: 'abc', flag: false }))).toEqual(['mask', 'flag', 'seen'])
    expect(left(alike, alike, alike, other)).toEqual([...summary, 'at', 'seen'])
    expect(left(alike, held({ mask: 9 }), other, alike)).toEqual([...summary, 'at', 'seen'])
    expect(left(alike, held({ mask: 9 }), OPEN, OPEN)).toEqual([...summary, 'tag', 'at', 'seen'])
    // What neither of the two has any more tells nothing of those that have it.
    const gone = { ...sampled([{}], [{}]), held: task({ ...DONE, rest: 1 }) }
    expect(left(alike, alike, alike, gone)).toContain('rest')
  })

  test('a final task of which both ways show something else, and nobody knows why, tells nothing of the list', () => {
    const result = { body: 1 }
    const plain = sampled([{ result }], [{ result }])
    const masked = (n: number) => sampled(twice({ timeframe: n, result }), twice({ timeframe: n + 9, result }))
    const told = (...sample: (typeof OPEN)[]) => judgeSample(sample, NO_FORMS).final
    const known: Forms = { summary: [{ path: ['completedAt'], how: 'replaced' }], uneven: [] }
    expect(judgeSample([sampled(twice({ completedAt: 9, result }), twice({ result }))], known).final).toBe(1)
    expect(told(plain, masked(1))).toBe(1)
    expect(told(plain, masked(1), masked(2))).toBe(3)
    expect(told(sampled(twice({ x: 'a', result }), twice({ x: 'abc', result })))).toBe(1)
  })

  test.each([
    ['in no member', {}],
    ['in a null', { result: null }],
  ])('nor does one without a result, %s: it may come later', (_, form) => {
    const { forms: _forms, isOver: _isOver, ...told } = judgeSample([sampled([form], [form]), OPEN], NO_FORMS)
    expect(told).toEqual({ final: 0, open: 1, unfinished: 1 })
    expect(judgeSample([sampled([form], [{ result: { body: 1 } }])], NO_FORMS)).toMatchObject({ unfinished: 0 })
  })

  test('what is known stays, and there is never more of it than a few fields', () => {
    const many = (from: number) => Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${from + n}`, 1]))
    const before = judgeSample([sampled(twice({ h: {} }), twice({ h: many(0) }))], NO_FORMS).forms
    const after = judgeSample([sampled(twice({ h: {} }), twice({ h: many(20) }))], before).forms
    expect(before.summary).toHaveLength(9)
    expect(after.summary).toEqual([{ path: ['h'], how: 'cut', from: 0 }])
    expect(canHaveMore(task({ h: { k1: 1 } }), false, after)).toBe(true)
    const header = (n: number) => ({ data: { header: { [`k${n % 20}`]: n } } })
    const masked = Array.from({ length: 40 }, (_, n) => sampled(twice(header(n)), twice(header(n + 100))))
    expect(judgeSample(masked, NO_FORMS).forms.summary).toEqual([{ path: ['data'], how: 'replaced' }])
  })
})

describe('who can have more in its detail', () => {
  const absent = (...path: string[]): SummaryField => ({ path, how: 'absent' })
  test.each<[string, object, SummaryField, boolean]>([
    ['lacks the field', { result: {} }, absent('result', 'body'), true],
    ['has it', { result: { body: 1 } }, absent('result', 'body'), false],
    ['lacks what it would be in', {}, absent('result', 'body'), false],
    ['has a null in its place', { ...DONE, result: null }, absent('result'), true],
    ['has no result yet, as it is open', { result: null }, absent('result'), false],
    ['is long enough to be cut', { s: 'x'.repeat(60) }, { path: ['s'], how: 'cut', from: 50 }, true],
    ['is long enough in another field', { t: 'x'.repeat(60) }, { path: ['s'], how: 'cut', from: 50 }, true],
    ['bears the mark', { truncated: true }, { path: ['truncated'], how: 'marked' }, true],
    ['bears it not', { truncated: false }, { path: ['truncated'], how: 'marked' }, false],
    ['is too short for that', { s: 'x' }, { path: ['s'], how: 'cut', from: 50 }, false],
    ['has text in place of an object', { result: '{"bo' }, absent('result', 'body'), true],
    ['lacks it in an element', { s: [{ y: 1 }, {}] }, absent('s', '[]', 'y'), true],
    ['shows something else of it', { s: { y: 1 } }, { path: ['s', 'y'], how: 'replaced' }, true],
    ['has nothing of it', { s: { z: 1 } }, { path: ['s', 'y'], how: 'replaced' }, false],
  ])('one that %s', (_, listed, field, expected) => {
    const shown = task(listed as Record<string, unknown>)
    expect(canHaveMore(shown, shown.systemStatus === 'DONE', { summary: [field], uneven: [] })).toBe(expected)
  })
})

describe('a detail beside what the list showed', () => {
  const isFinal = (form: Task) => form.systemStatus === 'DONE'
  const uneven: Forms = { summary: [], uneven: [{ path: ['at'], how: 'volatile' }] }
  const cut: Forms = { summary: [{ path: ['s'], how: 'cut', from: 0 }], uneven: [] }
  const replaced: Forms = { summary: [{ path: ['s'], how: 'replaced' }], uneven: [] }
  const rounded: Forms = { summary: [{ path: ['completedAt'], how: 'replaced' }], uneven: [] }
  const begun: Forms = { summary: [], uneven: [{ path: ['s'], how: 'only-begun' }] }
  const marked: Forms = { summary: [{ path: ['result', 'body', 'cut'], how: 'marked' }], uneven: [] }
  test.each<[string, object, object, object | null, Forms, string]>([
    ['has more', { ...DONE }, { ...DONE, result: 1 }, null, NO_FORMS, 'agrees'],
    ['spells a number otherwise', { ...DONE, n: 1 }, { ...DONE, n: 1 }, null, NO_FORMS, 'agrees'],
    ['is still open', { ...DONE }, { systemStatus: 'PENDING' }, null, NO_FORMS, 'older'],
    ['is done already', { systemStatus: 'PENDING' }, { ...DONE }, null, NO_FORMS, 'newer'],
    ['ended earlier', { ...DONE }, { ...DONE, completedAt: 4 }, null, NO_FORMS, 'older'],
    ['ended later', { ...DONE }, { ...DONE, completedAt: 6 }, null, NO_FORMS, 'newer'],
    ['tells more exactly when it ended', { ...DONE, completedAt: 0 }, { ...DONE }, null, rounded, 'agrees'],
    ['differs in more than that', { ...DONE, completedAt: 0, x: 1 }, { ...DONE, x: 2 }, null, rounded, 'unclear'],
    ['is what the mirror had before', { ...DONE, x: 2 }, { ...DONE, x: 1 }, { ...DONE, x: 1 }, NO_FORMS, 'older'],
    ['is another state', { ...DONE, x: 2 }, { ...DONE, x: 3 }, { ...DONE, x: 1 }, NO_FORMS, 'unclear'],
    ['differs in what always does', { ...DONE, at: 1 }, { ...DONE, at: 2 }, null, uneven, 'agrees'],
    [
      'is longer where the list cuts',
      { ...DONE, s: 'yes, but' },
      { ...DONE, s: 'no, for good reasons' },
      null,
      cut,
      'agrees',
    ],
    ['has what the list replaces', { ...DONE, s: '***' }, { ...DONE, s: 'a' }, null, replaced, 'agrees'],
    ['and another state beside', { ...DONE, s: '***', x: 1 }, { ...DONE, s: 'a', x: 2 }, null, replaced, 'unclear'],
    ['has only the beginning, as always', { ...DONE, s: 'abcd' }, { ...DONE, s: 'ab' }, null, begun, 'agrees'],
    ['has something else there', { ...DONE, s: 'abcd' }, { ...DONE, s: 'cd' }, null, begun, 'unclear'],
    ['is whole beside a mark', { ...DONE, s: '', cut: true }, { ...DONE, s: 'x' }, null, NO_FORMS, 'agrees'],
    [
      'is whole where a mark is all that the list shows',
      { ...DONE, result: { body: { cut: true } } },
      { ...DONE, result: { body: { a: 1 } } },
      null,
      marked,
      'agrees',
    ],
    ['lacks a null', { ...DONE, x: null }, { ...DONE }, null, NO_FORMS, 'agrees'],
    ['is open in another way', { systemStatus: 'PENDING' }, { systemStatus: 'RUNNING' }, null, NO_FORMS, 'newer'],
  ])('that %s', (_, listed, detail, before, forms, expected) => {
    const [shown, single] = [task(listed as never), task(detail as never)]
    expect(
      recencyOf(single, { listed: shown, before: before === null ? null : task(before as never) }, forms, isFinal),
    ).toBe(expected)
  })

  test('keeps what only the list has of any task, and nothing else of it', () => {
    const forms: Forms = { summary: [], uneven: [{ path: ['a', '__proto__'], how: 'only-listed' }] }
    const listed = text('{"id":"a","a":{"__proto__":5,"b":1},"c":1}')
    expect(JSON.stringify(withOnlyListed(text('{"id":"a","a":{"d":2}}'), listed, forms))).toBe(
      '{"id":"a","a":{"d":2,"__proto__":5}}',
    )
    expect(JSON.stringify(withOnlyListed(text('{"id":"a","a":3}'), listed, forms))).toBe('{"id":"a","a":3}')
  })

  test.each([
    ['a link in the place of a body', '{"body":{"href":"/a"}}', '{"body":{"a":1}}', '{"body":{"a":1}}'],
    ['beside all of a body', '{"body":{"a":1,"href":"/a"}}', '{"body":{"a":1}}', '{"body":{"a":1,"href":"/a"}}'],
    ['beside a body, of which the list shows none', '{"size":1}', '{"body":{"a":1}}', '{"body":{"a":1},"size":1}'],
  ])('what only the list has: %s', (_, listed, detail, kept) => {
    const of = (result: string) => text(`{"id":"a","result":${result}}`)
    const paths = [
      ['result', 'body', 'href'],
      ['result', 'size'],
    ]
    const forms: Forms = { summary: [], uneven: paths.map((path) => ({ path, how: 'only-listed' })) }
    expect(JSON.stringify(withOnlyListed(of(detail), of(listed), forms))).toBe(`{"id":"a","result":${kept}}`)
  })

  test('keeps no word about a cut, though whole tasks have it, too', () => {
    const forms: Forms = {
      summary: [{ path: ['truncated'], how: 'marked' }],
      uneven: [{ path: ['truncated'], how: 'only-listed' }],
    }
    expect(withOnlyListed(task({ s: 'abcd' }), task({ s: 'ab', truncated: true }), forms)).toEqual(task({ s: 'abcd' }))
  })

  test('keeps the whole of what details have only the beginning of', () => {
    const kept = (detail: string, listed: string) => withOnlyListed(task({ s: detail }), task({ s: listed }), begun).s
    expect(kept('ab', 'abcd')).toBe('abcd')
    expect(kept('ab…', 'abcd')).toBe('abcd')
    expect(kept('xy', 'abcd')).toBe('xy')
    expect(kept('abcde', 'abcd')).toBe('abcde')
  })
})
