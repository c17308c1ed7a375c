// Properties: no digit, key or character of an item is altered on the way from page text to task.

import { expect, it } from 'vitest'
import { parseExact } from '../../src/json.ts'
import { elementsAt, spanAt } from '../../src/service/decode/json-scan.ts'
import { readDetail, readItemText, readPage } from '../../src/service/decode/wire.ts'
import fc from '../support/fc.ts'
import { canonical } from '../support/json-canon.ts'
import { numberText, pageText, taskText, valueText } from '../support/json-text.ts'

const bytes = (text: string): Buffer => Buffer.from(text)

it('parses any JSON text to a value that is written back digit for digit', () => {
  fc.assert(
    fc.property(valueText, (text) => {
      expect(canonical(JSON.stringify(parseExact(text)))).toBe(canonical(text))
    }),
    { numRuns: 1000 },
  )
})

it('gives every item of a page digit for digit, and unfit ones with their own text', () => {
  const item = fc.oneof({ weight: 3, arbitrary: taskText }, { weight: 1, arbitrary: valueText })
  fc.assert(
    fc.property(fc.array(item, { maxLength: 5 }), (texts) => {
      const { items } = readPage(bytes(pageText(texts)))
      expect(items).toHaveLength(texts.length)
      for (const [index, found] of items.entries()) {
        if (found.kind === 'task') expect(canonical(JSON.stringify(found.task))).toBe(canonical(texts[index]!))
        else expect(found.raw).toBe(texts[index])
      }
    }),
    { numRuns: 500 },
  )
})

it('gives the item of a detail as the list gives it', () => {
  fc.assert(
    fc.property(taskText, (text) => {
      const listed = readPage(bytes(pageText([text]))).items[0]
      expect(readDetail(bytes(`{"statusCode":200,"body":{"item":${text}}}`)).item).toEqual(listed)
      expect(readItemText(text)).toEqual(listed)
    }),
    { numRuns: 200 },
  )
})

it('sees every number that a double or its shortest spelling cannot carry, and no other', () => {
  fc.assert(
    fc.property(numberText, (text) => {
      const odd = String(Number(text)) !== text
      expect(spanAt(bytes(text), 0)?.odd).toBe(odd)
      expect(spanAt(bytes(`{"a": [true,${text}\n],"b":"1.0"}`), 0)?.odd).toBe(odd)
      expect(JSON.stringify(parseExact(` ${text} `))).toBe(text)
    }),
    { numRuns: 5000 },
  )
})

it('sees where values begin and end, and how deep they are nested', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
  fc.assert(
    fc.property(fc.array(valueText, { maxLength: 5 }), (texts) => {
      const list = bytes(` [ ${texts.join(' , ')} ] `)
      const spans = [...elementsAt(list, 0)]
      expect(spans.map(({ start, end }) => list.toString('utf8', start, end))).toEqual(texts)
      // Of duplicate keys the last wins, but all of them count as nesting: never less than the value has.
      for (const [index, text] of texts.entries()) {
        expect(spans[index]!.depth).toBeGreaterThanOrEqual(depthOf(JSON.parse(text)))
      }
    }),
    { numRuns: 500 },
  )
})

it('reads keys with escapes also where JSON.parse takes them for keys it has met before (V8 13)', () => {
  const met = '{"id":"a","\\\\":1,"n":1}'
  const next = '{"id":"a","\\n":2,"n":1}'
  for (const text of [met, next]) {
    const { items } = readPage(bytes(pageText([text])))
    expect(items).toEqual([{ kind: 'task', task: expect.anything() }])
    expect(JSON.stringify(items[0]?.kind === 'task' && items[0].task)).toBe(text)
    expect(JSON.stringify(parseExact(text))).toBe(text)
  }
  const envelope = readPage(bytes('{"statusCode":200,"b\\u006fdy":{"\\u0069tems":[{"id":"a"}]}}'))
  expect(envelope).toMatchObject({ hasPayload: true, items: [{ task: { id: 'a' } }] })
})

it('a number in a string is no number', () => {
  const text = '{"id":"a","note":": 1.0, -0 [1e400","n":0.5,"m":-12.25,"t":1763600000000}'
  expect(spanAt(bytes(text), 0)).toEqual({
    start: 0,
    end: text.length,
    depth: 1,
    values: 11,
    odd: false,
    escapedKey: false,
  })
})
