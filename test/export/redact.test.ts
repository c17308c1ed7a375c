import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeRedactor, REDACTED_HEADERS } from '../../src/export/redact.ts'
import { makeFlatRedactor } from '../../src/export/redact-flat.ts'

const R = '"[redacted]"'

test.each([
  ['an ordinary header', '{"accept":"*/*","authorization":"Bearer x"}', `{"accept":"*/*","authorization":${R}}`],
  ['any case', '{"AuthoriZation":"x","X-API-KEY":"y"}', `{"AuthoriZation":${R},"X-API-KEY":${R}}`],
  ['both cookie headers', '{"cookie":"a=1","Set-Cookie":"b=2"}', `{"cookie":${R},"Set-Cookie":${R}}`],
  ['white space', '{ "cookie" : "a" , "x" : "1" }', `{ "cookie" : ${R} , "x" : "1" }`],
  ['white space in the name', '{"x":"1","Cookie ":"a"}', `{"x":"1","Cookie ":${R}}`],
  ['white space before the name', '{ "\u00a0cookie":"a" }', `{"\u00a0cookie":${R}}`],
  ['a tab in the name', '{"cookie\\t":"a"}', `{"cookie\\t":${R}}`],
  ['header lines by name', '{"Headers":"Cookie: x","x":"1"}', '{"Headers":"Cookie: [redacted]","x":"1"}'],
  ['escaped quotes in the value', '{"cookie":"a=\\"1\\"; b=\\\\","x":"1"}', `{"cookie":${R},"x":"1"}`],
  ['a list of values', '{"set-cookie":["a=1","b=2"],"x":[1.0]}', `{"set-cookie":${R},"x":[1.0]}`],
  ['a number', '{"x-api-key":12345678901234567890}', `{"x-api-key":${R}}`],
  ['an object', '{"cookie":{"a":"1"}}', `{"cookie":${R}}`],
  ['null', '{"cookie":null}', `{"cookie":${R}}`],
  ['an escaped name', '{"\\u0061uthorization":"x"}', `{"authorization":${R}}`],
  ['nesting', '{"a":{"b":[{"Cookie":"x"}]}}', `{"a":{"b":[{"Cookie":${R}}]}}`],
  ['a list of pairs', '[["Cookie","x"],["accept","y"]]', `[["Cookie",${R}],["accept","y"]]`],
  ['names and values in turn', '["accept","y","Cookie","x"]', `["accept","y","Cookie",${R}]`],
  ['name and value objects', '[{"name":"Cookie","value":"x"}]', `[{"name":"Cookie","value":${R}}]`],
  ['header lines', '"accept: y\\r\\nCookie: x\\r\\n"', '"accept: y\\r\\nCookie: [redacted]\\r\\n"'],
  ['a list of header lines', '["accept: y","Cookie: x","b: c"]', '["accept: y","Cookie: [redacted]","b: c"]'],
  ['a name that is __proto__ beside it', '{"__proto__":"p","cookie":["x"]}', `{"__proto__":"p","cookie":${R}}`],
])('replaces the value in a header with %s', (_what, text, expected) => {
  expect(makeRedactor(REDACTED_HEADERS).header(text)).toBe(expected)
})

test.each([
  ['{"accept":"*/*","user-agent":"x"}'],
  ['{"vary":"Cookie","access-control-allow-headers":"Authorization, X-Api-Key"}'],
  ['{"access-control-allow-headers":["Authorization","Content-Type"]}'],
  ['{"x-authorization-info":"none","cookies":"no"}'],
  ['{"note":"{\\"cookie\\":\\"a\\"}"}'],
  ['{"name":"cookie","value":"chocolate"}'],
  ['"cookie"'],
  ['null'],
  ['[]'],
  ['{}'],
])('leaves %s as it is', (text) => {
  const redactor = makeRedactor(REDACTED_HEADERS)
  expect(redactor.header(text)).toBe(text)
  expect(redactor.counts()).toEqual({})
})

test('keeps the digits of other values where a text has to be parsed', () => {
  const text = '{"\\u0063ookie":"x","n":[1.0,12345678901234567890,1e400,-0]}'
  expect(makeRedactor(REDACTED_HEADERS).header(text)).toBe(`{"cookie":${R},"n":[1.0,12345678901234567890,1e400,-0]}`)
})

test('redacts headers anywhere in extra and keeps the rest of it', () => {
  const text = '{"timeframe":1.0,"data":{"headers":[["Cookie","x"]]},"proxy":{"Proxy-Authorization":"y"}}'
  expect(makeRedactor(REDACTED_HEADERS).extra(text)).toBe(
    `{"timeframe":1.0,"data":{"headers":[["Cookie",${R}]]},"proxy":{"Proxy-Authorization":${R}}}`,
  )
})

test('counts what it replaced by lower-case name', () => {
  const redactor = makeRedactor([...REDACTED_HEADERS, 'X-Secret'])
  redactor.header('{"Cookie":"a","x-secret":"b","accept":"c"}')
  redactor.header('{"COOKIE":["a"]}')
  redactor.extra('{"a":{"header":{"cookie":"x"}}}')
  expect(redactor.counts()).toEqual({ cookie: 3, 'x-secret': 1 })
  expect(redactor.names).toContain('x-secret')
})

test('without names nothing changes', () => {
  expect(makeRedactor([]).header('{"cookie":"a"}')).toBe('{"cookie":"a"}')
})

test.each(['a b', 'a"b', '', 'a:b', 'ä'])('"%s" is refused as the name of a header', (name) => {
  expect(() => makeRedactor([name])).toThrow(expect.objectContaining({ code: 'usage-invalid' }))
})

test('a header that is no JSON text is reported as damage of the mirror', () => {
  expect(() => makeRedactor(REDACTED_HEADERS).header('{"cookie":')).toThrow(
    expect.objectContaining({ code: 'mirror-damaged' }),
  )
})

const anyCase = (name: string) =>
  fc
    .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
    .map((upper) => [...name].map((c, i) => (upper[i] ? c.toUpperCase() : c)).join(''))
/** A key as JSON text, some of its characters as \u escapes. */
const spelled = (name: string) =>
  fc
    .array(fc.integer({ min: 0, max: 4 }), { minLength: name.length, maxLength: name.length })
    .map(
      (dice) =>
        `"${[...name]
          .map((c, i) => (dice[i] === 0 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c))
          .join('')}"`,
    )
const secretMember = fc
  .tuple(
    fc
      .constantFrom(...REDACTED_HEADERS)
      .chain(anyCase)
      .chain(spelled),
    fc.constantFrom('"CANARY"', '["CANARY",{"a":"CANARY"}]', '{"CANARY":"CANARY"}', '"\\"CANARY\\\\"'),
  )
  .map(([key, value]) => `${key}:${value}`)
const otherMember = fc
  .tuple(fc.string({ maxLength: 8 }), fc.oneof(fc.string(), fc.constantFrom('Cookie', 'authorization,')))
  .filter(([key]) => !REDACTED_HEADERS.includes(key.trim().toLowerCase()))
  .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)

test('whatever the spelling, no value of a named header is left and every other value stays', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(secretMember, otherMember), { maxLength: 6 }), (members) => {
      const text = `{${members.join()}}`
      const redacted = makeRedactor(REDACTED_HEADERS).header(text)
      expect(redacted).not.toContain('CANARY')
      const expected = JSON.parse(text, (key, value) =>
        REDACTED_HEADERS.includes(key.toLowerCase()) ? '[redacted]' : value,
      )
      expect(JSON.parse(redacted)).toEqual(expected)
    }),
    { numRuns: 300 },
  )
})

/** Members of headers, ordinary ones and some that are spelled in another way, or are none. */
const flatMember = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...REDACTED_HEADERS).chain(anyCase), fc.string({ maxLength: 5 })) },
  fc.tuple(
    fc.constantFrom('accept', 'x-cookie', 'cookies', 'coo\u212Aie', '', '__proto__'),
    fc.constantFrom('Cookie', ''),
  ),
  fc.tuple(fc.string({ unit: 'grapheme', maxLength: 7 }), fc.string({ unit: 'grapheme', maxLength: 7 })),
)

/** Such a name may be another one with white space around it. */
const ODD_END = /^[^!-~]|[^!-~]$/

test('a flat header is redacted the same way by its quotes as by expression', () => {
  fc.assert(
    fc.property(fc.array(flatMember, { maxLength: 6 }), fc.constantFrom('', ',', '}', '"', ':1'), (members, behind) => {
      const inside = members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()
      const flat = makeFlatRedactor(REDACTED_HEADERS, R)
      const found = flat.redact(`{${inside}${behind}}`)
      // A blank keeps the redactor from the way by quotes.
      const redactor = makeRedactor(REDACTED_HEADERS)
      if (behind !== '') expect(found).toBeNull()
      else if (found === null) expect(inside.includes('\\') || members.some(([name]) => ODD_END.test(name))).toBe(true)
      else {
        expect(found).toBe(redactor.header(`{ ${inside}}`).replace('{ ', '{'))
        const counts: Record<string, number> = {}
        for (const name of flat.found) counts[name] = (counts[name] ?? 0) + 1
        expect(counts).toEqual(redactor.counts())
      }
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['{"cookie":"a","b":{"c":"d"}}'],
  ['{"cookie":["a"]}'],
  ['{"cookie": "a"}'],
  ['{"cookie" :"a"}'],
  ['{"cookie":"a" }'],
  ['{"cookie ":"a"}'],
  ['{" cookie":"a"}'],
  ['{"cookie":"a","x":"\\n"}'],
  ['{"cookie":"a"'],
  ['{"cookie":"a'],
  ['{"cookie'],
  ['["cookie","a"]'],
  ['{'],
  [''],
])('%s is left to the slower way', (text) => {
  expect(makeFlatRedactor(REDACTED_HEADERS, R).redact(text)).toBeNull()
})
