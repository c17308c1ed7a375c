// Which bytes are JSON: what `JSON.parse` says of them, for any text, any damage and any depth.
import { expect, it, test } from 'vitest'
import { isJson } from '../../src/service/decode/json-scan.ts'
import fc from '../support/fc.ts'
import { parses, valueText } from '../support/json-text.ts'

it('says of any text what the parser says', () => {
  const token = fc.constantFrom(
    ...'{}[],:"\\ \n\r\t\u000b\u0000\ufeff01-',
    ...[
      '"a"',
      '"a":',
      '\\u00e9',
      '\\ud800',
      '\\x',
      '-0',
      '01',
      '1.',
      '.5',
      '1e5',
      '1e',
      'true',
      'fals',
      'null',
      'nulll',
    ],
  )
  const soup = fc.array(token, { maxLength: 9 }).map((tokens) => tokens.join(''))
  const damaged = fc
    .tuple(valueText, fc.nat({ max: 60 }), fc.nat({ max: 2 }), fc.oneof(fc.constant(''), token))
    .map(([text, at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed))
    // Half a pair is no UTF-8, which comes before.
    .filter((text) => text.isWellFormed())
  fc.assert(
    fc.property(fc.oneof(valueText, soup, damaged), (text) => {
      expect(isJson(Buffer.from(text))).toBe(parses(text))
    }),
    { numRuns: 5000 },
  )
})

test.each([
  ['a million lists in one another', '['.repeat(1e6) + ']'.repeat(1e6), true],
  ['a million objects in one another', `${'{"a":'.repeat(1e6)}1${'}'.repeat(1e6)}`, true],
  [
    'lists and objects by turns, one of them closed by the other bracket',
    `${'[{"a":'.repeat(99)}1${'}]'.repeat(98)}]}`,
    false,
  ],
  ['a million that are left open', '['.repeat(1e6), false],
])('%s: %#', (_, text, is) => {
  expect(isJson(Buffer.from(text))).toBe(is)
})
