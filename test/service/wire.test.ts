// Tables: what a page and a detail are read as, what is set aside and why, what is refused.
import { describe, expect, it } from 'vitest'
import { MirrorError } from '../../src/errors.ts'
import { type PageItem, readDetail, readItemText, readPage } from '../../src/service/decode/wire.ts'
import { pageText } from '../support/json-text.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const itemsOf = (...items: string[]): PageItem[] => readPage(bytes(pageText(items))).items
const nested = (levels: number, leaf = '1'): string => '['.repeat(levels) + leaf + ']'.repeat(levels)
const written = (item: PageItem | null | undefined): string =>
  item?.kind === 'task' ? JSON.stringify(item.task) : `unfit: ${item?.reason}`

describe('the envelope of a page', () => {
  it.each([
    ['{"statusCode":200,"message":"OK","body":{"items":[]}}', 200, 'OK', true],
    ['{"body":{"items":[]}}', null, null, true],
    ['{"statusCode":"200","message":7,"body":{"items":null}}', null, null, false],
    ['{"statusCode":200.5,"message":null,"body":{}}', null, null, false],
    ['{"statusCode":404,"message":"no","body":null}', 404, 'no', false],
    ['{"statusCode":500}', 500, null, false],
    ['{"statusCode":200,"body":[{"id":"a"}]}', 200, null, false],
    ['{"statusCode":200,"body":"items"}', 200, null, false],
    ['{"body":{"items":{"0":{"id":"a"}}}}', null, null, false],
    ['{"body":{"items":[]},"body":{}}', null, null, false],
    ['{"__proto__":{"body":{"items":[]}}}', null, null, false],
    ['{}', null, null, false],
  ])('%s', (text, statusCode, message, hasPayload) => {
    expect(readPage(bytes(text))).toEqual({ statusCode, message, hasPayload, items: [] })
  })

  it('cuts the message to 200 characters, also in the middle of an emoji', () => {
    const message = `${'m'.repeat(199)}😀`
    expect(readPage(bytes(JSON.stringify({ message }))).message).toBe(`${'m'.repeat(199)}\ufffd`)
  })

  it('skips a byte order mark, also where the items need their own text', () => {
    const text = pageText(['{"id":"a","n":1.0}', '{}'])
    const { items } = readPage(bytes(`\ufeff${text}`))
    expect(written(items[0])).toBe('{"id":"a","n":1.0}')
    expect(items[1]).toMatchObject({ kind: 'unfit', raw: '{}' })
  })

  it('reads a view into a larger buffer', () => {
    const large = bytes(`xxx${pageText(['{"id":"a","n":1.0}'])}xxx`)
    expect(written(readPage(large.subarray(3, large.length - 3)).items[0])).toBe('{"id":"a","n":1.0}')
  })

  it('finds the items that count behind duplicate and escaped names', () => {
    const text =
      '{"b\\u006fdy":{"items":[{"id":"x","n":2.0}]},"bodies":[1.0],"body" : { "x":"]}","items":[3.0],\n"item\\u0073":[ {"id":"a","n":1.0} , 7 ] } }'
    const { items } = readPage(bytes(text))
    expect(items.map(written)).toEqual(['{"id":"a","n":1.0}', 'unfit: not-an-object'])
  })
})

describe('refused as body-invalid', () => {
  it.each([
    ['nothing', bytes(''), 'not-json'],
    ['a web page', bytes('<html>secret</html>'), 'not-json'],
    ['a cut page', bytes('{"body":{"items":[{"id":"secret"'), 'not-json'],
    ['trailing text', bytes('{"body":{"items":[]}}secret'), 'not-json'],
    ['two byte order marks', bytes('\ufeff\ufeff{}'), 'not-json'],
    ['a list', bytes('[{"id":"secret"}]'), 'not-an-object'],
    ['a number with its own digits', bytes('1.0'), 'not-an-object'],
    ['null', bytes('null'), 'not-an-object'],
    ['half a UTF-8 character', Uint8Array.of(0x7b, 0x22, 0xe6, 0x97, 0x22, 0x3a, 0x31, 0x7d), 'not-utf8'],
    ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'not-utf8'],
    ['an overlong slash', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), 'not-utf8'],
    ['UTF-16', Uint8Array.of(0xff, 0xfe, 0x7b, 0, 0x7d, 0), 'not-utf8'],
  ])('%s', (_name, raw, reason) => {
    for (const read of [readPage, readDetail]) {
      const error = catching(() => read(raw))
      expect(error).toMatchObject({ code: 'body-invalid', facts: { bytes: raw.length, reason } })
      expect(error.hint).toBeTruthy()
      expect(error.cause).toBeUndefined()
      expect(`${error.message}${JSON.stringify(error.facts)}`).not.toContain('secret')
    }
  })
})

describe('items that are set aside', () => {
  const long = 'i'.repeat(513)
  it.each([
    ['null', 'not-an-object', null, null],
    ['[{"id":"a"}]', 'not-an-object', null, null],
    ['"text"', 'not-an-object', null, null],
    ['1.0', 'not-an-object', null, null],
    ['{}', 'no-id', null, null],
    ['{"id":"" , "createdAt":5}', 'no-id', null, 5],
    ['{"id":7,"createdAt":1.5}', 'no-id', null, null],
    ['{"id":null,"createdAt":"5"}', 'no-id', null, null],
    ['{"id":["a"]}', 'no-id', null, null],
    ['{"__proto__":{"id":"a"}}', 'no-id', null, null],
    ['{"id":"a\\ud800","createdAt":1763600000000}', 'id-malformed', null, 1763600000000],
    [`{"id":"${long}"}`, 'id-too-long', null, null],
    [`{"id":"a","createdAt":9,"x":${nested(500)}}`, 'too-deep', 'a', 9],
    [`{"x":${nested(500)}}`, 'too-deep', null, null],
  ])('%.40s', (raw, reason, taskId, createdAt) => {
    const items = itemsOf('{"id":"before"}', raw, '{"id":"behind","n":-0}')
    expect(items.map(written)).toEqual(['{"id":"before"}', `unfit: ${reason}`, '{"id":"behind","n":-0}'])
    expect(items[1]).toEqual({ kind: 'unfit', reason, message: expect.any(String), raw, taskId, createdAt })
  })

  it('keeps the raw text exactly as sent, white space, escapes and digits included', () => {
    const raw = '{ "name" : "\\u00e9 é 😀 \\/",\n\t"n": 1.50e+01, "n": 2 }'
    expect(itemsOf(` ${raw} `)[0]).toMatchObject({ raw })
  })

  it('takes in ids of 512 characters and 500 levels', () => {
    const id = '\u{1f600}'.repeat(256)
    expect(itemsOf(JSON.stringify({ id }), `{"id":"a","x":${nested(499)}}`).map(({ kind }) => kind)).toEqual([
      'task',
      'task',
    ])
  })

  it('sets aside an item nested too deep also on a page that is ordinary otherwise', () => {
    expect(itemsOf('{"id":"a"}', `{"id":"b","x":${nested(500)}}`).map(written)).toEqual([
      '{"id":"a"}',
      'unfit: too-deep',
    ])
  })

  it('counts brackets in strings as text', () => {
    const deep = JSON.stringify({ id: 'a', x: `\\"${'[{'.repeat(600)}` })
    expect(itemsOf(deep).map(written)).toEqual([deep])
  })

  it('gives the other items of a page with an item 200,000 levels deep', () => {
    const deep = `{"id":"deep","x":${nested(200_000)}}`
    const objects = `{"id":"objects","x":${'{"a":'.repeat(100_000)}1.0${'}'.repeat(100_000)}}`
    const items = itemsOf('{"id":"a"}', deep, objects, '{"id":"b","n":1e400}')
    expect(items.map(written)).toEqual(['{"id":"a"}', 'unfit: too-deep', 'unfit: too-deep', '{"id":"b","n":1e400}'])
    expect(items[1]).toMatchObject({ raw: deep, taskId: 'deep' })
  })
})

describe('a detail', () => {
  it.each([
    ['{"statusCode":200,"body":{"item":{"id":"a","n":1.0}}}', true, '{"id":"a","n":1.0}'],
    ['{"body":{"item":{"id":"a"}}}', true, '{"id":"a"}'],
    ['{"body":{"item":{"x":1}}}', true, 'unfit: no-id'],
    ['{"body":{"item":[]}}', false, 'unfit: not-an-object'],
    ['{"body":{"item":1.0}}', false, 'unfit: not-an-object'],
    ['{"body":{"item":null}}', false, null],
    ['{"body":{}}', false, null],
    ['{"body":[]}', false, null],
    ['{"statusCode":404,"message":"not found"}', false, null],
  ])('%s', (text, hasPayload, expected) => {
    const detail = readDetail(bytes(text))
    expect(detail.hasPayload).toBe(hasPayload)
    expect(detail.item && written(detail.item)).toBe(expected)
  })

  it('keeps the raw text of an item nested too deep', () => {
    const raw = `{"id":"a","x":${nested(5000)}}`
    expect(readDetail(bytes(`{"body":{"item": ${raw} }}`)).item).toMatchObject({ reason: 'too-deep', raw, taskId: 'a' })
  })
})

it('reads a set-aside item again from its raw text', () => {
  expect(written(readItemText('{"id":"a","n":1.0}'))).toBe('{"id":"a","n":1.0}')
  expect(readItemText('{"x":"é"}')).toMatchObject({ reason: 'no-id', raw: '{"x":"é"}' })
  expect(catching(() => readItemText(''))).toMatchObject({ code: 'body-invalid' })
})

function catching(run: () => unknown): MirrorError {
  try {
    run()
  } catch (error) {
    if (error instanceof MirrorError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
