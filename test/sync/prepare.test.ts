// Windows made ready in two ways, from plain bytes and by the parser: both say the same of any bytes, or the first says
// nothing.

import { expect, test } from 'vitest'
import { isMirrorError } from '../../src/errors.ts'
import { contentHash, rowOf } from '../../src/mirror/row-bytes.ts'
import { taskText } from '../../src/mirror/shape.ts'
import {
  type HashedWindow,
  listedHash,
  listedTask,
  type PreparedWindow,
  parseAll,
  prepareWindow,
  takePlainly,
  withHashes,
} from '../../src/sync/writer/prepare.ts'
import fc from '../support/fc.ts'
import { taskText as anyTask, numberText, objectText, pageText, stringText, valueText } from '../support/json-text.ts'

const DONE = new Set(['DONE'])
const RUNS = Number(process.env.PREPARE_RUNS ?? 800)

function drained<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { value, done } = steps.next()
    if (done === true) return value
  }
}

type Outcome = HashedWindow | { refused: unknown }

function outcome(work: () => PreparedWindow): Outcome {
  try {
    const { rows, hashes, ...window } = withHashes(work())
    // Copies: what stands around them in their buffers says nothing.
    return { ...window, rows: Uint8Array.from(rows), hashes: Uint8Array.from(hashes) }
  } catch (error) {
    return { refused: isMirrorError(error) ? error.facts : error }
  }
}

/** True where the bytes were taken plainly. */
function expectBothAlike(bytes: Buffer): boolean {
  const parsed = outcome(() => parseAll(bytes, DONE))
  const plain = drained(takePlainly(bytes, DONE))
  if (plain !== null) expect(outcome(() => plain)).toEqual(parsed)
  expect(outcome(() => prepareWindow(bytes, DONE))).toEqual(parsed)
  return plain !== null
}

const text = fc.string({ maxLength: 12 }).map((value) => JSON.stringify(value))
const integer = fc.nat().map(String)
const members = (given: Record<string, fc.Arbitrary<string>>) =>
  objectText(
    fc
      .tuple(
        ...Object.entries(given).map(([name, value]) => value.map((told): [string, string] => [`"${name}"`, told])),
      )
      .chain((all) => fc.shuffledSubarray(all, { minLength: all.length - 1 })),
  ).map((told) => told.replace(/\s+(?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)/g, ''))
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value))
/** As most services write most tasks. */
const plainTask = members({
  id: fc.uuid().map((id) => `"${id}"`),
  userId: text,
  data: members({ method: text, url: text, body: text, header: json }),
  timeframe: integer,
  accuracy: text,
  systemStatus: fc.constantFrom('"DONE"', '"PENDING"', '"D\\\\ONE"'),
  createdAt: integer,
  completedAt: integer,
  result: members({ body: fc.oneof(json, numberText), header: json, statusCode: integer, statusText: text }),
})
const item = fc.oneof(
  { weight: 6, arbitrary: plainTask },
  { weight: 1, arbitrary: anyTask },
  { weight: 1, arbitrary: valueText },
)

const page = fc
  .tuple(
    fc.array(item, { maxLength: 6 }),
    fc.constantFrom('200', '-5', '200.0', '404', 'null', '"200"'),
    fc.oneof(text, stringText, fc.constant('null')),
    fc.shuffledSubarray([0, 1, 2, 3], { minLength: 2 }),
    fc.shuffledSubarray([0, 1], { minLength: 1 }),
    fc.constantFrom('', '\n', ' ', 'x', ',', '\u0000'),
  )
  .map(([items, status, message, order, inner, end]) => {
    const list = [`"items":[${items.join()}]`, '"other":{"items":[]}']
    const all = [
      `"statusCode":${status}`,
      `"message":${message}`,
      `"body":{${inner.map((at) => list[at]).join()}}`,
      '"x":[1]',
    ]
    return `{${order.map((at) => all[at]).join()}}${end}`
  })

test('an answer of plain tasks is taken plainly, and as the parser does', () => {
  let plainly = 0
  fc.assert(
    fc.property(fc.array(plainTask, { maxLength: 5 }), (items) => {
      if (expectBothAlike(Buffer.from(pageText(items)))) plainly += 1
    }),
    { numRuns: RUNS / 5 },
  )
  expect(plainly).toBeGreaterThan((RUNS / 5) * 0.9)
})

test('any other answer is taken as the parser does, or left to it', () => {
  let plainly = 0
  fc.assert(
    fc.property(page, (told) => {
      if (expectBothAlike(Buffer.from(told))) plainly += 1
    }),
    { numRuns: RUNS },
  )
  expect(plainly).toBeGreaterThan(RUNS / 20)
})

test('a control character in front of an item is refused as the parser refuses it', () => {
  for (const items of ['[\u0000{"id":"a"}]', '[{"id":"a"},\u0001{"id":"b"}]']) {
    const raw = Buffer.from(`{"statusCode":200,"body":{"items":${items}}}`)
    expect(() => prepareWindow(raw, new Set(['DONE']))).toThrow()
  }
})

test('bytes that were damaged are refused as the parser refuses them', () => {
  const damage = fc.array(
    fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      remove: fc.nat({ max: 3 }),
      insert: fc.oneof(
        fc.constantFrom(...'"\\{}[],:0-.e \n\t\u0001', '\\u0041', '1.'),
        fc.constantFrom('true', 'nul', '"id":', '"data":{', 'é', '"__proto__":1,', '""', '00', '-0', '1e5'),
      ),
      raw: fc.option(fc.integer({ min: 0x80, max: 0xff }), { freq: 9 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  fc.assert(
    fc.property(fc.array(plainTask, { minLength: 1, maxLength: 3 }), damage, (items, blows) => {
      let bytes = Buffer.from(pageText(items))
      for (const { at, remove, insert, raw } of blows) {
        const place = Math.floor(at * bytes.length)
        const what = raw === null ? Buffer.from(insert) : Buffer.from([raw])
        bytes = Buffer.concat([bytes.subarray(0, place), what, bytes.subarray(place + remove)])
      }
      expectBothAlike(bytes)
    }),
    { numRuns: RUNS * 2 },
  )
})

test.each([
  ['two items without a comma between them', '{"body":{"items":[{"id":"a"}{"id":"b"}]}}'],
  ['a comma behind the last item', '{"body":{"items":[{"id":"a"},]}}'],
  ['a comma before the first item', '{"body":{"items":[,{"id":"a"}]}}'],
  ['something behind the end', '{"body":{"items":[]}}{}'],
  ['an answer cut off in an item', '{"body":{"items":[{"id":"a"'],
  ['an answer cut off behind an item', '{"body":{"items":[{"id":"a"}'],
  ['a list cut off', '{"body":{"items":['],
])('%s is refused', (_, told) => {
  expect(() => prepareWindow(Buffer.from(told), DONE)).toThrow('is not JSON')
})

test.each([
  ['a name twice in a JSON column', '{"id":"a","result":{"body":{"k":1,"j":2,"k":3}}}'],
  ['names that are numbers', '{"id":"a","result":{"body":{"b":1,"2":2,"1":3}}}'],
  ['a member twice', '{"id":"a","userId":"u","userId":"v"}'],
  ['data twice', '{"id":"a","data":{"url":"x"},"data":{"url":"y"}}'],
  ['an unknown member', '{"id":"a","unknown":1}'],
  ['a null', '{"id":"a","completedAt":null}'],
  ['a completedAt that tells no moment', '{"id":"a","completedAt":0}'],
  ['an empty object', '{"id":"a","data":{}}'],
  ['a number that a double cannot carry', '{"id":"a","createdAt":12345678901234567890}'],
  ['an escape that a printer would not write', '{"id":"a","data":{"url":"\\/x\\u0041"}}'],
  ['half a surrogate pair', '{"id":"a","data":{"url":"\\ud800"}}'],
  ['white space', '{ "id": "a" }'],
  [
    'more members than are compared',
    `{"id":"a","result":{"body":{${Array.from({ length: 99 }, (_, n) => `"k${n}":1`).join()}}}}`,
  ],
  ['deep nesting', `{"id":"a","result":{"body":${'['.repeat(99)}${']'.repeat(99)}}}`],
])('%s is left to the parser', (_, told) => {
  const bytes = Buffer.from(pageText(['{"id":"plain"}', told]))
  expect(expectBothAlike(bytes)).toBe(true)
  // Nothing may be parsed that is larger than nothing.
  expect(drained(takePlainly(bytes, DONE, 0))).toBeNull()
})

test('an escaped string, an odd number and a line break in a column come back as they were sent', () => {
  const told =
    '{"id":"a","data":{"body":"{\\"a\\":\\"b\\\\n\\"}\\n"},"result":{"body":{"n":1.0,"e":1E400,"s":"\\"\\t"}}}'
  const window = prepareWindow(Buffer.from(pageText([told])), DONE)
  expect(taskText(rowOf(listedTask(withHashes(window), 0).bytes))).toBe(told)
})

test('an item that is fit has the hash of its row, and one that is unfit has none', () => {
  const window = prepareWindow(Buffer.from(pageText(['{"id":"a"}', '{"id":7}', '{"id":"b","createdAt":5}'])), DONE)
  const hashed = withHashes(window)
  for (const index of [0, 2]) {
    const { bytes, hash } = listedTask(hashed, index)
    expect(hash).toEqual(contentHash(rowOf(bytes)))
  }
  expect(window.unfit.map(([index]) => index)).toEqual([1])
  expect(listedHash(hashed, 1)).toEqual(Buffer.alloc(16))
})
