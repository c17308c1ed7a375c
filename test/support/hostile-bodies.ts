// Answers of the list that take long to read: one task (or very many) of a given size, of content that is worst for one
// part of a decoder or another. All are JSON.

const TASK = '"id":"large","createdAt":1763600000000,"systemStatus":"DONE","completedAt":1763600000001'

const page = (items: string): string => `{"statusCode":200,"message":"OK","body":{"items":[${items}]}}`
const inBody = (value: string): string =>
  page(`{${TASK},"data":{"url":"https://a.example/"},"result":{"body":${value}}}`)
const unknown = (value: string): string => page(`{${TASK},"data":{},"result":{},"x":${value}}`)
const repeat = (text: string, size: number): string => text.repeat(Math.floor(size / text.length))
const list = (value: string, size: number): string => `[${repeat(`${value},`, size)}${value}]`
const members = (size: number, name: (n: number) => string): string =>
  Array.from({ length: size / 14 }, (_, n) => `"${name(n).padStart(9, 'k')}":1`).join()

/** By name; `size` is about that of the answer in bytes. */
export const HOSTILE_BODIES: Record<string, (size: number) => string> = {
  'white space': (size) => inBody(`{${repeat(' ', size)}}`),
  'line breaks around the items': (size) => page(`${repeat('\n', size)}{${TASK}}`),
  escapes: (size) => inBody(`"${repeat('\\u0041', size)}"`),
  'a lone surrogate': (size) => inBody(`"${repeat('x', size)}\\ud800"`),
  'lone surrogates in an unknown field': (size) => unknown(`"${repeat('\\ud800', size)}"`),
  'one long string': (size) => inBody(`"${repeat('x', size)}"`),
  'one long string in an unknown field': (size) => unknown(`"${repeat('x', size)}"`),
  'lists in one another': (size) => inBody(repeat('[', size / 2) + repeat(']', size / 2)),
  'lists in one another in an unknown field': (size) => unknown(list('[[[[[[[[[[]]]]]]]]]]', size)),
  'objects in an unknown field': (size) => unknown(list('{"a":{}}', size)),
  numbers: (size) => inBody(list('12345', size)),
  'odd numbers in an unknown field': (size) => unknown(list('1.0', size)),
  names: (size) => inBody(`{${members(size, String)}}`),
  'unknown names': (size) => page(`{${TASK},${members(size, String)}}`),
  'escaped names': (size) => inBody(`{${members(size, (n) => `\\u0041${n}`)}}`),
  'tiny items': (size) => page(`${repeat('{"id":"a"},', size)}{"id":"a"}`),
  'items that are none': (size) => page(`${repeat('1,', size)}1`),
  'a long string in the envelope': (size) => `{"x":"${repeat('x', size)}",${page(`{${TASK}}`).slice(1)}`,
  'a long message': (size) => page(`{${TASK}}`).replace('OK', repeat('é', size / 2)),
  'no JSON': (size) => inBody(`"${repeat('x', size)}`),
}
